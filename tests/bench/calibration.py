"""A unit of speed that travels: calibration steps.

How many games a second a machine plays says as much about the machine as about the program, and changes from
hour to hour. So a benchmark is quoted in games per million calibration steps, both measured in one run, the
steps before, between and after the games. One step is a turn of a fixed loop of what a hand-written referee
of a board game does all the time: look for a free space one can pay for, take it by chance, or, when there is
none, clear the board.
"""

from __future__ import annotations

import random
import time

STEPS = 100_000


def seconds_of(steps: int, seed: int = 1) -> float:
    """Gets the seconds that so many steps take."""
    rng = random.Random(seed)
    cash, seats = [30] * 4, list(range(4))
    spaces: dict[str, int | None] = dict.fromkeys("abcdefgh")
    start = time.perf_counter()
    for i in range(steps):
        p = seats[i & 3]
        free = [k for k, v in spaces.items() if v is None and cash[p] >= 2]
        if free:
            k = rng.choice(free)
            spaces[k] = p
            cash[p] -= 2
        else:
            for k in spaces:
                spaces[k] = None
            cash = [c + 4 for c in cash]
    return time.perf_counter() - start


class Calibration:
    """Measures the machine's speed again and again; the median of all measurements counts."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def measure(self) -> None:
        """Measures once."""
        self.times.append(seconds_of(STEPS))

    @property
    def steps_per_second(self) -> float:
        """The median speed."""
        return STEPS / sorted(self.times)[len(self.times) // 2]
