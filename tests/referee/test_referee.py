"""The referee against manila.md: exact counts, the sources' worked figures, every reading played through."""

from __future__ import annotations

import random

import pytest

from .board import SHARES_A_WARE, WARES
from .manila import OPEN, DiceSource, Referee
from .perft import COUNTS, HANDS, OPENING, PILOTS, ROLLS, B, perft, position
from .readings import QUESTIONS, VARIANTS

EACH_READING = [(q, r) for q, readings in QUESTIONS.items() for r in readings[1:]]


def game(
    moves: str = "",
    readings: dict[str, str] | None = None,
    variants: tuple[str, ...] = (),
    players: int = 3,
    dice: DiceSource = ROLLS,
    offers: bool = False,
) -> Referee:
    """Gets a game after some moves."""
    referee = Referee(players, HANDS[: 2 * players], dice, readings, variants, offers)
    play(referee, moves)
    return referee


def play(referee: Referee, moves: str) -> None:
    for move in filter(None, moves.split(", ")):
        referee.apply(move)


@pytest.mark.parametrize(("name", "players", "moves", "offers", "expected"), COUNTS)
def test_counts(name: str, players: int, moves: str, offers: bool, expected: tuple[int, ...]) -> None:
    for depth, want in enumerate(expected, 1):
        assert perft(position(players, moves, offers), depth) == want, (name, depth)


def check(referee: Referee) -> None:
    """Checks what must hold in every position."""
    assert min(referee.cash) >= 0
    for ware in WARES:
        held = sum(f[ware] + p[ware] for f, p in zip(referee.free, referee.pledged, strict=True))
        assert held + referee.supply[ware] == SHARES_A_WARE
        assert referee.supply[ware] >= 0
        assert all(s[ware] <= f[ware] for s, f in zip(referee.shown, referee.free, strict=True))
    on_board = list(referee.occupied().values())
    for seat in range(referee.players):
        assert referee.accomplices[seat] >= 0
        if referee.reading["boarder-still-plunders"] == "no":
            assert referee.accomplices[seat] + on_board.count(seat) == referee.accomplices_each
    if referee.reading["pilot-behind-zero"] == "not-allowed":
        assert all(space >= 0 for space in referee.at.values())


def random_game(
    seed: int, readings: dict[str, str], variants: tuple[str, ...], offers: bool, players: int
) -> Referee:
    rng = random.Random(seed)
    faces = random.Random(seed + 1)
    referee = Referee(players, None, lambda *_: faces.randint(1, 6), readings, variants, offers, seed)
    for _ in range(5000):
        if referee.over():
            break
        options = referee.options()
        assert len(set(options)) == len(options) > 1
        copy = referee.clone()
        copy.apply(rng.choice(options))
        assert referee.options() == options
        referee = copy
        check(referee)
    assert referee.over()
    assert referee.options() == []
    assert referee.who() == OPEN
    assert referee.winners()
    return referee


@pytest.mark.parametrize(("question", "reading"), [("tie", "shared"), *EACH_READING])
def test_every_reading_plays_to_the_end(question: str, reading: str) -> None:
    for seed in range(6):
        variants = VARIANTS[:1] if seed % 2 else ()
        random_game(seed, {question: reading}, variants, seed > 2, 3 + seed % 3)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_plays_to_the_end(variant: str) -> None:
    for seed in range(6):
        random_game(seed, {}, (variant,), seed > 2, 3 + seed % 3)


def test_mixed_readings_play_to_the_end() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        readings = {question: rng.choice(readings) for question, readings in QUESTIONS.items()}
        variants = [v for v in VARIANTS if rng.random() < 0.5]
        if "open-outcry" in variants and "sealed-bids" in variants:
            variants.remove(rng.choice(["open-outcry", "sealed-bids"]))
        random_game(seed, readings, tuple(variants), seed % 2 == 0, 3 + seed % 3)


# Worked figures of the sources


def test_s3_fortune() -> None:
    referee = Referee(3, HANDS[:6], variants=("price-by-fives",))
    referee.cash[0] = 45
    referee.free[0] = {"ginseng": 1, "nutmeg": 0, "silk": 1, "jade": 0}
    referee.pledged[0] = {"ginseng": 1, "nutmeg": 0, "silk": 0, "jade": 0}
    referee.prices.update(ginseng=15, silk=20)
    assert referee.fortunes()[0] == 80


def settle(referee: Referee, harbour: int, shipyard: int) -> list[int]:
    """Gets what each seat gains when so many punts, all empty, lie in port and in the shipyard."""
    before = referee.cash[:]
    referee.lanes = list(WARES[:3])
    referee.new_berths()
    punts: list[str | None] = list(WARES[:3])
    referee.harbour = [punts[i] if i < harbour else None for i in range(3)]
    referee.shipyard = [punts[harbour + i] if i < shipyard else None for i in range(3)]
    referee._profits()
    return [now - then for now, then in zip(referee.cash, before, strict=True)]


def test_s3_harbour() -> None:
    referee = game()
    referee.harbour_men = [0, 1, 2]
    assert settle(referee, 2, 0) == [6, 8, 0]


def test_s3_shipyard() -> None:
    referee = game()
    referee.shipyard_men = [0, 1, None]
    assert settle(referee, 2, 1) == [6, 0, 0]
    referee = game()
    referee.shipyard_men = [0, 1, None]
    referee.insurer = 0
    assert settle(referee, 1, 2) == [-8, 8, 0]


def test_insurance_readings() -> None:
    def gain(harbour: int, shipyard: int, **readings: str) -> list[int]:
        referee = game(readings={name.replace("_", "-"): value for name, value in readings.items()})
        referee.shipyard_men = [None, 1, None]
        referee.harbour_men = [1, None, None]
        referee.insurer = 0
        return settle(referee, harbour, shipyard)

    assert gain(1, 2) == [-14, 14, 0]
    assert gain(1, 2, empty_shipyard_space="costs-nothing") == [-8, 14, 0]
    assert gain(1, 2, repair="to-bank-and-accomplice") == [-22, 14, 0]
    assert gain(1, 2, insurance_trigger="arrivals") == [-6, 14, 0]
    assert gain(3, 0) == [0, 6, 0]
    assert gain(3, 0, insurance_without_wreck="ten-more") == [10, 6, 0]


def test_insurer_pledges_and_the_bank_bears_the_rest() -> None:
    referee = game()
    referee.insurer, referee.cash[0] = 0, 1
    referee.agenda = []
    settle(referee, 0, 3)
    assert referee.agenda == [("forced", 0, 29)]
    referee._run()
    assert referee.options() == ["pledge nutmeg", "pledge silk"]
    referee.apply("pledge silk")
    assert referee.over()  # nothing was left on the agenda
    assert referee.cash[0] == 0
    assert referee.pledged[0] == {"ginseng": 0, "nutmeg": 1, "silk": 1, "jade": 0}


def test_s0_auction() -> None:
    referee = game("bid 1, bid 3, pass")
    assert referee.who() == 0
    referee.apply("bid 4")
    assert referee.who() == 1
    referee.apply("pass")
    assert referee.who() == 0
    assert referee.cash == [26, 30, 30]


def test_s0_placing_order_of_three() -> None:
    referee = game(OPENING)
    order = []
    while referee.lanes and referee.at == {"nutmeg": 5, "silk": 3, "jade": 1}:
        order.append(referee.who())
        referee.apply(referee.options()[0])
    assert order == [0, 1, 2, 0, 1, 2]


def test_en_plunder_and_jade() -> None:
    referee = game()
    referee.lanes = ["nutmeg", "jade", "silk"]
    referee.new_berths()
    referee.pirates = [0, 1]
    referee._plunder(0, 0)
    assert referee.loot == [12, 12, 0]
    referee = game()
    referee.berths = {"jade": [0, 0, 1, None]}
    referee.harbour = ["jade", None, None]
    referee._profits()
    assert referee.cash == [54, 42, 30]


# Readings that show at one decision


def test_stowaway() -> None:
    def broke(**readings: str) -> Referee:
        referee = game(OPENING, {name.replace("_", "-"): value for name, value in readings.items()})
        referee.cash[0], referee.free[0] = 0, dict.fromkeys(WARES, 0)
        referee.agenda.append(referee.task)
        referee._run()
        return referee

    assert len(broke().options()) == 13
    assert "insurance" not in broke().options()
    assert "insurance" in broke(broke_may_insure="yes").options()
    assert len(broke(stowaway_where="punts-only").options()) == 4
    alone = broke(stowaway_where="never")
    assert alone.who() == 1  # nothing but to refrain
    referee = broke()
    referee.apply("large pilot")
    assert referee.cash[0] == 0 and referee.large_pilot == 0


def test_large_pilot_readings() -> None:
    def options(reading: str) -> int:
        referee = game(PILOTS, {"large-pilot": reading})
        referee.apply("none")
        return len(referee.options())

    assert [options(r) for r in QUESTIONS["large-pilot"]] == [25, 19, 7]


def test_pilot_onto_13() -> None:
    def after(reading: str) -> Referee:
        referee = game(PILOTS, {"pilot-onto-13": reading})
        referee.at["silk"] = 12
        referee.agenda.append(referee.task)
        referee._run()
        referee.apply("silk forward 1")
        return referee

    assert after("safe").who() == 1
    plundered = after("plundered-at-once")
    assert plundered.options() == ["silk to port", "silk to shipyard"]
    plundered.apply("silk to port")
    assert plundered.harbour[0] == "silk" and plundered.loot == [15, 15, 0]
    assert plundered.who() == 1  # the large pilot


def test_enhanced_pirates() -> None:
    def boarding(**readings: str) -> Referee:
        named = {name.replace("_", "-"): value for name, value in readings.items()}
        referee = game(B, named, ("enhanced-pirates",))
        assert referee.options() == ["board nutmeg", "stay"]
        referee.apply("board nutmeg")
        return referee

    assert boarding().options() == ["evict nutmeg 1", "evict nutmeg 2", "stay"]
    assert len(boarding(captain_protected="no").options()) == 4
    assert boarding(who_may_be_evicted="own-accomplice").task[0] == "place"
    referee = boarding()
    referee.apply("evict nutmeg 2")
    assert referee.berths["nutmeg"] == [0, 1, 0] and referee.pirates == []
    assert referee.accomplices[2] == 2


def test_auctions() -> None:
    referee = game(variants=("open-outcry",))
    assert referee.who() == OPEN
    assert len(referee.options()) == 1 + 3 * 54
    play(referee, "seat 2: bid 7, seat 1: bid 9, silence")
    assert referee.master == 0 and referee.cash[0] == 21
    referee = game("bid 5, bid 7, bid 7", variants=("sealed-bids",))
    assert referee.master == 1 and referee.cash == [30, 23, 30]
    referee = game("pass, pass, pass", {"first-all-pass": "opener-must-bid-one"})
    assert referee.master == 0 and referee.cash[0] == 29
    referee = game("pass, pass", {"last-silent-bidder": "wins-free"})
    assert referee.master == 2 and referee.cash[2] == 30


def test_refusals() -> None:
    with pytest.raises(ValueError, match="no reading"):
        Referee(3, readings={"tie": "nobody"})
    with pytest.raises(ValueError, match="both replace"):
        Referee(3, variants=("open-outcry", "sealed-bids"))
    with pytest.raises(ValueError, match="two shares of one ware"):
        Referee(3, HANDS[:6], readings={"starting-shares": "two-different"})
    with pytest.raises(ValueError, match="want one of"):
        game().apply("bid 55")
