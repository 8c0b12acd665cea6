"""Measures random play: games per second, games per million calibration steps, voyages and decisions.

    python -m tests.referee.bench [GAMES]

Four players, no standing offers, every option equally likely.  A calibration step is that of
`tests/bench/calibration.py`.
"""

from __future__ import annotations

import random
import sys
import time

from ..bench.calibration import seconds_of
from .manila import Referee


def play(seed: int, players: int = 4, offers: bool = False) -> tuple[int, int]:
    """Plays one random game; gets its voyages and its decisions."""
    rng = random.Random(seed)
    choice, face = rng.choice, rng.random
    referee = Referee(players, None, lambda voyage, roll, die: int(face() * 6) + 1, None, (), offers, seed)
    decisions = 0
    while not referee.over():
        referee.apply(choice(referee.options()))
        decisions += 1
    return referee.voyage, decisions


def main() -> None:
    """Prints the figures, the calibration measured just before and just after."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    before = [seconds_of(200_000) for _ in range(5)]
    start = time.perf_counter()
    played = [play(seed) for seed in range(games)]
    seconds = time.perf_counter() - start
    times = sorted(before + [seconds_of(200_000) for _ in range(4)])
    steps = 200_000 / times[len(times) // 2]
    print(f"{steps:,.0f} calibration steps/s")
    print(f"{games / seconds:,.1f} games/s, {games / seconds / steps * 1e6:,.1f} games per million steps")
    print(f"mean {sum(v for v, _ in played) / games:.3f} voyages a game")
    print(f"mean {sum(d for _, d in played) / games:.2f} decisions a game")


if __name__ == "__main__":
    main()
