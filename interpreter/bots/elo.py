"""Strength from results: the ratings under which the results are most likely, with intervals.

Each game counts as one meeting of every two policies in it: who has the better score wins, equal scores are half a win
each (Bradley and Terry 1952; ratings as chess writes them: 400 points are odds of 10 to 1). The meetings of one game are
not independent, so intervals come from drawing whole games anew (bootstrap). One drawn meeting is added for every two
policies that met, so that who has won everything has a rating too. As games that all ended alike tell nothing when drawn
anew, an interval is never narrower than that of as many independent meetings (normal, by the information in them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log10, sqrt

from ..playout import Random

Meeting = tuple[int, int, float]
"""Two policies by number, and the first one's share of the win."""

_SAMPLES = 200
_ROUNDS = 200
_CLOSE = 1e-6
_NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating, relative to a mean of 0, with its 95 % interval."""

    elo: float
    low: float
    high: float


def ratings(games: Sequence[Sequence[Meeting]], policies: int, seed: int = 1) -> list[Rating]:
    """Gets each policy's rating from the meetings of each game."""
    central = fit([m for g in games for m in g], policies)
    if not games:
        return [Rating(r, r, r) for r in central]
    numbers = Random(seed)
    samples = [
        fit([m for _ in games for m in games[numbers.below(len(games))]], policies) for _ in range(_SAMPLES)
    ]
    least = _half_widths([m for g in games for m in g], central)
    found = []
    for p, rating in enumerate(central):
        ordered = sorted(s[p] for s in samples)
        cut = max(0, round(0.025 * len(ordered)) - 1)
        low, high = ordered[cut], ordered[-1 - cut]
        found.append(Rating(rating, min(rating - least[p], low), max(rating + least[p], high)))
    return found


def _half_widths(meetings: Sequence[Meeting], central: Sequence[float]) -> list[float]:
    """Gets half of the 95 % interval of each rating if all meetings were independent.

    The information about ratings is a Laplacian, whose inverse, with the mean kept at 0, is that of itself plus 1 / n.
    """
    n = len(central)
    met: dict[tuple[int, int], float] = {}
    for a, b, _ in meetings:
        pair = (min(a, b), max(a, b))
        met[pair] = met.get(pair, 1.0) + 1
    rows = [[1 / n] * n + [float(i == j) for j in range(n)] for i in range(n)]
    for (a, b), count in met.items():
        share = 1 / (1 + 10 ** ((central[b] - central[a]) / 400))
        information = count * share * (1 - share)
        for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            rows[i][j] += sign * information
    for i in range(n):  # Gauss and Jordan; such matrices need no pivots
        if rows[i][i] <= _CLOSE:
            return [0.0] * n  # not all have met, so their ratings are not on one scale
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [_NORMAL * 400 / log(10) * sqrt(max(0.0, rows[p][n + p] - 1 / n)) for p in range(n)]


def fit(meetings: Sequence[Meeting], policies: int) -> list[float]:
    """Gets the ratings that make meetings most likely (by minorisation, Hunter 2004)."""
    won = [0.0] * policies
    met: dict[tuple[int, int], float] = {}
    for a, b, share in meetings:
        won[a] += share
        won[b] += 1 - share
        pair = (min(a, b), max(a, b))
        met[pair] = met.get(pair, 0.0) + 1
    for a, b in met:
        won[a] += 0.5
        won[b] += 0.5
        met[a, b] += 1
    strength = [1.0] * policies
    for _ in range(_ROUNDS):
        weight = [0.0] * policies
        for (a, b), n in met.items():
            share = n / (strength[a] + strength[b])
            weight[a] += share
            weight[b] += share
        fresh = [w / d if d else 1.0 for w, d in zip(won, weight, strict=True)]
        mean = 1.0
        for s in fresh:
            mean *= s ** (1 / policies)
        fresh = [s / mean for s in fresh]
        change = max(abs(s / t - 1) for s, t in zip(fresh, strength, strict=True))
        strength = fresh
        if change < _CLOSE:
            break
    return [400 * log10(s) for s in strength]
