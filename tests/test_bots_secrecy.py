"""No policy knows what its player cannot know: with the same random numbers it thinks the same of every option, however
what is hidden from it is altered.

What is altered is the game's history: one outcome of chance, or one secret choice of another, comes out otherwise, and
the rest is played as it was. Where the player has seen the same at every decision, all that a policy answers must be
the same: the choice, and what it thought of each option, to the last bit. A planted cheat shows that the test can fail.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest
from harbourmaster.interpreter.bots.changes import hides_anything
from harbourmaster.interpreter.bots.determinise import Dealer
from harbourmaster.interpreter.bots.policy import NAMES, ThinkingPolicy, make_policy
from harbourmaster.interpreter.bots.trail import Trail
from harbourmaster.interpreter.chance import Streams
from harbourmaster.interpreter.errors import IllegalMove
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.gamefiles import available_games
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.state import CHANCE

BUDGETS = {"greedy": "greedy:2", "montecarlo": "montecarlo:24r", "mcts": "mcts:32r"}
HIDING = {"manila": 3, "manila+sealed-bids": 3, "manila+open-outcry": 3, "dixit": 4, "klondike": 1}
"""The rule sets that hide something, and how many play."""
OPEN = {"draughts": 2}
History = list[tuple[int, int | None, int]]


@cache
def load(name: str) -> Game:
    """Loads a game once for all tests."""
    return load_game(name, players={**HIDING, **OPEN}[name])


def played(game: Game, choices: int, seed: int) -> State:
    """Plays so many choices by chance; chance is part of the history."""
    numbers, streams = random.Random(seed), Streams(seed, game.program.streams)
    state = game.new_initial_state()
    while not state.is_terminal() and choices >= 0:
        if state.is_chance_node():
            state.streams = streams
            outcome = state.sample()
            state.streams = None
            state.apply_action(outcome)
            continue
        choices -= 1
        if choices >= 0:
            state.apply_action(numbers.choice(state.legal_actions()))
    return state


def replayed(game: Game, history: History, player: int) -> tuple[State, list[str]]:
    """Plays a history again; gets the state and all that a player sees on the way. Raises `IllegalMove`."""
    state, seen = game.new_initial_state(), []
    for action, named, _ in history:
        if not state.is_chance_node():
            seen.append(state.information_state_string(player))
        state.apply_action(action, named)
    return state, [*seen, state.information_state_string(player)]


def alternatives(state: State, player: int) -> Iterator[State]:
    """Yields states with something hidden altered, in which the player has seen the same all along.

    Two outcomes of chance change places, or one is another, or another's choice with a secret parameter is.
    """
    game, history = state.game, state.choices()
    same = replayed(game, history, player)[1]
    changes = [*_swaps(history), *_replacements(game, history, player)]
    random.Random(len(history)).shuffle(changes)
    for change in changes[:80]:
        altered = [(change.get(n, action), named, actor) for n, (action, named, actor) in enumerate(history)]
        try:
            found, seen = replayed(game, altered, player)
        except IllegalMove:
            continue
        if seen == same and found.key() != state.key():
            yield found


def _swaps(history: History) -> Iterator[dict[int, int]]:
    outcomes = [(n, action) for n, (action, _, actor) in enumerate(history) if actor == CHANCE]
    for i, (n, a) in enumerate(outcomes):
        for m, b in outcomes[i + 1 :]:
            if a != b:
                yield {n: b, m: a}


def _replacements(game: Game, history: History, player: int) -> Iterator[dict[int, int]]:
    state = game.new_initial_state()
    for n, (action, named, actor) in enumerate(history):
        options = [] if actor == player else state.legal_actions(None if actor == CHANCE else actor)
        for other in options[:12]:
            if other != action:
                yield {n: other}
        state.apply_action(action, named)


def thoughts(state: State, player: int) -> dict[str, object]:
    """Gets what is dealt to a player, what each policy chooses, and what it thought of each option."""
    dealer = Dealer(state.game, player)
    dealer.look(state)
    found: dict[str, object] = {
        "dealt": [dealer.deal(n) for n in range(2)],
        "random": make_policy("random").choose(state, player, Random(7)),
    }
    for name in BUDGETS.values():
        policy = make_policy(name, native=False)
        assert isinstance(policy, ThinkingPolicy)
        action = policy.choose(state, player, Random(7))
        found[name] = action, [(c.action, c.count, c.total) for c in policy.choices]
    return found


def pairs(name: str, *, most: int) -> Iterator[tuple[State, State, int]]:
    """Yields states with an altered one each, at several moments of several games."""
    game = load(name)
    found = 0
    for seed in range(1, 9):
        for choices in (0, 3, 7, 12, 20):
            state = played(game, choices, seed)
            if state.is_terminal():
                break
            player = next(p for p in state.players_to_act() if state.legal_actions(p))
            if len(state.legal_actions(player)) < 2:
                continue
            for other in alternatives(state, player):
                yield state, other, player
                found += 1
                break
            if found == most:
                return


def test_every_policy_is_tried_in_every_game_that_hides_anything() -> None:
    assert set(BUDGETS) == set(NAMES) - {"random"}
    assert {name for name in {**HIDING, **OPEN} if hides_anything(load(name))} == set(HIDING)
    assert set(available_games()) <= {*HIDING, *OPEN}


@pytest.mark.parametrize("name", HIDING)
def test_altering_what_a_player_cannot_know_changes_nothing(name: str) -> None:
    tried, most = 0, 2 if name == "klondike" else 4  # a rollout takes long there
    for state, other, player in pairs(name, most=most):
        tried += 1
        assert state.choices() != other.choices()
        assert thoughts(state, player) == thoughts(other, player)
    assert tried == most


def peek(self: Dealer, number: int, expired: object = None) -> list[int]:
    """Deals the position as it is: a cheat."""
    return self._position[:]


def sees_all(self: Trail, *arguments: object) -> bool:
    """Says that every outcome of chance was seen: a cheat, too."""
    return True


@pytest.mark.parametrize(
    ("owner", "method", "cheat"),
    [(Dealer, "deal", peek), (Trail, "_is_seen", sees_all)],
    ids=["the position", "the history"],
)
def test_a_cheat_would_be_caught(
    owner: type, method: str, cheat: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, method, cheat)
    caught: set[str] = set()
    for state, other, player in pairs("manila", most=4):
        first, second = thoughts(state, player), thoughts(other, player)
        caught |= {name for name in first if first[name] != second[name]}
    assert caught == {"dealt", *BUDGETS.values()}
