"""Counts the different positions that can be reached within so many decisions.

From a position all options are taken and chance comes out in every way; a position met before is not gone through
again. Two positions are the same where `State` says so: everything but tallies and the rows of chance. Counted are
positions in which somebody decides or the game is over. As elsewhere a single option is taken without asking and is no
decision; where several choose at once in secret they are asked by seat, so that a position also holds what some have
already chosen.

What was met is remembered as 128 bits made of the flat position (of a million million positions two are taken for one
with a chance of less than one in a hundred million million), and each position yet to be gone through as it stands.
When these fill the memory allowed, counting stops: the levels gone through in full stay exact, and the rest is an
"at least".
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol, overload

from msgspec import Struct

from ..game import State
from ..python_backend import Position, PythonMachine, Stop
from .outcomes import MEGABYTE, outcomes

if TYPE_CHECKING:
    from ..game import Game

_PRINT_BYTES = 130
"""What a remembered position takes in a Python set, with the room in which the set grows."""
_CHUNK = 20_000
"""How many positions are gone through between two looks at the clock or the keyboard."""
_FEW = 2_000
"""With so many positions Python is done before C would be compiled."""
_LOOK = 100
"""How many positions are gone through between two looks whether there are more than that."""


class Level(Struct):
    """The positions that need so many `decisions` and no fewer: how many, and in how many of them the game is over."""

    decisions: int
    positions: int = 0
    over: int = 0


class Reach(Struct):
    """What was counted: the levels, the last of them perhaps not in full.

    `stopped`: "" when all was counted, "memory" or "interrupted" else; then the last level is an "at least". `closed`:
    whether no position is left from which play goes on, so that deeper levels hold none.
    """

    levels: list[Level]
    stopped: str = ""
    closed: bool = False
    backend: str = "python"

    @property
    def positions(self) -> int:
        """How many positions there are on all levels."""
        return sum(level.positions for level in self.levels)


class Walker(Protocol):
    """Goes through positions one level after the other."""

    backend: str

    def fill(self, level: Level) -> bool:
        """Takes in the position to start from; False when the memory is full."""
        ...

    def go(self, level: Level, most: int) -> bool | None:
        """Takes every option of up to `most` positions of the level before and adds to `level` what is new.

        True: the level before is gone through. None: not yet. False: the memory is full.
        """
        ...

    @property
    def waiting(self) -> int:
        """How many positions wait for their options to be taken."""
        ...

    def begin(self) -> None:
        """Turns to the next level: what waits now is the level before."""
        ...


Tick = Callable[[Level], None]
"""Called now and then with the level being counted."""


def reachable(
    state: State, within: int, *, memory: int = 512, backend: str = "auto", tick: Tick | None = None
) -> Reach:
    """Counts the positions reachable from a state within so many decisions; the state stays as it is.

    `memory`: megabytes that may be used, roughly. `backend`: auto (C, where many positions make it worth compiling),
    python or c; the figures are the same. Ctrl-C ends
    the count, and what was found so far is given. Raises `BrokenRule`, `NativeUnavailable` (c alone).
    """
    megabytes = memory * MEGABYTE
    if backend == "python":
        return _counted(PythonWalker(state, megabytes), within, tick)
    if backend == "auto":
        found = _counted(PythonWalker(state, megabytes), within, tick, enough=_FEW)
        if found is not None:
            return found
    from ..native import NativeUnavailable
    from .native_reach import NativeWalker

    try:
        return _counted(NativeWalker(state, megabytes), within, tick)
    except NativeUnavailable:
        if backend == "c":
            raise
    return _counted(PythonWalker(state, megabytes), within, tick)


@overload
def _counted(walker: Walker, within: int, tick: Tick | None) -> Reach: ...
@overload
def _counted(walker: Walker, within: int, tick: Tick | None, *, enough: int) -> Reach | None: ...
def _counted(walker: Walker, within: int, tick: Tick | None, *, enough: int = 0) -> Reach | None:
    """Counts level by level; gives up with None after `enough` positions, if that is not 0."""
    found = Reach([Level(0)], backend=walker.backend)
    level = found.levels[0]
    try:
        if not walker.fill(level):
            found.stopped = "memory"
            return found
        for decisions in range(1, within + 1):
            if not walker.waiting:
                break
            level = Level(decisions)
            found.levels.append(level)
            walker.begin()
            done: bool | None = None
            while done is None:
                done = walker.go(level, _LOOK if enough else _CHUNK)
                if tick is not None:
                    tick(level)
                if enough and done is None and found.positions > enough:
                    return None
            if not done:
                found.stopped = "memory"
                return found
    except KeyboardInterrupt:
        found.stopped = "interrupted"
        return found
    found.closed = not walker.waiting
    if found.closed and not level.positions:
        found.levels.pop()
    return found


class PythonWalker:
    """Goes through positions with the Python machine."""

    backend = "python"

    def __init__(self, state: State, memory: int) -> None:
        game: Game = state.game
        self.machine: PythonMachine = game.machine()
        self.compared = game.program.compared
        self.position, self.stop = state.position[:], state.stop
        low, high = min(b[0] for b in game.program.bounds), max(b[1] for b in game.program.bounds)
        self.kind = "i" if low >= -(1 << 31) and high < 1 << 31 else "q"
        self.kept = game.program.size * (4 if self.kind == "i" else 8) + 100
        self.memory = memory
        self.seen: set[bytes] = set()
        self.queue: deque[array[int]] = deque()
        self.left = 0

    @property
    def waiting(self) -> int:
        """How many positions wait."""
        return len(self.queue)

    def begin(self) -> None:
        """Turns to the next level."""
        self.left = len(self.queue)

    def fill(self, level: Level) -> bool:
        """Takes in the position to start from."""
        return self.take(self.position, self.stop, level)

    def go(self, level: Level, most: int) -> bool | None:
        """Goes through some positions."""
        for _ in range(min(most, self.left)):
            position = self.queue.popleft().tolist()
            self.left -= 1
            stop = self.machine.stop(position)
            assert isinstance(stop, list)
            for action in stop:
                after = position[:]
                if not self.take(after, self.machine.apply(after, action), level):
                    return False
        return True if self.left == 0 else None

    def take(self, position: Position, stop: Stop, level: Level) -> bool:
        """Files a position, and all that chance makes of it."""
        waiting = [(position, stop)]
        while waiting:
            position, stop = waiting.pop()
            made = blake2b(array(self.kind, position[: self.compared]), digest_size=16).digest()
            if made in self.seen:
                continue
            self.seen.add(made)
            if len(self.seen) * _PRINT_BYTES + (len(self.queue) + len(waiting)) * self.kept > self.memory:
                return False
            if stop.__class__ is tuple:
                node = stop[0]
                for value, _, _ in reversed([*outcomes(self.machine, position, node)]):
                    copy = position[:]
                    waiting.append((copy, self.machine.decide(copy, node, value)))
                continue
            level.positions += 1
            if stop is None:
                level.over += 1
            else:
                self.queue.append(array(self.kind, position))
        return True
