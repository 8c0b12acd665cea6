"""Carries a position over to other rules of the same game: another reading, an edited file.

Variables go over by name. Locals and the ways back to callers have no names; they are paired by what the two
programs do with them. The blocks of both are written down as shapes, in which places, numbers of blocks and of
nameless slots do not show; the two lists are laid side by side as a comparison of two texts would, and
slots that stand at the same places of paired blocks are taken to be the same. It fits only if the decision at
hand is paired, asks by the same rule and for the same player, and everything the new program may still read
before it writes it has a partner; otherwise `carry` says what is missing.
"""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import Any

from ..interpreter import program as ir
from ..interpreter.comparing.matching import Match
from ..interpreter.errors import PlayError
from ..interpreter.game import Game, State


class Misfit(Exception):
    """Says why a position does not fit; `key` and `about` make the sentence."""

    def __init__(self, key: str, **about: str) -> None:
        super().__init__(key)
        self.key = key
        self.about = about


def carry(state: State, game: Game) -> State:
    """Makes the state of the other game that stands where this one does. Raises `Misfit`."""
    return _Carrying(state.game, game).carry(state)


class _Carrying:
    def __init__(self, a: Game, b: Game) -> None:
        self.match = Match(a, b)
        self.a, self.b = Shapes(a.program), Shapes(b.program)
        self.game = b
        self.blocks: dict[int, int] = {}
        votes: dict[int, Counter[int]] = {}
        matcher = SequenceMatcher(None, self.a.texts, self.b.texts, autojunk=False)
        for tag, i, j, m, n in matcher.get_opcodes():
            if tag == "equal" or (tag == "replace" and j - i == n - m):
                for x, y in zip(range(i, j), range(m, n), strict=True):
                    self._pair(x, y, votes)
        self.slots = {x: v.most_common(1)[0][0] for x, v in votes.items()}
        taken = Counter(self.slots.values())
        self.slots = {x: y for x, y in self.slots.items() if taken[y] == 1}

    def _pair(self, x: int, y: int, votes: dict[int, Counter[int]]) -> None:
        if type(self.a.program.blocks[x].end) is not type(self.b.program.blocks[y].end):
            return
        self.blocks[x] = y
        if self.a.texts[x] == self.b.texts[y]:
            for s, t in zip(self.a.nameless[x], self.b.nameless[y], strict=True):
                votes.setdefault(s, Counter())[t] += 1

    def carry(self, state: State) -> State:
        """Carries one position."""
        decision = state.decision
        if decision is None:
            raise Misfit("carry-no-decision")
        target = self.blocks.get(decision.block)
        there = next((d for d in self.game.program.decisions if d.block == target), None)
        if there is None or there.rule != decision.rule or there.mode != decision.mode:
            raise Misfit("carry-other-decision", rule=decision.rule)
        position = list(self.game.program.initial)
        position[0] = there.block
        lost = self._variables(state, position)
        needed = self.b.needed(there.block) | {
            there.pending + p for p in range(self.match.players) if there.pending >= 0
        }
        partner = {y: x for x, y in self.slots.items()}
        if decision.pending >= 0:
            partner.update({there.pending + p: decision.pending + p for p in range(self.match.players)})
        for slot in sorted(self.b.unnamed):
            value = self._local(state, slot, partner.get(slot, -1), decision, there)
            if value is not None:
                position[slot] = value
            elif slot in needed:
                raise Misfit("carry-missing", rule=decision.rule)
        for slot in sorted(lost):  # functions may read it, so whether it is needed is not known
            found = self.game.variable_at(slot)
            raise Misfit("carry-range", what=found[0].name if found is not None else "")
        self._rows(state, position)
        return self._checked(state, position)

    def _local(
        self, state: State, slot: int, partner: int, here: ir.Decision, there: ir.Decision
    ) -> int | None:
        """Gets what a nameless slot holds; None where that has no counterpart."""
        if partner < 0:
            return None
        value: int | None = state.position[partner]
        if slot in self.b.backs:
            value = self.blocks.get(value) if value else 0
        elif here.pending >= 0 and 0 <= slot - there.pending < self.match.players and value:
            value = self.match.to_b(value - 1) + 1  # what he has chosen, until all have
        low, high = self.game.program.bounds[slot]
        return value if value is not None and low <= value <= high else None

    def _variables(self, state: State, position: list[int]) -> set[int]:
        """Carries the variables; gets the slots whose value has no counterpart."""
        lost: set[int] = set()
        for e in self.match.elements:
            value = state.position[e.slot_a]
            if e.to_a is not None:
                low, high = self.game.program.bounds[e.slot_b]
                found = [v for v in range(low, min(high, low + 10_000) + 1) if e.to_a(v) == value]
                if not found:
                    lost.add(e.slot_b)
                    continue
                value = found[0]
            low, high = self.game.program.bounds[e.slot_b]
            if not low <= value <= high:
                lost.add(e.slot_b)
                continue
            position[e.slot_b] = value
        return lost

    def _rows(self, state: State, position: list[int]) -> None:
        """Goes on with each stream of chance where it stood."""
        rows = {self.a.program.streams[c.stream]: state.position[c.row] for c in self.a.program.chances}
        for c in self.b.program.chances:
            position[c.row] = rows.get(self.b.program.streams[c.stream], 0)

    def _checked(self, state: State, position: list[int]) -> State:
        machine = self.game.machine(traced=True)
        try:
            stop = machine.stop(position)
        except PlayError as error:
            raise Misfit("carry-breaks", why=error.message) from None
        new = State(self.game, machine, position, stop, None)
        if stop.__class__ is not list or new.current_player() != state.current_player():
            raise Misfit("carry-nobody")
        broken = new.broken_invariants()
        if broken and not state.broken_invariants():
            raise Misfit("carry-breaks", why=broken[0])
        new.events = ()
        return new


class Shapes:
    """The blocks of a program as texts, each with its nameless slots in the order in which they stand."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.names: dict[int, str] = {}
        for v in program.variables.values():
            size = v.width
            for _, _, count in v.dims:
                size *= count
            self.names.update({v.slot + n: f"{v.name}+{n}" for n in range(size)})
        rows = {c.row for c in program.chances}
        self.unnamed = {n for n in range(1, program.size) if n not in self.names and n not in rows}
        self.backs = {b.end.slot for b in program.blocks if isinstance(b.end, ir.Back)}
        self.texts: list[str] = []
        self.nameless: list[list[int]] = []
        for block in program.blocks:
            slots: list[int] = []
            parts = [self._write(s, slots) for s in block.body]
            self.texts.append(" ".join([*parts, self._end(block.end, slots)]))
            self.nameless.append(slots)

    def _slot(self, slot: int, slots: list[int]) -> str:
        if slot in self.names:
            return self.names[slot]
        slots.append(slot)
        return "?"

    def _end(self, end: ir.Terminator, slots: list[int]) -> str:
        match end:
            case ir.Branch(condition, _, _):
                return f"branch {self._write(condition, slots)}"
            case ir.Back(slot):
                return f"back {self._slot(slot, slots)}"
            case ir.Decide(number):
                return f"decide {self.program.decisions[number].rule}"
            case ir.Chance(number):
                return f"chance {self.program.streams[self.program.chances[number].stream]}"
            case _:
                return type(end).__name__

    def _write(self, node: Any, slots: list[int]) -> str:
        match node:
            case ir.Const(_, _, value):
                return str(value)
            case ir.Load(_, _, slot):
                return self._slot(slot, slots)
            case ir.Store(slot, ir.Const(_, _, _), -1) if slot in self.backs:
                return f"call {self._slot(slot, slots)}"
            case ir.Store(slot, value, _):
                return f"{self._slot(slot, slots)} := {self._write(value, slots)}"
            case ir.LoadAt(_, _, base, _, index):
                return f"{self._slot(base, slots)}[{self._write(index, slots)}]"
            case ir.StoreAt(base, _, index, value, _):
                written = f"{self._write(index, slots)}] := {self._write(value, slots)}"
                return f"{self._slot(base, slots)}[{written}"
            case ir.Temp():
                return "t"
            case ir.SetTemp(_, value):
                return f"t := {self._write(value, slots)}"
            case ir.Tell():
                return "tell"
        parts = []
        for name in node.__struct_fields__:
            if name in ("low", "high", "site", "name", "text") and not isinstance(node, ir.For):
                continue
            value = getattr(node, name)
            if isinstance(value, ir.Expr | ir.Stmt):
                parts.append(self._write(value, slots))
            elif isinstance(value, tuple):
                parts += [self._write(v, slots) for v in value if isinstance(v, ir.Expr | ir.Stmt)]
            elif isinstance(value, str) and name in ("operator", "function", "table"):
                parts.append(value)
        return f"({type(node).__name__} {' '.join(parts)})"

    # --------------------------------------------------------------------------------------------------- in use

    def needed(self, block: int) -> set[int]:
        """Finds the slots that may be read before they are written, from a block on."""
        reads: list[set[int]] = []
        writes: list[set[int]] = []
        ways: list[list[int]] = []
        stored: dict[int, list[int]] = {}
        for b in self.program.blocks:
            for s in b.body:
                if isinstance(s, ir.Store) and s.slot in self.backs and isinstance(s.value, ir.Const):
                    stored.setdefault(s.slot, []).append(s.value.value)
        for m in self.program.moves:
            if m.back >= 0:
                stored.setdefault(m.back, []).extend(
                    n
                    for d in self.program.decisions
                    for n in (d.next, d.block)
                    if m.index in (*d.moves, *d.standing)
                )
        for b in self.program.blocks:
            r, w = self._use(b)
            reads.append(r)
            writes.append(w)
            ways.append(self._next(b, stored))
        live = [set(r) for r in reads]
        changed = True
        while changed:
            changed = False
            for n in range(len(live) - 1, -1, -1):
                out: set[int] = set()
                for w_ in ways[n]:
                    out |= live[w_]
                new = reads[n] | (out - writes[n])
                if new != live[n]:
                    live[n], changed = new, True
        return live[block]

    def _next(self, b: ir.Block, stored: dict[int, list[int]]) -> list[int]:
        match b.end:
            case ir.Jump(n):
                return [n]
            case ir.Branch(_, n, m):
                return [n, m]
            case ir.Back(slot):
                return stored.get(slot, [])
            case ir.Decide(n):
                d = self.program.decisions[n]
                entries = [
                    self.program.moves[m].entry
                    for m in (*d.moves, *d.standing)
                    if self.program.moves[m].entry >= 0
                ]
                return [d.next, *entries]
            case ir.Chance(n):
                return [self.program.chances[n].next]
            case _:
                return []

    def _use(self, b: ir.Block) -> tuple[set[int], set[int]]:
        """Gets what a block reads before it writes it, and what it surely writes."""
        reads: set[int] = set()
        writes: set[int] = set()
        for s in b.body:
            if isinstance(s, ir.Store):
                reads |= self._read(s.value) - writes
                writes.add(s.slot)
            else:
                reads |= self._read(s) - writes
        match b.end:
            case ir.Branch(condition, _, _):
                reads |= self._read(condition) - writes
            case ir.Back(slot):
                reads |= {slot} - writes
            case ir.Decide(n):
                d = self.program.decisions[n]
                reads |= (self._read(d.actor) | self._read(d.who)) - writes
            case ir.Chance(n):
                c = self.program.chances[n]
                for e in (c.ordinal, c.count, c.index):
                    reads |= self._read(e) - writes
            case _:
                pass
        return reads, writes

    def _read(self, node: Any) -> set[int]:
        found: set[int] = set()
        todo = [node]
        while todo:
            n = todo.pop()
            if isinstance(n, ir.Load):
                found.add(n.slot)
            elif isinstance(n, ir.LoadAt | ir.StoreAt):
                found |= set(range(n.base, n.base + n.size))
            for name in n.__struct_fields__:
                value = getattr(n, name)
                if isinstance(value, ir.Expr | ir.Stmt):
                    todo.append(value)
                elif isinstance(value, tuple):
                    todo += [v for v in value if isinstance(v, ir.Expr | ir.Stmt)]
        return found
