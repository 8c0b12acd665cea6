"""Writes figures as a Parquet file, a row for every figure, seat and set of policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..parquet import write_rows
from .howmuch import Measured


def rows_of(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Gets the figures as rows."""
    rows = []
    for m in measured:
        policies = ",".join(m.plan.policies) or "random"
        common = {"rules_a": m.plan.a, "rules_b": m.plan.b, "players": m.plan.players, "policies": policies}
        common |= {"seed": m.plan.seed, "pairs": m.pairs, "level": m.level}
        for name, share in (("differed", "differed"), ("scores differed", "scored"), ("another won", "won")):
            s = m.share(share)
            interval = {"difference": s.value, "low": s.low, "high": s.high}
            rows.append({**common, "figure": name, "seat": None, "a": None, "b": None, **interval})
        for r in m.rows:
            d = r.difference
            interval = {"difference": d.value, "low": d.low, "high": d.high}
            seat = None if r.seat is None else r.seat + 1
            rows.append(
                {**common, "figure": r.name, "seat": seat, "a": r.a.value, "b": r.b.value, **interval}
            )
    return rows


_COLUMNS = {
    **dict.fromkeys(("rules_a", "rules_b"), "string"),
    "players": "int32",
    "policies": "string",
    **dict.fromkeys(("seed", "pairs"), "int64"),
    "level": "float64",
    "figure": "string",
    "seat": "int32",
    **dict.fromkeys(("a", "b", "difference", "low", "high"), "float64"),
}


def write_parquet(path: str, measured: Sequence[Measured]) -> None:
    """Writes the figures. Raises `ImportError` where there is no pyarrow, `OSError` where it cannot be written."""
    write_rows(path, _COLUMNS, rows_of(measured))
