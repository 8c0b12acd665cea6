"""The figures of `compare` against those of a separate program, the hand-written referee, at the coverage stated.

The referee's figures are kept here; `python -m tests.referee.figures 6000 bid-ceiling=cash` works them out anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from harbourmaster.interpreter.comparing.howmuch import (
    BLOCK,
    LENGTH,
    POINTS,
    WINS,
    Measured,
    Plan,
    play_block,
    result,
)
from harbourmaster.interpreter.comparing.statistics import Interval, student_quantile

from .referee.figures import figures

REFEREE = {
    "": [
        (32.5302, 0.3581),
        (32.6248, 0.3592),
        (31.7050, 0.3541),
        (0.3408, 0.0061),
        (0.3391, 0.0061),
        (0.3201, 0.0060),
        (108.7822, 0.3082),
        (5.9088, 0.0174),
    ],
    "bid-ceiling=cash": [
        (48.9415, 0.4202),
        (49.8345, 0.4232),
        (48.6072, 0.4258),
        (0.3266, 0.0060),
        (0.3424, 0.0061),
        (0.3310, 0.0060),
        (114.2675, 0.3250),
        (5.9498, 0.0174),
    ],
    "stowaway-where=never": [
        (18.0157, 0.3728),
        (18.6698, 0.3742),
        (18.3285, 0.3681),
        (0.3229, 0.0059),
        (0.3411, 0.0060),
        (0.3360, 0.0060),
        (70.4542, 0.2121),
        (5.8112, 0.0164),
    ],
}
"""Mean and its error, of 6,000 games of three without offers: fortunes, shares of wins, decisions, voyages."""

READINGS = [r for r in REFEREE if r]
PAIRS = BLOCK


def figures_of(measured: Measured, second: bool) -> list[Interval]:
    """Gets the intervals of the figures in the referee's order."""
    rows = [r for name in (POINTS, WINS, LENGTH, "voyages") for r in measured.of(name)]
    return [r.b if second else r.a for r in rows]


def holds(interval: Interval, mean: float, error: float) -> bool:
    """Tests if an interval holds the referee's mean, which is itself known to an error only."""
    widened = math.hypot(interval.half, student_quantile(0.975, PAIRS - 1) * error)
    return abs(interval.value - mean) <= widened


def repeats(reading: str, count: int) -> Iterator[Measured]:
    """Measures 100 pairs again and again, each time with another seed; in native code where they are many."""
    for seed in range(1, count + 1):
        plan = Plan("manila", f"manila+{reading}", 3, PAIRS * count, seed=seed, offers=False)
        yield result(plan, play_block(plan, 0), 0, "games")


def covered(reading: str, count: int) -> list[int]:
    """Counts for each figure of both rule sets, and of their differences, how many intervals hold it."""
    a, b = REFEREE[""], REFEREE[reading]
    totals = [0] * (3 * len(a))
    for measured in repeats(reading, count):
        first, second = figures_of(measured, False), figures_of(measured, True)
        rows = [r for name in (POINTS, WINS, LENGTH, "voyages") for r in measured.of(name)]
        apart = [(y - x, math.hypot(e, f)) for (x, e), (y, f) in zip(a, b, strict=True)]
        both = [*zip(first, a, strict=True), *zip(second, b, strict=True)]
        both += zip([r.difference for r in rows], apart, strict=True)
        for n, (interval, (mean, error)) in enumerate(both):
            totals[n] += holds(interval, mean, error)
    return totals


def test_intervals_hold_what_the_referee_finds() -> None:
    counts = covered("bid-ceiling=cash", 8)
    # 24 figures, eight times each: nearly all hold (the figures of one run hang together, so no sharp bound)
    assert sum(counts) >= 0.85 * 8 * len(counts), counts
    assert min(counts) >= 4, counts


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
def test_intervals_hold_as_often_as_they_say(reading: str) -> None:
    count = 300
    counts = covered(reading, count)
    # four standard errors of a binomial count around 95 %; the referee's own error only widens intervals
    least = 0.95 * count - 4 * math.sqrt(count * 0.95 * 0.05)
    assert min(counts) >= least, (reading, counts)
    assert sum(counts) / (count * len(counts)) == pytest.approx(0.95, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["", *READINGS])
def test_the_referee_still_finds_what_is_kept_here(reading: str) -> None:
    chosen = dict([reading.split("=")]) if reading else {}
    for (mean, error), (kept, kept_error) in zip(
        figures(1500, 3, chosen, seed=5), REFEREE[reading], strict=True
    ):
        assert abs(mean - kept) <= 4 * math.hypot(error, kept_error), (reading, mean, kept)
