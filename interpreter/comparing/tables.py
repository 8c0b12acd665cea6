"""Writes figures as a Parquet file, a row for every figure, seat and set of policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def write_parquet(path: str, measured: Sequence[Measured]) -> None:
    """Writes the figures. Raises `ImportError` where there is no pyarrow."""
    import pyarrow as pa
    from pyarrow import parquet

    names = {"rules_a": pa.string(), "rules_b": pa.string(), "players": pa.int32(), "policies": pa.string()}
    names |= {"seed": pa.int64(), "pairs": pa.int64(), "level": pa.float64(), "figure": pa.string()}
    names |= {"seat": pa.int32(), **{n: pa.float64() for n in ("a", "b", "difference", "low", "high")}}
    table = pa.Table.from_pylist(rows_of(measured), schema=pa.schema(list(names.items())))
    parquet.write_table(table, path)
