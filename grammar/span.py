"""Where a piece of text stands: sources and spans.

Every syntax node and every YAML value carries a span from the loader on; nothing later handles bare text.
"""

from __future__ import annotations

from msgspec import Struct


class Source:
    """Holds one text with the name it is shown under (a path, or a word such as ``<prompt>``)."""

    __slots__ = ("lines", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.lines = tuple(text.split("\n"))

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    def line(self, number: int) -> str:
        """Gets line `number` (from 1), or an empty text past the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


class Span(Struct, frozen=True):
    """Names a stretch of a source: lines and columns from 1, the end column one past the last character."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def to(self, other: Span) -> Span:
        """Gets the span from the start of this one to the end of `other`."""
        return Span(self.source, self.line, self.column, other.end_line, other.end_column)

    @property
    def text(self) -> str:
        """The text it covers."""
        if self.line == self.end_line:
            return self.source.line(self.line)[self.column - 1 : self.end_column - 1]
        first = self.source.line(self.line)[self.column - 1 :]
        middle = [self.source.line(n) for n in range(self.line + 1, self.end_line)]
        return "\n".join([first, *middle, self.source.line(self.end_line)[: self.end_column - 1]])
