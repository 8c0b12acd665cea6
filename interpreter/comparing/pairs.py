"""Plays pairs of games that share all chance: dice, shuffles and draws, and the choices of those who play.

Two games of a pair have one seed. What is rolled and drawn comes from the same named streams. Choices are coupled so: at
a decision every option gets a number drawn from the seed, the decision's rule and seat, how often that seat
has decided there, and the option's own name (its move and what it takes); the option with the smallest number
is chosen. In each game by itself every option is as likely as any other, independently of all before. In both
together the same option is chosen whenever both offer it and neither offers another with a smaller number:
games stay together as long as the rules let them, an option that only one offers changes the choice only when
it would be chosen, and because the count is kept for each rule and seat apart, games that have asked once
more on the way come together again.

A game that is played by policies gives each decision random numbers of its own by the same rule.

What a game was like is kept as one number worked out from all its decisions (who, what was offered, what was
chosen), so that "anything differed" can be told without keeping the games: two different games have the same
number once in 2^64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from .. import program as ir
from ..chance import GOLDEN, MASK, Streams, mix, stream_key
from ..game import Game, State
from ..playout import Endless, Random
from ..simulate import POLICIES, choose
from .lockstep import Side
from .matching import Match, option_names

if TYPE_CHECKING:
    from ..simulate import Policy

SPREAD = 0xD6E8FEB86659FD93
SEAT = 0xA0761D6478BD642F
COUNT = 0xE7037ED1A0B428DB


class Outcome(Struct, frozen=True):
    """How a game came out."""

    decisions: int
    winners: int
    """The seats that won, as a set."""
    scores: tuple[int, ...]
    figures: tuple[int, ...]
    """Those of the measures."""
    course: int
    """Tells its course from others."""


def name_key(name: str) -> int:
    """Gets the number of a name, of an option or of a decision."""
    return stream_key(0, name)


class Names(Struct):
    """The numbers of the options and decisions of one of two games, the same for what both have."""

    options: Callable[[int], int]
    decisions: list[int]


def names_of(match: Match) -> tuple[Names, Names]:
    """Gets the numbers of both games' options and decisions."""
    a, b = match.a.program, match.b.program
    name_a, name_b = option_names(a), option_names(b)

    def of_a(action: int) -> int:
        return name_key(name_a(action))

    def of_b(action: int) -> int:
        there = match.to_a(action)
        # what only the second has is told apart from a move of the same name in the first
        return name_key(name_a(there) if there >= 0 else f"+{name_b(action)}")

    return (
        Names(of_a, [name_key(f"{rule} {k}") for rule, k in match.decisions_a]),
        Names(of_b, [name_key(f"{rule} {k}") for rule, k in match.decisions_b]),
    )


def decision_key(seed_key: int, decision: int, seat: int, count: int) -> int:
    """Gets the number that the options' numbers at a decision are drawn with."""
    return mix((seed_key + decision + (seat + 1) * SEAT + count * COUNT) & MASK)


def policy_key(seed: int) -> int:
    """Gets the key of all choices of a game."""
    return stream_key(seed, "choices")


class PairedPlayer:
    """Plays one of two games by coupled chance."""

    def __init__(self, game: Game, names: Names) -> None:
        self.side = Side(game)
        self.program = game.program
        self.names = names
        self.keys: list[int | None] | dict[int, int] = {}
        n = self.program.actions
        self.known: dict[int, int] = {}
        self.actions = n
        self.number_at = {d.block: d.number for d in self.program.decisions}
        self.pending = {d.number: d.pending for d in self.program.decisions if d.mode == "each"}

    def play(self, seed: int) -> Outcome:
        """Plays one game. Raises `BrokenRule`, or `Endless` when the rules' budget of decisions is spent."""
        side, known, n = self.side, self.known, self.actions
        streams = Streams(seed, self.program.streams)
        key = policy_key(seed)
        counts: dict[tuple[int, int], int] = {}
        asks, number_at, decision_names = side.asks, self.number_at, self.names.decisions
        position, stop = side.start(streams)
        limit = self.program.decision_budget
        decisions = 0
        course = 0
        while stop is not None:
            decisions += 1
            if decisions > limit:
                raise Endless(limit)
            block = position[0]
            who = asks[block](position, stop)
            seat = who if who.__class__ is int else _seat(who)
            number = number_at[block]
            at = (number, seat)
            count = counts.get(at, 0)
            counts[at] = count + 1
            drawn = decision_key(key, decision_names[number], seat, count)
            best = MASK + 1
            offered = 0
            chosen = -1
            for option in stop:
                name = known.get(option)
                if name is None:
                    name = known[option] = self.named(option, n)
                offered += name
                value = (name ^ drawn) * SPREAD & MASK
                value = (value ^ value >> 32) * SPREAD & MASK
                if value < best:
                    best, chosen = value, option
            course = ((course ^ offered ^ known[chosen] * 3 ^ seat) * SPREAD + 1) & MASK
            course ^= course >> 29
            stop = side.apply(position, chosen, streams)
        return self.outcome(position, decisions, course)

    def named(self, option: int, n: int) -> int:
        """Gets the number of an option, whoever takes it."""
        return (self.names.options(option % n) + (option // n) * SEAT) & MASK

    def outcome(self, position: list[int], decisions: int, course: int) -> Outcome:
        """Gets how a game came out."""
        side = self.side
        winners = 0
        for p in side.winners(position):
            winners |= 1 << p
        return Outcome(decisions, winners, side.scores(position), side.measured(position), course)


def _seat(who: object) -> int:
    """Gets a seat where several may act: of those who choose at once the first; of whoever acts first, none."""
    assert isinstance(who, tuple)
    return who[1][0] if who[0] == "each" else -1


class PolicyPlayer:
    """Plays one of two games by policies that get the same random numbers in both."""

    def __init__(self, game: Game, names: Names, policies: Sequence[str]) -> None:
        self.game = game
        self.inner = PairedPlayer(game, names)
        self.policies = policies

    def play(self, seed: int) -> Outcome:
        """Plays one game."""
        game, inner = self.game, self.inner
        policies: list[Policy] = [POLICIES[name](game, seat) for seat, name in enumerate(self.policies)]
        state = game.new_initial_state(seed)
        key = policy_key(seed)
        counts: dict[tuple[int, int], int] = {}
        decisions = 0
        course = 0
        limit = game.program.decision_budget
        while not state.is_terminal():
            decisions += 1
            if decisions > limit:
                raise Endless(limit)
            decision = state.decision
            assert decision is not None
            who = inner.side.who(state.position, state.stop)
            seat = who if isinstance(who, int) else _seat(who)
            at = (decision.number, seat)
            count = counts.get(at, 0)
            counts[at] = count + 1
            numbers = Random(decision_key(key, inner.names.decisions[decision.number], seat, count))
            course = self.course(course, state, seat)
            action = choose(state, policies, numbers)
            course = (course ^ inner.named(action, inner.actions)) * SPREAD & MASK
            state.apply_action(action)
        return inner.outcome(state.position, decisions, course)

    def course(self, course: int, state: State, seat: int) -> int:
        """Adds who decides and what is offered to the number of a game's course."""
        inner = self.inner
        offered = sum(inner.named(a, inner.actions) for a in state.legal_actions())
        return ((course ^ offered ^ seat) * SPREAD + 1) & MASK


Player = PairedPlayer | PolicyPlayer


def players_of(match: Match, policies: Sequence[str]) -> tuple[Player, Player]:
    """Makes the players of both games; without policies, or with `random` for all, chance plays."""
    first, second = names_of(match)
    if all(p == "random" for p in policies):
        return PairedPlayer(match.a, first), PairedPlayer(match.b, second)
    return PolicyPlayer(match.a, first, policies), PolicyPlayer(match.b, second, policies)


def program_of(player: Player) -> ir.Program:
    """Gets the program that a player plays."""
    return player.inner.program if isinstance(player, PolicyPlayer) else player.program


__all__ = ["GOLDEN", "Outcome", "PairedPlayer", "PolicyPlayer", "players_of"]
