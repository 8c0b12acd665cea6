"""Keeps what was made of rule sets in the user's cache folder, so that the second start is quick.

An entry is a file named for a hash of everything it was made from, the interpreter's own code included; it is written
to a temporary file and renamed, so that processes at the same work cannot harm each other. Anything unreadable is
made anew. Where nothing can be written, all works, only slower.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_KEPT = 200
"""How many entries are kept; the oldest go first."""


@cache
def folder() -> Path | None:
    """Gets the cache folder, or None where there is none that can be written."""
    override = os.environ.get("HARBOURMASTER_CACHE")
    if override == "off":
        return None
    if override:
        path = Path(override)
    else:
        import platformdirs

        path = Path(platformdirs.user_cache_dir("harbourmaster"))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path


@cache
def code_version() -> str:
    """Gets a hash of the interpreter's own files, as sizes and times of change."""
    made = hashlib.sha256(f"{sys.version_info}".encode())
    root = Path(__file__).resolve().parent.parent
    for part in ("grammar", "interpreter"):
        for path in sorted((root / part).glob("*.[pl]*")):
            stat = path.stat()
            made.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns};".encode())
    return made.hexdigest()[:16]


def key(*parts: str) -> str:
    """Makes the name of an entry from what it depends on."""
    return hashlib.sha256("\0".join((code_version(), *parts)).encode()).hexdigest()[:32]


def load(name: str, kind: str) -> Any | None:
    """Gets an entry, or None."""
    root = folder()
    if root is None:
        return None
    try:
        data = (root / f"{name}.{kind}").read_bytes()
    except OSError:
        return None
    try:
        return marshal.loads(data) if kind == "code" else pickle.loads(data)
    except Exception:  # a damaged file is as good as none
        return None


def store(name: str, kind: str, value: Any) -> None:
    """Keeps an entry; silently not, where the folder is full or read-only."""
    root = folder()
    if root is None:
        return
    try:
        data = marshal.dumps(value) if kind == "code" else pickle.dumps(value, protocol=5)
        write(root / f"{name}.{kind}", data)
        _prune(root)
    except (OSError, pickle.PicklingError):
        return


def write(path: Path, data: bytes) -> None:
    """Writes a file in one step: to a temporary file beside it, synced, then renamed.

    What is no file, as a device or a pipe, is written to as it is. Raises `OSError`; then nothing was changed.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()  # of a link, what it leads to is written
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _prune(root: Path) -> None:
    entries = sorted(
        (p for p in root.iterdir() if p.suffix in (".program", ".checked", ".code")),
        key=lambda p: p.stat().st_mtime,
    )
    for path in entries[: max(0, len(entries) - _KEPT)]:
        path.unlink(missing_ok=True)


def once(name: str, kind: str, make: Callable[[], Any]) -> Any:
    """Gets an entry, making and keeping it if it is not there."""
    found = load(name, kind)
    if found is None:
        found = make()
        store(name, kind, found)
    return found
