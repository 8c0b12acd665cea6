"""Tests the exact tools, interpreter/exact: each against a count of its own that is as plain as can be."""

from __future__ import annotations

import random
import signal
from fractions import Fraction
from pathlib import Path

import pytest
from harbourmaster.interpreter import native
from harbourmaster.interpreter.errors import BrokenRule, PlayError
from harbourmaster.interpreter.exact.endings import Value, value_of
from harbourmaster.interpreter.exact.outcomes import TooLarge
from harbourmaster.interpreter.exact.reach import Level, reachable
from harbourmaster.interpreter.exact.sequences import count_exactly, divide_exactly
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.perft import perft
from harbourmaster.interpreter.scenario_files import load_scenarios
from harbourmaster.interpreter.scenarios import state_of

from .smallgame import make, play, values
from .test_perft import RULES as GRABBING

BACKENDS = ["python", pytest.param("c", marks=pytest.mark.skipif(not native.compilers(), reason="no C here"))]
MANILA = Path(__file__).parents[1] / "rules" / "manila" / "scenarios" / "perft.yaml"

WEIGHTED = """
state:
    left: 0 to 9 = 5
    won[player]: 0 to 20
    face: 1 to 3
    deck: pile of fruit, up to 3

tally:
    rolled: 0 to 99

rule play:
    for f in fruit:
        put f on top of deck
    shuffle deck
    repeat:
        for p in player:
            end the game if left = 0
            choose p: lift
            draw f in fruit by f.price - 3 named luck
            increase won[p] by f.price - 5 if f is plum else 0
            roll face
            increase rolled by face

move lift(n: 1 to 3):
    says "lift {n}"
    needs n <= left else "there are not so many"
    decrease left by n
    increase won[actor] by 1 if left = 0 else 0

score p: won[p]
"""


def no_end(rules: str) -> str:
    """Writes what the language says otherwise: a conditional end."""
    return rules.replace("end the game if left = 0", "if left = 0:\n                end the game")


@pytest.fixture(scope="module")
def weighted(tmp_path_factory: pytest.TempPathFactory) -> Game:
    """A game of chance by weight (an apple has none, so it never comes), of shuffles and of rolls."""
    return make(tmp_path_factory.mktemp("weighted"), no_end(WEIGHTED))


@pytest.fixture(scope="module")
def grabbing(tmp_path_factory: pytest.TempPathFactory) -> Game:
    return make(tmp_path_factory.mktemp("grabbing"), GRABBING)


# ------------------------------------------------------------------------------- sequences, chance included


def slowly(state: State, depth: int) -> tuple[int, Fraction, Fraction, Fraction]:
    """Counts by the API, way by way: sequences, their chance probability, random play's, that of being over."""
    one, none = Fraction(1), Fraction(0)
    if depth == 0:
        return 1, one, one, none
    if state.is_terminal():
        return 0, none, none, one
    total = (0, none, none, none)
    steps = (
        [(a, Fraction(p).limit_denominator(10**6)) for a, p in state.chance_outcomes()]
        if (state.is_chance_node())
        else [(a, None) for a in state.legal_actions()]
    )
    for action, p in steps:
        after = state.clone()
        after.apply_action(action)
        n, chance, random, over = slowly(after, depth if p is not None else depth - 1)
        share = Fraction(1, len(steps)) if p is None else p
        total = (
            total[0] + n,
            total[1] + chance * (1 if p is None else p),
            total[2] + random * share,
            total[3] + over * share,
        )
    return total


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("name", ["weighted", "grabbing"])
def test_sequences_as_the_api_plays_them(name: str, depth: int, request: pytest.FixtureRequest) -> None:
    if (name, depth) == ("grabbing", 4):
        pytest.skip("a million ways")
    state = request.getfixturevalue(name).new_initial_state()
    before = state.position[:]
    c = count_exactly(state, depth)
    assert (c.sequences, c.mean, c.reached, c.over) == slowly(state, depth)
    assert c.reached + c.over == 1
    assert state.position == before


def test_the_mean_is_that_of_the_plain_counts(grabbing: Game) -> None:
    """Every fate of the three dice, counted one by one."""
    state = grabbing.new_initial_state()
    fates = [(a, b, c) for a in range(1, 7) for b in range(1, 7) for c in range(1, 7)]
    counts = [perft(grabbing.new_initial_state(scripts={"die": fate}), 3) for fate in fates]
    assert count_exactly(state, 3).mean == Fraction(sum(counts), len(fates))


def test_without_chance_it_is_the_plain_count() -> None:
    state = load_game("draughts", players=2).new_initial_state()
    for depth in range(5):
        c = count_exactly(state, depth)
        assert c.sequences == c.mean == perft(state, depth)


@pytest.mark.parametrize(
    "name", ["counts after the opening", "counts where the pirates may board, no loans offered"]
)
def test_sequences_of_manila(name: str) -> None:
    (case,) = [s.cases[0] for s in load_scenarios(MANILA) if s.cases[0].title == name]
    game = load_game("manila", players=case.players, offers=case.offers)
    state = state_of(case, game=game)
    assert state.streams is not None
    state.streams = None
    c = count_exactly(state, 2)
    assert (c.sequences, c.mean, c.reached, c.over) == slowly(state, 2)
    assert sum(n.sequences for _, n in divide_exactly(state, 2)) == c.sequences


def test_dividing_names_options_and_outcomes(weighted: Game) -> None:
    state = weighted.new_initial_state(seed=1)
    assert [words for words, _ in divide_exactly(state, 2)] == ["lift 1", "lift 2", "lift 3"]
    state = weighted.new_initial_state()
    counts = divide_exactly(state, 2)
    assert [words for words, _ in counts] == ["0", "1", "2"]
    assert sum(c.sequences for _, c in counts) == count_exactly(state, 2).sequences


def test_sequences_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TooLarge, match="positions have to be kept at once"):
        count_exactly(load_game("klondike").new_initial_state(), 1, memory=1)


# ------------------------------------------------------------------------------------- positions within reach


def levels_of(state: State, within: int) -> list[tuple[int, int]]:
    """Counts with sets of whole positions, by the API."""
    seen: set[tuple[int, ...]] = set()

    def settled(one: State) -> list[State]:
        if not one.is_chance_node():
            return [one]
        found = []
        for outcome in one.legal_actions():
            after = one.clone()
            after.apply_action(outcome)
            found += settled(after)
        return found

    def new(states: list[State]) -> list[State]:
        found = []
        for s in states:
            if s.key() not in seen:
                seen.add(s.key())
                found.append(s)
        return found

    level = new(settled(state.clone()))
    out = [level]
    for _ in range(within):
        after = []
        for s in level:
            for action in s.legal_actions():
                one = s.clone()
                one.apply_action(action)
                after += settled(one)
        level = new(after)
        out.append(level)
    return [(len(v), sum(s.is_terminal() for s in v)) for v in out]


def told(levels: list[Level]) -> list[tuple[int, int]]:
    return [(v.positions, v.over) for v in levels]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "within"), [("weighted", 3), ("grabbing", 2)])
def test_positions_of_small_games(
    name: str, within: int, backend: str, request: pytest.FixtureRequest
) -> None:
    state = request.getfixturevalue(name).new_initial_state()
    found = reachable(state, within, backend=backend)
    assert told(found.levels) == levels_of(state, within)
    assert (found.stopped, found.backend) == ("", backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "players", "within", "seed"),
    [("manila", 3, 2, 1), ("draughts", 2, 4, None), ("klondike", 1, 5, 3)],
)
def test_positions_of_games(name: str, players: int, within: int, seed: int | None, backend: str) -> None:
    state = load_game(name, players=players, offers=False).new_initial_state(seed)
    state.streams = None
    found = reachable(state, within, backend=backend)
    assert told(found.levels) == levels_of(state, within)


@pytest.mark.parametrize("backend", BACKENDS)
def test_dice_of_manila_come_out_in_every_way(backend: str) -> None:
    """From the last placing before a roll: 6 · 6 · 6 faces, each another position."""
    (case,) = [s.cases[0] for s in load_scenarios(MANILA) if s.cases[0].title == "counts after the opening"]
    state = state_of(case, game=load_game("manila", players=case.players, offers=False))
    state.streams = None
    within = 0
    while reachable(state, within + 1, backend="python").levels[-1].positions < 216:
        state.apply_action(state.legal_actions()[0])
    assert told(reachable(state, 1, backend=backend).levels) == levels_of(state, 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_positions_there_are(weighted: Game, backend: str) -> None:
    found = reachable(weighted.new_initial_state(), 99, backend=backend)
    assert found.closed
    assert found.levels[-1].positions == found.levels[-1].over
    assert not reachable(weighted.new_initial_state(), 1, backend=backend).closed


@pytest.mark.parametrize("backend", BACKENDS)
def test_full_memory_is_told(backend: str) -> None:
    state = load_game("draughts").new_initial_state()
    found = reachable(state, 99, memory=1, backend=backend)
    assert found.stopped == "memory"
    reached = told(found.levels)
    assert len(reached) > 4
    whole = told(reachable(state, len(reached) - 1, backend=backend).levels)
    assert reached[:-1] == whole[: len(reached) - 1]
    assert reached[-1][0] <= whole[len(reached) - 1][0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_interrupted_counts_tell_what_they_have(backend: str) -> None:
    state = load_game("draughts").new_initial_state()

    def interrupt(level: Level) -> None:
        if level.decisions == 4:
            signal.raise_signal(signal.SIGINT)

    found = reachable(state, 99, backend=backend, tick=interrupt)
    assert found.stopped == "interrupted"
    assert told(found.levels) == told(reachable(state, 4, backend="python").levels)


@pytest.mark.parametrize("backend", BACKENDS)
def test_broken_rules_are_told_in_the_same_words(backend: str, tmp_path: Path) -> None:
    game = make(tmp_path, no_end(WEIGHTED).replace("won[player]: 0 to 20", "won[player]: 0 to 1"))
    with pytest.raises(BrokenRule) as raised:
        reachable(game.new_initial_state(), 99, backend=backend)
    assert "got 2, want 0 to 1" in str(raised.value)


@pytest.mark.skipif(not native.compilers(), reason="no C compiler here")
def test_many_positions_are_left_to_c() -> None:
    state = load_game("draughts").new_initial_state()
    assert reachable(state, 3).backend == "python"
    found = reachable(state, 6)
    assert found.backend == "c"
    assert told(found.levels) == told(reachable(state, 6, backend="python").levels)


# -------------------------------------------------------------------------------------------------- endings


def worth(state: State, known: dict[tuple[int, ...], Value] | None = None) -> Value:
    """Works values out by the API alone."""
    known = {} if known is None else known
    if state.key() not in known:
        known[state.key()] = worth_anew(state, known)
    return known[state.key()]


def worth_anew(state: State, known: dict[tuple[int, ...], Value]) -> Value:
    players = range(state.game.num_players())
    if state.is_terminal():
        return tuple(Fraction(s) for s in state.scores())
    after: list[Value] = []
    if state.is_chance_node():
        odds = []
        for outcome, p in state.chance_outcomes():
            one = state.clone()
            one.apply_action(outcome)
            after.append(worth(one, known))
            odds.append(Fraction(p).limit_denominator(10**6))
        return tuple(sum((v[p] * w for v, w in zip(after, odds, strict=True)), Fraction(0)) for p in players)
    for action in state.legal_actions():
        one = state.clone()
        one.apply_action(action)
        after.append(worth(one, known))
    mover = state.current_player()
    return max(after, key=lambda v: v[mover])


def test_values_with_chance(weighted: Game) -> None:
    state = play(weighted, "lift 1", seed=2)
    state.streams = None
    found = value_of(state)
    assert found.value == worth(state)
    assert [o.words for o in found.options] == ["lift 1", "lift 2", "lift 3"]
    assert max(o.value[1] for o in found.options) == found.value[1]
    assert not found.open_hands


NIM = """
state:
    heap[1 to 3]: 0 to 5
    last: player or none

rule play:
    heap[1] := 3; heap[2] := 4; heap[3] := 5
    for p in clockwise from first of player, round and round:
        if (sum of heap[k] for k in 1 to 3) = 0:
            end the game
        choose p: lift, pass
        last := p

move lift(k: 1 to 3, n: 1 to 5):
    says "lift {n} from {k}"
    needs heap[k] >= n else "there are not so many"
    decrease heap[k] by n

move pass:
    says "pass"
    offered when PASSING

score p: 1 if last is p else -1
"""


@pytest.mark.parametrize(
    "moves", [(), ("lift 2 from 1",), ("lift 1 from 2",), ("lift 5 from 3", "lift 1 from 1")]
)
def test_nim_is_won_as_bouton_proved(moves: tuple[str, ...], tmp_path: Path) -> None:
    """Who faces heaps whose sizes have the exclusive or 0 loses (Annals of Mathematics, 1901)."""
    game = make(tmp_path, NIM.replace("PASSING", "no"))
    state = play(game, *moves)
    heaps = [state.get("heap", k) for k in (1, 2, 3)]
    wins = heaps[0] ^ heaps[1] ^ heaps[2] != 0
    mover = state.current_player()
    found = value_of(state)
    assert found.value[mover] == (1 if wins else -1)
    assert found.value[1 - mover] == -found.value[mover]
    assert found.undecided == 0
    for option in found.options:
        after = state.clone()
        after.apply_action(option.action)
        left = [after.get("heap", k) for k in (1, 2, 3)]
        assert option.value[mover] == (-1 if left[0] ^ left[1] ^ left[2] else 1)
    end = state.clone()
    for words in found.line:
        end.apply_action(end.parse_action(words))
    assert end.is_terminal()
    assert end.scores()[mover] == found.value[mover]


def test_circles_of_several_players_are_refused(tmp_path: Path) -> None:
    game = make(tmp_path, NIM.replace("PASSING", "yes"))
    with pytest.raises(PlayError, match="play can go round in a circle"):
        value_of(game.new_initial_state())


WALK = """
state:
    at: 1 to 6 = 3
    kept: 0 to 9

rule play:
    repeat:
        choose first of player: left, right, keep

move left:
    says "left"
    needs at > 1 else "no"
    decrease at by 1

move right:
    says "right"
    needs at < 6 else "no"
    increase at by 1

move keep:
    says "keep"
    kept := at * 5 mod 7
    end the game

score p: kept
"""


def test_a_circle_of_one_player_is_left_where_it_is_best(tmp_path: Path) -> None:
    found = value_of(make(tmp_path, WALK, players=1).new_initial_state())
    assert found.value == (Fraction(6),)  # at 4: 20 mod 7
    assert found.line == ("right", "keep")
    assert (found.positions, found.ends) == (12, 6)


def test_what_is_best_for_one_may_matter_to_others(tmp_path: Path) -> None:
    rules = """
state:
    won[player]: 0 to 9

rule play:
    choose first of player: give

move give(n: 0 to 3):
    says "give {n}"
    won[last of player] := n

score p: won[p]
"""
    found = value_of(make(tmp_path, rules).new_initial_state())
    assert found.value == (Fraction(0), Fraction(0))
    assert found.undecided == 1


SECRET = """
state:
    pot: 0 to 9
    HIDING

rule play:
    choose first of player: put_in
    choose last of player: put_in

move put_in(n: 1 to 2):
    says "put in {n}"
    increase pot by n

score p: pot if p is last of player else -pot
"""


@pytest.mark.parametrize(
    ("hiding", "refused"),
    [
        ("plan[player]: 0 to 5 secret to its player", True),
        ("plan: 0 to 5 hidden", True),
        ("plan: pile of fruit, up to 3 hidden", False),  # nothing lies there
        ("plan: 0 to 5", False),
    ],
)
def test_hidden_hands_are_not_valued_unasked(hiding: str, refused: bool, tmp_path: Path) -> None:
    state = make(tmp_path, SECRET.replace("HIDING", hiding)).new_initial_state()
    if refused:
        with pytest.raises(PlayError, match="'plan' is not seen by all"):
            value_of(state)
    found = value_of(state, open_hands=True)
    assert found.value == (Fraction(-3), Fraction(3))
    assert found.open_hands is refused


def test_choices_at_once_and_races_are_refused(tmp_path: Path) -> None:
    at_once = SECRET.replace("choose last of player", "choose each p in player").replace("HIDING", "")
    state = make(tmp_path / "each", at_once).new_initial_state()
    with pytest.raises(PlayError, match="several choose at once"):
        value_of(state)
    assert value_of(state, open_hands=True).open_hands
    race = SECRET.replace("choose last of player", "choose any p in player").replace("HIDING", "")
    with pytest.raises(PlayError, match="there is no best play"):
        value_of(make(tmp_path / "any", race).new_initial_state(), open_hands=True)


def test_endings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TooLarge, match="can follow from here"):
        value_of(load_game("draughts").new_initial_state(), memory=1)


def test_an_ending_of_draughts() -> None:
    """Random play down to three pieces: the same value as by the API, and the line leads there."""
    game = load_game("draughts+limit.quiet=4")
    state, numbers = game.new_initial_state(4), random.Random(4)
    while sum(values(state, "on")[i] >= 0 for i in range(36)) > 3:
        state.apply_action(numbers.choice(state.legal_actions()))
    found = value_of(state)
    assert found.positions > 1000
    assert found.value == worth(state)
    for words in found.line:
        state.apply_action(state.parse_action(words))
    assert tuple(state.scores()) == found.value
