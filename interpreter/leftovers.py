"""Clears what rules have kept and need no more wherever the game may stop: equal positions have equal arrays.

A rule clears all of its slots when it is done; until then they hold what loops counted and searches found. Where nothing
will read such a value any more, two ways to the same position would differ by it, and be counted, searched and kept as
two. As rules never call themselves and functions are handed locals as arguments, a slot is read in the blocks of its own
rule alone; there a call is one step. Only who decides is kept longer than need be, while a move that he made asks in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from . import program as ir
from .c_layout import descend
from .program import const


class Kept(Struct, frozen=True):
    """What a rule in which the game may stop keeps values in: its first block, its parameters' slots, and all slots.

    The slot of the way back is not among them: it is cleared when the way is taken.
    """

    entry: int
    parameters: frozenset[int]
    slots: frozenset[int]


class Leftovers:
    """Finds and clears what is left over in a program's blocks."""

    def __init__(
        self,
        blocks: Sequence[ir.Block],
        decisions: Sequence[ir.Decision],
        chances: Sequence[ir.ChanceNode],
        backs: frozenset[int],
        initial: Sequence[int],
    ) -> None:
        """`backs` are the slots of the ways back to callers; `initial` is what each slot holds when it is clear."""
        self.blocks, self.decisions, self.chances = blocks, decisions, chances
        self.backs, self.initial = backs, initial

    def clear(self, rule: Kept) -> None:
        """Adds stores to the blocks of a rule after which the game may stop: what nothing will read there is cleared."""
        own = self._own(rule)
        needed = self._needed(own)
        held = self._held(own, needed, rule)
        for n in own:
            if self._may_stop(n):
                old = self._after(n, held[n]) & rule.slots
                self.clear_all(n, old - self._needed_after(n, needed))

    def clear_all(self, n: int, slots: set[int] | frozenset[int]) -> None:
        """Adds stores to the end of a block that clear slots."""
        block = self.blocks[n]
        block.body += tuple(ir.Store(slot, const(self.initial[slot]), -1) for slot in sorted(slots))

    def _own(self, rule: Kept) -> list[int]:
        found, todo = {rule.entry}, [rule.entry]
        while todo:
            new = set(self._next(todo.pop())) - found
            found |= new
            todo += new
        return sorted(found)

    def _needed(self, own: list[int]) -> dict[int, set[int]]:
        """Finds for each block the slots that may be read, from it on, before they are written."""
        needed: dict[int, set[int]] = {n: set() for n in own}
        changed = True
        while changed:
            changed = False
            for n in reversed(own):
                here = self._needed_after(n, needed)
                for s in reversed(self.blocks[n].body):
                    if isinstance(s, ir.Store):
                        here.discard(s.slot)
                    here |= _read(s)
                changed |= here != needed[n]
                needed[n] = here
        return needed

    def _needed_after(self, n: int, needed: dict[int, set[int]]) -> set[int]:
        return self._read_last(n).union(*(needed[m] for m in self._next(n)))

    def _held(self, own: list[int], needed: dict[int, set[int]], rule: Kept) -> dict[int, set[int]]:
        """Finds for each block the slots that may not be clear when it begins."""
        held: dict[int, set[int]] = {n: set() for n in own}
        held[rule.entry] |= rule.parameters
        changed = True
        while changed:
            changed = False
            for n in own:
                here = self._after(n, held[n]) & rule.slots
                if self._may_stop(n):
                    here &= self._needed_after(n, needed)
                for m in self._next(n):
                    changed |= not here <= held[m]
                    held[m] |= here
        return held

    def _after(self, n: int, held: set[int]) -> set[int]:
        """Gets the slots that may not be clear at the end of a block, from those at its beginning."""
        here = set(held)
        for s in self.blocks[n].body:
            if isinstance(s, ir.Store):
                here.discard(s.slot)
                if not isinstance(s.value, ir.Const) or s.value.value != self.initial[s.slot]:
                    here.add(s.slot)
            else:
                here |= {x.slot for x in descend(s) if isinstance(x, ir.Store)}
        end = self.blocks[n].end
        if isinstance(end, ir.Chance) and self.chances[end.chance].size == 1:
            here.add(self.chances[end.chance].base)
        return here

    def _next(self, n: int) -> list[int]:
        """Gets the blocks that come after one in its rule."""
        back = self._called_from(n)
        if back is not None:
            return [back]
        match self.blocks[n].end:
            case ir.Jump(block):
                return [block]
            case ir.Branch(_, then, otherwise):
                return [then, otherwise]
            case ir.Decide(number):
                return [self.decisions[number].next]
            case ir.Chance(number):
                return [self.chances[number].next]
            case _:
                return []

    def _called_from(self, n: int) -> int | None:
        """Gets where play goes on after the rule that a block calls at its end; None if it calls none."""
        for s in self.blocks[n].body:
            if isinstance(s, ir.Store) and s.slot in self.backs and isinstance(s.value, ir.Const):
                return s.value.value
        return None

    def _may_stop(self, n: int) -> bool:
        """Tests if the game may stop right after a block."""
        if not isinstance(self.blocks[n].end, ir.Jump | ir.Branch):
            return False
        if self._called_from(n) is not None:
            return True
        return any(isinstance(self.blocks[m].end, ir.Decide | ir.Chance) for m in self._next(n))

    def _read_last(self, n: int) -> set[int]:
        """Gets the slots that the end of a block reads."""
        match self.blocks[n].end:
            case ir.Branch(condition, _, _):
                return _read(condition)
            case ir.Decide(number):
                d = self.decisions[number]
                return _read(d.actor, d.who)
            case ir.Chance(number):
                c = self.chances[number]
                return _read(c.ordinal, c.count, c.index)
            case _:
                return set()


def _read(*nodes: ir.Expr | ir.Stmt) -> set[int]:
    """Gets the slots that are read one by one within nodes; locals are never read otherwise."""
    found: set[int] = set()
    todo = list(nodes)
    while todo:
        for n in descend(todo.pop()):
            match n:
                case ir.Load():
                    found.add(n.slot)
                case ir.Tell():  # not gone into by itself
                    todo += (*n.arguments, *(() if n.to is None else (n.to,)))
                case _:
                    pass
    return found
