"""Reads moves from words: the words a move says, turned round.

What a move `says` is a sentence with placeholders; where a placeholder is just a parameter, its words can be read
back. So a move can be named even when it is not offered, and be told why.
"""

from __future__ import annotations

import re

from . import program as ir
from .labels import Labels
from .types import EnumType, FlagType, IntType, TextType

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class Words:
    """Reads the words of moves in one language."""

    def __init__(self, program: ir.Program, labels: Labels) -> None:
        self.program = program
        self.labels = labels
        self.patterns: list[tuple[re.Pattern[str], ir.MoveInfo, tuple[int, ...]]] = []
        for move in program.moves:
            pattern = self._pattern(move)
            if pattern is not None:
                self.patterns.append((*pattern[:1], move, pattern[1]))

    def _pattern(self, move: ir.MoveInfo) -> tuple[re.Pattern[str], tuple[int, ...]] | None:
        if move.says is None:
            return None
        text = self.program.texts[move.says.text]
        sentence = self.labels.sentence(text.sentence)
        order: list[int] = []
        out = ""
        at = 0
        for found in _PLACEHOLDER.finditer(sentence):
            out += re.escape(sentence[at : found.start()]).replace(r"\ ", r"\s+")
            name = found[1].strip()
            if name in move.parameters:
                order.append(move.parameters.index(name))
                out += f"({self._values(move, order[-1])})"
            else:
                out += r".*?"
            at = found.end()
        out += re.escape(sentence[at:]).replace(r"\ ", r"\s+")
        if set(order) != set(range(len(move.parameters))):
            return None
        return re.compile(out, re.IGNORECASE), tuple(order)

    def _values(self, move: ir.MoveInfo, k: int) -> str:
        type_ = move.types[k]
        if isinstance(type_, EnumType):
            names = [re.escape(self.labels.entry(type_, i)) for i in range(len(type_.entries))]
            return "|".join(sorted(names, key=len, reverse=True))
        if isinstance(type_, FlagType):
            return "yes|no|是|否"
        if isinstance(type_, TextType):
            return ".+"
        return r"-?\d+"

    def read(self, words: str) -> list[int]:
        """Finds the actions that have these words, legal or not."""
        return [action for action, _, _ in self._matches(words) if action >= 0]

    def outside(self, words: str) -> tuple[ir.MoveInfo, int] | None:
        """Finds a move that has these words but for a number no such move can have, and which parameter that is."""
        return next(((move, k) for action, move, k in self._matches(words) if action < 0), None)

    def _matches(self, words: str) -> list[tuple[int, ir.MoveInfo, int]]:
        found = []
        for pattern, move, order in self.patterns:
            match = pattern.fullmatch(words)
            if match is None:
                continue
            arguments: dict[int, int] = {}
            for k, text in zip(order, match.groups(), strict=True):
                value = self._value(move, k, text)
                if value is None or (k in arguments and arguments[k] != value):
                    break
                arguments[k] = value
            else:
                number = 0
                for k, (low, count) in enumerate(zip(move.lows, move.counts, strict=True)):
                    if not low <= arguments[k] < low + count:
                        found.append((-1, move, k))
                        break
                    number = number * count + (arguments[k] - low)
                else:
                    found.append((move.first + number, move, -1))
        return found

    def _value(self, move: ir.MoveInfo, k: int, text: str) -> int | None:
        type_ = move.types[k]
        if isinstance(type_, EnumType):
            for i in range(len(type_.entries)):
                if self.labels.entry(type_, i).casefold() == text.casefold():
                    return i
            return None
        if isinstance(type_, FlagType):
            return int(text.casefold() in ("yes", "是"))
        if isinstance(type_, TextType):
            return self.labels.intern(text)
        return int(text) if isinstance(type_, IntType) else None
