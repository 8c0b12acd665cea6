"""Looks on from where two games parted in values alone: when does it matter to who decides, what is offered,
how it ends?

A value that differs may be of no account (a mark that is wiped next), or bear on everything later. Both games
are played on with the same choices, the values that differ left as they are, breadth first, so that the
nearest consequence is found; options are thinned to the first and last of each move. What is found is an
example, and where nothing is found nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

from .lockstep import Lockstep, Parting, Tape, Twin, taped
from .playing import Choice, Effort, Line, Start


def look_on(lockstep: Lockstep, start: Start, line: Line, effort: Effort) -> Line | None:
    """Gets the line that goes on from one that parts in values, up to a consequence; None if none shows."""
    tape = Tape(start.source(lockstep.match, 0), {**line.tape, **start.tape})
    streams = taped(lockstep.match, tape)
    twin = start.begin(lockstep, streams)
    for choice in line.choices:
        lockstep.apply(twin, choice.action, streams)
    layer: list[tuple[Twin, tuple[Choice, ...]]] = [(twin, ())]
    seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    while layer:
        deeper: list[tuple[Twin, tuple[Choice, ...]]] = []
        for at, path in layer:
            for choice in _choices(lockstep, at):
                if effort.spent():
                    return None
                after = at.clone()
                lockstep.apply(after, choice.action, streams)
                parting = lockstep.parting(after)
                if parting is None:
                    continue  # they are in step again
                if matters(parting):
                    choices = [*line.choices, *path, choice]
                    rows = [*line.rows, *[line.rows[-1]] * (len(path) + 1)]
                    return Line(choices, dict(tape.kept), parting, rows)
                key = (tuple(after.a), tuple(after.b))
                if key not in seen:
                    seen.add(key)
                    deeper.append((after, (*path, choice)))
        layer = deeper
    return None


def matters(parting: Parting) -> bool:
    """Tests if a parting is more than values that differ."""
    return parting.kind != "state" or bool(parting.only_a or parting.only_b)


def _choices(lockstep: Lockstep, twin: Twin) -> list[Choice]:
    if twin.stop_a is None or twin.stop_b is None or twin.trouble_a or twin.trouble_b:
        return []
    who = lockstep.a.who(twin.a, twin.stop_a)
    both = {lockstep.match.to_a(x) for x in twin.stop_b}
    return [Choice(a, who) for a in thinned(lockstep, twin.stop_a) if a in both]


def thinned(lockstep: Lockstep, options: Sequence[int]) -> list[int]:
    """Gets of each move the first and the last option, those that take nothing first."""
    program = lockstep.a.program
    n = program.actions
    runs: dict[tuple[int, int], list[int]] = {}
    for a in options:
        move = next(m for m in reversed(program.moves) if a % n >= m.first)
        runs.setdefault((a // n, move.index), []).append(a)
    picked = [x for run in runs.values() for x in dict.fromkeys((run[0], run[-1]))]
    quiet = {m.first for m in program.moves if not m.counts}
    return sorted(picked, key=lambda a: a % n not in quiet)
