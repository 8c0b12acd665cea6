"""Resolves plain scalars by the core schema of YAML 1.2.

Takes the text of a scalar written without quotes; gives its value and, where readers understand it
differently, the reason why it is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAY_BEGIN_OTHER = frozenset(["", *"-+.0123456789tTfFnN~"])
"""The first characters (or the empty text) of plain scalars that may be other than a text."""

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED_INTEGER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MOST_DIGITS = 18  # so that a whole number fits 64 bits


@dataclass(frozen=True, slots=True)
class Problem:
    """Tells why a plain scalar is refused."""

    code: str
    message: str
    help: str


def resolve(text: str) -> tuple[str | int | float | bool | None, Problem | None]:
    """Gets the value of a plain scalar by the YAML 1.2 core schema, and what is wrong with it, if anything.

    A refused number still gets its likeliest value, so that the schema does not complain about it once more.
    """
    if text in _WORDS:
        return _WORDS[text], None
    if text[0].isalpha():
        return text, None
    if _INTEGER.fullmatch(text):
        digits = text.lstrip("+-")
        if len(digits) > 1 and digits[0] == "0":
            bare = digits.lstrip("0") or "0"
            sign = "-" if text[0] == "-" else ""
            octal = f", 0o{bare} if octal is" if not sign and re.fullmatch("[0-7]{2,}", bare) else ""
            help = f'write {sign}{bare} if decimal is meant{octal}, or "{text}" in quotes for the text'
            value = int(sign + bare[:_MOST_DIGITS])
            message = f"a whole number begins with 0, got {shortened(text)}: some readers take it for octal"
            return value, Problem("yaml-octal", message, shortened(help, 200))
        if len(digits) > _MOST_DIGITS:
            return 0, Problem(
                "yaml-number",
                f"a whole number has at most {_MOST_DIGITS} digits, got {len(digits)}",
                "put it in quotes if the text is meant",
            )
        return int(text), None
    if _BASED_INTEGER.fullmatch(text):
        value = int(text, 0)
        if value >= 10**_MOST_DIGITS:
            message = f"a whole number has at most {_MOST_DIGITS} decimal digits, got {shortened(text)}"
            return 0, Problem("yaml-number", message, "put it in quotes if the text is meant")
        return value, None
    if _NOT_FINITE.fullmatch(text) or (
        _FLOAT.fullmatch(text) and float(text) in (float("inf"), float("-inf"))
    ):
        help = "put it in quotes if the text is meant"
        return 0.0, Problem("yaml-number", f"a number is finite, got {shortened(text)}", help)
    if _FLOAT.fullmatch(text):
        return float(text), None
    return text, None


def shortened(text: str, most: int = 40) -> str:
    """Cuts a text for a message."""
    return text if len(text) <= most else text[: most - 1] + "…"
