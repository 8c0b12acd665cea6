"""Keeps games as records, and takes them up again: a session as it stood, moves taken back and all.

The record is the interpreter's; the table adds one line to its head, `table:`, which says who plays the
seats and in which language. A record without that line is played on by a person at seat 1 and random bots.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..interpreter.errors import PlayError
from ..interpreter.game import load_game
from ..interpreter.record_files import Choice, Record, RecordError, Reseed, Undo
from ..interpreter.records import Recorder, load_record
from .holding import hold
from .seats import PROGRAM, Seat, seat_of
from .session import Session
from .view import View

SUFFIX = ".record"
_KEY = "table: "


def data_folder() -> Path:
    """Gets the folder in which games and the history of the prompt are kept."""
    override = os.environ.get("HARBOURMASTER_DATA")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_data_dir("harbourmaster"))


def games_folder() -> Path:
    """Gets the folder in which games are kept."""
    return data_folder() / "games"


def last_game(rules: str = "", folder: Path | None = None) -> Path | None:
    """Finds the game that was played last, of the rule set or game named `rules` if one is named."""
    folder = folder or games_folder()
    found = list(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    found.sort(key=lambda p: (p.stat().st_mtime_ns, p.name), reverse=True)
    return next((path for path in found if not rules or _is_of(path, rules)), None)


def _is_of(path: Path, rules: str) -> bool:
    head = path.read_text("utf-8", errors="replace")[:2000]
    named = re.search(r"^rules: (\S+)", head, re.MULTILINE)
    return named is not None and (named[1] == rules or named[1].split("+")[0] == rules)


# ---------------------------------------------------------------------------------------------------- keeping


def keep(session: Session, language: str, *, on_disk: bool = True, folder: Path | None = None) -> Path | None:
    """Begins the record of a session that has just begun, in the user's folder or in memory alone.

    Raises `OSError` or `RecordError`.
    """
    start = session.moments[0].state
    if not on_disk:
        session.recorder = Recorder.start(start, session.seed, names=session.names())
        return None
    path = new_path(folder)
    session.recorder = Recorder.start(start, session.seed, path=path, names=session.names())
    hold(path)
    _write_again(path, with_table(session.recorder.record.text(), session.seats, language))
    return path


def new_path(folder: Path | None = None) -> Path:
    """Makes an empty file for a game in a folder, that of the user's games if none is named. Raises `OSError`."""
    from datetime import datetime

    folder = folder or games_folder()
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{datetime.now():%Y%m%d-%H%M%S}"
    for n in range(10_000):
        path = folder / f"{name}{f'-{n}' if n else ''}{SUFFIX}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            continue
        return path
    raise FileExistsError(name)


def _write_again(path: Path, text: str) -> None:
    """Writes a file that is open for appending, in its place."""
    with path.open("r+b") as file:
        file.write(text.encode())
        file.truncate()
        os.fsync(file.fileno())


def save(session: Session, language: str, path: Path) -> None:
    """Writes a session to a file. Raises `OSError`."""
    from ..interpreter.cache import write

    assert session.recorder is not None
    write(path, with_table(session.recorder.record.text(), session.seats, language).encode())


def copy_record(session: Session, language: str) -> Path:
    """Begins to keep a session that was taken up without its file, as a new record. Raises `OSError`."""
    path = new_path()
    save(session, language, path)
    hold(path)
    session.recorder, _ = Recorder.resume(path)
    return path


def with_table(text: str, seats: Sequence[Seat], language: str) -> str:
    """Adds to a record's head who plays the seats."""
    head, blank, rest = text.partition("\n\n")
    table = {"seats": [seat.kind for seat in seats], "language": language}
    return f"{head}\n{_KEY}{json.dumps(table)}{blank}{rest}"


# -------------------------------------------------------------------------------------------------- taking up


def take_up(path: Path, *, go_on: bool) -> tuple[Session, str | None]:
    """Makes the session that a record leads to, and gets its language; with `go_on` the file is written on.

    Raises `RecordError`, also where another program goes on with it, `SeatError`, `RulesError` or `OSError`.
    """
    if go_on:
        hold(path)
        _mend(path)
    record = load_record(path)
    if record.seed is None:
        raise RecordError("record-unseeded", "chance was told how to come out here: nobody can go on with it")
    kinds, language = _table(path)
    kinds, refused = _without_programs(kinds, path)
    game = load_game(record.rules, players=record.players, offers=record.offers)
    kinds += ["random"] * (len(record.names) - len(kinds))
    trusted = _is_kept_here(path)
    seats = [seat_of(n, k, programs=trusted) for n, k in zip(record.names, kinds, strict=False)]
    session = Session(game, View(game, game.view(), strict=False), seats, record.seed)
    session.recorder = Recorder.start(session.state, record.seed, names=record.names)
    for item in record.items:
        match item:
            case Choice():
                _choose(session, item, record)
            case Undo(count):
                session.go_back(session.at - count, reseed=False)
            case Reseed(seed):
                session.reseed(seed)
            case _:
                pass
    session.fresh()
    if go_on:
        session.recorder, state = Recorder.resume(path)
        if state.key() != session.state.key():
            raise RecordError("record-altered", "the record leads elsewhere than its choices")
    for kind in refused:
        session.note("program-not-run", command=kind)
    return session, language


def _without_programs(kinds: list[str], path: Path) -> tuple[list[str], list[str]]:
    """Replaces bots that are programs of their own, and gets them, unless the game is one of those kept here.

    A file from elsewhere must not run commands.
    """
    if _is_kept_here(path):
        return kinds, []
    programs = [kind for kind in kinds if kind.startswith(f"{PROGRAM}:")]
    return ["random" if kind in programs else kind for kind in kinds], programs


def _is_kept_here(path: Path) -> bool:
    return path.resolve().parent == games_folder().resolve()


def _mend(path: Path) -> None:
    """Cuts off what a record has of a last choice that was not written to its end."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if data[len(whole) :].startswith(b"\t"):  # what a choice changed is torn: its own line goes too
        whole = whole[: whole[:-1].rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(path, len(whole))


def _choose(session: Session, choice: Choice, record: Record) -> None:
    state = session.state
    player = record.names.index(choice.player) if state.is_simultaneous_node() else None
    try:
        session.choose(choice.action, player)
    except PlayError as error:
        message = f"{choice.player}: {choice.words}: {error.message}"
        raise RecordError("record-altered", message, choice.span) from None


def _table(path: Path) -> tuple[list[str], str | None]:
    """Reads who plays the seats, and the language."""
    for line in path.read_text("utf-8", "replace").splitlines():
        if not line:
            break
        if line.startswith(_KEY):
            try:
                table = json.loads(line.removeprefix(_KEY))
                return [str(kind) for kind in table["seats"]], str(table["language"])
            except (ValueError, KeyError, TypeError):
                break
    return [], None
