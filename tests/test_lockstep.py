"""The rules of Manila against the hand-written referee, game after game in step: base, every reading, every variant.

The quick tests play a few games of each; the slow ones play every reading with three, four and five players, hundreds
of combinations, and make sure that each reading is met with: played against a referee who reads otherwise, it parts.
"""

from __future__ import annotations

import random

import pytest
from harbourmaster.interpreter.game import Game
from harbourmaster.interpreter.load import load_ruleset

from .lockstep import Pair, lockstep, manila
from .referee import QUESTIONS, VARIANTS, board, table
from .referee import manila as order_of_play

READINGS = [(question, reading) for question, readings in QUESTIONS.items() for reading in readings[1:]]
OF_PIRATES = ("captain-protected", "who-may-be-evicted", "vacancies-first")
"""Questions that arise only with enhanced pirates."""
UNSEEN = ("starting-shares", "deal-pool", "pledged-share-lies", "redeemed-share-lies")
"""Questions whose readings part in the deal or in what lies face up, which the pair does not compare."""
PROFILES = ("as-S0", "as-S1", "as-S2", "as-S3", "as-S4", "as-EN")

pytestmark = pytest.mark.filterwarnings("error")


def setting(question: str) -> tuple[str, ...]:
    """Gets the variants a question needs."""
    return ("enhanced-pirates",) if question in OF_PIRATES else ()


def test_the_questions_are_the_same() -> None:
    ours = load_ruleset("manila").questions
    assert {name: tuple(q.readings) for name, q in ours.items()} == QUESTIONS


@pytest.mark.parametrize("offers", [False, True])
@pytest.mark.parametrize("players", [3, 4, 5])
def test_base_game(players: int, offers: bool) -> None:
    assert lockstep({}, (), range(40), players=players, offers=offers) > 40 * 60


@pytest.mark.parametrize(("question", "reading"), READINGS)
def test_each_reading(question: str, reading: str) -> None:
    number = READINGS.index((question, reading))
    players = 3 if question == "extra-placing-of-three" else 3 + number % 3
    lockstep({question: reading}, setting(question), range(8), players=players, offers=number % 4 > 0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant(variant: str) -> None:
    for players, offers in ((3, True), (5, False)):
        lockstep({}, (variant,), range(10), players=players, offers=offers)


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile(profile: str) -> None:
    game = manila(4, variants=(profile,))
    readings = {name: q.chosen for name, q in game.checked().rules.questions.items()}
    assert readings != {name: options[0] for name, options in QUESTIONS.items()}
    for seed in range(8):
        Pair(game, seed, readings).play()


def test_short_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (board, table, order_of_play):
        monkeypatch.setattr(module, "LANE", 10)
    readings = {"rolls-that-board": "first-and-second", "boarder-still-plunders": "yes"}
    lockstep(readings, ("enhanced-pirates",), range(20), players=4, offers=False, extra=("short-lane",))


def test_double_payout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_of_play, "PROFIT", {ware: 2 * profit for ware, profit in board.PROFIT.items()})
    monkeypatch.setattr(order_of_play, "SPACE_PAYS", tuple(2 * pays for pays in board.SPACE_PAYS))
    lockstep({}, (), range(10), players=3, offers=True, extra=("double-payout",))


# ---------------------------------------------------------------------------------------------------- combinations


def mixture(seed: int) -> tuple[dict[str, str], tuple[str, ...]]:
    """Makes a random combination of readings and variants: of many readings, or of a few."""
    rng = random.Random(seed)
    part = 0.7 if seed % 2 else 0.15
    variants = [v for v in VARIANTS if rng.random() < 0.5]
    if "open-outcry" in variants and "sealed-bids" in variants:
        variants.remove(rng.choice(["open-outcry", "sealed-bids"]))
    readings = {
        question: rng.choice(options[1:])
        for question, options in QUESTIONS.items()
        if rng.random() < part and ("enhanced-pirates" in variants or question not in OF_PIRATES)
    }
    return {q: r for q, r in readings.items() if makes_sense(q, r, readings, variants)}, tuple(variants)


def makes_sense(question: str, reading: str, readings: dict[str, str], variants: list[str]) -> bool:
    """Tests if nothing of a combination is declared to make no sense with a reading."""
    asked = load_ruleset("manila").questions[question]
    declared = {**asked.not_with, **asked.readings[reading].not_with}
    chosen = {f"{q}={r}" for q, r in readings.items()}
    return not (set(declared) & (chosen | set(variants)))


def play_mixture(seed: int, games: int) -> None:
    readings, variants = mixture(seed)
    lockstep(readings, variants, range(seed, seed + games), players=3 + seed % 3, offers=seed % 5 > 1)


@pytest.mark.parametrize("seed", range(24))
def test_mixtures(seed: int) -> None:
    play_mixture(seed, 6)


# ------------------------------------------------------------------------------------------------------------ deal


def hands(game: Game, seed: int) -> list[list[int]]:
    """Gets how many shares of each ware each player is dealt."""
    state = game.new_initial_state(seed)
    return [[state.get("hand", p, w) for w in range(4)] for p in range(game.num_players())]


def test_starting_shares() -> None:
    random_ones, different = manila(5), manila(5, {"starting-shares": "two-different"})
    assert all(max(map(max, hands(different, seed))) == 1 for seed in range(100))
    assert any(max(map(max, hands(random_ones, seed))) == 2 for seed in range(100))


def test_deal_pool() -> None:
    def most(game: Game) -> int:
        return max(max(map(sum, zip(*hands(game, seed), strict=True))) for seed in range(200))

    assert most(manila(5)) == 3
    assert most(manila(5, {"deal-pool": "all-twenty"})) > 3


def test_how_pledged_and_redeemed_shares_lie() -> None:
    for lies, redeemed in (("face-down", "face-up"), ("face-up", "in-hand")):
        game = manila(3, {"pledged-share-lies": lies, "redeemed-share-lies": redeemed})
        state = game.new_initial_state(1)
        ware = next(w for w in range(4) if state.get("hand", 0, w))
        for word in ("pledge", "redeem"):
            name = ("ginseng", "nutmeg", "silk", "jade")[ware]
            state.apply_action(state.parse_action(f"{word} {name}"))
            slot = game.slot_of("pledged", 0, ware)
            seen = {at: value for _, at, value in state.visible(1)}
            assert seen.get(slot) == (None if lies == "face-down" else int(word == "pledge"))
        assert state.get("shown", 0, ware) == (redeemed == "face-up")


# ------------------------------------------------------------------------------------------------------------ slow


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4, 5])
def test_base_game_long(players: int) -> None:
    for offers in (False, True):
        lockstep({}, (), range(1000, 1400), players=players, offers=offers)


@pytest.mark.slow
@pytest.mark.parametrize(("question", "reading"), READINGS)
def test_each_reading_long(question: str, reading: str) -> None:
    for players, offers in ((3, False), (4, True), (5, True)):
        lockstep({question: reading}, setting(question), range(100, 140), players=players, offers=offers)
        variants = ("enhanced-pirates", "open-outcry" if players == 4 else "sealed-bids")
        lockstep({question: reading}, variants, range(12), players=players, offers=offers)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_mixtures_long(seed: int) -> None:
    play_mixture(seed, 12)


@pytest.mark.slow
@pytest.mark.parametrize(("question", "reading"), [r for r in READINGS if r[0] not in UNSEEN])
def test_each_reading_is_met_with(question: str, reading: str) -> None:
    """Plays ours under the base reading against a referee under another: in some game they part."""
    variants = setting(question)
    others = {"start-spaces": "any-sum-nine"} if question == "rolls-that-board" else {}
    players = 3 if question == "extra-placing-of-three" else 4
    games = [manila(players, others, variants, offers) for offers in (False, True)]
    for seed in range(2000):
        try:
            Pair(games[seed % 2], seed, {**others, question: reading}, variants).play()
        except (AssertionError, ValueError):
            return
    raise AssertionError(f"{question}={reading} never made a difference")
