"""Text for terminals: styled pieces, their width in columns, and the ways a terminal may be poor.

A `Line` is a list of pieces, each a style name and a text. Nothing here writes to a terminal; prompt.py
turns style names into colours, plain.py leaves them away. Colour never stands alone: whatever is coloured
also has a letter, a name or a place of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct
from wcwidth import wcswidth

Piece = tuple[str, str]
Line = list[Piece]


class Look(Struct, frozen=True):
    """How a picture is to be made: size, language, and whether only ASCII may be drawn with."""

    width: int = 80
    height: int = 24
    language: str = "en"
    ascii: bool = False


def width(text: str) -> int:
    """Gets how many columns a text takes."""
    if text.isascii():
        return len(text)
    return max(0, wcswidth(text))


def line_width(line: Iterable[Piece]) -> int:
    """Gets how many columns a line takes."""
    return sum(width(text) for _, text in line)


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Fills a text with spaces up to a number of columns, at its left if it is to stand right."""
    blanks = " " * max(0, columns - width(text))
    return blanks + text if right else text + blanks


def pad_line(line: Line, columns: int) -> Line:
    """Fills a line with spaces up to a number of columns."""
    missing = columns - line_width(line)
    return [*line, ("", " " * missing)] if missing > 0 else line


def cut(line: Line, columns: int, ellipsis: str = "…") -> Line:
    """Shortens a line that is too wide, its end replaced by an ellipsis."""
    if line_width(line) <= columns:
        return line
    out: Line = []
    left = columns - width(ellipsis)
    for style, text in line:
        kept = ""
        for ch in text:
            if width(ch) > left:
                return [*out, (style, kept + ellipsis)]
            kept += ch
            left -= width(ch)
        out.append((style, kept))
    return out


def wrap(line: Line, columns: int, indent: int = 0) -> list[Line]:
    """Breaks a line at spaces (and between Chinese characters) so that it fits; later lines are indented."""
    if line_width(line) <= columns:
        return [line]
    out: list[Line] = []
    now: Line = []
    used = 0
    for style, text in line:
        for word in _words(text):
            w = width(word)
            if used + width(word.rstrip()) > columns and used > (indent if out else 0):
                out.append(_trimmed(now))
                now, used = [("", " " * indent)], indent
                word = word.lstrip()
                w = width(word)
            while w > columns - used and w > columns - indent:
                head = _fitting(word, columns - used)
                out.append([*now, (style, head)])
                now, used = [("", " " * indent)], indent
                word = word[len(head) :]
                w = width(word)
            now.append((style, word))
            used += w
    return [*out, _trimmed(now)]


def _fitting(text: str, columns: int) -> str:
    kept = ""
    for ch in text:
        if width(kept + ch) > columns and kept:
            break
        kept += ch
    return kept


def _trimmed(line: Line) -> Line:
    if line and line[-1][1].endswith(" "):
        return [*line[:-1], (line[-1][0], line[-1][1].rstrip())]
    return line


def _words(text: str) -> list[str]:
    """Splits a text where it may be broken; spaces stay with the word before them."""
    words: list[str] = []
    now = ""
    for ch in text:
        if now and ((now[-1] == " " and ch != " ") or (width(ch) == 2 and ch not in "，。；：！？、）」")):
            words.append(now)
            now = ""
        now += ch
    return [*words, now] if now else words


_ASCII = str.maketrans(
    {
        "·": ".",
        "→": "->",
        "►": ">",
        "◄": "<",
        "─": "-",
        "│": "|",
        "–": "-",
        "—": "-",
        "−": "-",
        "…": "...",
        "×": "x",
        "★": "*",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
    }
)


def to_ascii(text: str) -> str:
    """Replaces the signs that pictures and sentences use by ASCII ones; letters of other scripts stay."""
    return text if text.isascii() else text.translate(_ASCII)


def plain(lines: Iterable[Sequence[Piece]], *, ascii: bool = False) -> str:
    """Writes lines as text without styles."""
    text = "\n".join("".join(text for _, text in line).rstrip() for line in lines)
    return to_ascii(text) if ascii else text


def in_ascii(lines: Iterable[Line]) -> list[Line]:
    """Replaces the signs of lines by ASCII ones."""
    return [[(style, to_ascii(text)) for style, text in line] for line in lines]


def wants_ascii() -> bool:
    """Tests if the surroundings ask for plain ASCII: a dumb terminal, or an encoding that has no more."""
    if os.environ.get("HARBOURMASTER_ASCII") or os.environ.get("TERM") == "dumb":
        return True
    import locale

    encoding = locale.getpreferredencoding(False).casefold().replace("-", "")
    return encoding in ("ascii", "usascii", "ansi_x3.41968", "646")
