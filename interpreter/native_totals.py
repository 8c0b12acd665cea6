"""What came of many games, added up: exact whole numbers, so that sums are the same in whatever order games are played."""

from __future__ import annotations

from dataclasses import dataclass

from . import program as ir
from .c_backend import figure_count


@dataclass(slots=True)
class Totals:
    """Sums over games, in one flat list in the order the C backend adds them up.

    games over, games not over within the budget, decisions, their squares; scores by seat, their squares; for each seat
    how often it won alone, with one other, …; the measures' figures (by seat where they are), their squares.
    """

    players: int
    figures_each: int
    numbers: list[int]

    @classmethod
    def empty(cls, program: ir.Program) -> Totals:
        """Makes sums over no games."""
        n, f = program.players, figure_count(program)
        return cls(n, f, [0] * (4 + n * (2 + n) + 2 * f))

    def __add__(self, other: Totals) -> Totals:
        pairs = zip(self.numbers, other.numbers, strict=True)
        return Totals(self.players, self.figures_each, [a + b for a, b in pairs])

    @property
    def games(self) -> int:
        """How many games came to their end."""
        return self.numbers[0]

    @property
    def unfinished(self) -> int:
        """How many games were not over within the budget of decisions."""
        return self.numbers[1]

    @property
    def decisions(self) -> int:
        """How many decisions were made in the games that came to their end."""
        return self.numbers[2]

    @property
    def decisions_squared(self) -> int:
        """The sum of the squares of the numbers of decisions."""
        return self.numbers[3]

    @property
    def scores(self) -> list[int]:
        """The sum of each seat's scores."""
        return self.numbers[4 : 4 + self.players]

    @property
    def scores_squared(self) -> list[int]:
        """The sum of the squares of each seat's scores."""
        return self.numbers[4 + self.players : 4 + 2 * self.players]

    @property
    def wins(self) -> list[list[int]]:
        """For each seat how often it won alone, shared with one other, with two, …"""
        n, start = self.players, 4 + 2 * self.players
        return [self.numbers[start + p * n : start + (p + 1) * n] for p in range(n)]

    @property
    def figures(self) -> list[int]:
        """The sums of the measures' figures."""
        start = 4 + self.players * (2 + self.players)
        return self.numbers[start : start + self.figures_each]

    @property
    def figures_squared(self) -> list[int]:
        """The sums of the squares of the measures' figures."""
        return self.numbers[len(self.numbers) - self.figures_each :]
