"""The figures of a simulation as rows, for Parquet: one for each figure, and seat where it is by seat."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .game import Game
from .parquet import write_rows
from .simulate import Result

_COLUMNS = {
    **dict.fromkeys(("ruleset", "hash"), "string"),
    "players": "int32",
    "policies": "string",
    **dict.fromkeys(("seed", "games"), "int64"),
    "figure": "string",
    "seat": "int32",
    **dict.fromkeys(("player", "policy"), "string"),
    **dict.fromkeys(("mean", "deviation"), "float64"),
}


def rows_of(result: Result, game: Game) -> list[dict[str, Any]]:
    """Gets the figures: points, share of wins, decisions a game, and the measures that the rules declare.

    `seat` counts from 1 and is null where a figure is about the whole game; `deviation` is the standard deviation
    between games, null for shares.
    """
    plan, totals = result.plan, result.totals
    policies = plan.policies or ("random",) * plan.players
    common = {"ruleset": result.ruleset, "hash": result.content_hash, "players": plan.players}
    common |= {"policies": ",".join(policies), "seed": plan.seed, "games": totals.games}
    rows: list[dict[str, Any]] = []

    def add(figure: str, seat: int | None, mean: float, deviation: float | None) -> None:
        own: dict[str, Any] = {"figure": figure, "seat": None, "player": None, "policy": None}
        if seat is not None:
            own |= {"seat": seat + 1, "player": game.player_names[seat], "policy": policies[seat]}
        rows.append({**common, **own, "mean": mean, "deviation": deviation})

    n = totals.games
    add(
        "decisions",
        None,
        totals.decisions / max(n, 1),
        _deviation(n, totals.decisions, totals.decisions_squared),
    )
    pairs = zip(result.returns(), result.deviations(), result.win_shares(), strict=True)
    for seat, (mean, deviation, share) in enumerate(pairs):
        add("points", seat, mean, deviation)
        add("share of wins", seat, share, None)
    at = 0
    for text, per in result.measure_names:
        for whose in range(plan.players) if per else (None,):
            total, squares = totals.figures[at], totals.figures_squared[at]
            add(text, whose, total / max(n, 1), _deviation(n, total, squares))
            at += 1
    return rows


def _deviation(n: int, total: int, squares: int) -> float:
    return math.sqrt(n * squares - total * total) / n if n else math.nan


def write_parquet(path: str | Path, result: Result, game: Game) -> None:
    """Writes the figures. Raises `ImportError` where there is no pyarrow, `OSError` where it cannot be written."""
    write_rows(path, _COLUMNS, rows_of(result, game))
