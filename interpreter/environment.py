"""What is known where an expression stands, and small questions about lowered expressions."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from . import program as ir
from .program import TRUE, Expr, make
from .symbols import Local


class Env(Struct):
    """What is known where an expression stands: values of locals, who acts, facts, and a store of memos."""

    locals: dict[Local, Expr] = field(default_factory=dict)
    actor: Expr | None = None
    facts: frozenset[tuple[Expr, int]] = frozenset()
    """Values with a number they are known not to lie below."""
    memos: dict[Expr, str] | None = None
    lasting: frozenset[str] = frozenset()
    """Locals that keep their value for as long as the memos do."""

    def bind(self, local: Local, value: Expr) -> Env:
        """Gets an environment with one more local."""
        return replace(self, locals={**self.locals, local: value})

    def knowing(self, condition: Expr) -> Env:
        """Gets an environment in which `condition` holds."""
        new = _facts(condition)
        return replace(self, facts=self.facts | new) if new else self


def _facts(condition: Expr) -> frozenset[tuple[Expr, int]]:
    match condition:
        case ir.Op(_, _, "and", arguments):
            return frozenset().union(*(_facts(a) for a in arguments))
        case ir.Op(_, _, "!=", (value, ir.Const(_, _, out))) if value.low == out:
            return frozenset([(value, out + 1)])
        case ir.Op(_, _, "<=", (ir.Const(low, _, _), value)):
            return frozenset([(value, low)])
        case ir.Op(_, _, "<", (ir.Const(low, _, _), value)):
            return frozenset([(value, low + 1)])
        case ir.Op(_, _, "=", (value, ir.Const(low, _, _))):
            return frozenset([(value, low)])
        case ir.Memo(_, _, _, value):
            return _facts(value)
        case _:
            return frozenset()


class Pile(Struct):
    """A pile in the position: its length in slot `base` + offset, its items after that, bottom first."""

    base: int
    size: int
    offset: Expr
    capacity: int
    low: int
    high: int

    @property
    def length(self) -> Expr:
        return ir.load_at(self.base, self.size, self.offset, 0, self.capacity)

    def item(self, place: Expr) -> Expr:
        """Gets the item at `place`, from 0."""
        index = make("+", make("+", self.offset, TRUE), place)
        return ir.load_at(self.base, self.size, index, self.low, self.high)


class Run(Struct):
    """What a variable runs over: place k (from 0, below `bound`) holds `value(k)` if `holds(k)`."""

    bound: int
    holds: Callable[[Expr], Expr]
    value: Callable[[Expr], Expr]
    low: int
    high: int
    start: Expr | None = None
    """A value to be worked out once before a loop: `value` is then given it in place of this expression."""
    last: Expr | None = None
    """The last place that holds, where all before it hold and none after it; below 0 if there is none."""


def clamped(value: Expr, low: int, high: int) -> Expr:
    if isinstance(value, ir.Op):
        return replace(value, low=max(value.low, low), high=min(value.high, max(low, high)))
    return value


def raised(value: Expr, env: Env) -> Expr:
    """Gets a value with the lowest bound that the facts allow."""
    low = max((n for v, n in env.facts if v == value), default=value.low)
    return replace(value, low=low) if value.low < low <= value.high else value


def narrowed(value: Expr) -> Expr:
    return replace(value, low=0)


def simple(value: Expr) -> bool:
    match value:
        case ir.Const() | ir.Load() | ir.Temp() | ir.Memo():
            return True
        case ir.LoadAt(_, _, _, _, index) | ir.Lookup(_, _, _, index):
            return isinstance(index, ir.Temp | ir.Load)
        case ir.Op(_, _, "+" | "-", (a, b)):
            return isinstance(a, ir.Const | ir.Temp | ir.Load) and isinstance(b, ir.Const | ir.Temp | ir.Load)
        case _:
            return False


def size(value: Expr) -> int:
    match value:
        case ir.Op(_, _, _, arguments) | ir.Call(_, _, _, arguments):
            return 1 + sum(size(a) for a in arguments)
        case ir.Cond(_, _, c, t, o):
            return 1 + size(c) + size(t) + size(o)
        case ir.LoadAt(_, _, _, _, index) | ir.Lookup(_, _, _, index):
            return 1 + size(index)
        case ir.Checked(_, _, inner, _, _):
            return 2 + size(inner)
        case _:
            return 1


def lasts(value: Expr, locals_: frozenset[str]) -> bool:
    """Tests if a value is made of nothing but the position, which does not change meanwhile, and such locals."""
    match value:
        case ir.Temp(_, _, name):
            return name in locals_
        case ir.Op(_, _, _, arguments) | ir.Call(_, _, _, arguments):
            return all(lasts(a, locals_) for a in arguments)
        case ir.Cond(_, _, c, t, o):
            return lasts(c, locals_) and lasts(t, locals_) and lasts(o, locals_)
        case ir.LoadAt(_, _, _, _, index) | ir.Lookup(_, _, _, index):
            return lasts(index, locals_)
        case ir.Checked(_, _, inner, _, _) | ir.Memo(_, _, _, inner):
            return lasts(inner, locals_)
        case _:
            return True
