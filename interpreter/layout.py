"""Lays a position out: which slots hold which variable, and what values each may take.

Slot 0 is the place in the rules. State variables follow in the order declared, then locals that outlive a decision
(given out while lowering), and last, outside equality, tallies and the rows of the streams of chance.
"""

from __future__ import annotations

from msgspec import Struct

from .types import Type

MOST_TEXTS = 1 << 20
"""How many different free texts one process may know; a text is kept as its number among them."""
FREE = 1 << 31
"""Bound of numbers whose range nobody declared, such as locals worked out from others."""


class Shape(Struct, frozen=True):
    """A declared type with its bounds: values `low` … `high`; a pile holds up to `capacity` of them."""

    type: Type
    low: int
    high: int
    capacity: int = 0

    @property
    def width(self) -> int:
        """How many slots one value takes."""
        return 1 + self.capacity if self.capacity else 1

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1


class Slots:
    """Hands out the slots of a position; those of the tail get their final numbers at the end."""

    def __init__(self) -> None:
        self.bounds: list[tuple[int, int]] = []
        self.initial: list[int] = []

    def take(self, low: int, high: int, initial: int = 0) -> int:
        """Takes the next slot for values `low` … `high` and gets its number."""
        self.bounds.append((min(low, initial), max(high, initial)))
        self.initial.append(initial)
        return len(self.bounds) - 1

    def __len__(self) -> int:
        return len(self.bounds)
