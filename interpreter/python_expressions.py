"""Writes expressions of the program as Python, for `python_backend.py`.

A `Memo` is worked out at its first use and kept in a local. Where it surely has been worked out (an earlier operand, a
condition that held), its name is enough; where it may have been, `x if x is not None else (x := …)`. `test` follows what
is sure on each way out of a condition.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import program as ir

_BOOLEAN = {"=", "!=", "<", "<=", "and", "or", "not"}
_INFIX = {
    "+": "+",
    "-": "-",
    "*": "*",
    "//": "//",
    "mod": "%",
    "=": "==",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    "and": "and",
    "or": "or",
    "union": "|",
}


class ExpressionWriter:
    """Writes the expressions of one function after another, in the order in which Python works them out."""

    def __init__(self) -> None:
        self.temps = 0
        self.begin(())

    def begin(self, body: tuple[ir.Stmt, ...]) -> None:
        """Begins with another function, whose memos are its own."""
        self.memo_uses, self.early = _memo_uses(body)
        self.memos: set[str] = set()
        """Those that may be asked for before they are worked out, and so start as None."""
        self.sure: frozenset[str] = frozenset()
        """Those that surely have been worked out at the place being written."""
        self.written: set[str] = set()
        self.loops = 0

    def temp(self) -> str:
        """Makes the name of a local."""
        self.temps += 1
        return f"t{self.temps}"

    def expr(self, e: ir.Expr) -> str:
        """Writes an expression; a test may come out as a Python bool."""
        match e:
            case ir.Const(_, _, value):
                return str(value) if value >= 0 else f"({value})"
            case ir.Load(_, _, slot):
                return f"S[{slot}]"
            case ir.LoadAt(_, _, base, _, index):
                return f"S[{self.offset(base, index)}]"
            case ir.Temp(_, _, name):
                return name
            case ir.Op():
                return self.operator(e)
            case ir.Cond(_, _, c, t, o):
                write = self.expr if _is_boolean(e) else self.number
                test, yes, no = self.test(c)
                self.sure = yes
                then = write(t)
                after, self.sure = self.sure, no
                otherwise = write(o)
                self.sure &= after
                return f"({then} if {test} else {otherwise})"
            case ir.Call(_, _, function, arguments):
                return f"{function}(S{''.join(', ' + self.number(a) for a in arguments)})"
            case ir.Lookup(_, _, table, index):
                return f"T_{table}[{self.expr(index)}]"
            case ir.Checked(low, high, value, site, why):
                return self.check(low, high, value, site, why)
            case ir.Memo(_, _, name, value):
                if self.memo_uses.get(name, 0) < 2:
                    return self.expr(value)
                if name in self.early:
                    return name
                return self.memo(name, value)
        raise AssertionError(e)

    def memo(self, name: str, value: ir.Expr) -> str:
        """Writes a memo: its name where it surely has been worked out, with a test where it may have been."""
        if name in self.sure:
            return name
        first = name not in self.written and not self.loops
        self.written.add(name)
        text = f"({name} := {self.expr(value)})"
        if not first:
            self.memos.add(name)
            text = f"({name} if {name} is not None else {text})"
        self.sure |= {name}
        return text

    def test(self, e: ir.Expr) -> tuple[str, frozenset[str], frozenset[str]]:
        """Writes a condition; gets also the memos surely worked out where it holds and where it does not."""
        if isinstance(e, ir.Memo) and self.memo_uses.get(e.name, 0) < 2:
            return self.test(e.value)
        if isinstance(e, ir.Op) and e.operator == "not":
            text, yes, no = self.test(e.arguments[0])
            return f"(not {text})", no, yes
        if not (isinstance(e, ir.Op) and e.operator in ("and", "or")):
            text = self.expr(e)
            return text, self.sure, self.sure
        parts: list[str] = []
        left: frozenset[str] | None = None
        for argument in e.arguments:
            text, yes, no = self.test(argument)
            parts.append(text)
            out, self.sure = (no, yes) if e.operator == "and" else (yes, no)
            left = out if left is None else left & out
        assert left is not None
        text = f"({f' {e.operator} '.join(parts)})"
        return (text, self.sure, left) if e.operator == "and" else (text, left, self.sure)

    def offset(self, base: int, index: ir.Expr) -> str:
        """Writes base + index, folding a constant part of the index."""
        if isinstance(index, ir.Op) and index.operator == "+":
            a, b = index.arguments
            if isinstance(b, ir.Const):
                return self.offset(base + b.value, a)
            if isinstance(a, ir.Const):
                return self.offset(base + a.value, b)
        if isinstance(index, ir.Op) and index.operator == "-" and isinstance(index.arguments[1], ir.Const):
            return self.offset(base - index.arguments[1].value, index.arguments[0])
        if base == 0:
            return self.expr(index)
        return f"{base} + {self.expr(index)}" if base > 0 else f"{self.expr(index)} - {-base}"

    def operator(self, e: ir.Op) -> str:
        a = e.arguments
        op = e.operator
        if op in ("and", "or", "not"):
            text, yes, no = self.test(e)
            self.sure = yes & no
            return text
        if op in ("+", "-", "*", "//", "mod", "<", "<=", "=", "!=", "union"):
            return f"({f' {_INFIX[op]} '.join(self.expr(x) for x in a)})"
        match op:
            case "neg":
                return f"(-{self.expr(a[0])})"
            case "ceil":
                return f"(-(-{self.expr(a[0])} // {self.expr(a[1])}))"
            case "min" | "max":
                return self.extreme(a, "<" if op == "min" else ">")
            case "bit":
                if isinstance(a[1], ir.Const):
                    return (
                        f"({self.expr(a[0])} >> {a[1].value} & 1)"
                        if a[1].value
                        else f"({self.expr(a[0])} & 1)"
                    )
                return f"({self.expr(a[0])} >> {self.expr(a[1])} & 1)"
            case "one":
                return f"(1 << {self.expr(a[0])})"
            case "without":
                return f"({self.expr(a[0])} & ~{self.expr(a[1])})"
            case "count":
                return f"{self.expr(a[0])}.bit_count()"
        raise AssertionError(op)

    def extreme(self, values: Sequence[ir.Expr], sign: str) -> str:
        """Writes the least or greatest of some values as comparisons, which are twice as fast as a call."""
        first = best = ""
        if len(values) == 1:
            return self.number(values[0])
        for i, value in enumerate(values):
            here = there = self.number(value)
            if not isinstance(value, ir.Const | ir.Load | ir.Temp):
                there = self.temp()
                here = f"({there} := {here})"
            if not best:
                first, best = here, there
                continue
            chosen = f"({best} if {first} {sign} {here} else {there})"
            best = chosen if i == len(values) - 1 else self.temp()
            first = f"({best} := {chosen})"
        return best

    def check(self, low: int, high: int, value: ir.Expr, site: int, why: str) -> str:
        if isinstance(value, ir.Load | ir.Temp | ir.Const):
            v = self.expr(value)
            test = self.outside(v, value, low, high)
            return f"(bad({site}, {why!r}, {v}, {low}, {high}) if {test} else {v})"
        t = self.temp()
        test = self.outside(t, value, low, high).replace(t, f"({t} := {self.number(value)})", 1)
        return f"(bad({site}, {why!r}, {t}, {low}, {high}) if {test} else {t})"

    @staticmethod
    def outside(name: str, value: ir.Expr, low: int, high: int) -> str:
        below, above = value.low < low, value.high > high
        if below and above:
            return f"not {low} <= {name} <= {high}"
        return f"{name} < {low}" if below else f"{name} > {high}"

    def number(self, e: ir.Expr) -> str:
        """Writes an expression whose value is kept: an int, never a bool."""
        return f"(1 if {self.expr(e)} else 0)" if _is_boolean(e) else self.expr(e)


def _memo_uses(body: tuple[ir.Stmt, ...]) -> tuple[dict[str, int], dict[str, ir.Expr]]:
    """Counts the uses of each memo of a function, and picks those worth working out before anything else.

    These are used three times or more, cheap, and cannot go wrong: no call, no check, no other memo.
    """
    uses: dict[str, int] = {}
    values: dict[str, ir.Expr] = {}

    def count(e: ir.Expr | ir.Stmt) -> None:
        if isinstance(e, ir.Memo):
            uses[e.name] = uses.get(e.name, 0) + 1
            if e.name in values:
                return
            values[e.name] = e.value
        for part in parts(e):
            count(part)

    for s in body:
        count(s)
    early = {n: v for n, v in values.items() if uses[n] >= 3 and _plain_size(v) <= 10}
    return uses, early


def _plain_size(e: ir.Expr) -> int:
    if isinstance(e, ir.Call | ir.Checked | ir.Memo):
        return 1000
    if isinstance(e, ir.Temp) and e.name != "actor":
        return 1000
    return 1 + sum(_plain_size(p) for p in parts(e) if isinstance(p, ir.Expr))


def parts(node: ir.Expr | ir.Stmt) -> list[ir.Expr | ir.Stmt]:
    """Gets the expressions and statements directly inside one."""
    found: list[ir.Expr | ir.Stmt] = []
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, ir.Expr | ir.Stmt):
            found.append(value)
        elif isinstance(value, tuple):
            found += [v for v in value if isinstance(v, ir.Expr | ir.Stmt)]
    return found


def _is_boolean(e: ir.Expr) -> bool:
    match e:
        case ir.Op(_, _, operator, _):
            return operator in _BOOLEAN
        case ir.Cond(low, high, _, t, o):
            return low >= 0 and high <= 1 and (_is_boolean(t) or _is_boolean(o))
        case ir.Memo(_, _, _, value):
            return _is_boolean(value)
        case _:
            return False
