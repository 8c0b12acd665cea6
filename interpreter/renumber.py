"""Puts final slot numbers into a program whose layout has been settled."""

from __future__ import annotations

from msgspec.structs import replace

from . import program as ir
from .program import Expr


class Renumber:
    """Puts the final slot numbers into expressions and statements."""

    def __init__(self, mapping: dict[int, int]) -> None:
        self.mapping = mapping

    def expr(self, e: Expr) -> Expr:
        match e:
            case ir.Const() | ir.Temp():
                return e
            case ir.Load(low, high, slot):
                return ir.Load(low, high, self.mapping[slot])
            case ir.LoadAt(low, high, base, size, index):
                return ir.LoadAt(low, high, self.mapping[base], size, self.expr(index))
            case ir.Op(_, _, _, arguments) | ir.Call(_, _, _, arguments):
                return replace(e, arguments=tuple(self.expr(a) for a in arguments))
            case ir.Cond(low, high, c, t, o):
                return ir.Cond(low, high, self.expr(c), self.expr(t), self.expr(o))
            case ir.Lookup(low, high, table, index):
                return ir.Lookup(low, high, table, self.expr(index))
            case ir.Checked(_, _, value, _, _):
                return replace(e, value=self.expr(value))
            case ir.Memo(_, _, _, value):
                return replace(e, value=self.expr(value))
        raise AssertionError(e)

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Store(slot, value, site):
                return ir.Store(self.mapping[slot], self.expr(value), site)
            case ir.StoreAt(base, size, index, value, site):
                return ir.StoreAt(self.mapping[base], size, self.expr(index), self.expr(value), site)
            case ir.SetTemp(name, value):
                return ir.SetTemp(name, self.expr(value))
            case ir.If(condition, then, otherwise):
                return ir.If(
                    self.expr(condition),
                    tuple(self.stmt(x) for x in then),
                    tuple(self.stmt(x) for x in otherwise),
                )
            case ir.For(name, low, high, body):
                return ir.For(name, self.expr(low), self.expr(high), tuple(self.stmt(x) for x in body))
            case ir.Loop(body, site):
                return ir.Loop(tuple(self.stmt(x) for x in body), site)
            case ir.Do(function, arguments):
                return ir.Do(function, tuple(self.expr(a) for a in arguments))
            case ir.Return(value):
                return ir.Return(self.expr(value))
            case ir.Tell(text, arguments, to, site):
                who = self.expr(to) if to is not None else None
                return ir.Tell(text, tuple(self.expr(a) for a in arguments), who, site)
            case ir.Emit(action):
                return ir.Emit(self.expr(action))
            case ir.EmitRange(low, high):
                return ir.EmitRange(self.expr(low), self.expr(high))
            case _:
                return s
