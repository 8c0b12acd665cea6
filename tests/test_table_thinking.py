"""Thinking at the table: exact chances, what if, the same position under another reading, to and fro."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import State, load_game
from harbourmaster.interpreter.odds import Plan, TooMany, distribution
from harbourmaster.repl.desk import Desk, run_line
from harbourmaster.repl.odds_tables import chances, odds_tables, percent
from harbourmaster.repl.terminal import Look, plain
from harbourmaster.repl.texts import LANGUAGES

from .table import open_desk, open_session, type_in

PEOPLE = ("Ann", "Bo", "Cy")
START = ("bid 1", "pass", "pass", "no share", "load g n s", "start 4 0 5")


@pytest.fixture(autouse=True)
def _data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path / "data"))


# ------------------------------------------------------------------------------------------------------- odds


def by_hand(space: int, rolls: int, last: int = 13) -> tuple[Fraction, Fraction, Fraction]:
    """Counts the ways of the dice: past the last space, on it, short of it."""
    out: Counter[str] = Counter()
    for dice in product(range(1, 7), repeat=rolls):
        end = space + sum(dice)
        out["past" if end > last else "on" if end == last else "short"] += 1
    whole = 6**rolls
    return Fraction(out["past"], whole), Fraction(out["on"], whole), Fraction(out["short"], whole)


def test_chances_are_those_of_the_dice() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    (table,) = odds_tables(desk.session.view)
    found = chances(table, desk.session.state)
    assert found == {0: [*by_hand(4, 3)], 1: [*by_hand(0, 3)], 2: [*by_hand(5, 3)]}


def test_chances_after_a_roll_count_what_is_known() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    for _ in range(9):
        type_in(desk, "refrain" if desk.session.state.decision else "")
        state = desk.session.state
        assert state.decision is not None
        if state.get("voyage_number") > 1 or state.decision.rule != "placing_round":
            break
    desk = open_desk(seats=PEOPLE, seed=3)
    type_in(desk, *START)
    for words in ("silk berth", "harbour A", "harbour B", "ginseng berth", "harbour C", "nutmeg berth"):
        type_in(desk, words)
    state = desk.session.state
    (table,) = odds_tables(desk.session.view)
    for w, row in chances(table, state).items():
        assert row == [*by_hand(state.get("space", w), 2)]
    text = type_in(desk, "odds")
    assert "wrecked" in text and "Assumed that nobody" in text and "%" in text


def test_odds_in_every_language_and_where_there_are_none() -> None:
    for language in LANGUAGES:
        desk = open_desk(seats=PEOPLE, look=Look(language=language), seed=3)
        assert type_in(desk, "odds") == desk.t("no-odds-now")
    assert "asks for no chances" in type_in(open_desk("draughts", 2), "odds")


def test_odds_have_a_limit_and_the_position_stays() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    state = desk.session.state
    before = state.position[:]
    with pytest.raises(TooMany):
        distribution(state, Plan(("end_of_sailing",), ("refrain",), limit=1000))
    assert state.position == before


def test_a_rule_that_begins_at_once_is_certain() -> None:
    game = load_game("manila", players=3)
    state = game.new_initial_state(seed=1)
    ((p, position),) = distribution(state, Plan(("auction",)))
    assert p == 1 and position[1:] == state.position[1:]


def test_percent() -> None:
    assert [percent(Fraction(n, 100_000)) for n in (0, 1, 50_000, 99_999, 100_000)] == [
        "–",
        "<0.1 %",
        "50.0 %",
        ">99.9 %",
        "100 %",
    ]


# ---------------------------------------------------------------------------------------------------- what if


def _key(state: State) -> object:
    return state.key(), state.events


def test_what_if_shows_and_comes_back() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    before, at, log = _key(desk.session.state), desk.session.at, type_in(desk, "log")
    shown = type_in(desk, "what if silk berth")
    assert "cash  Ann 29 → 26" in shown and "3 Ann" in shown
    assert "game stands where it stood" in shown
    assert (_key(desk.session.state), desk.session.at, type_in(desk, "log")) == (before, at, log)
    assert "Ann: silk berth" in type_in(desk, "silk berth")
    assert "not allowed" in type_in(desk, "what if harbour Z") or "no move" in type_in(
        desk, "what if harbour Z"
    )
    assert "what if what" in type_in(desk, "what if")


def test_what_if_does_not_roll_the_dice() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    for _ in range(5):
        type_in(desk, "insurance" if "insurance" in [o.words for o in desk.options()] else "harbour A h")
        if "harbour A" in [o.words for o in desk.options()]:
            type_in(desk, "harbour A")
        else:
            type_in(desk, desk.options()[0].words)
        if desk.session.draws_since(6):
            break
        shown = type_in(desk, f"what if {desk.options()[0].words}")
        assert "dice" not in shown.splitlines()[1]


def test_what_if_tells_no_secrets() -> None:
    desk = Desk(open_session(load_game("manila+sealed-bids", players=3), PEOPLE), Look())
    assert (
        "cannot know yet" in plain(run_line(desk, f"what if {desk.options()[0].words}").lines)
        or run_line(desk, "what if bid 3").failed
    )


# ----------------------------------------------------------------------------------------------- compare here


def test_compare_here() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    shown = type_in(desk, "compare here berth-choice")
    assert "− silk berth: say which berth" in shown and "placing.rules:15" in shown
    assert "+ ginseng berth 1" in shown and "+ silk berth 3" in shown
    assert "nothing is otherwise here" in type_in(desk, "compare here large-pilot")
    assert "compare what" in type_in(desk, "compare here")
    assert "no question" in type_in(desk, "compare here xyzzy")
    assert desk.session.game.canonical == "manila"


def test_compare_here_shows_no_secret_where_several_look_on() -> None:
    desk = open_desk(seats=PEOPLE)
    shown = type_in(desk, "compare here loans")
    assert "− pledge a share" in shown
    assert not any(f"pledge {ware}" in shown for ware in ("ginseng", "nutmeg", "silk", "jade"))


# ------------------------------------------------------------------------------------------------ to and fro


def test_goto() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    start = desk.session.moments[2].state
    assert "at choice 2" in type_in(desk, "goto 2")
    assert desk.session.state is start
    assert "at choice 6" in type_in(desk, "goto 6")
    assert "there are 0 to 6" in type_in(desk, "goto 9")
    assert "there are 0 to 6" in type_in(desk, "goto x")
    assert "this is choice 6" in type_in(desk, "goto 6")


def test_goto_past_the_dice_asks() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    for words in ("silk berth", "harbour A", "harbour B", "ginseng berth", "harbour C", "nutmeg berth"):
        type_in(desk, words)
    assert desk.session.draws_since(6)
    run_line(desk, "goto 6")
    assert "whole table" in desk.question
    assert "stays as it is" in type_in(desk, "no")
    assert "at choice 6" in type_in(desk, "goto 6", "yes")
    assert "chance decides anew" in type_in(desk, "log")
    assert "there are 0 to 6" in type_in(desk, "goto 7")


def test_value_and_hint_leave_the_game_as_it_is() -> None:
    desk = open_desk(seats=("Ann", "random", "random"), seed=4)
    before = _key(desk.session.state)
    shown = type_in(desk, "value bid 3")
    assert "bid 3: mean result" in shown and "95 %" in shown
    assert "random would choose:" in type_in(desk, "hint random")
    shown = type_in(desk, "hint greedy:2")
    assert "greedy:2 would choose" in shown and "next best of its" in shown
    assert "no bot can think" in type_in(desk, "hint oracle")
    assert _key(desk.session.state) == before
    people = open_desk(seats=PEOPLE)
    assert run_line(people, "value bid 3").private


def test_value_alone_values_every_move_the_best_first() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, *START)
    lines = type_in(desk, "value").splitlines()
    head = next(n for n, line in enumerate(lines) if "games played on by chance" in line)
    assert lines[head + 1].split() == ["mean", "95", "%", "wins", "games"]
    valued = lines[head + 2 : -1]
    assert len(valued) == 12 and f"and {len(desk.options()) - 12} more" in lines[-1]
    assert len({len(line) for line in valued}) == 1  # figures stand below one another
    wins = [int(line.split()[-3]) for line in valued]
    assert max(wins[:3]) >= wins[-1]


def test_undo_past_a_reveal_asks() -> None:
    desk = Desk(open_session(load_game("manila+sealed-bids", players=3), PEOPLE), Look())
    session = desk.session
    for n in range(3):
        assert not session.draws_since(0), n
        option = desk.options()[n]
        session.choose(option.action, option.player)
    assert session.draws_since(2)
    run_line(desk, "undo")
    assert "reveal" in desk.question
