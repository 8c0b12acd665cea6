"""Means, intervals and shares from whole-number sums.

Sums are exact, so results do not depend on the order in which games are added up. The interval of a mean is
Student's: mean ± t · s / √n with n − 1 degrees of freedom, at 95 % unless asked otherwise; for paired games s
is that of the differences. The interval of a share is Wilson's (1927), which is also right where a share is 0
or 1. Quantiles are worked out here: the normal one by Newton's method on the error function, Student's by
Hill's expansion (CACM 396, 1970), good to six digits from ten degrees of freedom on.
"""

from __future__ import annotations

import math
from functools import cache

from msgspec import Struct

LEVEL = 0.95


class Interval(Struct, frozen=True):
    """A figure with the interval around it."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half its width."""
        return (self.high - self.low) / 2

    @property
    def excludes_zero(self) -> bool:
        """Whether it lies on one side of 0."""
        return self.low > 0 or self.high < 0


@cache
def normal_quantile(p: float) -> float:
    """Gets the quantile of the standard normal distribution."""
    x = 0.0
    for _ in range(60):
        error = 0.5 * (1 + math.erf(x / math.sqrt(2))) - p
        step = error / (math.exp(-x * x / 2) / math.sqrt(2 * math.pi))
        x -= max(-1.0, min(1.0, step))
        if abs(step) < 1e-14:
            break
    return x


@cache
def student_quantile(p: float, freedom: int) -> float:
    """Gets the quantile (p above 0.5) of Student's distribution."""
    if freedom <= 0:
        return math.inf
    if freedom == 1:
        return math.tan(math.pi * (p - 0.5))
    if freedom == 2:
        a = 2 * p - 1
        return a * math.sqrt(2 / (1 - a * a))
    z, n = normal_quantile(p), freedom
    z3, z5, z7, z9 = z**3, z**5, z**7, z**9
    return (
        z
        + (z3 + z) / (4 * n)
        + (5 * z5 + 16 * z3 + 3 * z) / (96 * n**2)
        + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n**3)
        + (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * n**4)
    )


def mean_interval(n: int, total: int, squares: int, *, scale: int = 1, level: float = LEVEL) -> Interval:
    """Gets a mean with its interval from a sum and a sum of squares of whole numbers, each `scale` times too
    large.
    """
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf)
    mean = total / n / scale
    if n == 1:
        return Interval(mean, -math.inf, math.inf)
    variance = max(0, n * squares - total * total) / (n * (n - 1)) / scale**2
    half = student_quantile(0.5 + level / 2, n - 1) * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half)


def share_interval(n: int, count: int, *, level: float = LEVEL) -> Interval:
    """Gets a share with its interval."""
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    z = normal_quantile(0.5 + level / 2)
    p, z2 = count / n, z * z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Interval(p, 0.0 if count == 0 else middle - half, 1.0 if count == n else middle + half)


def deviation(n: int, total: int, squares: int, *, scale: int = 1) -> float:
    """Gets the standard deviation of whole numbers, each `scale` times too large."""
    return math.sqrt(max(0, n * squares - total * total) / (n * (n - 1))) / scale if n > 1 else math.nan
