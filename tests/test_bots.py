"""Players for any rule set: they know no more than they may, keep to their budgets, and find good moves."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from harbourmaster.interpreter.bots.budget import Budget
from harbourmaster.interpreter.bots.determinise import Dealer, determinise
from harbourmaster.interpreter.bots.elo import fit, ratings
from harbourmaster.interpreter.bots.policy import NAMES, ThinkingPolicy, UnknownPolicy, make_policy
from harbourmaster.interpreter.bots.rollouts import Roller, Scale
from harbourmaster.interpreter.bots.tournament import Plan as TournamentPlan
from harbourmaster.interpreter.bots.tournament import Played, Seated, play_tournament
from harbourmaster.interpreter.bots.value import value, values
from harbourmaster.interpreter.chance import Streams
from harbourmaster.interpreter.errors import IllegalMove
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.native import NativeUnavailable, native_machine
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.simulate import POLICIES, Plan, choose, simulate
from harbourmaster.repl.bots import ThinkingBot, make_bot
from harbourmaster.repl.cli import main

from .smallgame import make, play
from .table import open_desk, open_session

RULE_SETS = [
    ("manila", 4),
    ("manila+sealed-bids", 3),
    ("manila+open-outcry", 3),
    ("dixit", 4),
    ("klondike", 1),
    ("draughts", 2),
]

LAST_ONE = """\
state:
    left: 0 to 9 = 7
    last: player or none
    turn: player

rule play:
    repeat while left > 0:
        choose turn: grab
        turn := left_of(turn)

move grab(n: 1 to 3):
    says "grab {n}"
    needs n <= left    else "there are {left} left"
    decrease left by n
    last := actor

score p: 1 if last is p else 0
"""

DUEL = """\
rule play:
    repeat while rounds < 3:
        choose each p in player: low, high
        for p in player:
            increase points[p] by worth_of(p)
        increase rounds by 1

define worth_of(p: player) -> 0 to 9: 2 if picked[p] and not picked[left_of(p)] else 1

state:
    picked[player]: yes or no
    points[player]: 0 to 99
    rounds: 0 to 9

move low:
    says "low"
    picked[actor] := no

move high:
    says "high"
    picked[actor] := yes

score p: points[p]
"""

BLUFF = """\
state:
    teller: player
    number: 1 to 6 secret to teller
    goal: 1 to 6 hidden
    said: 0 to 6
    points[player]: 0 to 99

rule play:
    roll number
    roll goal
    choose teller: say
    choose left_of(teller): believe, doubt

move say(n: 1 to 6):
    says "say {n}"
    said := n

move believe:
    says "believe"
    increase points[actor] by 1 if said = number else 0

move doubt:
    says "doubt"
    increase points[actor] by 1 if said is not number else 0

score p: points[p]
"""

BIDS = """\
rule play:
    repeat while price < 9:
        choose any p in player: raise, or silence
        increase price by 1

state:
    price: 0 to 99
    last: player or none

move raise(n: 1 to 2):
    says "raise {n}"
    needs last is not actor
    last := actor

move silence:
    says "silence"

score p: 1 if last is p else 0
"""


@cache
def load(name: str, players: int) -> Game:
    """Loads a game once for all tests."""
    return load_game(name, players=players)


def with_chance(game: Game, seed: int) -> Iterator[State]:
    """Yields a game's state wherever somebody decides, chance having been taken as actions."""
    state = game.new_initial_state()
    streams = Streams(seed, game.program.streams)
    while True:
        while state.is_chance_node():
            state.streams = streams
            outcome = state.sample()
            state.streams = None
            state.apply_action(outcome)
        if state.is_terminal():
            return
        yield state


def at(game: Game, choices: int, seed: int = 1) -> State:
    """Plays so many choices by chance; the history tells all."""
    numbers = random.Random(seed)
    for n, state in enumerate(with_chance(game, seed)):
        if n == choices:
            return state
        state.apply_action(numbers.choice(state.legal_actions()))
    raise AssertionError("the game was over before")


def seats_of(state: State) -> list[int]:
    """Gets the seats that may act."""
    return [p for p in state.players_to_act() if state.legal_actions(p)]


# ---------------------------------------------------------------------------------------------------------- names


def test_policies_have_names() -> None:
    assert NAMES == ("random", "greedy", "montecarlo", "mcts")
    for name in (*NAMES, "greedy:3", "montecarlo:50", "montecarlo:50r", "mcts:7r"):
        policy = make_policy(name)
        assert policy.name == name
        assert name in POLICIES
    kept = make_policy("mcts:250")
    assert isinstance(kept, ThinkingPolicy)
    assert kept.budget == Budget(seconds=0.25)


@pytest.mark.parametrize(
    ("name", "message", "help"),
    [
        ("montecarl", "no policy 'montecarl'", "did you mean 'montecarlo'?"),
        ("best", "no policy 'best'", "the policies are greedy, mcts, montecarlo, random"),
        ("random:3", "no policy 'random:3'", "did you mean 'random'?"),
        ("greedy:x", "'greedy:x': got 'x', want rollouts", "as in 'greedy:24'"),
        ("mcts:", "'mcts:': got '', want milliseconds, or rollouts with an r", "as in 'mcts:200' or ':500r'"),
        (
            "mcts:0",
            "'mcts:0': got '0', want milliseconds, or rollouts with an r",
            "as in 'mcts:200' or ':500r'",
        ),
    ],
)
def test_wrong_names_are_told(name: str, message: str, help: str) -> None:
    with pytest.raises(UnknownPolicy) as caught:
        make_policy(name)
    assert (str(caught.value), caught.value.help) == (message, help)
    assert name not in POLICIES
    assert make_bot(name) is None


# -------------------------------------------------------------------------------------------------- what is dealt


@pytest.mark.parametrize(("name", "players"), RULE_SETS)
@pytest.mark.parametrize("choices", [0, 3, 16])
def test_positions_that_are_dealt_look_the_same(name: str, players: int, choices: int) -> None:
    game = load(name, players)
    state = at(game, choices)
    for player in range(min(players, 2)):
        dealer = Dealer(game, player)
        dealer.look(state)
        seen = state.observation_string(player)
        dealt = [game.state_at(dealer.deal(n)) for n in range(5)]
        assert dealer.way == ("replayed" if dealer.hides else "as it is")
        assert dealer.hides == (not name.startswith("draughts"))
        for other in dealt:
            assert other.observation_string(player) == seen
            assert other.broken_invariants() == []
        if dealer.hides:
            assert len({s.key() for s in dealt}) > 1 or choices > 3
        else:
            assert all(s == state for s in dealt)


@pytest.mark.parametrize(("name", "players"), RULE_SETS[:1] + RULE_SETS[3:5])
def test_positions_are_dealt_without_a_history(name: str, players: int) -> None:
    game = load(name, players)
    state = game.state_at(at(game, 2).position)
    dealer = Dealer(game, 0)
    dealer.look(state)
    assert dealer.way == "dealt anew"
    dealt = [game.state_at(dealer.deal(n)) for n in range(3)]
    assert all(s.observation_string(0) == state.observation_string(0) for s in dealt)
    assert all(s.broken_invariants() == [] for s in dealt)
    assert len({s.key() for s in dealt}) > 1


@pytest.mark.parametrize("history", [True, False])
def test_what_one_player_alone_has_rolled_is_rolled_anew_for_others(tmp_path: Path, history: bool) -> None:
    game = make(tmp_path / "bluff", BLUFF)
    state = at(game, 0)
    if not history:
        state = game.state_at(state.position)
    number, goal = game.slot_of("number"), game.slot_of("goal")
    rolled = state.position[number]
    found = []
    for player in (0, 1):
        dealer = Dealer(game, player)
        dealer.look(state)
        dealt = [dealer.deal(n) for n in range(40)]
        found.append(({p[number] for p in dealt}, {p[goal] for p in dealt}))
    everything = set(range(1, 7))
    assert found == [({rolled}, everything), (everything, everything)]
    state.apply_action(state.legal_actions()[2])
    for name in ("greedy:40", "montecarlo:100r", "mcts:100r"):
        action = make_policy(name, native=False).choose(state, 1, Random(1))
        assert action is not None
        assert state.describe(action, 1) == "doubt"


def test_what_was_seen_and_is_hidden_again_is_remembered() -> None:
    game = load("klondike", 1)
    state = game.new_initial_state(seed=3)
    turns = redeals = 0
    while not redeals:
        words = {state.action_to_string(a): a for a in state.legal_actions()}
        redeals += "redeal" in words
        turns += "turn" in words
        state.apply_action(words.get("redeal", words.get("turn", state.legal_actions()[0])))
    stock = game.program.variables["stock"]
    face_down = game.program.variables["face_down"]
    dealer = Dealer(game, 0)
    dealer.look(state)
    known = state.position[stock.slot : stock.slot + stock.width]
    end = face_down.slot + 7 * face_down.width
    dealt = [dealer.deal(n) for n in range(5)]
    length = known[0]
    assert length > 5
    assert all(p[stock.slot : stock.slot + 1 + length] == known[: 1 + length] for p in dealt)
    assert len({tuple(p[face_down.slot : end]) for p in dealt}) == 5


# ---------------------------------------------------------------------------------------------------------- secrecy


def same_deals(a: State, b: State, player: int, count: int = 4) -> bool:
    """Tests if two states deal the same to a player."""
    dealers = Dealer(a.game, player), Dealer(b.game, player)
    for dealer, state in zip(dealers, (a, b), strict=True):
        dealer.look(state)
    return all(dealers[0].deal(n) == dealers[1].deal(n) for n in range(count)) and (
        determinise(a, player, Random(5)) == determinise(b, player, Random(5))
    )


def same_choices(a: State, b: State, player: int) -> bool:
    """Tests if policies choose the same in two states."""
    return all(
        make_policy(name, native=False).choose(a, player, Random(9))
        == make_policy(name, native=False).choose(b, player, Random(9))
        for name in ("greedy:2", "montecarlo:30r", "mcts:40r")
    )


def test_other_hands_that_were_dealt_change_nothing() -> None:
    """Deals games until two differ in nothing that the first player sees."""
    game = load("manila", 3)
    known: dict[str, State] = {}
    pairs = 0
    for seed in range(600):
        state = next(with_chance(game, seed))
        seen = state.observation_string(0)
        other = known.setdefault(seen, state)
        if other.key() != state.key():
            pairs += 1
            assert same_deals(other, state, 0)
            assert same_choices(other, state, 0)
            if pairs == 2:
                return
    raise AssertionError("no two games look alike")


@pytest.mark.parametrize(("name", "players"), [("manila", 3), ("dixit", 4), ("klondike", 1)])
@pytest.mark.parametrize("history", [True, False])
def test_altering_what_is_hidden_changes_nothing(name: str, players: int, history: bool) -> None:
    """Alters the position: with a history it is not asked, without one it is dealt anew."""
    game = load(name, players)
    state = at(game, 4)
    player = state.current_player()
    if not history:
        state = game.state_at(state.position)
    altered = state.clone()
    dealer = Dealer(game, player)
    dealer.look(state)
    contents, kinds = dealer._redealer.contents, dealer.sight.kinds(state.position)
    numbers = Random(1)
    changed = 0
    while changed < 5:
        position = altered.position[:]
        if contents.change(position, kinds, numbers) and not contents.broken(position):
            altered.position = position
            changed += 1
    assert altered.key() != state.key()
    assert altered.observation_string(player) == state.observation_string(player)
    assert same_deals(state, altered, player, 2)
    if name != "klondike":  # a rollout takes long there
        assert same_choices(state, altered, player)


def altered(state: State, number: int) -> State | None:
    """Plays a state's history again with one outcome of chance replaced; None where it cannot go on so."""
    other = state.game.new_initial_state()
    met = 0
    for action, named, actor in state.choices():
        if actor < 0:
            options = other.legal_actions()
            met += 1
            if met == number + 1:
                action = options[(options.index(action) + 1) % len(options)]
        try:
            other.apply_action(action, named)
        except IllegalMove:
            return None
    return other


def test_an_order_that_was_shuffled_changes_nothing() -> None:
    """Lets one shuffle come out otherwise, deep down in a pile that nobody has looked at."""
    game = load("dixit", 4)
    state = at(game, 3)
    player = state.current_player()
    outcomes = [a for a, _, actor in state.choices() if actor == -1]
    found = 0
    for n in range(len(outcomes)):
        other = altered(state, n)
        if other is None:
            continue
        if other.key() != state.key() and other.observation_string(player) == state.observation_string(
            player
        ):
            found += 1
            assert same_deals(state, other, player, 2)
            if found == 3:
                assert same_choices(state, other, player)
                break
    assert found == 3


def test_secret_choices_of_others_change_nothing(tmp_path: Path) -> None:
    game = make(tmp_path / "duel", DUEL)
    low, high = game.new_initial_state(seed=1).legal_actions()
    states = []
    for first in (low, high):
        state = game.new_initial_state(seed=1)
        state.apply_action(low, 0)
        state.apply_action(high, 1)
        state.apply_action(first, 0)
        states.append(state)
    assert states[0].key() != states[1].key()
    assert same_deals(states[0], states[1], 1)
    assert same_choices(states[0], states[1], 1)
    dealer = Dealer(game, 1)
    dealer.look(states[0])
    assert len({tuple(dealer.deal(n)) for n in range(12)}) == 2


def test_secret_parameters_of_others_change_nothing() -> None:
    game = load("dixit", 4)
    start = at(game, 0)
    storyteller = start.current_player()
    states = []
    for action in start.legal_actions()[:2]:
        state = start.clone()
        state.apply_action(action)
        states.append(state)
    player = states[0].current_player()
    assert player != storyteller
    assert states[0].observation_string(player) == states[1].observation_string(player)
    assert same_deals(states[0], states[1], player)
    assert same_choices(states[0], states[1], player)


# --------------------------------------------------------------------------------------------- all games, budgets


@pytest.mark.parametrize(("name", "players"), RULE_SETS)
@pytest.mark.parametrize("policy", ["random", "greedy:1", "montecarlo:12r", "mcts:16r"])
def test_every_policy_plays_every_game(name: str, players: int, policy: str) -> None:
    game = load(name, players)
    state = game.new_initial_state(seed=2)
    seats = [make_policy(policy, native=False).choose for _ in range(players)]
    numbers = Random(2)
    for _ in range(2 if name == "klondike" else 24):
        if state.is_terminal():
            break
        state.apply_action(choose(state, seats, numbers))


@pytest.mark.parametrize("policy", ["greedy:3", "montecarlo:60r", "mcts:60r"])
def test_the_same_numbers_choose_the_same(policy: str) -> None:
    game = load("manila", 4)
    state = at(game, 30)
    player = state.current_player()
    chosen = {make_policy(policy, native=False).choose(state, player, Random(n % 2)) for n in range(4)}
    assert len(chosen) <= 2
    kept = make_policy(policy, native=False)
    for _ in range(2):
        assert kept.choose(state, player, Random(1)) == make_policy(policy, native=False).choose(
            state, player, Random(1)
        )


def test_rollouts_are_the_same_on_native_code() -> None:
    game = load("draughts", 2)
    try:
        native_machine(game)
    except NativeUnavailable:
        pytest.skip("no compiler here")
    state = at(game, 8)
    slow, fast = Roller(game, native=False), Roller(game, patience=None)
    assert (slow.backend, fast.backend) == ("python", "c")
    for action in (-1, *state.legal_actions()[:3]):
        assert slow.play(state.position, action, 77, 5) == fast.play(state.position, action, 77, 5)
    for name in ("greedy:6", "montecarlo:40r", "mcts:60r"):
        thought = []
        for native in (False, None):
            policy = make_policy(name, native=native)
            assert isinstance(policy, ThinkingPolicy)
            chosen = policy.choose(state, state.current_player(), Random(3))
            thought.append((chosen, [(c.action, c.count, c.total) for c in policy.choices]))
        assert thought[0] == thought[1]


RISKY = """\
state:
    sum: 0 to 9
    die: 1 to 6

rule play:
    repeat while sum < 5:
        choose left_of(last): wait, throw

state:
    last: player

move wait:
    says "wait"
    last := actor
    increase sum by 1

rule throw_die:
    roll die
    increase sum by die

move throw:
    says "throw"
    last := actor
    throw_die()

score p: sum if last is p else 0
"""


@pytest.mark.parametrize(
    "rules", [DUEL, BIDS, BLUFF, LAST_ONE, RISKY], ids=["each", "any", "secret", "one", "risky"]
)
def test_rollouts_by_taste_are_the_same_on_native_code(tmp_path: Path, rules: str) -> None:
    """With every kind of decision; rollouts that go wrong (a sum out of its range) are left out and teach nothing."""
    game = make(tmp_path / "game", rules)
    try:
        native_machine(game)
    except NativeUnavailable:
        pytest.skip("no compiler here")
    slow, fast = Roller(game, native=False), Roller(game, patience=None)
    assert (slow.backend, fast.backend) == ("python", "c")
    position = at(game, 0).position
    tastes = slow.taste(3, 2, 0), fast.taste(3, 2, 0)
    learnt = 0
    for seed in range(4):
        played = [
            roller.play(position, -1, seed, 50, 7, taste)
            for roller, taste in zip((slow, fast), tastes, strict=True)
        ]
        assert played[0] == played[1]
        assert (len(played[0]) < 50) == (rules is RISKY)
    for action in range(game.program.actions):
        for seat in range(game.num_players()):
            values = [taste.value_of(seat, action) for taste in tastes]
            assert values[0] == values[1]
            learnt += values[0] < 1
    assert learnt > 1


def test_taste_comes_to_prefer_what_wins(tmp_path: Path) -> None:
    game = make(tmp_path / "last-one", LAST_ONE)
    state = game.new_initial_state(seed=1)
    roller = Roller(game, native=False)
    taste = roller.taste(4, 1, 0)
    player = state.current_player()
    wins = [
        sum(r[0] >> player & 1 for r in roller.play(state.position, -1, 5, 400, 0, t)) for t in (None, taste)
    ]
    best = state.parse_action("grab 3")
    others = [a for a in state.legal_actions() if a != best]
    assert all(taste.value_of(player, best) > taste.value_of(player, a) for a in others)
    assert wins[1] > wins[0]


def test_budgets_are_kept() -> None:
    game = load("manila", 4)
    state = at(game, 5)
    player = state.current_player()
    for name, most in (("montecarlo:100r", 100), ("mcts:100r", 100 + 8), ("greedy:4", 1 << 30)):
        policy = make_policy(name, native=False)
        assert isinstance(policy, ThinkingPolicy)
        policy.choose(state, player, Random(1))
        spent = policy.thinker(game, player).meter.spent
        assert spent <= most
        assert spent >= 4 * len(policy.choices)
    policy = make_policy("montecarlo:60", native=False)
    start = time.perf_counter()
    policy.choose(state, player, Random(1))
    assert 0.05 < time.perf_counter() - start < 2


def test_thinking_can_be_stopped() -> None:
    state = at(load("manila", 4), 5)
    player = state.current_player()
    for name in ("greedy:100000", "montecarlo:60000", "mcts:60000", "montecarlo:900000r"):
        policy = make_policy(name, native=False)
        begun = time.perf_counter()
        policy.stop = lambda begun=begun: time.perf_counter() - begun > 0.1  # type: ignore[misc]
        if name.startswith("greedy"):
            policy.stop = lambda: True
            policy = make_policy("greedy:100", native=False)
            policy.stop = lambda: True
        assert policy.choose(state, player, Random(1)) in state.legal_actions(player)
        assert time.perf_counter() - begun < 3


# ------------------------------------------------------------------------------------------------------ good moves


@pytest.mark.parametrize("name", ["montecarlo:300r", "mcts:300r"])
@pytest.mark.parametrize(("left", "best"), [(7, "grab 3"), (6, "grab 2"), (5, "grab 1"), (3, "grab 3")])
def test_the_winning_move_is_found(tmp_path: Path, name: str, left: int, best: str) -> None:
    game = make(tmp_path / "last-one", LAST_ONE)
    state = game.new_initial_state(seed=1)
    state.position[game.slot_of("left")] = left
    state = game.state_at(state.position)
    chosen = make_policy(name, native=False).choose(state, state.current_player(), Random(4))
    assert chosen is not None
    assert state.action_to_string(chosen) == best


def test_choices_at_once_are_thought_about(tmp_path: Path) -> None:
    game = make(tmp_path / "duel", DUEL)
    state = game.new_initial_state(seed=1)
    for name in ("greedy:60", "montecarlo:200r", "mcts:200r"):
        action = make_policy(name, native=False).choose(state, 1, Random(4))
        assert action is not None
        assert state.describe(action, 1) == "high"


MANY = """\
state:
    told[player]: 0 to 3000
    turn: player

rule play:
    repeat while told[turn] = 0:
        choose turn: write
        turn := left_of(turn)

move write(n: 1 to 3000):
    says "write {n}"
    needs told[actor] = 0    else "you have told one"
    told[actor] := n

score p: told[p]
"""


@pytest.mark.parametrize("name", ["montecarlo:320r", "mcts:320r"])
def test_of_very_many_options_some_are_tried_well(tmp_path: Path, name: str) -> None:
    game = make(tmp_path / "many", MANY)
    state = game.new_initial_state(seed=1)
    policy = make_policy(name, native=False)
    assert isinstance(policy, ThinkingPolicy)
    player = state.current_player()
    action = policy.choose(state, player, Random(2))
    assert action is not None
    tried = [c for c in policy.choices if c.count]
    assert len(policy.choices) == 3000
    assert 8 <= len(tried) <= 80
    assert max(c.count for c in tried) >= 10
    assert state.describe(action, player) in {
        state.describe(c.action, player)
        for c in sorted(tried, key=lambda c: c.coded)[-20:]
        if c.action is not None
    }


def test_who_may_keep_silent_speaks_when_it_pays(tmp_path: Path) -> None:
    game = make(tmp_path / "bids", BIDS)
    state = game.new_initial_state(seed=1)
    state.position[game.slot_of("price")] = 8
    state = game.state_at(state.position)
    policy = make_policy("montecarlo:200r", native=False)
    action = policy.choose(state, 1, Random(1))
    assert action is not None
    assert state.actor(action) == 1
    state.apply_action(next(a for a in state.legal_actions() if state.actor(a) == 1))
    state = game.state_at(at(game, 0).position)
    answers = {make_policy("random").choose(state, 0, Random(n)) for n in range(20)}
    assert None in answers
    assert len(answers) > 1


def test_values_tell_moves_apart(tmp_path: Path) -> None:
    game = make(tmp_path / "last-one", LAST_ONE)
    state = play(game, "grab 1", "grab 1")  # 5 are left: one to take, and whoever is to move has lost
    roller = Roller(game, native=False)
    found = values(state, state.current_player(), budget=Budget(rollouts=900), roller=roller)
    assert next(state.action_to_string(v.action) for v in found if v.action is not None) == "grab 1"
    assert sum(v.rollouts for v in found) <= 900
    best, worst = found[0], found[-1]
    assert best.wins.low > worst.wins.high
    assert 0 <= worst.wins.mean < best.wins.mean <= 1
    assert best.lead.mean == pytest.approx(2 * best.wins.mean - 1)
    again = value(state, best.action, state.current_player(), budget=Budget(rollouts=300), roller=roller)
    assert again.points.mean == pytest.approx(best.points.mean, abs=0.15)


def test_a_result_is_worth_more_with_a_win_and_a_lead() -> None:
    scale = Scale(3)
    results = [(0b001, 9, 5, 1), (0b010, 3, 5, 1), (0b011, 5, 5, 1)]
    scale.learn(results)
    worth = [scale.worth(r, 0) for r in results]
    assert worth[0] > worth[2] > worth[1]
    assert all(0 <= scale.worth(r, p) <= 1 for r in results for p in range(3))


# ---------------------------------------------------------------------------------------------------- tournaments


def test_ratings_are_those_of_the_odds() -> None:
    stronger, weaker = fit([(0, 1, 1.0)] * 750 + [(0, 1, 0.0)] * 250, 2)
    assert stronger - weaker == pytest.approx(190.85, abs=2)
    assert stronger + weaker == pytest.approx(0)
    found = ratings([[(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]] * 10, 3)
    assert found[0].elo > found[1].elo > found[2].elo
    mixed = ratings([[(0, 1, float(n % 3 > 0))] for n in range(60)], 2)
    assert mixed[0].low < mixed[0].elo < mixed[0].high
    assert mixed[0].low > mixed[1].high


@pytest.mark.parametrize("games", [2, 4, 10, 40])
def test_intervals_of_ratings_hold_the_truth(games: int) -> None:
    """However few the games, and even where all ended alike: 300 points apart, in 95 % of 60 tournaments or more."""
    numbers = random.Random(games)
    won = 1 / (1 + 10 ** (-300 / 400))
    held = 0
    for _ in range(60):
        found = ratings([[(0, 1, float(numbers.random() < won))] for _ in range(games)], 2)
        held += found[0].low <= 150 <= found[0].high and found[1].low <= -150 <= found[1].high
    assert held >= 57


def test_intervals_of_ratings_narrow_with_games() -> None:
    few, many = (
        ratings([[(0, 1, float(n % 3 > 0)), (1, 2, float(n % 2))] for n in range(m)], 3)[0] for m in (6, 60)
    )
    assert few.high - few.low > 2 * (many.high - many.low) > 0


def test_seats_are_rotated_with_the_same_chance() -> None:
    plan = TournamentPlan("manila", 4, ("a", "b", "c"), 24)
    lined = [plan.line_up(n) for n in range(24)]
    assert [row for _, row in lined[:4]] == [[0, 1, 2, 0], [0, 0, 1, 2], [2, 0, 0, 1], [1, 2, 0, 0]]
    assert len({seed for seed, _ in lined[:4]}) == 1
    assert len({seed for seed, _ in lined}) == 6
    for seat in range(4):
        assert sorted(row[seat] for _, row in lined) == sorted([0, 1, 2] * 8)


def test_a_tournament_ranks_and_repeats(tmp_path: Path) -> None:
    game = make(tmp_path / "last-one", LAST_ONE)
    plan = TournamentPlan(game.name, 2, ("montecarlo:120r", "greedy:2", "random"), 24, native=False)
    table = play_tournament(plan)
    assert [s.policy for s in table.standings] == ["montecarlo:120r", "greedy:2", "random"]
    assert table.games == 24
    assert not table.problems
    assert [s.seats for s in table.standings] == [16, 16, 16]
    assert sum(s.wins for s in table.standings) == pytest.approx(24)
    first, second = table.as_dict(), play_tournament(plan, jobs=2).as_dict()
    for data in (first, second):
        del data["seconds"]
        for p in data["policies"]:
            del p["milliseconds_a_choice"]
    assert first == second
    assert first["policies"][0]["elo"] > 0
    assert [(p.policy, p.other, p.games) for p in table.pairs] == [
        ("montecarlo:120r", "greedy:2", 8),
        ("montecarlo:120r", "random", 8),
        ("greedy:2", "random", 8),
    ]
    for pair in table.pairs:
        assert pair.ahead + pair.level + pair.behind == 8
        low, high = pair.interval()
        assert 0 <= low <= pair.share <= high <= 1
    won = {s.policy: s.wins for s in table.standings}
    assert sum(p.ahead for p in table.pairs[:2]) == won["montecarlo:120r"]


def test_a_tournament_that_is_interrupted_tells_of_the_games_that_were_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make(tmp_path / "last-one", LAST_ONE)
    plan = TournamentPlan(game.name, 2, ("greedy:2", "random"), 24, native=False)

    def interrupt(done: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    table = play_tournament(plan, progress=interrupt)
    assert table.interrupted
    assert table.games == 5
    assert sum(s.seats for s in table.standings) == 10
    whole = play_tournament(plan)
    assert not whole.interrupted

    def at_once(self: Seated, number: int) -> Played:
        if number == stop_at:
            raise KeyboardInterrupt
        return play_game(self, number)

    play_game, stop_at = Seated.play, 3
    monkeypatch.setattr(Seated, "play", at_once)
    base = ["tournament", game.name, "--backend", "python", "--games", "8", "--policy", "greedy:1,random"]
    assert main(base) == 130
    assert "3 games in" in (told := capsys.readouterr().out)
    assert "then interrupted; 8 were to be played" in told
    stop_at = 0
    assert main(base) == 130
    assert capsys.readouterr().out == ""


def test_the_tournament_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = make(tmp_path / "last-one", LAST_ONE)
    base = ["tournament", game.name, "--backend", "python", "--games", "4"]
    assert main([*base, "--policy", "greedy:1,random", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["games"] == 4
    assert [(p["policy"], p["other"]) for p in data["pairs"]] == [
        tuple(p["policy"] for p in data["policies"])
    ]
    assert {p["policy"] for p in data["policies"]} == {"greedy:1", "random"}
    assert main([*base, "--policy", "greedy:1,random"]) == 0
    assert "Elo" in capsys.readouterr().out
    assert main([*base, "--policy", "best"]) == 2
    assert "no policy 'best'" in capsys.readouterr().err
    assert main([*base, "--policy", "random,random"]) == 2
    assert "got 1 policy" in capsys.readouterr().err


def test_a_game_for_one_is_a_tournament_on_the_same_deals() -> None:
    plan = TournamentPlan("klondike", 1, ("a", "b"), 4)
    assert [plan.line_up(n)[1] for n in range(4)] == [[0], [1], [0], [1]]
    assert plan.line_up(0)[0] == plan.line_up(1)[0] != plan.line_up(2)[0]


def test_policies_play_seats_of_a_simulation() -> None:
    plan = Plan("manila", 3, 4, 5, backend="python", policies=("greedy:2", "random", "montecarlo:10r"))
    first, second = simulate(plan), simulate(plan)
    assert first.totals == second.totals
    assert first.totals.games == 4


# ------------------------------------------------------------------------------------------------------- the table


def test_thinking_bots_sit_at_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path))
    desk = open_desk("manila", 3, ("Ann", "Bo=montecarlo:15r", "Cy=greedy:1"))
    assert [s.kind for s in desk.session.seats] == ["human", "montecarlo:15r", "greedy:1"]
    session = open_session(load("dixit", 3), ("greedy:1", "montecarlo:5r", "mcts:9r"))
    for _ in range(12):
        assert session.bots_turn()
    bot = session.seats[1].bot
    assert isinstance(bot, ThinkingBot)
    assert isinstance(bot.policy, ThinkingPolicy)
    assert bot.policy.thinker(session.game, 1).dealer.way == "replayed"


def test_ctrl_c_has_a_bot_choose_at_once() -> None:
    state = at(load("manila", 4), 5)
    player = state.current_player()
    bot = make_bot("montecarlo:15000")
    assert bot is not None
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    action = bot.choose(state, player, state.legal_actions(player), random.Random(1), may_pass=False)
    assert action in state.legal_actions(player)
    assert time.monotonic() - begun < 5
    assert signal.getsignal(signal.SIGINT) is before


# --------------------------------------------------------------------------------------------------------- strength


@pytest.mark.slow
def test_montecarlo_beats_chance() -> None:
    policies = ("montecarlo:100", "random", "random", "random")
    table = play_tournament(TournamentPlan("manila", 4, policies, 24))
    best = table.standings[0]
    assert best.policy == "montecarlo:100"
    assert best.win_share >= 0.9
