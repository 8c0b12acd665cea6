"""Writes to the terminal what commands have to say: colour where it shows, tables, diagnostics.

Colour is for terminals alone, and not there either when `NO_COLOR` is set. Tables are fitted to a terminal's
width; into a pipe or a file each row goes on one line, so that other programs can read it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ..grammar.diagnostics import Diagnostic

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "32",
    "yellow": "1;33",
    "blue": "34",
    "cyan": "36",
}


def has_colour(stream: TextIO | None = None) -> bool:
    """Tests if a stream (standard output, if none is named) shows colour."""
    stream = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Gives a text a style where the stream shows it."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text and has_colour(stream) else text


def say(text: str = "") -> None:
    """Writes a line to standard output."""
    _write(sys.stdout, text)


def title(text: str) -> None:
    """Writes a heading."""
    say(paint(text, "bold"))


def complain(text: str) -> None:
    """Writes a line to standard error."""
    _write(sys.stderr, text)


def _write(stream: TextIO, text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(f"{text}\n")


def fail(message: str, help: str = "") -> None:
    """Writes an error that has no place in any file."""
    complain(f"{paint('harbourmaster: error:', 'red', sys.stderr)} {message}")
    if help:
        complain(f"{paint('help:', 'green', sys.stderr)} {help}")


def show_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO | None = None) -> None:
    """Writes diagnostics, one after the other."""
    from ..grammar.diagnostics import render

    stream = sys.stderr if stream is None else stream
    for diagnostic in diagnostics:
        _write(stream, _coloured(diagnostic) if has_colour(stream) else render(diagnostic))


def _coloured(diagnostic: Diagnostic) -> str:
    from ..grammar.diagnostics import render

    style = "red" if diagnostic.severity == "error" else "yellow"
    kind = f"{diagnostic.severity}[{diagnostic.code}]"
    out = [f"{diagnostic.span}: \x1b[{_STYLES[style]}m{kind}\x1b[0m: \x1b[1m{diagnostic.message}\x1b[0m"]
    for line in render(diagnostic).split("\n")[1:]:
        word = line.split(":", 1)[0]
        if word in ("note", "help"):
            line = (
                f"\x1b[{_STYLES['cyan' if word == 'note' else 'green']}m{word}:\x1b[0m{line[len(word) + 1 :]}"
            )
        elif set(line.partition("|")[2].strip()) == {"^"}:
            line = f"\x1b[{_STYLES[style]}m{line}\x1b[0m"
        out.append(line)
    return "\n".join(out)


def count(number: int, one: str, many: str = "") -> str:
    """Writes a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def columns(text: str) -> int:
    """Gets how many columns of the terminal a text takes."""
    if text.isascii():
        return len(text)
    from ..grammar.diagnostics import display_width

    return display_width(text)


def pad(text: str, width: int) -> str:
    """Fills a text with spaces to a width in columns of the terminal."""
    return text + " " * (width - columns(text))


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = (), title: str = ""
) -> None:
    """Writes a table; the columns numbered in `right` hold figures and stand to the right."""
    listed = [[str(cell) for cell in row] for row in rows]
    to_right = set(right)
    if title:
        say(paint(title, "bold"))
    if sys.stdout.isatty():
        _table_on_terminal(head, listed, to_right)
        return
    widths = [max(map(columns, column)) for column in zip(head, *listed, strict=True)]
    for row in [list(head), *listed]:
        cells = [
            " " * (width - columns(cell)) + cell if i in to_right else pad(cell, width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())


def _table_on_terminal(head: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, name in enumerate(head):
        shown.add_column(name, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    Console(no_color=not has_colour(), highlight=False).print(shown)


def wrap(text: str, *, indent: str = "", width: int = 0) -> str:
    """Breaks a text into lines that fit the terminal, Chinese ones too."""
    if not width:
        width = min(shutil_width(), 100)
    out: list[str] = []
    for paragraph in text.split("\n"):
        line = indent
        for word in _words(paragraph):
            if line.strip() and columns(line) + columns(word.rstrip()) > width:
                out.append(line.rstrip())
                line = indent
                word = word.lstrip()
            line += word
        out.append(line.rstrip())
    return "\n".join(out)


def _words(text: str) -> list[str]:
    """Cuts a text where lines may break: after spaces, and between wide characters unless a stop follows."""
    words = [""]
    for ch in text:
        wide = columns(ch) == 2
        last = words[-1]
        breaks = last.endswith(" ") and ch != " "
        breaks = breaks or (
            wide and last != "" and columns(last[-1]) == 2 and ch not in "，。；：、！？）」』》"
        )
        if breaks and last:
            words.append(ch)
        else:
            words[-1] += ch
    return words


def shutil_width() -> int:
    """Gets the width of the terminal in columns; 100 where there is none."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def shutil_height() -> int:
    """Gets the height of the terminal in lines; 24 where there is none, and at least."""
    import shutil

    return max(24, shutil.get_terminal_size((100, 24)).lines) if sys.stdout.isatty() else 24


LANGUAGES = ("en", "zh-Hans", "zh-Hant")


def in_language(words: dict[str, str], language: str) -> str:
    """Gets a sentence in a language, else in English, else in any."""
    return words.get(language) or words.get("en") or next(iter(words.values()), "")
