"""Complaints as data: code, message, places, notes, help; and their rendering as text.

Passes add diagnostics to a `Report` and go on where they can; the command sorts, prints all and exits with 2.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct, field

from .span import Span

Severity = Literal["error", "warning"]


class Label(Struct, frozen=True):
    """Points at another place that helps to understand a diagnostic."""

    text: str
    span: Span


class Diagnostic(Struct, frozen=True):
    """Tells one complaint: `code` is stable, `message` is lower case without a full stop, `help` says how to mend it."""

    code: str
    message: str
    span: Span
    severity: Severity = "error"
    notes: tuple[Label, ...] = ()
    help: str = ""

    def __str__(self) -> str:
        return f"{self.span}: {self.severity}[{self.code}]: {self.message}"


class Report(Struct):
    """Collects the diagnostics of a run."""

    diagnostics: list[Diagnostic] = field(default_factory=list)

    def error(
        self, code: str, message: str, span: Span, *, notes: Iterable[Label] = (), help: str = ""
    ) -> None:
        """Adds an error."""
        self.diagnostics.append(Diagnostic(code, message, span, "error", tuple(notes), help))

    def warning(
        self, code: str, message: str, span: Span, *, notes: Iterable[Label] = (), help: str = ""
    ) -> None:
        """Adds a warning."""
        self.diagnostics.append(Diagnostic(code, message, span, "warning", tuple(notes), help))

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic is an error."""
        return any(d.severity == "error" for d in self.diagnostics)

    def sorted(self) -> list[Diagnostic]:
        """Gets the diagnostics by file, line and column, each once."""
        unique = dict.fromkeys(self.diagnostics)
        return sorted(
            unique, key=lambda d: (d.span.source.name, d.span.line, d.span.column, d.code, d.message)
        )

    def raise_errors(self) -> None:
        """Raises `RulesError` if there is any error."""
        if self.has_errors:
            raise RulesError(self.sorted())


class RulesError(Exception):
    """Says that rules or data cannot be used; carries every diagnostic found."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n".join(str(d) for d in diagnostics))
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return render_all(self.diagnostics)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Finds the known name most like `name`, or None when none is close."""
    candidates = sorted(set(known))
    folded = {c.casefold(): c for c in reversed(candidates)}
    found = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def suggestion(name: str, known: Iterable[str], *, what: str = "its entries are") -> str:
    """Makes the help text for an unknown name: the nearest one, else the list of all when it is short."""
    names = sorted(set(known))
    near = nearest(name, names)
    if near is not None:
        return f"did you mean '{near}'?"
    if 0 < len(names) <= 12:
        return f"{what} {', '.join(names)}"
    return ""


def display_width(text: str) -> int:
    """Gets how many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


_LONGEST_LINE = 160


def _excerpt(span: Span) -> Iterator[str]:
    text = span.source.line(span.line).rstrip("\r")
    start = min(span.column - 1, len(text))
    end = min(span.end_column - 1, len(text)) if span.end_line == span.line else len(text)
    if len(text) > _LONGEST_LINE:
        cut = max(0, start - 40)
        text = ("…" if cut else "") + text[cut : cut + _LONGEST_LINE] + "…"
        shift = cut - (1 if cut else 0)
        start, end = start - shift, min(end - shift, len(text))
    visible = "".join(" " if ch == "\t" else ch if ch.isprintable() else "?" for ch in text)
    number = f"{span.line:>4}"
    yield f"{number} | {visible}"
    before = display_width(visible[:start])
    marks = max(1, display_width(visible[start:end]))
    yield f"{' ' * len(number)} | {' ' * before}{'^' * marks}"


def render(diagnostic: Diagnostic) -> str:
    """Writes a diagnostic as text: the first line complete, the source line with a caret, other places, help."""
    out = [str(diagnostic)]
    out += [f"   {line}" for line in _excerpt(diagnostic.span)]
    for note in diagnostic.notes:
        out.append(f"note: {note.text}")
        out.append(f"  {note.span}  {note.span.source.line(note.span.line).strip()[:_LONGEST_LINE]}")
    if diagnostic.help:
        out.append(f"help: {diagnostic.help}")
    return "\n".join(out)


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """Writes diagnostics one after the other."""
    return "\n".join(render(d) for d in diagnostics)
