"""Expressions written as Python: for any of them the same value as by working it out node by node.

Memos are the point: wherever their uses stand, in operands that may be skipped, branches and loops, each is worked
out before it is read and at most once in a straight line.
"""

from __future__ import annotations

import math

from harbourmaster.interpreter import program as ir
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.python_backend import write_functions
from hypothesis import given, settings
from hypothesis import strategies as st

SLOTS = 6
_wide = (-ir.FAR, ir.FAR)

_loads = st.integers(0, SLOTS - 1).map(lambda n: ir.Load(-3, 3, n))
_leaves = st.one_of(_loads, st.integers(-3, 3).map(lambda v: ir.Const(v, v, v)))
_numbers = ("+", "-", "*", "min", "max")
_comparisons = ("=", "!=", "<", "<=")


def _op(operator: str, *arguments: ir.Expr) -> ir.Expr:
    flag = operator in ("=", "!=", "<", "<=", "and", "or", "not")
    return ir.Op(*((0, 1) if flag else _wide), operator, arguments)


@st.composite
def _flags(draw: st.DrawFn, memos: list[ir.Expr], depth: int) -> ir.Expr:
    kind = draw(st.sampled_from(("compare", "and", "or", "not") if depth else ("compare",)))
    inner = max(0, depth - 1)
    if kind == "compare":
        a, b = (draw(_expressions(memos, inner)) for _ in range(2))
        return _op(draw(st.sampled_from(_comparisons)), a, b)
    if kind == "not":
        return _op("not", draw(_flags(memos, inner)))
    return _op(kind, *(draw(_flags(memos, inner)) for _ in range(draw(st.integers(2, 3)))))


@st.composite
def _expressions(draw: st.DrawFn, memos: list[ir.Expr], depth: int) -> ir.Expr:
    kinds = ["leaf", *(["memo"] * 6 if memos else []), *(["op", "cond", "extreme"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    inner = max(0, depth - 1)
    if kind == "memo":
        return draw(st.sampled_from(memos))
    if kind == "op":
        return _op(draw(st.sampled_from(_numbers[:3])), *(draw(_expressions(memos, inner)) for _ in range(2)))
    if kind == "extreme":
        parts = [draw(_expressions(memos, inner)) for _ in range(draw(st.integers(1, 4)))]
        return _op(draw(st.sampled_from(_numbers[3:])), *parts)
    if kind == "cond":
        test, then, otherwise = (
            draw(_flags(memos, inner)),
            *(draw(_expressions(memos, inner)) for _ in range(2)),
        )
        return ir.Cond(*_wide, test, then, otherwise)
    return draw(_leaves)


@st.composite
def _bodies(draw: st.DrawFn) -> tuple[ir.Stmt, ...]:
    """Draws a function that gives a value, some ways out of it early, and some values worked out in a loop."""
    memos: list[ir.Expr] = []
    for n in range(draw(st.integers(1, 2))):
        memos.append(ir.Memo(*_wide, f"memo_{n}", draw(_expressions(list(memos), 1))))
    out: list[ir.Stmt] = []
    for n in range(draw(st.integers(0, 3))):
        value = draw(_expressions(memos, 2))
        match draw(st.sampled_from(("if", "else", "for", "set"))):
            case "if":
                out.append(ir.If(draw(_flags(memos, 2)), (ir.Return(value),)))
            case "else":
                name = f"e{n}"
                a, b = (ir.SetTemp(name, v) for v in (value, draw(_expressions(memos, 2))))
                out.append(ir.If(draw(_flags(memos, 2)), (a,), (b,)))
                memos = [*memos, ir.Temp(*_wide, name)]
            case "for":
                test = draw(_flags(memos, 2))
                low, high = (ir.Const(v, v, v) for v in (0, draw(st.integers(-1, 2))))
                out.append(ir.For(f"i{n}", low, high, (ir.If(test, (ir.Return(value),)),)))
            case "set":
                out.append(ir.SetTemp(f"s{n}", value))
                memos = [*memos, ir.Temp(*_wide, f"s{n}")]
    return (*out, ir.Return(draw(_expressions(memos, 3))))


class _Meaning:
    """Works expressions out node by node; a memo is just its value."""

    def __init__(self, position: list[int]) -> None:
        self.position = position
        self.temps: dict[str, int] = {}

    def value(self, e: ir.Expr) -> int:
        match e:
            case ir.Const(_, _, value):
                return value
            case ir.Load(_, _, slot):
                return self.position[slot]
            case ir.Temp(_, _, name):
                return self.temps[name]
            case ir.Memo(_, _, _, value):
                return self.value(value)
            case ir.Cond(_, _, c, t, o):
                return self.value(t) if self.value(c) else self.value(o)
            case ir.Op(_, _, operator, arguments):
                a = [self.value(x) for x in arguments]
                match operator:
                    case "+":
                        return sum(a)
                    case "-":
                        return a[0] - a[1]
                    case "*":
                        return math.prod(a)
                    case "min" | "max":
                        return min(a) if operator == "min" else max(a)
                    case "=" | "!=":
                        return int((a[0] == a[1]) == (operator == "="))
                    case "<" | "<=":
                        return int(a[0] < a[1] if operator == "<" else a[0] <= a[1])
                    case "and" | "or":
                        return int(all(a) if operator == "and" else any(a))
                    case "not":
                        return int(not a[0])
        raise AssertionError(e)

    def run(self, body: tuple[ir.Stmt, ...]) -> int | None:
        for s in body:
            match s:
                case ir.SetTemp(name, value):
                    self.temps[name] = self.value(value)
                case ir.Return(value):
                    return self.value(value)
                case ir.If(condition, then, otherwise):
                    found = self.run(then if self.value(condition) else otherwise)
                    if found is not None:
                        return found
                case ir.For(name, low, high, inner):
                    for turn in range(self.value(low), self.value(high) + 1):
                        self.temps[name] = turn
                        found = self.run(inner)
                        if found is not None:
                            return found
                case _:
                    raise AssertionError(s)
        return None


_PROGRAM = load_game("klondike", players=1).program
"""Any will do: functions are written beside a program, and these read nothing of it."""


@settings(max_examples=300, deadline=None)
@given(
    _bodies(), st.lists(st.lists(st.integers(-3, 3), min_size=SLOTS, max_size=SLOTS), min_size=1, max_size=6)
)
def test_written_and_meant_are_the_same(body: tuple[ir.Stmt, ...], positions: list[list[int]]) -> None:
    function = ir.Function("f", (), body, "value")
    names: dict[str, object] = {}
    exec(write_functions(_PROGRAM, [function], {}), names)
    for position in positions:
        assert names["f"](position) == _Meaning(position).run(body)  # type: ignore[operator]
