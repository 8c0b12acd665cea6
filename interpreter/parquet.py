"""Writes rows of figures as a Parquet file, with pyarrow (the extra `report`)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .cache import write


def is_to_be_had() -> bool:
    """Tests if Parquet files can be written here."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def write_rows(path: str | Path, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows in one step, with columns in their order and of their types (`string`, `int64`, `float64` …).

    Raises `ImportError` where there is no pyarrow, `OSError` where the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(list(rows), schema=schema), buffer)
    write(Path(path), buffer.getvalue())
