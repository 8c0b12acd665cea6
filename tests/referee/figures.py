"""Long-run figures of random play by the referee: means, with the error of each.

In the root: python -m tests.referee.figures 30000 bid-ceiling=cash
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Mapping

from .manila import Referee


def play(seed: int, players: int, readings: Mapping[str, str]) -> list[float]:
    """Plays one random game without offers; gets fortunes and shares of the win by seat, decisions and voyages."""
    rng = random.Random(seed)
    choice, face = rng.choice, rng.random
    referee = Referee(
        players, None, lambda voyage, roll, die: int(face() * 6) + 1, dict(readings), (), False, seed
    )
    decisions = 0
    while not referee.over():
        referee.apply(choice(referee.options()))
        decisions += 1
    winners = referee.winners()
    wins = [1 / len(winners) if p in winners else 0 for p in range(players)]
    return [*map(float, referee.fortunes()), *wins, decisions, referee.voyage]


def figures(
    games: int, players: int, readings: Mapping[str, str], seed: int = 1
) -> list[tuple[float, float]]:
    """Plays games; gets the mean of each figure and its standard error."""
    rows = [play(seed * 1_000_003 + n, players, readings) for n in range(games)]
    out = []
    for column in zip(*rows, strict=True):
        mean = sum(column) / games
        variance = sum((x - mean) ** 2 for x in column) / (games - 1)
        out.append((mean, math.sqrt(variance / games)))
    return out


def main() -> None:
    """Prints the figures of one reading, three players."""
    games = int(sys.argv[1])
    readings = dict(pair.split("=") for pair in sys.argv[2:])
    for mean, error in figures(games, 3, readings):
        print(f"({mean:.4f}, {error:.4f}),")


if __name__ == "__main__":
    main()
