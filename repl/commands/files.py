"""Files that commands write: what stands in the way is told before the work, not after."""

from __future__ import annotations

import os
from pathlib import Path

from . import UsageError


def check_writable(option: str, path: str | None) -> None:
    """Makes sure that a file can be written, without changing anything. Raises `UsageError`."""
    if path is None:
        return
    target = Path(path)
    folder = target.parent
    if not path or target.is_dir():
        problem = f"'{path}' is a folder" if path else "got no name"
    elif not folder.is_dir():
        problem = f"there is no folder '{folder}'"
    elif not os.access(folder, os.W_OK | os.X_OK) or (target.exists() and not os.access(target, os.W_OK)):
        problem = f"'{path}' cannot be written: permission denied"
    else:
        return
    raise UsageError(f"{option}: {problem}", "nothing was played")


def check_parquet(path: str | None) -> None:
    """Makes sure that a Parquet file can be written. Raises `UsageError`."""
    from ...interpreter.parquet import is_to_be_had

    check_writable("--parquet", path)
    if path is not None and not is_to_be_had():
        raise UsageError("Parquet files need pyarrow", "install it: pip install 'harbourmaster[report]'")
