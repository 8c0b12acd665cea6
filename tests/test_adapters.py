"""Rule sets as environments of other libraries: their own conformance tests, and what they cannot know to test."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harbourmaster.interpreter.adapters.encoding import Encoding
from harbourmaster.interpreter.adapters.observation import Observer
from harbourmaster.interpreter.adapters.turns import Turns
from harbourmaster.interpreter.errors import IllegalMove
from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.types import TextType

from .smallgame import make

RULE_SETS = [
    "manila",
    "manila+open-outcry",
    "manila+sealed-bids",
    "manila+loans=any-time",
    "dixit",
    "klondike",
    "draughts",
]
QUICK = ("manila+open-outcry", "dixit", "draughts")
"""Those that are tried in the quick suite where trying takes long."""
MOST = {"manila": 21_000, "dixit": 8_000, "klondike": 100, "draughts": 2_600}
"""How many numbers of actions are manageable."""

PENNIES = """\
rule play:
    choose each p in player: heads, tails

state:
    side[player]: 0 to 1 secret to its player

move heads:
    says "heads"
    side[actor] := 0

move tails:
    says "tails"
    side[actor] := 1

score p: 1 if (side[Ann] = side[Bo]) = (p is Ann) else -1
"""
RACE = """\
rule play:
    for n in 1 to 2:
        round := n
        choose any p in player: grab, or wait

state:
    round: 0 to 9
    points[player]: 0 to 99

move grab:
    says "grab"
    increase points[actor] by round

move wait:
    says "wait"

score p: points[p]
"""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The libraries' tests warn that our observations have masks, and that they cannot try all they would like to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def walk(turns: Turns, seed: int = 1, most: int = 80) -> Iterator[Turns]:
    """Plays by chance; yields it wherever somebody is asked."""
    numbers = Random(seed)
    for _ in range(most):
        if turns.is_over:
            return
        if turns.is_chance:
            outcomes = turns.outcomes()
            turns.take_outcome(outcomes[numbers.below(len(outcomes))][0])
            continue
        yield turns
        legal = sorted(turns.legal())
        turns.take(legal[numbers.below(len(legal))])


# --------------------------------------------------------------------------------------------- actions as numbers


@pytest.mark.parametrize("name", RULE_SETS)
def test_actions_have_numbers_of_a_manageable_range(name: str) -> None:
    game = load_game(name)
    encoding = Encoding(game)
    assert encoding.size <= MOST[name.split("+")[0]]
    moved = 0
    for turns in walk(Turns(game, encoding, 3)):
        assert turns.asked is not None
        legal = turns.legal()
        own = turns.state.legal_actions(turns.asked)
        assert len(legal) == len(own) + turns.may_pass
        for number, action in legal.items():
            assert 0 <= number < encoding.size
            if action is None:
                assert number == encoding.passing
                continue
            moved += 1
            assert encoding.decode(number) == action % game.program.actions
            assert encoding.encode(encoding.decode(number)) == number
    assert moved > 50


def test_a_number_means_the_same_everywhere() -> None:
    game = load_game("dixit")
    encoding = Encoding(game)
    state = game.new_initial_state(1)
    meanings = [state.decode(encoding.decode(n)) for n in range(encoding.moves)]
    assert len({(move.name, arguments) for move, arguments in meanings}) == encoding.moves
    story = next(m for m in game.program.moves if any(isinstance(t, TextType) for t in m.types))
    texts = [k for k, t in enumerate(story.types) if isinstance(t, TextType)]
    assert all(arguments[texts[0]] == story.lows[texts[0]] for move, arguments in meanings if move is story)
    with pytest.raises(ValueError, match="is no action"):
        encoding.decode(encoding.moves)


# ----------------------------------------------------------------------------------------------- what is observed


@pytest.mark.parametrize("name", RULE_SETS)
def test_observations_keep_their_length_and_bounds(name: str) -> None:
    game = load_game(name)
    encoding = Encoding(game)
    observer = Observer(game, encoding)
    assert len(observer.names) == len(set(observer.names)) == observer.low.size == observer.high.size
    for turns in walk(Turns(game, encoding, 3)):
        for player in range(game.num_players()):
            seen = observer.vector(turns.state, player, asked=turns.asked == player)
            assert seen.shape == observer.low.shape
            outside = [
                observer.names[k] for k in np.flatnonzero((seen < observer.low) | (seen > observer.high))
            ]
            assert outside == []


@pytest.mark.parametrize("name", ["manila", "manila+sealed-bids", "dixit", "klondike"])
def test_what_is_hidden_changes_no_observation(name: str) -> None:
    game = load_game(name)
    encoding = Encoding(game)
    observer = Observer(game, encoding)
    altered_slots = 0
    for turns in walk(Turns(game, encoding, 5), most=60):
        for player in range(game.num_players()):
            altered = turns.state.clone()
            seen = {slot for _, slot, _ in altered.visible(player)}
            for v in game.program.variables.values():
                if v.tally or v.visibility in ("all", "player"):
                    continue
                whole = v.width * int(np.prod([n for _, _, n in v.dims], dtype=int))
                for slot in range(v.slot, v.slot + whole):
                    low, high = game.program.bounds[slot]
                    if slot not in seen:
                        altered.position[slot] = low if altered.position[slot] == high else high
                        altered_slots += 1
            decision = altered.decision
            for p in range(game.num_players()):
                if decision is not None and decision.mode == "each" and p != player:
                    pending = altered.position[decision.pending + p]
                    altered.position[decision.pending + p] = pending + 1 if pending > 0 else pending
            before = observer.vector(turns.state, player, asked=turns.asked == player)
            assert (observer.vector(altered, player, asked=turns.asked == player) == before).all()
    assert altered_slots > 0


def test_what_a_player_has_chosen_he_alone_sees(tmp_path: Path) -> None:
    game = make(tmp_path, PENNIES)
    encoding = Encoding(game)
    observer = Observer(game, encoding)
    seen = []
    for number in range(2):
        turns = Turns(game, encoding, 1)
        turns.take(number)
        assert turns.asked == 1
        seen.append([observer.vector(turns.state, p, asked=turns.asked == p).tolist() for p in range(2)])
    assert seen[0][1] == seen[1][1]
    chosen = observer.names.index("chosen")
    assert [seen[n][0][chosen] for n in range(2)] == [1, 2]


# ------------------------------------------------------------------------------------------------- who is asked


def test_players_are_asked_in_turn_where_whoever_acts_first_acts(tmp_path: Path) -> None:
    game = make(tmp_path, RACE, players=3)
    encoding = Encoding(game)
    assert encoding.passing == encoding.moves
    orders = set()
    for seed in range(30):
        turns = Turns(game, encoding, seed)
        asked = []
        while turns.state.get("round") == 1:
            assert turns.may_pass and turns.asked is not None
            asked.append(turns.asked)
            turns.take(encoding.passing)
        assert sorted(asked) == [0, 1, 2]
        orders.add(tuple(asked))
        assert turns.state.returns() == [0, 0, 0] and turns.choices == 1
    assert len(orders) == 6


def test_without_a_seed_chance_says_who_is_asked(tmp_path: Path) -> None:
    game = make(tmp_path, RACE, players=3)
    turns = Turns(game, Encoding(game))
    assert turns.is_chance and turns.outcomes() == [(0, 1 / 3), (1, 1 / 3), (2, 1 / 3)]
    turns.take_outcome(1)
    assert turns.asked == 1
    assert turns.encoding.passing is not None
    turns.take(turns.encoding.passing)
    assert turns.outcomes() == [(0, 1 / 2), (2, 1 / 2)]
    turns.take_outcome(2)
    turns.take(turns.encoding.passing)
    assert turns.asked == 0 and not turns.is_chance  # the last one needs no drawing
    turns.take(0)
    assert turns.state.get("points", 0) == 1


def test_whose_decision_it_is_must_act_when_the_others_have_passed() -> None:
    game = load_game("manila+loans=any-time")
    encoding = Encoding(game)
    asked_others = 0
    for turns in walk(Turns(game, encoding, 2), most=300):
        assert turns.asked is not None
        if turns.asked != turns.state.current_player():
            asked_others += 1
            assert turns.may_pass and encoding.passing in turns.legal()
        else:
            assert not turns.may_pass and encoding.passing not in turns.legal()
    assert asked_others > 20


@pytest.mark.parametrize("seed", [None, 4])
@pytest.mark.parametrize("name", ["manila+open-outcry", "dixit"])
def test_copies_and_pickles_go_on_alike(name: str, seed: int | None) -> None:
    game = load_game(name)
    turns = Turns(game, Encoding(game), seed)
    for _ in walk(turns, most=25):
        pass
    for other in (turns.copy(), copy.deepcopy(turns), pickle.loads(pickle.dumps(turns))):
        mine = turns.copy()
        for _ in zip(walk(mine, 7, 30), walk(other, 7, 30), strict=True):
            assert mine.state.position == other.state.position and mine.asked == other.asked


def test_what_is_not_offered_is_refused_with_its_reason() -> None:
    game = load_game("manila")
    turns = Turns(game, Encoding(game), 1)
    before = turns.state.position[:]
    illegal = next(n for n in range(turns.encoding.size) if n not in turns.legal())
    with pytest.raises(IllegalMove) as caught:
        turns.take(illegal)
    assert caught.value.message == turns.state.why_not(turns.encoding.decode(illegal), turns.asked).reason  # type: ignore[union-attr]
    with pytest.raises(IllegalMove, match="there is no action"):
        turns.take(10**6)
    assert turns.state.position == before


# ----------------------------------------------------------------------------------------------------- PettingZoo


@pytest.mark.parametrize("name", RULE_SETS)
def test_pettingzoo_accepts_it(name: str) -> None:
    pytest.importorskip("pettingzoo")
    from harbourmaster.interpreter.adapters.pettingzoo import parallel_table_env, table_env
    from pettingzoo.test import api_test, parallel_api_test, seed_test

    api_test(table_env(name), num_cycles=100)
    seed_test(lambda: table_env(name), num_cycles=40)
    parallel_api_test(parallel_table_env(name), num_cycles=120)


@pytest.mark.parametrize("name", ["manila+open-outcry", "manila+sealed-bids", "dixit", "draughts"])
def test_rewards_are_the_returns(name: str) -> None:
    pytest.importorskip("pettingzoo")
    from harbourmaster.interpreter.adapters.pettingzoo import TableEnv

    env = TableEnv(name)
    env.reset(seed=6)
    numbers, sums = Random(6), dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, over, cut, _ = env.last()
        sums[agent] += reward
        assert env.observation_space(agent).contains(observation)
        if over or cut:
            assert not observation["action_mask"].any()
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"])
        assert set(legal) == set(env.turns.legal())
        others = [a for a in env.agents if a != agent]
        assert not any(env.observe(a)["action_mask"].any() for a in others)
        env.step(int(legal[numbers.below(len(legal))]))
    assert env.turns.state.is_terminal()
    assert list(sums.values()) == env.turns.state.returns()
    assert env.information_state("player_0") == env.turns.state.information_state_string(0)


def test_all_at_once_means_all_at_once(tmp_path: Path) -> None:
    pytest.importorskip("pettingzoo")
    from harbourmaster.interpreter.adapters.pettingzoo import ParallelTableEnv

    env = ParallelTableEnv(make(tmp_path, PENNIES).name, players=2)
    seen, _ = env.reset(seed=1)
    asked = env._seats.observer.names.index("asked")
    assert [seen[agent]["observation"][asked] for agent in env.agents] == [1, 1]
    _, rewards, over, _, _ = env.step({"player_0": 1, "player_1": 1})
    assert rewards == {"player_0": 1.0, "player_1": -1.0} and all(over.values()) and env.agents == []
    race = ParallelTableEnv(make(tmp_path / "race", RACE).name, players=2)
    wait, first = race.encoding.moves, set()
    for seed in range(12):
        race.reset(seed=seed)
        _, _, over, _, _ = race.step({"player_0": 0, "player_1": 0})
        assert not any(over.values())
        _, rewards, over, _, _ = race.step({"player_0": wait, "player_1": wait})
        assert all(over.values()) and sum(rewards.values()) == 1
        first.add(tuple(rewards.values()))
    assert len(first) == 2
    assert race.choices == 2
    race.reset(seed=1)
    with pytest.raises(IllegalMove, match="player_1 gave no action"):
        race.step({"player_0": 0})
    with pytest.raises(IllegalMove, match="player_1: 7 is not offered here"):
        race.step({"player_0": 0, "player_1": 7})


def test_games_that_do_not_end_are_truncated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pettingzoo")
    from harbourmaster.interpreter.adapters.gymnasium import SeatEnv
    from harbourmaster.interpreter.adapters.pettingzoo import TableEnv

    env = TableEnv("draughts")
    monkeypatch.setattr(env.game.program, "decision_budget", 4)
    env.reset(seed=1)
    for _ in range(4):
        assert not any(env.truncations.values())
        env.step(next(iter(env.turns.legal())))
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert env._cumulative_rewards == {"player_0": 0.0, "player_1": 0.0}
    alone = SeatEnv("draughts")
    monkeypatch.setattr(alone.game.program, "decision_budget", 4)
    alone.reset(seed=1)
    for _ in range(2):
        _, reward, over, cut, info = alone.step(np.int64(np.flatnonzero(alone.action_masks())[0]))
    assert (reward, over, cut) == (0.0, False, True) and not info["action_mask"].any()


# ------------------------------------------------------------------------------------------------------ Gymnasium


@pytest.mark.parametrize("name", RULE_SETS)
def test_gymnasium_accepts_it(name: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env
    from harbourmaster.interpreter.adapters.gymnasium import register

    env = gymnasium.make(register(), ruleset=name, seat=0, render_mode="ansi")
    check_env(env.unwrapped, skip_render_check=False)


def _episode(
    env: Any, seed: int, choose: Callable[[np.ndarray[Any, Any], Random], int]
) -> tuple[float, list[Any]]:
    """Plays an episode; gets the sum of rewards and all that was observed."""
    observation, info = env.reset(seed=seed)
    numbers, total, seen, done = Random(seed), 0.0, [observation], False
    while not done:
        mask = env.action_masks()
        assert (mask == info["action_mask"]).all() and mask.any()
        observation, reward, over, cut, info = env.step(np.int64(choose(np.flatnonzero(mask), numbers)))
        assert env.observation_space.contains(observation)
        total, done = total + reward, over or cut
        seen.append(observation)
    return total, seen


def any_of(legal: np.ndarray[Any, Any], numbers: Random) -> int:
    return int(legal[numbers.below(len(legal))])


@pytest.mark.parametrize("name", ["manila+open-outcry", "manila+loans=any-time", "dixit", "klondike"])
def test_an_episode_is_one_game_and_depends_on_its_seed(name: str) -> None:
    pytest.importorskip("gymnasium")
    from harbourmaster.interpreter.adapters.gymnasium import SeatEnv

    env = SeatEnv(name, seat=load_game(name).num_players() - 1)
    total, seen = _episode(env, 4, any_of)
    assert env.turns.state.is_terminal()
    assert total == env.turns.state.returns()[env.seat]
    assert all(o[0] == env.seat for o in seen)
    again, seen_again = _episode(SeatEnv(name, seat=env.seat), 4, any_of)
    assert again == total and all((a == b).all() for a, b in zip(seen, seen_again, strict=True))


def test_opponents_are_bots_by_name() -> None:
    pytest.importorskip("gymnasium")
    from harbourmaster.interpreter.adapters.gymnasium import SeatEnv

    env = SeatEnv("draughts", seat=1, opponents="greedy:1", native=False)
    assert env.opponents == ("greedy:1", "random")
    first = [o.tolist() for o in _episode(env, 3, any_of)[1]]
    assert first != [o.tolist() for o in _episode(SeatEnv("draughts", seat=1), 3, any_of)[1]]
    for wrong, told in [
        ({"opponents": "gredy"}, "no policy 'gredy'; did you mean 'greedy'?"),
        ({"opponents": ["random", "random"]}, "got 2 opponents, want 1 name or 1"),
        ({"seat": 2}, "there is no seat 2: the seats are 0 to 1"),
    ]:
        with pytest.raises(ValueError) as caught:
            SeatEnv("draughts", **wrong)  # type: ignore[arg-type]
        assert str(caught.value) == told


def test_what_is_not_offered_ends_the_episode() -> None:
    pytest.importorskip("gymnasium")
    from harbourmaster.interpreter.adapters.gymnasium import SeatEnv

    env = SeatEnv("manila", illegal_reward=-5.0)
    env.reset(seed=1)
    illegal = int(np.flatnonzero(~env.action_masks())[-1])
    _, reward, over, cut, info = env.step(np.int64(illegal))
    assert (reward, over, cut) == (-5.0, True, False) and info["illegal"]


# ------------------------------------------------------------------------------------------------------ OpenSpiel


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RULE_SETS]
)
def test_openspiel_accepts_it(name: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from harbourmaster.interpreter.adapters.openspiel import open_spiel_game

    game = open_spiel_game(name)
    assert game.num_players() == load_game(name).num_players()
    pyspiel.random_sim_test(game, num_sims=1, serialize=name != "klondike", verbose=False)
    again = pyspiel.load_game(str(game))
    assert str(again) == str(game) and again.num_distinct_actions() == game.num_distinct_actions()


def test_openspiel_plays_the_same_game() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from harbourmaster.interpreter.adapters.openspiel import open_spiel_game

    game = open_spiel_game("manila+sealed-bids", players=4)
    state, own = game.new_initial_state(), load_game("manila+sealed-bids", players=4).new_initial_state()
    numbers = Random(8)
    while not state.is_terminal():
        assert own.is_chance_node() == state.is_chance_node()
        if state.is_chance_node():
            outcomes, mine = state.chance_outcomes(), own.chance_outcomes()
            k = numbers.below(len(outcomes))
            assert [p for _, p in outcomes] == [p for _, p in mine]
            state.apply_action(outcomes[k][0])
            own.apply_action(mine[k][0])
            continue
        player = state.current_player()
        assert player == own.current_player()
        assert state.information_state_string(player).startswith(own.information_state_string(player))
        legal = state.legal_actions()
        words = [state.action_to_string(player, a) for a in legal]
        k = numbers.below(len(legal))
        at_once = player if own.is_simultaneous_node() else None
        own.apply_action(own.parse_action(words[k], player=player), at_once)
        state.apply_action(legal[k])
        copied = state.clone()
        assert str(copied) == str(state) and copied.history() == state.history()
    assert state.returns() == own.returns()
    with pytest.raises((pyspiel.SpielError, IllegalMove)):
        state.apply_action(0)


def test_openspiel_finds_that_chosen_at_once_is_not_seen(tmp_path: Path) -> None:
    """Were the first one's choice seen by the second, no solver would mix."""
    pytest.importorskip("pyspiel")
    cfr = pytest.importorskip("open_spiel.python.algorithms.cfr")
    from harbourmaster.interpreter.adapters.openspiel import open_spiel_game

    game = open_spiel_game(make(tmp_path, PENNIES).name, players=2)
    solver = cfr.CFRSolver(game)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    state = game.new_initial_state()
    policy = solver.average_policy()
    for _ in range(2):
        assert policy.action_probabilities(state)[0] == pytest.approx(0.5, abs=0.05)
        state.apply_action(0)
    assert state.returns() == [1, -1]
    assert game.min_utility() <= -1 and game.max_utility() >= 1


def test_openspiel_is_told_of_mistakes() -> None:
    pytest.importorskip("pyspiel")
    from harbourmaster.grammar.diagnostics import RulesError
    from harbourmaster.interpreter.adapters.openspiel import open_spiel_game

    with pytest.raises(RulesError, match="no game 'manlia'"):
        open_spiel_game("manlia")


def test_a_game_is_the_same_for_all() -> None:
    """Every adapter has the numbers of the game's own `Encoding`."""
    game: Game = load_game("draughts")
    size = Encoding(game).size
    pytest.importorskip("pettingzoo")
    from harbourmaster.interpreter.adapters.gymnasium import SeatEnv
    from harbourmaster.interpreter.adapters.pettingzoo import TableEnv

    assert SeatEnv("draughts").action_space.n == size  # type: ignore[attr-defined]
    assert TableEnv("draughts").action_space("player_0").n == size  # type: ignore[attr-defined]
