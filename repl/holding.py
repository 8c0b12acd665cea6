"""Holds kept games: only one program at a time goes on with one, as two would write into each other's lines.

The file itself is locked, so that a lock ends with the program that has it, however that ends. Where files cannot be
locked, nothing is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..interpreter.record_files import RecordError

_held: dict[Path, int] = {}


def hold(path: Path) -> None:
    """Takes a kept game for this program, until it ends or lets go.

    Raises `RecordError` if another program has it, `OSError` if there is no such file.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # not on this system
        return
    path = path.resolve()
    if path in _held:
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise RecordError(
            "record-in-use", f"{path} is being played in another program; it must be left there first"
        ) from None
    except OSError:  # not on this disk
        os.close(handle)
        return
    _held[path] = handle


def let_go(path: Path) -> None:
    """Leaves a kept game to other programs."""
    handle = _held.pop(path.resolve(), None)
    if handle is not None:
        os.close(handle)
