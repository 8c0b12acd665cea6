"""Plays lock-step games for the search: where they start, what is chosen and drawn, where they part.

A `Line` is a game in step up to where the two part: the choices with who made them, and a tape of what chance
gave. It can be played again, and played again with pieces left out: choices are then matched to decisions in
order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from ..chance import Streams, stream_key
from ..python_backend import Position, Stop
from .lockstep import START, Drawn, Lockstep, Parting, Source, Tape, Twin, Who, drawing, seeded, taped
from .matching import Match


class Effort:
    """How much may still be searched: decisions played, so that results depend on no clock; and a last
    deadline.
    """

    def __init__(self, lockstep: Lockstep, decisions: int, seconds: float) -> None:
        self.lockstep = lockstep
        self.started = time.monotonic()
        self.deadline = self.started + seconds
        self.end = lockstep.steps + decisions
        self.late = False
        """Whether the clock ended it: then another run may find more."""

    def part(self, decisions: int) -> Effort:
        """Gets an effort of at most so many decisions within this one."""
        made = Effort(self.lockstep, 0, 0)
        made.deadline = self.deadline
        made.end = min(self.end, self.lockstep.steps + decisions)
        made.parent = self
        return made

    parent: Effort | None = None

    def spent(self) -> bool:
        """Tests if no more may be played."""
        if self.lockstep.steps >= self.end:
            return True
        if time.monotonic() > self.deadline:
            effort: Effort | None = self
            while effort is not None:
                effort.late = True
                effort = effort.parent
            return True
        return False


class Start(Struct):
    """Where games begin: at the start, or at two positions with what chance has given on the way."""

    a: Position | None = None
    stop_a: Stop = None
    b: Position | None = None
    stop_b: Stop = None
    tape: dict[Drawn, int] = field(default_factory=dict)
    """What chance had given when the positions were reached; kept in every line from here."""
    seed: int = 0
    fixed: frozenset[int] = frozenset()
    """The streams (as the first program numbers them) that go on by this seed in every game."""

    def seeded(self, match: Match, seed: int) -> tuple[Streams, Streams]:
        """Makes the streams of both games from one seed."""
        a, b = seeded(match, seed)
        if self.fixed:
            for streams, numbers in ((a, range(len(a.names))), (b, match.streams_b)):
                streams.keys = tuple(
                    stream_key(self.seed, name) if number in self.fixed else key
                    for name, number, key in zip(streams.names, numbers, streams.keys, strict=True)
                )
        return a, b

    def source(self, match: Match, seed: int) -> Source:
        """Makes a tape's source that draws what the games' own streams give under a seed."""
        streams = drawing(match, seed)
        if self.fixed:
            streams.keys = tuple(
                stream_key(self.seed, name) if number in self.fixed else key
                for number, (name, key) in enumerate(zip(streams.names, streams.keys, strict=True))
            )
        return streams.outcome

    def begin(self, lockstep: Lockstep, streams: tuple[Streams, Streams]) -> Twin:
        """Makes both games stand there."""
        if self.a is None or self.b is None:
            return lockstep.start(streams)
        lockstep.steps += START
        return Twin(self.a[:], self.stop_a, self.b[:], self.stop_b)


class Choice(Struct, frozen=True):
    """A choice: the action as the first game numbers it, and who decided."""

    action: int
    who: Who
    block: int = -1
    """Where in the rules of the first game it is made."""


class Line(Struct):
    """A game in step up to where it parted."""

    choices: list[Choice]
    tape: dict[Drawn, int]
    parting: Parting
    rows: list[dict[int, int]]
    """For each choice, and for the end, how many rows each stream had given before it."""

    @property
    def decisions(self) -> int:
        """How many decisions it takes to part."""
        return len(self.choices)


Chooser = Callable[[Twin, list[int]], int]
"""Chooses one of the first game's options."""


def play(
    lockstep: Lockstep,
    start: Start,
    streams: tuple[Streams, Streams],
    choose: Chooser,
    limit: int,
) -> tuple[list[int], Parting | None, Twin]:
    """Plays in step until the two part, the game is over, or `limit` decisions are made."""
    twin = start.begin(lockstep, streams)
    chosen: list[int] = []
    while True:
        parting = lockstep.parting(twin)
        if parting is not None or lockstep.is_over(twin) or len(chosen) >= limit:
            return chosen, parting, twin
        action = choose(twin, twin.stop_a)  # type: ignore[arg-type]  # it stands at a decision
        chosen.append(action)
        lockstep.apply(twin, action, streams)


def record(lockstep: Lockstep, start: Start, actions: Sequence[int], tape: Tape) -> Line | None:
    """Plays actions again and takes down who chose and what chance gave; None if the two do not part by the
    last.
    """
    streams = taped(lockstep.match, tape)
    twin = start.begin(lockstep, streams)
    choices: list[Choice] = []
    rows: list[dict[int, int]] = []
    for action in (*actions, None):
        rows.append(_rows(tape.kept))
        parting = lockstep.parting(twin) or _odd(tape)
        if parting is not None:
            return Line(choices, dict(tape.kept), parting, rows)
        if action is None or lockstep.is_over(twin):
            return None
        assert twin.stop_a is not None
        choices.append(Choice(action, lockstep.a.who(twin.a, twin.stop_a), twin.a[0]))
        lockstep.apply(twin, action, streams)
    return None


def _odd(tape: Tape) -> Parting | None:
    """Gets the parting in chance alone, if a draw has had other odds in one game than in the other."""
    return None if tape.odds is None else Parting("chance", drawn=tape.odds)


def _rows(kept: dict[Drawn, int]) -> dict[int, int]:
    """Gets how many rows each stream has given."""
    rows: dict[int, int] = {}
    for stream, row, _ in kept:
        if row + 1 > rows.get(stream, 0):
            rows[stream] = row + 1
    return rows


_AHEAD = 24
"""So many choices are looked ahead for one that fits."""


class Replayer:
    """Plays a story again with pieces left out.

    Each decision takes the next choice of the same player that fits it, else a quiet one.
    """

    def __init__(self, lockstep: Lockstep, start: Start, seed: int) -> None:
        self.lockstep = lockstep
        self.start = start
        self.source = start.source(lockstep.match, seed)
        self.quiet = quiet_moves(lockstep.match)

    def play(
        self, choices: Sequence[Choice], tape: dict[Drawn, int], limit: int, *, borrow: bool = False
    ) -> Line | None:
        """Plays choices with a tape; gets the line if the two part within `limit` decisions.

        With `borrow`, a decision that no choice fits takes what another player is to choose later, if it can.
        """
        lockstep = self.lockstep
        used: dict[Drawn, int] = dict(self.start.tape)
        recorder = _Noting(self.source, {**tape, **self.start.tape}, used)
        streams = taped(lockstep.match, recorder)
        twin = self.start.begin(lockstep, streams)
        made: list[Choice] = []
        rows: list[dict[int, int]] = []
        waiting = list(choices)
        while True:
            rows.append(recorder.rows.copy())
            parting = lockstep.parting(twin) or _odd(recorder)
            if parting is not None:
                return Line(made, used, parting, rows)
            if lockstep.is_over(twin) or len(made) >= limit:
                return None
            options = twin.stop_a
            assert options is not None
            who = lockstep.a.who(twin.a, options)
            action = -1
            for k, choice in enumerate(waiting[:_AHEAD]):
                if choice.who == who and choice.action in options:
                    action = choice.action
                    waiting[: k + 1] = [c for c in waiting[:k] if c.who != who]
                    break
            if action < 0 and borrow:
                action = next((c.action for c in waiting[:_AHEAD] if c.action in options), -1)
            if action < 0:
                action = self.default(options)
            made.append(Choice(action, who, twin.a[0]))
            lockstep.apply(twin, action, streams)

    def default(self, options: Sequence[int]) -> int:
        """Gets the quietest option: of a move that takes nothing if there is one, else the first."""
        n = self.lockstep.a.program.actions
        return next((a for a in options if a % n in self.quiet), options[0])


class _Noting(Tape):
    """A tape that keeps apart what was used of it, and counts rows."""

    def __init__(
        self,
        source: Source,
        kept: dict[Drawn, int],
        used: dict[Drawn, int],
    ) -> None:
        super().__init__(source, kept)
        self.used = used
        self.rows = _rows(used)

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        value = super().outcome(stream, row, ordinal, low, weights)
        self.used[stream, row, ordinal] = self.kept[stream, row, ordinal]
        if row + 1 > self.rows.get(stream, 0):
            self.rows[stream] = row + 1
        return value


def quiet_moves(match: Match) -> set[int]:
    """Gets the actions of moves that take nothing, such as to pass."""
    return {m.first for m in match.a.program.moves if not m.counts}
