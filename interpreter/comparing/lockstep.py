"""Plays two games in step: the same chance, the same choices, until they part.

At every stop the two are held against each other: is it over, who decides, what is offered, what lies on the
table as far as both know it (the secret parts too), and at the end how it came out. What only one game has (a
variable of its own) and what nobody ever sees (tallies, hidden piles) is no parting by itself; it shows as
soon as it matters.

All runs on bare positions and the fast machines; states with words are made only to tell what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from .. import program as ir
from ..chance import Streams
from ..errors import BrokenRule
from ..game import Game
from ..positions import decode, evaluate
from ..python_backend import Position, Stop
from .matching import Element, Match

Kind = Literal["broken", "over", "decider", "options", "state", "outcome", "sight", "chance"]

Who = int | tuple[str, tuple[int, ...]]
"""Who decides: one seat, or how several do and which."""


START = 5
"""To start a game counts as so many decisions."""


class Parting(Struct, frozen=True):
    """Where two games that were in step are so no more, and in what; several may hold at once.

    `only_a` are actions of the first game that the second does not offer, as the first numbers them; `only_b`
    the other way round. Options are compared only where the same players decide.
    """

    kind: Kind
    state: tuple[Element, ...] = ()
    who: tuple[Who | None, Who | None] = (None, None)
    only_a: tuple[int, ...] = ()
    only_b: tuple[int, ...] = ()
    scores: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    winners: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    trouble: tuple[BrokenRule | None, BrokenRule | None] = (None, None)
    seen: tuple[Element, ...] = ()
    """What others see in one game than in the other, and is no longer as at the start."""
    shown: int = -1
    """The action just taken that is secret in one game where it is not in the other."""
    drawn: Odds | None = None
    """The draw that can come out otherwise in one game than in the other, or with other odds."""


class Odds(Struct, frozen=True):
    """What can come out of one draw in each of the two games: outcomes with their weights."""

    stream: int
    row: int
    a: tuple[tuple[int, int], ...]
    b: tuple[tuple[int, int], ...]


class Side:
    """One of the two games, run on bare positions."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.program = game.program
        self.machine = machine = game.machine()
        self.blocks, self.appliers = machine.blocks, machine.appliers
        self.informers, self.outcomes = machine.chance_info, machine.outcomes
        self.decision_at: dict[int, ir.Decision] = {d.block: d for d in self.program.decisions}
        self.asks = {d.block: _asker(self.program, d) for d in self.program.decisions}
        names = machine.names
        self.score = names[self.program.score] if self.program.score else None
        self.tie_break = names[self.program.tie_break] if self.program.tie_break else None
        self.figures = [(names[m.function], m.per) for m in self.program.measures]
        self.seats = range(self.program.players)

    def run(self, position: Position, place: int | Stop, streams: Streams) -> Stop:
        """Runs on to the next decision or the end, chance drawn from the streams. Raises `BrokenRule`."""
        blocks = self.blocks
        budget = self.machine.budget
        while True:
            while place.__class__ is int:
                place = blocks[place](position)
            if place.__class__ is not tuple:
                return place  # type: ignore[return-value]
            node = place[0]
            stream, row, ordinal, low, count, weigh = self.informers[node](position)
            budget[0] = 0
            weights = count if weigh is None else [weigh(position, low + i) for i in range(count)]
            place = self.outcomes[node](position, streams.outcome(stream, row, ordinal, low, weights))

    def start(self, streams: Streams) -> tuple[Position, Stop]:
        """Starts a game and runs it to its first decision."""
        position = self.program.initial[:]
        self.machine.budget[0] = 0
        return position, self.run(position, self.program.start, streams)

    def apply(self, position: Position, action: int, streams: Streams) -> Stop:
        """Makes a move, in place, and runs on to the next decision or the end."""
        self.machine.budget[0] = 0
        return self.run(position, self.appliers[position[0]](position, action), streams)

    def who(self, position: Position, stop: Stop) -> Who:
        """Gets who decides where the game stands at a decision."""
        return self.asks[position[0]](position, stop)

    def scores(self, position: Position) -> tuple[int, ...]:
        """Gets the scores by seat."""
        return tuple(self.score(position, p) for p in self.seats) if self.score else (0,) * len(self.seats)

    def winners(self, position: Position) -> tuple[int, ...]:
        """Gets the seats with the best score, the tie break considered."""
        tie = self.tie_break
        keys = [(s, tie(position, p) if tie else 0) for p, s in enumerate(self.scores(position))]
        best = max(keys)
        return tuple(p for p, k in enumerate(keys) if k == best)

    def measured(self, position: Position) -> tuple[int, ...]:
        """Gets the figures of the measures, by seat where they are."""
        out: list[int] = []
        for figure, per in self.figures:
            out += [figure(position, p) for p in self.seats] if per else [figure(position)]
        return tuple(out)


def _asker(program: ir.Program, d: ir.Decision) -> Callable[[Position, Stop], Who]:
    n = program.actions
    match d.mode:
        case "each":
            return lambda position, stop: (
                "each",
                tuple(p for p in range(program.players) if position[d.pending + p] == 0),
            )
        case "any":
            return lambda position, stop: ("any", tuple(sorted({a // n - 1 for a in stop or ()})))
        case _:
            actor = d.actor
            if isinstance(actor, ir.Load):
                slot = actor.slot
                return lambda position, stop: position[slot]
            if isinstance(actor, ir.Const):
                value = actor.value
                return lambda position, stop: value
            return lambda position, stop: evaluate(actor, position, program)


class Twin:
    """Two games at the same point: their positions, and where each stands."""

    __slots__ = ("a", "b", "decisions", "shown", "stop_a", "stop_b", "trouble_a", "trouble_b")

    def __init__(self, a: Position, stop_a: Stop, b: Position, stop_b: Stop) -> None:
        self.a, self.b = a, b
        self.stop_a, self.stop_b = stop_a, stop_b
        self.trouble_a: BrokenRule | None = None
        self.trouble_b: BrokenRule | None = None
        self.decisions = 0
        """How many decisions lie behind."""
        self.shown = -1
        """The last action, if it is secret in one game where it is not in the other."""

    def clone(self) -> Twin:
        """Copies both positions."""
        new = Twin(self.a[:], self.stop_a, self.b[:], self.stop_b)
        new.trouble_a, new.trouble_b, new.decisions = self.trouble_a, self.trouble_b, self.decisions
        return new


class Lockstep:
    """Runs two games in step."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.a, self.b = Side(match.a), Side(match.b)
        self.steps = 0
        """How many decisions were played so far: the measure of effort."""

    def start(self, streams: tuple[Streams, Streams]) -> Twin:
        """Starts both games."""
        self.steps += START
        twin = Twin([], None, [], None)
        try:
            twin.a, twin.stop_a = self.a.start(streams[0])
        except BrokenRule as error:
            twin.trouble_a = error
        try:
            twin.b, twin.stop_b = self.b.start(streams[1])
        except BrokenRule as error:
            twin.trouble_b = error
        return twin

    def apply(self, twin: Twin, action: int, streams: tuple[Streams, Streams]) -> None:
        """Makes a move, numbered as the first game does, in both; the second must know it."""
        self.steps += 1
        twin.decisions += 1
        if self.match.secret_moves:
            twin.shown = action if self._move(action) in self.match.secret_moves else -1
        try:
            twin.stop_a = self.a.apply(twin.a, action, streams[0])
        except BrokenRule as error:
            twin.trouble_a = error
        try:
            twin.stop_b = self.b.apply(twin.b, self.match.to_b(action), streams[1])
        except BrokenRule as error:
            twin.trouble_b = error

    @staticmethod
    def _is_own(side: Side, position: Position, action: int) -> bool:
        """Tests if an option is one of the decision itself, not a standing offer."""
        decision = side.decision_at[position[0]]
        return decode(side.program, action)[0].index not in decision.standing

    def _move(self, action: int) -> int:
        return decode(self.a.program, action)[0].index

    def is_over(self, twin: Twin) -> bool:
        """Tests if no more can be played in step: the first game is over, or a rule is broken."""
        return twin.stop_a is None or twin.trouble_a is not None

    def parting(self, twin: Twin) -> Parting | None:
        """Holds the two against each other where they stand."""
        if twin.trouble_a is not None or twin.trouble_b is not None:
            if (twin.trouble_a is None) != (twin.trouble_b is None):
                return Parting("broken", trouble=(twin.trouble_a, twin.trouble_b))
            return None
        stop_a, stop_b = twin.stop_a, twin.stop_b
        same_state = self.match.same_state(twin.a, twin.b)
        if stop_a is None or stop_b is None:
            if stop_a is stop_b and same_state and self._same_outcome(twin):
                return self._sight(twin)
            return self._tell(twin, same_state)
        who_a, who_b = self.a.who(twin.a, stop_a), self.b.who(twin.b, stop_b)
        if same_state and who_a == who_b and self._same_options(stop_a, stop_b):
            return self._sight(twin)
        return self._tell(twin, same_state)

    def _sight(self, twin: Twin) -> Parting | None:
        """Gets the parting in what players see alone, if there is one."""
        if not self.match.sights and twin.shown < 0:
            return None
        seen = tuple(e for e, initial in self.match.sights if twin.a[e.slot_a] != initial)
        return Parting("sight", seen=seen, shown=twin.shown) if seen or twin.shown >= 0 else None

    def _same_options(self, stop_a: Stop, stop_b: Stop) -> bool:
        assert stop_a is not None and stop_b is not None
        if self.match.same_actions:
            return stop_a == stop_b or set(stop_a) == set(stop_b)
        to_a = self.match.to_a
        return len(stop_a) == len(stop_b) and {to_a(x) for x in stop_b} == set(stop_a)

    def _same_outcome(self, twin: Twin) -> bool:
        return self.a.scores(twin.a) == self.b.scores(twin.b) and self.a.winners(twin.a) == self.b.winners(
            twin.b
        )

    def _tell(self, twin: Twin, same_state: bool) -> Parting:
        a, b = self.a, self.b
        stop_a, stop_b = twin.stop_a, twin.stop_b
        state = () if same_state else tuple(self.match.differing(twin.a, twin.b))
        who = (
            None if stop_a is None else a.who(twin.a, stop_a),
            None if stop_b is None else b.who(twin.b, stop_b),
        )
        if stop_a is None and stop_b is None:
            return Parting(
                "outcome",
                state,
                scores=(a.scores(twin.a), b.scores(twin.b)),
                winners=(a.winners(twin.a), b.winners(twin.b)),
            )
        if stop_a is None or stop_b is None:
            return Parting("over", state, who)
        if who[0] != who[1]:
            return Parting("decider", state, who)
        shared_b = {self.match.to_a(x) for x in stop_b}
        only_a = tuple(x for x in stop_a if x not in shared_b)
        only_b = tuple(x for x in stop_b if self.match.to_a(x) not in set(stop_a))
        own = [x for x in only_a if x < a.program.actions and self._is_own(a, twin.a, x)]
        if not same_state and own and len(own) == sum(self._is_own(a, twin.a, x) for x in stop_a):
            return Parting("decider", state, who)  # the same player, but quite another decision
        return Parting("options" if same_state else "state", state, who, only_a, only_b)


def seeded(match: Match, seed: int) -> tuple[Streams, Streams]:
    """Makes the streams of both games from one seed."""
    return Streams(seed, match.a.program.streams), Streams(seed, match.b.program.streams)


Source = Callable[[int, int, int, int, Sequence[int] | int], int]
"""Draws: (stream, row, ordinal, low, weights) → outcome."""

Drawn = tuple[int, int, int]
"""Where chance was drawn: stream (as the first program numbers them), row, place in it."""


class Tape:
    """What came out of chance, by address, for both games: taken down the first time, given again after.

    `source` draws what is not on the tape yet: (stream, row, ordinal, low, weights) → outcome.
    """

    def __init__(
        self,
        source: Source,
        kept: dict[Drawn, int] | None = None,
    ) -> None:
        self.source = source
        self.kept = dict(kept or {})
        self.given: dict[Drawn, tuple[int, Sequence[int] | int]] = {}
        """The addresses that were drawn from since the tape was made, and what could have come out."""
        self.odds: Odds | None = None
        """The first draw in which the two games differ."""

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        """Gives what came out at an address, or draws it."""
        at = (stream, row, ordinal)
        first = at not in self.given
        before = self.given.setdefault(at, (low, weights))
        if before != (low, weights) and self.odds is None:
            one, other = odds(*before), odds(low, weights)
            if not same_odds(one, other):
                self.odds = Odds(stream, row, one, other)
        value = self.kept.get(at)
        if value is not None and possible(value, low, weights):
            return value
        drawn = self.source(stream, row, ordinal, low, weights)
        if first:  # where only the other game can have what was given, it keeps it
            self.kept[at] = drawn
        return drawn


def odds(low: int, weights: Sequence[int] | int) -> tuple[tuple[int, int], ...]:
    """Gets the outcomes that can come out, each with its weight."""
    if isinstance(weights, int):
        return tuple((low + i, 1) for i in range(weights))
    return tuple((low + i, w) for i, w in enumerate(weights) if w > 0)


def same_odds(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    """Tests if outcomes come out as likely."""
    sums = sum(w for _, w in one), sum(w for _, w in other)
    return [(v, w * sums[1]) for v, w in one] == [(v, w * sums[0]) for v, w in other]


def possible(value: int, low: int, weights: Sequence[int] | int) -> bool:
    """Tests if an outcome can come out."""
    if isinstance(weights, int):
        return low <= value < low + weights
    return low <= value < low + len(weights) and weights[value - low] > 0


class TapedStreams(Streams):
    """The streams of one of two games that share a tape."""

    __slots__ = ("numbers", "tape")

    def __init__(self, tape: Tape, names: Sequence[str], numbers: Sequence[int] | None = None) -> None:
        super().__init__(0, names)
        self.tape = tape
        self.numbers = numbers
        """For each stream its number on the tape; None where they are the same."""

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        """Gives what the tape gives."""
        number = stream if self.numbers is None else self.numbers[stream]
        return self.tape.outcome(number, row, ordinal, low, weights)


def taped(match: Match, tape: Tape) -> tuple[Streams, Streams]:
    """Makes the streams of both games from one tape."""
    return (
        TapedStreams(tape, match.a.program.streams),
        TapedStreams(tape, match.b.program.streams, match.streams_b),
    )


def drawing(match: Match, seed: int) -> Streams:
    """Makes the streams of both games together, as a tape numbers them, from one seed."""
    names = list(match.a.program.streams)
    for name, number in zip(match.b.program.streams, match.streams_b, strict=True):
        if number == len(names):
            names.append(name)
    return Streams(seed, names)
