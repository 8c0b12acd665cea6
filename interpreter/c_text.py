"""Writes the small parts of C text: constants, types, brackets."""

from __future__ import annotations

from . import program as ir
from .c_layout import identifier, is_wide


def number(value: int) -> str:
    """Writes a constant."""
    if is_wide(value, value):
        return f"INT64_C({value})" if value >= 0 else f"(INT64_C({value + 1}) - 1)"
    if value == -(1 << 31):
        return f"({value + 1} - 1)"
    return str(value) if value >= 0 else f"({value})"


def c_int(low: int, high: int) -> str:
    """Gets the type of a local."""
    return "int64_t" if is_wide(low, high) else "int"


def known(function: str) -> str:
    """Makes the name of the local that keeps what a function gave."""
    return f"known_{identifier(function)}"


def join(sign: str, parts: list[str]) -> str:
    """Joins operands of a junction."""
    text = f" {sign} ".join(parts)
    return text if text.isidentifier() else f"({text})"


def flag(e: ir.Expr, text: str) -> str:
    """Writes a flag that is kept: 0 or 1."""
    return text if e.low >= 0 and e.high <= 1 else f"{text} != 0"


def bare(text: str) -> str:
    """Takes off the brackets around a whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]


def split_constant(e: ir.Expr) -> tuple[int, ir.Expr | None]:
    """Takes the constant part out of a sum."""
    if isinstance(e, ir.Const):
        return e.value, None
    if isinstance(e, ir.Op) and e.operator in ("+", "-"):
        a, b = e.arguments
        if isinstance(b, ir.Const):
            constant, rest = split_constant(a)
            return constant + (b.value if e.operator == "+" else -b.value), rest
        if isinstance(a, ir.Const) and e.operator == "+":
            constant, rest = split_constant(b)
            return constant + a.value, rest
    return 0, e
