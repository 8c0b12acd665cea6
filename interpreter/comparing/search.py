"""Looks for a line of play in which two games part: random play in many manners, steered towards what
differs.

Every game is played in a manner of its own: each move is liked more or less, and of a move's instances the
low ones, the high ones or any (swarm testing: Groce and others, ISSTA 2012). So some games are full of bids,
in others everybody is soon broke. Moves in which the rules differ are liked more in every second game.
Manners that led to lines of the rules that differ are taken up again and varied: that is the feedback. As
soon as a parting is known only shorter lines are looked for, so that the search goes on faster and faster.

How long is counted in decisions, not in seconds: the same seed finds the same line on every machine, unless
the deadline strikes.
"""

from __future__ import annotations

from msgspec import Struct, field

from ..chance import GOLDEN, MASK, mix
from ..playout import Random
from .lockstep import Lockstep, Parting, Tape, Twin
from .playing import Effort, Line, Start, play, record

LONGEST = 600
"""More decisions than this are not played in one game of the search."""

_LIKINGS = (1, 1, 3, 9, 27)
_TILTS = (0, 0, 0, 1, 2)


class Manner(Struct):
    """A manner of playing: how much each move is liked, and which of its instances."""

    likings: list[int]
    tilts: list[int]
    """For each move: 0 any of its instances, 1 the first, 2 the last offered."""
    worth: int = 0


class Searched(Struct):
    """What a search has found, and how far it went."""

    line: Line | None
    games: int = 0
    decisions: int = 0
    late: bool = False
    near: list[tuple[int, ...]] = field(default_factory=list)
    """Lines of play (actions) that came near a difference, with the seed in front."""


class Searcher:
    """Searches by random play in step."""

    def __init__(self, lockstep: Lockstep, start: Start, seed: int, names: set[str]) -> None:
        self.lockstep = lockstep
        self.start = start
        self.seed = seed
        program = lockstep.a.program
        self.actions = program.actions
        self.move_of = (
            [m.index for m in program.moves for _ in range(m.actions)] if program.actions < 1 << 20 else None
        )
        self.program = program
        self.touched = {m.index for m in program.moves if m.name in names}
        self.touched_decisions = {d.block for d in program.decisions if d.rule in names}
        self.manners: list[Manner] = []

    def search(self, effort: Effort, after: int, longest: int = LONGEST) -> Searched:
        """Searches until the effort is spent.

        Once something is found, shorter lines are looked for as long as it is long: for `after` decisions
        more at most where it has ten.
        """
        found = Searched(None)
        best: tuple[int, list[int]] | None = None
        limit = longest
        number = -1
        while not effort.spent():
            number += 1
            seed = mix((self.seed * GOLDEN + number) & MASK)
            numbers = Random(seed)
            manner = self.manner(number, numbers)
            chosen, parting, near = self.game(seed, manner, numbers, limit)
            found.games += 1
            found.decisions += len(chosen)
            self.learn(manner, near, parting)
            if parting is None:
                if near and len(found.near) < 64:
                    found.near.append((seed, *chosen[: near[-1]]))
                continue
            best = (seed, chosen)
            limit = len(chosen) - 1
            if limit < 0:
                break
            effort = effort.part(after * min(40, len(chosen)) // 10)
        found.late = effort.late
        if best is not None:
            tape = Tape(self.start.source(self.lockstep.match, best[0]), self.start.tape)
            found.line = record(self.lockstep, self.start, best[1], tape)
        return found

    # ----------------------------------------------------------------------------------------------- one game

    def game(
        self, seed: int, manner: Manner, numbers: Random, limit: int
    ) -> tuple[list[int], Parting | None, list[int]]:
        """Plays one game; gets the choices, the parting if any, and when it came near a difference."""
        near: list[int] = []
        made = 0

        def choose(twin: Twin, options: list[int]) -> int:
            nonlocal made
            action = self.pick(options, manner, numbers)
            made += 1
            if twin.a[0] in self.touched_decisions or self.move_number(action) in self.touched:
                near.append(made)
            return action

        streams = self.start.seeded(self.lockstep.match, seed)
        chosen, parting, _ = play(self.lockstep, self.start, streams, choose, limit)
        return chosen, parting, near

    def move_number(self, action: int) -> int:
        """Gets the number of the move of an action."""
        plain = action % self.actions
        if self.move_of is not None:
            return self.move_of[plain]
        return next(m.index for m in reversed(self.program.moves) if plain >= m.first)

    def pick(self, options: list[int], manner: Manner, numbers: Random) -> int:
        """Picks a move by how much it is liked, then one of its instances."""
        runs: list[tuple[int, int, int]] = []
        last = -1
        begin = 0
        total = 0
        likings = manner.likings
        for i, action in enumerate(options):
            m = self.move_number(action)
            if m != last:
                if last >= 0:
                    runs.append((last, begin, i))
                last, begin = m, i
                total += likings[m]
        runs.append((last, begin, len(options)))
        x = numbers.below(total)
        for m, begin, end in runs:
            x -= likings[m]
            if x < 0:
                tilt = manner.tilts[m]
                if tilt == 1:
                    return options[begin]
                if tilt == 2:
                    return options[end - 1]
                return options[begin + numbers.below(end - begin)]
        raise AssertionError("likings are above 0")

    # ------------------------------------------------------------------------------------------------ manners

    def manner(self, number: int, numbers: Random) -> Manner:
        """Makes the manner of a game: a plain one first, then new ones and variations of good ones."""
        count = len(self.program.moves)
        if number == 0:
            return Manner([1] * count, [0] * count)
        if self.manners and number % 3 == 2:
            parent = self.manners[numbers.below(len(self.manners))]
            made = Manner(list(parent.likings), list(parent.tilts))
            for _ in range(1 + numbers.below(4)):
                m = numbers.below(count)
                made.likings[m] = _LIKINGS[numbers.below(len(_LIKINGS))]
                made.tilts[m] = _TILTS[numbers.below(len(_TILTS))]
            return made
        made = Manner(
            [_LIKINGS[numbers.below(len(_LIKINGS))] for _ in range(count)],
            [_TILTS[numbers.below(len(_TILTS))] for _ in range(count)],
        )
        if number % 2:
            for m in sorted(self.touched):
                made.likings[m] *= 9
        return made

    def learn(self, manner: Manner, near: list[int], parting: Parting | None) -> None:
        """Remembers a manner that came near a difference, or to one."""
        manner.worth = 1_000_000 if parting is not None else len(near)
        if manner.worth:
            self.manners.append(manner)
            self.manners.sort(key=lambda m: -m.worth)
            del self.manners[16:]
