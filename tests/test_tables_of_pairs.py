"""Tables made of others: `card: {every: [suit, rank]}`; and what piles of such things showed to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import RulesError
from harbourmaster.interpreter.load import load_ruleset

from .smallgame import make, play, values
from .toygame import GAME, complaints, write_game

BOARD = """\
ink: [black, red]
suit: {clubs: {ink: black}, hearts: {ink: red}}
card: {every: [suit, rank]}
rank: {ace: {pips: 1}, king: {pips: 13}, two: {pips: 2}}
back: [blue, green]
deal: {every: [card, back, size]}
size: [small]
"""

RULES = """
state:
    pips: 0 to 99
    reds: 0 to 99
    found: card
    greens: 0 to 99
    left[card]: 0 to 9
    pile_of[suit]: pile of card, up to length of card
    deck: pile of card, up to length of card

rule play:
    pips := sum of c.rank.pips for c in card
    reds := number of c in card where c.suit.ink is red
    found := the first c in card where c.suit is hearts and c.rank is two
    greens := number of d in deal where d.back is green and d.card.rank is king
    for c in card where c.rank is not king:
        left[c] := c.rank.pips
        put c on top of deck
    repeat while deck is not empty:
        transfer 1 from deck to pile_of[(last of deck).suit]
    choose first of player: go, wait

move go:
    says "go"

move wait:
    says "wait"
"""


def test_entries_and_attributes(tmp_path: Path) -> None:
    make(tmp_path, RULES, board=BOARD)
    rules = load_ruleset(str(tmp_path))
    card, deal = rules.tables["card"], rules.tables["deal"]
    assert card.enum.entries == (
        "clubs_ace", "clubs_king", "clubs_two", "hearts_ace", "hearts_king", "hearts_two",
    )  # fmt: skip
    assert {a: [c.value for c in column.values()] for a, column in card.cells.items()} == {
        "suit": ["clubs"] * 3 + ["hearts"] * 3,
        "rank": ["ace", "king", "two"] * 2,
    }
    assert deal.enum.entries[:3] == ("clubs_ace_blue_small", "clubs_ace_green_small", "clubs_king_blue_small")
    assert list(deal.cells) == ["card", "back", "size"]


def test_in_the_rules(tmp_path: Path) -> None:
    state = play(make(tmp_path, RULES, board=BOARD))
    assert [state.get(name) for name in ("pips", "reds", "found", "greens")] == [32, 3, 5, 2]
    assert values(state, "left") == [1, 0, 2, 1, 0, 2]


def test_the_pile_is_found_before_anything_moves(tmp_path: Path) -> None:
    state = play(make(tmp_path, RULES, board=BOARD))
    assert values(state, "pile_of") == [2, 2, 0, 0, 0, 0, 0, 2, 5, 3, 0, 0, 0, 0]
    assert values(state, "deck") == [0] * 7


def test_large_tables_have_more_entries_than_a_set_can_hold(tmp_path: Path) -> None:
    names = ", ".join(f"n{n}" for n in range(10))
    board = f"one: [{names}]\ntwo: [{names.replace('n', 'm')}]\nboth: {{every: [one, two]}}\n"
    moves = RULES[RULES.index("\nmove go") :]
    rules = f"""
state:
    count: 0 to 999
    last_one: both
    inside: 0 to 999

rule play:
    for b in both:
        increase count by 1
        last_one := b
    inside := (number of b in both where b in both) + (number of b in both where b in {{n0_m3, n9_m9}})
    choose first of player: go, wait
{moves}"""
    state = play(make(tmp_path, rules, board=board))
    assert (state.get("count"), state.get("last_one"), state.get("inside")) == (100, 99, 102)


def board(text: str) -> dict[str, str]:
    """Gets the toy game's files with more tables."""
    return {"board.yaml": GAME["board.yaml"] + text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("card: {every: [ware, season]}\n", []),
        ("card: {every: [ware, seasons]}\n", ["board.yaml:7:22 table-factor"]),
        ("card: {every: [ware, lane]}\n", ["board.yaml:7:22 table-factor"]),
        ("card: {every: [ware, card]}\n", ["board.yaml:7:22 table-factor"]),
        (
            "card: {every: [ware, deal]}\ndeal: {every: [card, season]}\n",
            ["board.yaml:8:16 table-factor"],
        ),
        ("a: [x_y, x]\nb: [z, y_z]\nc: {every: [a, b]}\n", ["board.yaml:9:1 duplicate-name"]),
        (
            "".join(f"t{t}: [{', '.join(f'e{t}{n}' for n in range(9))}]\n" for t in range(4))
            + "c: {every: [t0, t1, t2, t3]}\n",
            ["board.yaml:11:1 table-factor"],
        ),
        ("card: {every: [ware]}\n", ["board.yaml:7:15 schema-value"]),
        ("card: {every: [ware, ware]}\n", ["board.yaml:7:22 schema-value"]),
        ("card: {every: [ware, season], price: 3}\n", ["board.yaml:7:31 schema-unknown-key"]),
        ("card: {every: [ware, 3]}\n", ["board.yaml:7:22 schema-type"]),
        ("card: {every: ware}\n", ["board.yaml:7:15 schema-type"]),
        ("card: {every: [3, 4]}\n", ["board.yaml:7:16 schema-type", "board.yaml:7:19 schema-type"]),
    ],
)
def test_complaints(text: str, expected: list[str], tmp_path: Path) -> None:
    assert complaints(tmp_path, "toy", board(text)) == expected


def test_overlays_reach_the_entries(tmp_path: Path) -> None:
    path = write_game(tmp_path, board("card: {every: [ware, season]}\n"))
    before = load_ruleset(path).tables["card"].enum.entries
    after = load_ruleset(path + "+season.hot={}").tables["card"].enum.entries
    assert len(after) - len(before) == len(load_ruleset(path).tables["ware"].enum.entries)
    assert after[-1].endswith("_hot")
    with pytest.raises(RulesError) as error:
        load_ruleset(path + "+card.tea_dry.ware=rum")
    assert [d.code for d in error.value.diagnostics] == ["overlay-product"]


def test_a_choice_between_a_test_and_a_number(tmp_path: Path) -> None:
    rules = """
state:
    x: -9 to 9
    who: player or none
    y: -9 to 9

rule play:
    x := -1 if who is first of player else (0 if who is none else 1)
    y := 5 if who is none else (1 if who is first of player else 0)
    who := last of player
    choose first of player: go, wait

score p: -1 if who is p else (0 if who is none else 1)

move go:
    says "go"

move wait:
    says "wait"
"""
    state = play(make(tmp_path, rules))
    assert [state.get("x"), state.get("y"), *state.scores()] == [0, 5, 1, -1]


@pytest.mark.parametrize("waits", [False, True])
def test_the_pile_of_a_loop_is_found_before_the_loop(waits: bool, tmp_path: Path) -> None:
    rules = """
state:
    box[player]: pile of fruit, up to 3
    whose: player
    total: 0 to 99

rule play:
    whose := first of player
    box[whose] := [apple, pear]
    box[last of player] := [plum, plum]
    for f in box[whose]:
        increase total by f.price
        whose := last of player
        ASK
    choose first of player: go, wait

move go:
    says "go"

move wait:
    says "wait"
""".replace("ASK", "choose first of player: go, wait" if waits else "increase total by 0")
    state = play(make(tmp_path, rules), *["go"] * (2 if waits else 0))
    assert state.get("total") == 8
