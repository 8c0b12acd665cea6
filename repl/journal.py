"""Keeps a game on disk as it is played, and finds it again.

A journal is a text file: a first line that says which rules, who plays and which seed, then a line for everything that
was done at the table, in order. Each line is written and synced before the next prompt, so that a power cut or a kill
costs at most the last choice; a torn last line is left out when the game is taken up again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from .session import Operation

VERSION = 1
SUFFIX = ".game"


class JournalError(Exception):
    """Says that a journal cannot be used; `key` and `about` make the sentence."""

    def __init__(self, key: str, **about: str) -> None:
        super().__init__(f"{key}: {about}")
        self.key = key
        self.about = about


class Head(Struct, frozen=True):
    """What a game is, before anything was done."""

    rules: str
    hash: str
    players: int
    seed: int
    seats: tuple[str, ...]
    language: str

    def line(self) -> str:
        """Writes the first line of a journal."""
        data = {
            "harbourmaster": VERSION,
            "rules": self.rules,
            "hash": self.hash,
            "players": self.players,
            "seed": self.seed,
            "seats": list(self.seats),
            "language": self.language,
        }
        return json.dumps(data, ensure_ascii=False)


def format_operation(operation: Operation) -> str:
    """Writes a line of a journal."""
    data: dict[str, Any] = {}
    if operation.kind == "choose":
        data = {"choose": operation.words, "action": operation.action}
        if operation.player is not None:
            data["player"] = operation.player
    else:
        data = {operation.kind: operation.to}
        if operation.anew:
            data["anew"] = True
    return json.dumps(data, ensure_ascii=False)


def parse_operation(line: str) -> Operation:
    """Reads a line of a journal."""
    data = json.loads(line)
    if "choose" in data:
        return Operation("choose", int(data["action"]), data.get("player"), str(data["choose"]))
    for kind in ("undo", "redo"):
        if kind in data:
            return Operation(kind, to=int(data[kind]), anew=bool(data.get("anew", False)))
    raise ValueError(line)


class Journal:
    """A journal that is being written."""

    def __init__(self, path: Path, head: Head) -> None:
        self.path = path
        self.head = head
        self._handle: int | None = None

    @classmethod
    def start(cls, head: Head, folder: Path | None = None) -> Journal:
        """Begins the journal of a new game in the user's folder."""
        folder = games_folder() if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        from datetime import datetime

        name = f"{datetime.now():%Y%m%d-%H%M%S}"
        for n in range(1000):
            path = folder / f"{name}{f'-{n}' if n else ''}{SUFFIX}"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                break
            except FileExistsError:
                continue
        journal = cls(path, head)
        journal._append(head.line())
        return journal

    def add(self, operation: Operation) -> None:
        """Writes what was done."""
        self._append(format_operation(operation))

    def _append(self, line: str) -> None:
        if self._handle is None:
            self._handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(self._handle, (line + "\n").encode())
        os.fsync(self._handle)

    def close(self) -> None:
        """Closes the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def write_journal(path: Path, head: Head, operations: Iterable[Operation]) -> None:
    """Writes a whole journal in one step."""
    from ..interpreter.cache import write

    text = "\n".join([head.line(), *map(format_operation, operations), ""])
    write(path, text.encode())


def read_journal(path: Path, *, mend: bool = False) -> tuple[Head, list[Operation]]:
    """Reads a journal; a torn last line is left out, and cut off the file if it is to be mended."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError("cannot-read", file=str(path), why=error.strerror or str(error)) from None
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", "replace").splitlines()
    try:
        head = _head(json.loads(lines[0]))
    except (ValueError, KeyError, IndexError, TypeError):
        raise JournalError("no-journal", file=str(path)) from None
    operations = []
    for n, line in enumerate(lines[1:], 2):
        try:
            operations.append(parse_operation(line))
        except (ValueError, KeyError, TypeError):
            raise JournalError("torn-journal", file=str(path), line=str(n)) from None
    if mend and len(whole) < len(data):
        os.truncate(path, len(whole))
    return head, operations


def _head(data: Any) -> Head:
    if data["harbourmaster"] != VERSION:
        raise ValueError
    return Head(
        str(data["rules"]),
        str(data["hash"]),
        int(data["players"]),
        int(data["seed"]),
        tuple(map(str, data["seats"])),
        str(data.get("language", "en")),
    )


def games_folder() -> Path:
    """Gets the folder in which games are kept."""
    return data_folder() / "games"


def data_folder() -> Path:
    """Gets the user's data folder."""
    override = os.environ.get("HARBOURMASTER_DATA")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_data_dir("harbourmaster"))


def last_game(folder: Path | None = None) -> Path | None:
    """Finds the game that was played last."""
    folder = games_folder() if folder is None else folder
    found = sorted(folder.glob(f"*{SUFFIX}"), key=lambda p: (p.stat().st_mtime_ns, p.name)) if folder.is_dir() else []
    return found[-1] if found else None
