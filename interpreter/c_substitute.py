"""Puts values for the locals of expressions and statements, for the C backend's simplifying."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from msgspec.structs import replace

from . import program as ir
from .c_layout import descend


@dataclass(frozen=True, slots=True)
class Filling:
    """What to put for which local, and an ending that gives what is worked out once a name of its own.

    `changing`: where the position stays as it is, the locals that may change; what does not depend on them keeps its
    name. None: everything gets another.
    """

    values: Mapping[str, ir.Expr]
    ending: str
    changing: Set[str] | None = None

    def expr(self, e: ir.Expr) -> ir.Expr:
        """Puts values into an expression."""
        match e:
            case ir.Temp():
                return self.values.get(e.name, e)
            case ir.LoadAt() | ir.Lookup():
                return replace(e, index=self.expr(e.index))
            case ir.Op() | ir.Call():
                return replace(e, arguments=tuple(self.expr(a) for a in e.arguments))
            case ir.Cond():
                return replace(
                    e,
                    condition=self.expr(e.condition),
                    then=self.expr(e.then),
                    otherwise=self.expr(e.otherwise),
                )
            case ir.Checked():
                return replace(e, value=self.expr(e.value))
            case ir.Memo():
                if self.changing is not None and not any(
                    isinstance(n, ir.Temp) and n.name in self.changing for n in descend(e.value)
                ):
                    return e
                return replace(e, name=e.name + self.ending, value=self.expr(e.value))
            case _:
                return e

    def statement(self, s: ir.Stmt) -> ir.Stmt:
        """Puts values into a statement and all that is inside it."""
        changed: dict[str, object] = {}
        for name in s.__struct_fields__:
            part = getattr(s, name)
            if isinstance(part, ir.Expr):
                changed[name] = self.expr(part)
            elif isinstance(part, tuple):
                changed[name] = tuple(
                    self.expr(p) if isinstance(p, ir.Expr) else self.statement(p) for p in part
                )
        return replace(s, **changed)
