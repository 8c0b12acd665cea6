"""How long a player may think: so many seconds, or so many rollouts; and how it is told to stop.

With rollouts a choice depends on the random numbers alone; with seconds also on how fast the machine is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Stopper = Callable[[], bool]
clock = time.perf_counter
"""What budgets of seconds are measured by."""


def never() -> bool:
    """Says that thinking may go on."""
    return False


@dataclass(frozen=True, slots=True)
class Budget:
    """What one choice may cost: `seconds`, or `rollouts` where no seconds are given."""

    seconds: float | None = None
    rollouts: int = 0

    def written(self) -> str:
        """Writes it as in a policy's name: milliseconds, or rollouts with an `r`."""
        return f"{round(self.seconds * 1000)}" if self.seconds is not None else f"{self.rollouts}r"


class Meter:
    """Counts one choice's time and rollouts against its budget."""

    def __init__(self, budget: Budget, stop: Stopper = never) -> None:
        self.budget = budget
        self.stop = stop
        self.start = clock()
        self.spent = 0
        """Rollouts made."""
        self.dealt = 0.0
        """Seconds that went into dealing positions."""

    def share(self) -> float:
        """Gets how much of the budget is spent, from 0; 1 or more when it is all gone or thinking was stopped."""
        if self.stop():
            return 2.0
        if self.budget.seconds is None:
            return self.spent / max(1, self.budget.rollouts)
        return self.seconds() / max(self.budget.seconds, 1e-9)

    def seconds(self) -> float:
        """Gets how long it has been thinking."""
        return clock() - self.start

    def is_spent(self) -> bool:
        """Tests if no more may be spent."""
        return self.share() >= 1.0

    def left(self) -> int:
        """Gets how many rollouts may still be made; many where time is what counts."""
        return 1 << 30 if self.budget.seconds is not None else max(0, self.budget.rollouts - self.spent)

    @contextmanager
    def dealing(self) -> Iterator[None]:
        """Counts the time within as time for dealing."""
        start = clock()
        try:
            yield
        finally:
            self.dealt += clock() - start
