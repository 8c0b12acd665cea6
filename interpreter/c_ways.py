"""Finds from where play can come to each block of a program, for the C backend."""

from __future__ import annotations

from . import program as ir
from .tidy import ways_back


def ways_in(program: ir.Program) -> list[int]:
    """Counts the places that lead to each block."""
    ways = [0] * len(program.blocks)
    for b in program.blocks:
        match b.end:
            case ir.Jump():
                ways[b.end.block] += 1
            case ir.Branch():
                ways[b.end.then] += 1
                ways[b.end.otherwise] += 1
            case ir.Decide() | ir.Chance() | ir.End():
                ways[b.number] += 1  # play may come in here
            case _:
                pass
    for d in program.decisions:
        ways[d.next] += len(d.moves) + 1
    for c in program.chances:
        ways[c.next] += 1
    for targets in ways_back(program.blocks, program.decisions, program.moves).values():
        for n in targets:
            ways[n] += 1
    for m in program.moves:
        if m.entry >= 0:
            ways[m.entry] += 2
    return ways
