"""Tests that equal positions have equal arrays (interpreter/leftovers.py, tidy.py): nothing is left of what is over."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from harbourmaster.interpreter import native
from harbourmaster.interpreter.exact.reach import reachable
from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.interpreter.program import Decision
from harbourmaster.repl.carrying import Shapes

from .smallgame import make, play, values

BACKENDS = ["python", pytest.param("c", marks=pytest.mark.skipif(not native.compilers(), reason="no C here"))]
PLACEMENT = str(Path(__file__).parent / "bench" / "placement")

CLAIMS = """
state:
    winner: player or none
    shown: 0 to 3
    steps: 0 to 9 = 2
    left: yes or no

ends when left
score p: 1 if winner is p else 0

rule play:
    bidding
    for p in player:
        choose p: go_on, leave

rule bidding:
    for p in clockwise from first of player, round and round:
        stop when winner is not none
        choose p: claim, wait
    settle(steps)
    roll shown
    choose winner: go_on, leave

rule settle(n: 0 to 9):
    if n > 1: choose winner: go_on, leave

move claim:
    says "claim"
    winner := first of player

move wait:
    says "wait"

move go_on:
    says "go on"

move leave:
    says "leave"
    left := yes
"""


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Game:
    return make(tmp_path_factory.mktemp("claims"), CLAIMS)


@pytest.mark.parametrize("rest", [(), ("go on",), ("go on", "go on"), ("leave",), ("go on", "leave")])
def test_how_a_loop_ended_leaves_nothing(claims: Game, rest: tuple[str, ...]) -> None:
    soon = play(claims, "claim", *rest)
    late = play(claims, "wait", "wait", "wait", "claim", *rest)
    assert soon.position[: claims.program.compared] == late.position[: claims.program.compared]
    assert soon == late
    assert hash(soon) == hash(late)


@pytest.mark.parametrize(
    ("name", "players"), [("manila", 4), ("dixit", 4), ("draughts", 2), ("klondike", 1), (PLACEMENT, 4)]
)
def test_nothing_is_kept_that_no_rule_reads_again(name: str, players: int) -> None:
    game = load_game(name, players=players)
    program, initial = game.program, game.program.initial
    nameless = [n for n in range(1, program.compared) if game.variable_at(n) is None]
    needed = {d.block: what_is_read(game, d) for d in program.decisions}
    piles = [v for v in program.variables.values() if v.width > 1]
    numbers = random.Random(5)
    for seed in range(3):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            position = state.position
            assert {n for n in nameless if position[n] != initial[n]} <= needed[position[0]]
            for v in piles:
                for first in range(v.slot, v.slot + len(values(state, v.name)), v.width):
                    past = range(first + 1 + position[first], first + v.width)
                    assert [position[n] for n in past] == [initial[n] for n in past]
            state.apply_action(numbers.choice(state.legal_actions()))
        assert [state.position[n] for n in nameless] == [initial[n] for n in nameless]


def what_is_read(game: Game, decision: Decision) -> set[int]:
    """Gets the slots without a name that may be read from a decision on, as carrying positions over finds them."""
    pending = range(decision.pending, decision.pending + game.num_players()) if decision.pending >= 0 else ()
    return {*Shapes(game.program).needed(decision.block), *pending}


@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_are_counted_once(claims: Game, backend: str) -> None:
    """By hand: claiming leads both to one place; the shown number has 4 values; leaving at once is leaving at 0."""
    found = reachable(play(claims), 3, backend=backend)
    assert [level.positions for level in found.levels] == [1, 2, 4 + 1, 4 + 4 - 1]
