"""Tries everything: all options and all outcomes of chance from a position, to a number of decisions.

Goes one decision deeper at a time for as long as the effort lasts, so that a parting found is one of the
nearest, and that what was gone through whole can be told: so many decisions, so many positions, nothing left
out. Positions met again are not gone through again; when the table of those is full, it is only used, not
added to: memory stays bounded and nothing is skipped.

Where chance gives the two games the same things in another order, what only one of them has drawn yet is kept
and given to the other at the same address.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from msgspec import Struct

from ..errors import BrokenRule
from ..python_backend import Position, Stop
from .lockstep import Drawn, Lockstep, Odds, Parting, Twin, odds, same_odds
from .playing import Effort, Start

MOST_REMEMBERED = 1_000_000
"""How many positions are remembered at most (16 bytes and some each)."""


class Way(Struct):
    """How a parting is reached: the actions, and what chance gave."""

    actions: list[int]
    tape: dict[Drawn, int]
    parting: Parting


class Exhausted(Struct):
    """What was gone through: all sequences of `depth` decisions, `positions` different ones; or the parting
    met.
    """

    depth: int
    positions: int
    way: Way | None = None
    all_over: bool = False
    """Whether every game from here is over within the depth, so that nothing deeper is left."""
    late: bool = False


class _Spent(Exception):
    """Says that the effort is spent."""


class _Met(Exception):
    """Says that a parting was met."""

    def __init__(self, parting: Parting) -> None:
        super().__init__()
        self.parting = parting


Pending = dict[Drawn, tuple[int, int, Sequence[int] | int]]


class _Node(Struct):
    twin: Twin
    pending: Pending
    """What only one of the two has drawn, and what it could have drawn."""


class Exhauster:
    """Goes through everything from where games start."""

    def __init__(self, lockstep: Lockstep, start: Start) -> None:
        self.lockstep = lockstep
        self.start = start
        self.numbers: tuple[list[int] | None, list[int]] = (None, lockstep.match.streams_b)
        self.effort: Effort | None = None
        self.seen: dict[bytes, int] = {}
        self.path: list[int] = []
        self.tape: list[dict[Drawn, int]] = []
        self.positions = 0
        self.deeper = False

    def search(self, effort: Effort, deepest: int = 99) -> Exhausted:
        """Goes deeper and deeper until the effort is spent, a parting is met, or every game is over."""
        self.effort = effort
        found = Exhausted(-1, 0)
        try:
            roots = list(self._roots())
            for depth in range(deepest + 1):
                self.seen = {}
                self.positions = 0
                self.deeper = False
                for node, drawn in roots:
                    self.path, self.tape = [], [drawn]
                    self._visit(node, depth)
                found.depth, found.positions = depth, self.positions
                if not self.deeper:
                    found.all_over = True
                    break
        except _Spent:
            found.late = effort.late
        except _Met as met:
            tape = dict(self.start.tape)
            for drawn in self.tape:
                tape.update(drawn)
            found.way = Way(self.path, tape, met.parting)
        return found

    def _roots(self) -> Iterator[tuple[_Node, dict[Drawn, int]]]:
        start = self.start
        if start.a is not None and start.b is not None:
            yield _Node(Twin(start.a[:], start.stop_a, start.b[:], start.stop_b), {}), {}
            return
        a, b = self.lockstep.a, self.lockstep.b
        self.tape = [{}]
        yield from self._settled(
            a.program.initial[:], a.program.start, b.program.initial[:], b.program.start, {}, {}
        )

    def _visit(self, node: _Node, depth: int) -> None:
        lockstep, twin = self.lockstep, node.twin
        parting = lockstep.parting(twin)
        if parting is not None:
            raise _Met(parting)
        key = self._key(node)
        remembered = self.seen.get(key, -1)
        if remembered >= depth:
            return
        if remembered < 0:
            self.positions += 1
        if remembered >= 0 or len(self.seen) < MOST_REMEMBERED:
            self.seen[key] = depth
        if lockstep.is_over(twin):
            return
        if depth == 0:
            self.deeper = True
            return
        assert twin.stop_a is not None
        for action in list(twin.stop_a):
            self._spend()
            self.path.append(action)
            for after, drawn in self._after(node, action):
                self.tape.append(drawn)
                self._visit(after, depth - 1)
                self.tape.pop()
            self.path.pop()

    def _spend(self) -> None:
        """Counts a decision, or an outcome of chance, which costs as much: both games are run on from it."""
        if self.effort is not None and self.effort.spent():
            raise _Spent
        self.lockstep.steps += 1

    @staticmethod
    def _key(node: _Node) -> bytes:
        twin = node.twin
        made = blake2b(array("q", twin.a), digest_size=16)
        made.update(array("q", twin.b))
        if node.pending:
            made.update(repr(sorted(node.pending.items())).encode())
        return made.digest()

    # ------------------------------------------------------------------------------------------------- chance

    def _after(self, node: _Node, action: int) -> Iterator[tuple[_Node, dict[Drawn, int]]]:
        """Gets where a move leads, one for every way chance can come out."""
        a, b = node.twin.a[:], node.twin.b[:]
        side_a, side_b = self.lockstep.a, self.lockstep.b
        try:
            side_a.machine.budget[0] = 0
            place_a: int | Stop = side_a.appliers[a[0]](a, action)
        except BrokenRule as error:
            twin = Twin(a, None, b, None)
            twin.trouble_a = error
            try:
                side_b.machine.budget[0] = 0
                side_b.appliers[b[0]](b, self.lockstep.match.to_b(action))
            except BrokenRule as other:
                twin.trouble_b = other
            yield _Node(twin, {}), {}
            return
        try:
            side_b.machine.budget[0] = 0
            place_b: int | Stop = side_b.appliers[b[0]](b, self.lockstep.match.to_b(action))
        except BrokenRule as error:
            twin = Twin(a, None, b, None)
            twin.trouble_b = error
            yield _Node(twin, {}), {}
            return
        yield from self._settled(a, place_a, b, place_b, dict(node.pending), {})

    def _settled(
        self,
        a: Position,
        place_a: int | Stop,
        b: Position,
        place_b: int | Stop,
        pending: Pending,
        drawn: dict[Drawn, int],
    ) -> Iterator[tuple[_Node, dict[Drawn, int]]]:
        """Runs both games on to decisions, branching where an outcome is not settled by the other."""
        sides = (self.lockstep.a, self.lockstep.b)
        positions, places = [a, b], [place_a, place_b]
        troubles: list[BrokenRule | None] = [None, None]
        for k in (0, 1):
            side, position = sides[k], positions[k]
            numbers = self.numbers[k]
            place = places[k]
            try:
                while True:
                    while place.__class__ is int:
                        place = side.blocks[place](position)
                    if place.__class__ is not tuple:
                        break
                    node: int = place[0]
                    stream, row, ordinal, low, count, weigh = side.informers[node](position)
                    at = (stream if numbers is None else numbers[stream], row, ordinal)
                    weights = count if weigh is None else [weigh(position, low + i) for i in range(count)]
                    if at in pending:
                        value, low_before, weights_before = pending.pop(at)
                        one, other = odds(low_before, weights_before), odds(low, weights)
                        if not same_odds(one, other):
                            raise _Met(Parting("chance", drawn=Odds(at[0], row, one, other)))
                        side.machine.budget[0] = 0
                        place = side.outcomes[node](position, value)
                        continue
                    if troubles[0] is not None:  # only whether it breaks as well is of interest
                        value = next(_outcomes(low, weights))
                        side.machine.budget[0] = 0
                        place = side.outcomes[node](position, value)
                        continue
                    for value in _outcomes(low, weights):
                        self._spend()
                        copies = [a[:], b[:]]
                        side.machine.budget[0] = 0
                        onward = side.outcomes[node](copies[k], value)
                        rest = {**pending, at: (value, low, weights)}
                        nexts = [onward, place_b] if k == 0 else [places[0], onward]
                        yield from self._settled(
                            copies[0], nexts[0], copies[1], nexts[1], rest, {**drawn, at: value}
                        )
                    return
            except BrokenRule as error:
                troubles[k] = error
                place = None
            places[k] = place
        twin = Twin(positions[0], _stop(places[0]), positions[1], _stop(places[1]))
        twin.trouble_a, twin.trouble_b = troubles
        yield _Node(twin, pending), drawn


def _stop(place: int | Stop) -> Stop:
    assert not isinstance(place, int)
    return place


def _outcomes(low: int, weights: list[int] | int) -> Iterator[int]:
    if isinstance(weights, int):
        yield from range(low, low + weights)
    else:
        yield from (low + i for i, w in enumerate(weights) if w > 0)
