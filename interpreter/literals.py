"""Reads values written in data files as values of the language: `45`, `yes`, `none`, `Ann`, `[red, blue]`.

Takes a YAML node and the type wanted; gives the number that a position holds, or the members of a set, pile
or list. Refuses, with what is wanted instead, what is no value of that type.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ..grammar.diagnostics import Report, suggestion
from ..grammar.span import Span
from .types import EnumType, FlagType, IntType, ListType, OptionalType, PileType, SetType, TextType, Type
from .yamlfile import Node, Scalar, describe
from .yamlfile import Sequence as YamlSequence

_NOBODY = {"none", "nobody", "nothing"}
_FLAGS = {"yes": 1, "no": 0}


class NoLiteral(Exception):
    """Says that a node is no value of the type wanted: what is wrong, where, and how to mend it."""

    def __init__(self, message: str, span: Span, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.help = help

    def tell(self, report: Report, code: str = "scenario-value") -> None:
        """Adds it to a report."""
        report.error(code, self.message, self.span, help=self.help)


class Literals(Struct, frozen=True):
    """Reads values; `names` are those of the players at this table."""

    names: tuple[str, ...] = ()

    def read(self, node: Node, type_: Type) -> int:
        """Reads one value; of a set its bit mask. Raises `NoLiteral`."""
        match type_:
            case SetType(base):
                mask = 0
                for value in self.members(node, base):
                    mask |= 1 << value
                return mask
            case PileType() | ListType():
                raise NoLiteral(f"{type_} is no single value", node.span)
        if not isinstance(node, Scalar):
            raise NoLiteral(f"got {describe(node)}, want {type_}", node.span)
        return self.word(node.value, type_, node.span)

    def members(self, node: Node, type_: Type) -> list[int]:
        """Reads a list of values of one type; `empty` is the list of none. Raises `NoLiteral`."""
        if isinstance(node, YamlSequence):
            return [self.read(item, type_) for item in node.items]
        if isinstance(node, Scalar) and node.value == "empty":
            return []
        raise NoLiteral(f"got {describe(node)}, want a list in brackets", node.span)

    def word(self, value: str | int | float | bool | None, type_: Type, span: Span) -> int:
        """Reads a plain value. Raises `NoLiteral`."""
        match type_:
            case OptionalType(base):
                if isinstance(value, str) and value.casefold() in _NOBODY:
                    return -1
                return self.word(value, base, span)
            case EnumType():
                return self._entry(value, type_, span)
            case FlagType():
                if isinstance(value, bool):
                    return int(value)
                if isinstance(value, str) and value.casefold() in _FLAGS:
                    return _FLAGS[value.casefold()]
            case IntType() | TextType():
                if isinstance(value, int) and not isinstance(value, bool):
                    return value
                if (
                    isinstance(value, str)
                    and value.strip().lstrip("-").isascii()
                    and value.strip().lstrip("-").isdigit()
                ):
                    return int(value)
        raise NoLiteral(f"got {describe(Scalar(value, span))}, want {type_}", span)

    def _entry(self, value: str | int | float | bool | None, enum: EnumType, span: Span) -> int:
        own = self.names if enum.origin == "players" and self.names else enum.entries
        if isinstance(value, bool) and {"yes", "no"} <= set(own):
            value = "yes" if value else "no"
        text = str(value).strip()
        if text in own:
            return own.index(text)
        wanted = _folded(text)
        for entries in (own, enum.entries):
            for i, entry in enumerate(entries):
                if _folded(entry) == wanted:
                    return i
        help = suggestion(text, own, what="there are")
        raise NoLiteral(f"'{text}' is not {enum}", span, help)

    def element(self, text: str, dims: Sequence[tuple[Type, int, int]], span: Span) -> tuple[int, ...]:
        """Reads the indices of an element, `Ann, red`, by its variable's types. Raises `NoLiteral`."""
        parts = [part.strip() for part in text.split(",")] if text.strip() else []
        if len(parts) != len(dims):
            wanted = ", ".join(str(type_) for type_, _, _ in dims) or "none"
            raise NoLiteral(f"got {len(parts)} indices, want {len(dims)}: {wanted}", span)
        indices = []
        for part, (type_, low, count) in zip(parts, dims, strict=True):
            value = self.word(part, type_, span)
            if not low <= value < low + count:
                raise NoLiteral(f"the index {part} is not within {low} to {low + count - 1}", span)
            indices.append(value)
        return tuple(indices)


def _folded(text: str) -> str:
    return text.replace(" ", "_").replace("-", "_").casefold()
