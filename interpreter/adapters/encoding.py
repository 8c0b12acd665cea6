"""Actions as numbers from 0 up to a fixed count, each with the same meaning throughout the game.

The game's own numbers leave room for a million free texts wherever a player may say something; a learner has no use for
them. Here a free text is always the empty one, so that the range is as large as the moves and their other arguments.
Where several may act and one may leave it to the others, there is one number more: `passing`.
"""

from __future__ import annotations

from math import prod

from .. import program as ir
from ..game import Game
from ..positions import decode, encode
from ..types import TextType

_MOST_KNOWN = 100_000


class Encoding:
    """Translates the actions of a game."""

    def __init__(self, game: Game, *, waits: bool = False) -> None:
        """With `waits` there is a number for leaving it to others even where nobody ever may."""
        program = self.program = game.program
        self.waits = waits
        self._first: list[int] = []
        count = 0
        for move in program.moves:
            self._first.append(count)
            count += prod(self._counts(move))
        self.moves = count
        """How many numbers stand for moves."""
        has_races = any(is_race(d) for d in program.decisions)
        self.passing: int | None = count if has_races or waits else None
        """The number for leaving it to others, if there is one."""
        self.size = count + (self.passing is not None)
        """How many numbers there are."""
        self._known: dict[int, int] = {}

    @staticmethod
    def _counts(move: ir.MoveInfo) -> list[int]:
        return [1 if isinstance(t, TextType) else n for n, t in zip(move.counts, move.types, strict=True)]

    def encode(self, action: int) -> int:
        """Gets the number of an action, whoever takes it and whatever text it has."""
        own = action % self.program.actions
        known = self._known.get(own)
        if known is None:
            known = self._encode(own)
            if len(self._known) < _MOST_KNOWN:
                self._known[own] = known
        return known

    def _encode(self, action: int) -> int:
        move, arguments = decode(self.program, action)
        counts = self._counts(move)
        number = 0
        for value, low, count in zip(arguments, move.lows, counts, strict=True):
            number = number * count + (value - low if count > 1 else 0)
        return self._first[move.index] + number

    def decode(self, number: int) -> int:
        """Gets the action of a number, with empty texts, without who takes it."""
        if not 0 <= number < self.moves:
            raise ValueError(f"{number} is no action: want 0 to {self.moves - 1}")
        at = next(k for k in range(len(self._first) - 1, -1, -1) if self._first[k] <= number)
        move = self.program.moves[at]
        rest = number - self._first[at]
        arguments: list[int] = []
        for low, count in zip(reversed(move.lows), reversed(self._counts(move)), strict=True):
            arguments.insert(0, low + rest % count)
            rest //= count
        return encode(move, arguments)


def is_race(decision: ir.Decision) -> bool:
    """Tests if one of several may act at a decision, whoever does so first."""
    return decision.mode == "any" or (decision.mode == "one" and decision.everyone)
