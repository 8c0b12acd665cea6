"""Makes a line of play small: as few decisions as can be found, then small numbers, then quiet and common
moves.

In turn: leave out stretches of the story, long ones first (delta debugging: Zeller and Hildebrandt, 2002),
with the rolls that fell in them; take another option at a decision, so that later ones fall away; and random
combinations of both. Every attempt is played in step from the start; it counts if the two still part, no
matter how, and sooner. At last each choice and each roll is replaced by the plainest with which they still
part as soon.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..chance import Streams
from ..playout import Random
from .lockstep import Drawn, Lockstep, Tape, Twin, taped
from .playing import Choice, Effort, Line, Replayer, Start

_PATIENCE = 250
"""So many random changes in a row without gain, and no more are tried."""


_SHORT = 16
"""Lines no longer than this are not cut by rounds first."""
_MOST_ROUNDS = 60


def _rounds(line: Line) -> list[tuple[int, int]]:
    """Gets stretches that begin and end where the same player decides at the same place, the longest first."""
    choices = line.choices
    found = [
        (begin, end)
        for begin in range(len(choices))
        for end in range(begin + 3, len(choices))
        if choices[begin].block == choices[end].block and choices[begin].who == choices[end].who
    ]
    found.sort(key=lambda r: (r[0] - r[1], r[0]))
    return found[:: max(1, len(found) // _MOST_ROUNDS)]


class Shrinker:
    """Makes lines small."""

    def __init__(self, lockstep: Lockstep, start: Start, seed: int) -> None:
        self.lockstep = lockstep
        self.start = start
        self.replayer = Replayer(lockstep, start, seed)
        self.numbers = Random(seed)
        self.program = lockstep.a.program

    def shrink(self, line: Line, effort: Effort) -> Line:
        """Gets the smallest line found before the effort is spent."""
        steps = self.lockstep.steps
        room = effort.end - steps
        shortest = self.shorten(line, effort.part(room * 2 // 3))
        return self.plainer(shortest, effort)

    # ------------------------------------------------------------------------------------------------ shorter

    def shorten(self, line: Line, effort: Effort) -> Line:
        """Makes a line shorter."""
        again = self.replayer.play(line.choices, line.tape, line.decisions)
        best = again or line
        while best.decisions and not effort.spent():
            before = best.decisions
            best = self._cut_rounds(best, effort)
            best = self._change_seats(best, effort)
            best = self._leave_out(best, effort)
            best = self._replace(best, effort)
            if best.decisions == before:
                break
        return self._stir(best, effort)

    def _attempt(self, choices: list[Choice], tape: dict[Drawn, int], best: Line) -> Line | None:
        if best.decisions == 0:
            return None
        found = self.replayer.play(choices, tape, best.decisions - 1)
        return found or self.replayer.play(choices, tape, best.decisions - 1, borrow=True)

    def _leave_out(self, best: Line, effort: Effort) -> Line:
        size = max(1, best.decisions // 2)
        while size >= 1:
            at = 0
            while at < best.decisions and not effort.spent():
                shorter = None
                for tape in self._tapes_without(best, at, min(at + size, best.decisions)):
                    shorter = self._attempt(best.choices[:at] + best.choices[at + size :], tape, best)
                    if shorter is not None:
                        break
                if shorter is not None:
                    best = shorter
                else:
                    at += max(1, size // 2)
            if effort.spent():
                break
            size //= 2
        return best

    def _change_seats(self, best: Line, effort: Effort) -> Line:
        """Lets each player do what another did, from the start or from one of the first choices on."""
        seats = self.lockstep.match.players
        for first in range(min(seats + 1, best.decisions)):
            for turn in range(1, seats):
                if effort.spent():
                    return best
                choices = [
                    Choice(c.action, (c.who + turn) % seats) if isinstance(c.who, int) else c
                    for c in best.choices[first:]
                ]
                shorter = self._attempt(choices, best.tape, best)
                if shorter is not None:
                    return shorter
        return best

    def _cut_rounds(self, best: Line, effort: Effort) -> Line:
        """Leaves out stretches between two decisions of one player at one place in the rules: whole rounds."""
        going = best.decisions > _SHORT
        while going and not effort.spent():
            going = False
            for begin, end in _rounds(best):
                if effort.spent():
                    break
                rest = best.choices[:begin] + best.choices[end:]
                for tape in self._tapes_without(best, begin, end):
                    shorter = self.replayer.play(rest, tape, best.decisions - 1)
                    if shorter is not None:
                        break
                if shorter is not None:
                    best, going = shorter, best.decisions > _SHORT
                    break
        return best

    def _tapes_without(self, line: Line, begin: int, end: int) -> Iterator[dict[Drawn, int]]:
        """Gets tapes without the rows that fell in a stretch, and with them."""
        first, last = line.rows[begin], line.rows[end]
        if first == last:
            yield line.tape
            return
        shifted: dict[Drawn, int] = {}
        for (stream, row, ordinal), value in line.tape.items():
            low, high = first.get(stream, 0), last.get(stream, 0)
            if row < low:
                shifted[stream, row, ordinal] = value
            elif row >= high:
                shifted[stream, row - (high - low), ordinal] = value
        yield shifted
        yield line.tape

    def _replace(self, best: Line, effort: Effort) -> Line:
        at = 0
        while at < best.decisions and not effort.spent():
            found = None
            for action in self._alternatives(best, at):
                if effort.spent():
                    break
                choice = Choice(action, best.choices[at].who)
                found = self._attempt([*best.choices[:at], choice, *best.choices[at + 1 :]], best.tape, best)
                if found is not None:
                    break
            if found is not None:
                best = found
                at = min(at, best.decisions)
            else:
                at += 1
        return best

    def _alternatives(self, line: Line, at: int) -> list[int]:
        """Gets other options at a decision: of each move the first and the last, those that take nothing
        first.
        """
        options = self._options(line, at)
        n = self.program.actions
        quiet = self.replayer.quiet
        runs: dict[tuple[int, int], list[int]] = {}
        for a in options:
            runs.setdefault((a // n, self._move(a % n)), []).append(a)
        picked = [x for run in runs.values() for x in dict.fromkeys((run[0], run[-1]))]
        picked.sort(key=lambda a: a % n not in quiet)
        return [a for a in picked if a != line.choices[at].action]

    def _move(self, plain: int) -> int:
        return next(m.index for m in reversed(self.program.moves) if plain >= m.first)

    def _options(self, line: Line, at: int) -> list[int]:
        twin = self._at(line, at)
        return [a for a in twin.stop_a or () if self.lockstep.match.to_b(a) >= 0]

    def _at(self, line: Line, at: int) -> Twin:
        """Plays the first choices of a line."""
        streams: tuple[Streams, Streams] = taped(
            self.lockstep.match, Tape(self.replayer.source, {**line.tape, **self.start.tape})
        )
        twin = self.start.begin(self.lockstep, streams)
        for choice in line.choices[:at]:
            self.lockstep.apply(twin, choice.action, streams)
        return twin

    def _stir(self, best: Line, effort: Effort) -> Line:
        """Tries random combinations of changes."""
        below = self.numbers.below
        vain = 0
        while best.decisions and vain < _PATIENCE and not effort.spent():
            vain += 1
            choices, tape = list(best.choices), dict(best.tape)
            for _ in range(1 + below(3)):
                kind = below(4)
                if kind == 0 and choices:
                    begin = below(len(choices))
                    del choices[begin : begin + 1 + below(3)]
                elif kind == 1 and tape:
                    keys = [k for k in tape if k not in self.start.tape]
                    if keys:
                        tape.pop(keys[below(len(keys))])
                elif kind == 2 and len(choices) > 1:
                    i = below(len(choices) - 1)
                    choices[i], choices[i + 1] = choices[i + 1], choices[i]
                elif choices:
                    at = below(best.decisions)
                    options = self._options(best, at)
                    if at < len(choices):
                        choices[at] = Choice(options[below(len(options))], best.choices[at].who)
            shorter = self._attempt(choices, tape, best)
            if shorter is not None:
                best = self._leave_out(shorter, effort)
                vain = 0
        return best

    # ------------------------------------------------------------------------------------------------ plainer

    def plainer(self, line: Line, effort: Effort) -> Line:
        """Makes the choices and rolls of a line plainer, with as many decisions at most."""
        best = line
        for kept in range(line.decisions):  # all quiet, or only the first choices as they were
            quiet = self.replayer.play(line.choices[:kept], line.tape, line.decisions)
            if quiet is not None and self._cost(quiet) < self._cost(best):
                best = quiet
                break
            if effort.spent():
                break
        for _ in range(3):
            before = self._cost(best)
            best = self._plainer_choices(best, effort)
            best = self._plainer_rolls(best, effort)
            if self._cost(best) == before or effort.spent():
                break
        return best

    def _plainer_choices(self, best: Line, effort: Effort) -> Line:
        for at in range(best.decisions):
            if at >= best.decisions or effort.spent():
                break
            mine = self._choice_cost(best.choices[at].action)
            options = self._options(best, at)
            cheaper = sorted((self._choice_cost(a), i, a) for i, a in enumerate(options))
            for cost, _, action in cheaper:
                if cost >= mine or effort.spent():
                    break
                choice = Choice(action, best.choices[at].who)
                found = self.replayer.play(
                    [*best.choices[:at], choice, *best.choices[at + 1 :]], best.tape, best.decisions
                )
                if found is not None and self._cost(found) < self._cost(best):
                    best = found
                    break
        return best

    def _plainer_rolls(self, best: Line, effort: Effort) -> Line:
        for key in sorted(best.tape):
            if effort.spent():
                break
            if key in self.start.tape or best.tape.get(key, 0) <= 0:
                continue
            for value in range(min(best.tape[key], 6)):
                tape = {**best.tape, key: value}
                found = self.replayer.play(best.choices, tape, best.decisions)
                if found is not None and self._cost(found) < self._cost(best):
                    best = found
                    break
        return best

    def _choice_cost(self, action: int) -> int:
        """Gets how far from plain a choice is: nothing taken, then small numbers."""
        n = self.program.actions
        plain = action % n
        if plain in self.replayer.quiet:
            return 0
        move = self.program.moves[self._move(plain)]
        rest = plain - move.first
        total = 1
        for low, count in zip(reversed(move.lows), reversed(move.counts), strict=True):
            total += abs(low + rest % count)
            rest //= count
        return total + (5 if action >= n else 0)

    def _cost(self, line: Line) -> tuple[int, int, int]:
        return (
            line.decisions,
            sum(self._choice_cost(c.action) for c in line.choices),
            sum(line.tape.values()),
        )
