"""Proves two programs to be one: the same blocks, functions and moves, whatever they and their variables are
called.

Walks both from the start at once and pairs what stands at the same place: slots, locals, functions, blocks,
moves, streams. As soon as something would need two partners the programs count as different. So "the same" is
a proof (places in the rules, sentences and names take no part in how a game runs), "different" is none: two
programs may do the same in different ways. The operands of `+`, `=`, `or` and their like may stand in any order; those
of `and` and `or` only where none can fail, since the second is not looked at after the first has decided.
"""

from __future__ import annotations

from typing import Any

from .. import program as ir
from ..types import EnumType, ListType, OptionalType, PileType, SetType, Type

_SKIPPED = {"site", "low", "high"}
"""Fields that do not bear on how a program runs; the bounds of a `Checked` and of a `For` do, and are
compared.
"""
_ANY_ORDER = {"+", "*", "min", "max", "=", "!=", "union"}
_ANY_ORDER_IF_SAFE = {"and", "or"}
_MAY_FAIL = {"//", "ceil", "mod"}


def same_program(a: ir.Program, b: ir.Program) -> bool:
    """Tests if two programs are one but for names, places and sentences."""
    try:
        _Pairing(a, b).check()
    except _Different:
        return False
    return True


class _Different(Exception):
    pass


class _Pairing:
    def __init__(self, a: ir.Program, b: ir.Program) -> None:
        self.a, self.b = a, b
        self.pairs: dict[str, tuple[dict[Any, Any], dict[Any, Any]]] = {}
        self.todo: list[tuple[str, Any, Any]] = []

    def pair(self, kind: str, x: Any, y: Any) -> bool:
        """Pairs two things; tells if they are new. Raises `_Different` where one has another partner."""
        there, back = self.pairs.setdefault(kind, ({}, {}))
        if x in there or y in back:
            if there.get(x) != y or back.get(y) != x:
                raise _Different
            return False
        there[x], back[y] = y, x
        return True

    def equal(self, x: object, y: object) -> None:
        if x != y:
            raise _Different

    def check(self) -> None:
        a, b = self.a, self.b
        self.equal(a.players, b.players)
        self.equal((bool(a.score), bool(a.tie_break)), (bool(b.score), bool(b.tie_break)))
        self.equal(len(a.measures), len(b.measures))
        self.equal((a.decision_budget, a.step_budget), (b.decision_budget, b.step_budget))
        self.block(a.start, b.start)
        for x, y in ((a.score, b.score), (a.tie_break, b.tie_break)):
            if x:
                self.function(x, y)
        for m, n in zip(a.measures, b.measures, strict=True):
            self.equal(m.per, n.per)
            self.function(m.function, n.function)
        while self.todo:
            kind, x, y = self.todo.pop()
            getattr(self, f"_{kind}")(x, y)
        self.variables()

    def variables(self) -> None:
        """Compares who sees what: of paired slots the variables they belong to."""
        by_slot = {v.slot: v for v in self.b.variables.values()}
        there = self.pairs.get("slot", ({}, {}))[0]
        for v in self.a.variables.values():
            if v.slot not in there:
                continue
            other = by_slot.get(there[v.slot])
            if other is None:
                raise _Different
            self.equal(
                (len(v.dims), v.width, v.visibility, v.tally),
                (len(other.dims), other.width, other.visibility, other.tally),
            )
            if v.owner or other.owner:
                self.equal(bool(v.owner), bool(other.owner))

    # ------------------------------------------------------------------------------------------------- things

    def slot(self, x: int, y: int) -> None:
        if x < 0 or y < 0:
            self.equal(x, y)
        elif self.pair("slot", x, y):
            self.equal(self.a.initial[x], self.b.initial[y])
            self.equal(self.a.bounds[x], self.b.bounds[y])

    def block(self, x: int, y: int) -> None:
        if self.pair("block", x, y):
            self.todo.append(("block", x, y))

    def function(self, x: str, y: str) -> None:
        if self.pair("function", x, y):
            self.todo.append(("function", x, y))

    def _function(self, x: str, y: str) -> None:
        f, g = self.a.functions[x], self.b.functions[y]
        self.equal((f.kind, len(f.parameters)), (g.kind, len(g.parameters)))
        scope: dict[str, str] = dict(zip(f.parameters, g.parameters, strict=True))
        self.tuples(f.body, g.body, scope)

    def _block(self, x: int, y: int) -> None:
        f, g = self.a.blocks[x], self.b.blocks[y]
        self.equal(f.budget >= 0, g.budget >= 0)
        self.equal(type(f.end), type(g.end))
        if isinstance(f.end, ir.End):
            return  # it only clears slots
        scope: dict[str, str] = {}
        self.tuples(f.body, g.body, scope)
        match f.end, g.end:
            case ir.Jump(m), ir.Jump(n):
                self.block(m, n)
            case ir.Branch(c, t, o), ir.Branch(d, u, p):
                self.node(c, d, scope)
                self.block(t, u)
                self.block(o, p)
            case ir.Back(s), ir.Back(t):
                self.slot(s, t)
            case ir.Decide(m), ir.Decide(n):
                if self.pair("decision", m, n):
                    self.decision(self.a.decisions[m], self.b.decisions[n])
            case ir.Chance(m), ir.Chance(n):
                if self.pair("chance", m, n):
                    self.chance(self.a.chances[m], self.b.chances[n])

    def decision(self, d: ir.Decision, e: ir.Decision) -> None:
        self.equal((d.mode, d.everyone, d.nobody < 0), (e.mode, e.everyone, e.nobody < 0))
        self.equal((len(d.moves), len(d.standing)), (len(e.moves), len(e.standing)))
        self.node(d.actor, e.actor, {})
        self.node(d.who, e.who, {})
        if d.mode == "each":
            for p in range(self.a.players):
                self.slot(d.pending + p, e.pending + p)
        for x, y in zip((*d.moves, *d.standing), (*e.moves, *e.standing), strict=True):
            self.move(x, y)
        if d.nobody >= 0:
            self.move(d.nobody, e.nobody)
        for f, g in ((d.own, e.own), (d.offers, e.offers), (d.nobody_options, e.nobody_options)):
            self.equal(bool(f), bool(g))
            if f:
                self.function(f, g)
        self.block(d.block, e.block)
        self.block(d.next, e.next)

    def move(self, x: int, y: int) -> None:
        if not self.pair("move", x, y):
            return
        m, n = self.a.moves[x], self.b.moves[y]
        self.equal((m.lows, m.counts, m.secret, m.first), (n.lows, n.counts, n.secret, n.first))
        self.equal([_shape(t) for t in m.types], [_shape(t) for t in n.types])
        self.equal((bool(m.procedure), len(m.slots)), (bool(n.procedure), len(n.slots)))
        self.function(m.why_not, n.why_not)
        if m.procedure:
            self.function(m.procedure, n.procedure)
            return
        for s, t in zip((*m.slots, m.back), (*n.slots, n.back), strict=True):
            self.slot(s, t)
        self.block(m.entry, n.entry)

    def chance(self, c: ir.ChanceNode, e: ir.ChanceNode) -> None:
        self.equal(self.a.streams[c.stream], self.b.streams[e.stream])
        self.equal((c.low, c.size, bool(c.weights)), (e.low, e.size, bool(e.weights)))
        self.slot(c.row, e.row)
        for k in range(c.size):
            self.slot(c.base + k, e.base + k)
        for x, y in ((c.ordinal, e.ordinal), (c.count, e.count), (c.index, e.index)):
            self.node(x, y, {})
        if c.weights:
            self.function(c.weights, e.weights)
        self.block(c.next, e.next)

    # -------------------------------------------------------------------------------- expressions, statements

    def tuples(self, x: tuple[Any, ...], y: tuple[Any, ...], scope: dict[str, str]) -> None:
        x = tuple(s for s in x if not isinstance(s, ir.Tell))
        y = tuple(s for s in y if not isinstance(s, ir.Tell))
        self.equal(len(x), len(y))
        for s, t in zip(x, y, strict=True):
            self.node(s, t, scope)

    def name(self, x: str, y: str, scope: dict[str, str]) -> None:
        if scope.setdefault(x, y) != y:
            raise _Different

    def node(self, x: Any, y: Any, scope: dict[str, str]) -> None:
        self.equal(type(x), type(y))
        match x:
            case ir.Load():
                self.slot(x.slot, y.slot)
            case ir.LoadAt():
                self.run(x.base, x.size, y.base, y.size)
                self.node(x.index, y.index, scope)
            case ir.StoreAt():
                self.run(x.base, x.size, y.base, y.size)
                self.node(x.index, y.index, scope)
                self.node(x.value, y.value, scope)
            case ir.Store():
                self.slot(x.slot, y.slot)
                if isinstance(x.value, ir.Const) and self.is_way_back(x.slot, self.a):
                    self.block(x.value.value, y.value.value)
                else:
                    self.node(x.value, y.value, scope)
            case ir.Op():
                self.equal(x.operator, y.operator)
                self.tuples(x.arguments, self.in_order_of(x, y, scope), scope)
            case ir.Temp():
                self.name(x.name, y.name, scope)
            case ir.SetTemp() | ir.Memo():
                self.node(x.value, y.value, scope)
                self.name(x.name, y.name, scope)
            case ir.For():
                self.node(x.low, y.low, scope)
                self.node(x.high, y.high, scope)
                self.name(x.name, y.name, scope)
                self.tuples(x.body, y.body, scope)
            case ir.Call() | ir.Do():
                self.function(x.function, y.function)
                self.tuples(x.arguments, y.arguments, scope)
            case ir.Lookup():
                self.equal(self.a.tables[x.table], self.b.tables[y.table])
                self.node(x.index, y.index, scope)
            case ir.Checked():
                self.equal((x.low, x.high, x.why), (y.low, y.high, y.why))
                self.node(x.value, y.value, scope)
            case _:
                self.fields(x, y, scope)

    def in_order_of(self, x: ir.Op, y: ir.Op, scope: dict[str, str]) -> tuple[ir.Expr, ...]:
        """Gets the operands of `y` in the order in which those of `x` look like them, if they may be put so."""
        loose = x.operator in _ANY_ORDER or (x.operator in _ANY_ORDER_IF_SAFE and _is_safe(x) and _is_safe(y))
        if not loose or len(x.arguments) != len(y.arguments):
            return y.arguments
        slots, scopes = self.pairs.get("slot", ({}, {})), (scope, {v: v for v in scope.values()})
        mine = [_looks(e, slots[0], scopes[0]) for e in x.arguments]
        theirs = [_looks(e, {s: s for s in slots[1]}, scopes[1]) for e in y.arguments]
        if mine == theirs or sorted(mine) != sorted(theirs):
            return y.arguments
        left = list(zip(theirs, y.arguments, strict=True))
        return tuple(left.pop(next(k for k, (look, _) in enumerate(left) if look == m))[1] for m in mine)

    def is_way_back(self, slot: int, program: ir.Program) -> bool:
        if not hasattr(self, "_backs"):
            self._backs = {b.end.slot for b in program.blocks if isinstance(b.end, ir.Back)}
        return slot in self._backs

    def run(self, base: int, size: int, other: int, other_size: int) -> None:
        self.equal(size, other_size)
        for k in range(size):
            self.slot(base + k, other + k)

    def fields(self, x: Any, y: Any, scope: dict[str, str]) -> None:
        for field in x.__struct_fields__:
            if field in _SKIPPED and not isinstance(getattr(x, field), ir.Expr):
                continue
            v, w = getattr(x, field), getattr(y, field)
            if isinstance(v, ir.Expr | ir.Stmt):
                self.node(v, w, scope)
            elif isinstance(v, tuple) and v and isinstance(v[0], ir.Expr | ir.Stmt):
                self.tuples(v, w, scope)
            else:
                self.equal(v, w)


def _is_safe(e: ir.Expr) -> bool:
    """Tests if an expression always has a value, whatever the position: what could fail is wrapped or called."""
    match e:
        case ir.Const() | ir.Load() | ir.Temp():
            return True
        case ir.LoadAt() | ir.Lookup():
            return _is_safe(e.index)
        case ir.Op():
            return e.operator not in _MAY_FAIL and all(map(_is_safe, e.arguments))
        case _:
            return False


def _looks(e: Any, slots: dict[int, int], names: dict[str, str]) -> str:
    """Describes an expression by what is already known to be the same in both programs; the rest as `?`."""
    match e:
        case ir.Load():
            return f"slot {slots.get(e.slot, '?')}"
        case ir.LoadAt():
            return f"slots {slots.get(e.base, '?')} at ({_looks(e.index, slots, names)})"
        case ir.Temp():
            return f"name {names.get(e.name, '?')}"
        case ir.Const():
            return f"{e.value}"
        case ir.Op():
            # whatever its order, so that one that lies inside another looks the same too
            return f"{e.operator} {sorted(_looks(a, slots, names) for a in e.arguments)}"
        case _:
            return type(e).__name__


def _shape(t: Type) -> object:
    match t:
        case EnumType():
            return ("enum", len(t.entries))
        case OptionalType(base) | SetType(base) | PileType(base) | ListType(base):
            return (type(t).__name__, _shape(base))
        case _:
            return type(t).__name__
