"""Writes menus: numbered lines with what each move means, or columns of words where there are many."""

from __future__ import annotations

from collections.abc import Sequence

from .choosing import Item
from .terminal import Line, Look, in_ascii, pad, width, wrap

_MOST_LINES = 20


def list_items(items: Sequence[Item], look: Look, *, numbered: bool = True) -> list[Line]:
    """Writes the items of a menu."""
    marks = [f"{n:>2} " if numbered else "   " for n in range(1, len(items) + 1)]
    words = [_words(item) for item in items]
    lines: list[Line]
    if len(items) <= _MOST_LINES:
        widest = max(map(width, words), default=0)
        indent = min(widest + 6, look.width // 2)
        lines = []
        for m, w, i in zip(marks, words, items, strict=True):
            meaning = f"  {i.meaning}" if i.meaning else ""
            lines += wrap([("dim", f" {m}"), ("move", pad(w, widest)), ("dim", meaning)], look.width, indent)
    else:
        cell = max(map(width, words), default=0) + 6
        across = max(1, look.width // cell)
        down = -(-len(items) // across)
        lines = []
        for row in range(down):
            line: Line = []
            for n in range(row, len(items), down):
                line += [("dim", f" {marks[n]}"), ("move", pad(words[n], cell - 4))]
            lines.append(line)
    return in_ascii(lines) if look.ascii else lines


def _words(item: Item) -> str:
    return item.words if item.option is not None else f"{item.words.rstrip()} …"
