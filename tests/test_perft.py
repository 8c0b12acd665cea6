"""Tests the counting of decision sequences: interpreter/perft.py. The exact counts of games are scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.interpreter.errors import PlayError
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.perft import divide, perft

from .smallgame import make, play

RULES = """
rule play:
    repeat 3 times:
        roll die
        choose first of player: grab, leave
        choose last of player: leave

state:
    die: 1 to 6
    taken: 0 to 99

move grab(n: 1 to die):
    says "grab {n}"
    increase taken by n

move leave:
    says "leave"

move put_back:
    says "put back"
    needs taken > 0 else "nothing is taken"
    taken := 0

standing at own decisions: put_back
score p: taken
"""


def slow(state: State, depth: int) -> int:
    """Counts by the API, a state a node."""
    if depth == 0:
        return 1
    total = 0
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        total += slow(after, depth - 1)
    return total


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Game:
    return make(tmp_path_factory.mktemp("small"), RULES)


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_counts_as_the_api_plays(small: Game, depth: int, seed: int) -> None:
    state = small.new_initial_state(seed=seed)
    before = state.position[:]
    assert perft(state, depth) == slow(state, depth)
    assert state.position == before


def test_chance_and_forced_decisions_are_not_counted(tmp_path: Path) -> None:
    game = make(tmp_path, RULES, offers=False)
    state = game.new_initial_state(scripts={"die": [2, 4]})
    assert [perft(state, d) for d in (1, 2, 3, 4)] == [3, 15, 45, 0]  # 3 · 5 · 3, then it is over


def test_standing_offers_come_again(small: Game) -> None:
    state = small.new_initial_state(scripts={"die": [1]})
    assert perft(state, 1) == 2  # nothing to put back yet
    state.apply_action(state.parse_action("grab 1"))
    assert [w for w, _ in divide(state, 1)] == ["grab 1", "leave", "put back"]


def test_divide_adds_up(small: Game) -> None:
    state = small.new_initial_state(seed=3)
    counts = divide(state, 3)
    assert sum(n for _, n in counts) == perft(state, 3)
    assert [w for w, _ in counts] == [state.action_to_string(a) for a in state.legal_actions()]


def test_traced_states_count_alike(small: Game) -> None:
    traced = small.new_initial_state(seed=3, trace=True)
    assert perft(traced, 3) == perft(small.new_initial_state(seed=3), 3)


def test_chance_that_stands_open_is_refused(small: Game) -> None:
    state = small.new_initial_state()
    with pytest.raises(PlayError, match="chance decides here"):
        perft(state, 1)
    state.apply_action(3)
    assert perft(state, 1) == 4
    with pytest.raises(PlayError, match="on the way"):
        perft(state, 2)


AT_ONCE = """
rule play:
    choose each p in player: show
    repeat 2 times:
        choose any p in player: call, or silence

state:
    called: 0 to 99

move show(n: 1 to 2):
    says "show {n}"

move call:
    says "call"
    increase called by 1

move silence:
    says "silence"
"""


def test_choices_at_once_are_made_by_seat_and_open_calls_name_who(tmp_path: Path) -> None:
    game = make(tmp_path, AT_ONCE)
    state = game.new_initial_state(seed=1)
    assert [perft(state, d) for d in (1, 2, 3, 4)] == [2, 4, 12, 36]
    state = play(game, "show 1", "show 2")
    assert divide(state, 2) == [("Ann call", 3), ("Bo call", 3), ("silence", 3)]


def test_known_counts_of_the_first_game() -> None:
    game = load_game("manila", players=3, offers=False)
    deal = [1, 2, 2, 3, 0, 0]
    state = game.new_initial_state(scripts={"deal": deal, "die_shows": [[3, 4, 2], [5, 1, 6], [2, 2, 4]]})
    assert [perft(state, d) for d in (1, 2)] == [55, 1541]
