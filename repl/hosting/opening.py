"""Opens a table: begins a game or takes up a kept one, tells the host who comes in how, and serves until he stops.

A table is a record in the folder `tables` of the user's data, and beside it a file with what opens its seats.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct

from ...interpreter.errors import PlayError
from ...interpreter.game import Game, load_game
from ..seats import HUMAN, SeatError, make_seats
from ..session import Session
from ..taking_up import data_folder, keep, last_game, take_up
from ..texts import language_of_surroundings, say
from ..view import View
from .admission import LOOKING_ON, Admission, written
from .server import Host, host_key, keys_of
from .table import Table


class Options(Struct, frozen=True):
    """What `harbourmaster host` was asked for."""

    game: str
    address: str
    port: int
    players: int | None = None
    seats: tuple[str, ...] = ()
    """`NAME` or `NAME=BOT` for each seat; all are people's if none is named."""
    seed: int | None = None
    resume: bool = False
    file: str = ""
    """With `resume`, the table to go on with; the last one if empty."""
    keys: str = ""
    """A folder with the players' public keys."""
    renew: tuple[str, ...] = ()
    """Players who need a new code."""
    language: str = ""
    ascii: bool = False


class HostProblem(Exception):
    """Says in one sentence why no table can be opened; `help` tells how to do better."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def tables_folder() -> Path:
    """Gets the folder in which tables are kept."""
    return data_folder() / "tables"


def host(options: Options) -> int:
    """Serves a table until the host stops it; gives the exit status. Raises `HostProblem` and `RulesError`."""
    language = options.language or language_of_surroundings()
    try:
        session, path, language = (
            _taken_up(options, language) if options.resume else _begun(options, language)
        )
    except SeatError as error:
        raise HostProblem(say(language, error.key, **error.about)) from None
    except PlayError as error:
        raise HostProblem(error.message) from None
    people = [n for n, seat in enumerate(session.seats) if seat.kind == HUMAN]
    if not people:
        raise HostProblem(
            "nobody is to come: bots sit at every seat", "'harbourmaster play' shows bots at play"
        )
    given = _given_keys(options, session, people)
    renewed = _renewed(options, session, people)
    new = path is None
    path = path or keep(session, language, folder=tables_folder())
    assert path is not None
    admission = Admission.open(path.with_suffix(".seats"), people, given)
    for seat in renewed:
        admission.renew(seat)
    table = Table(session, partial(_again, session.game), report=_report)
    served = Host(table, admission, language=language, ascii=options.ascii, report=_report)
    try:
        asyncio.run(_serve(served, options, path))
    except HostProblem:
        if new:  # nobody has ever come to it
            path.unlink()
            path.with_suffix(".seats").unlink()
        raise
    return 0


def _taken_up(options: Options, language: str) -> tuple[Session, Path | None, str]:
    path = Path(options.file).expanduser() if options.file else last_game(options.game, tables_folder())
    if path is None:
        raise HostProblem("there is no table to go on with")
    session, spoken = take_up(path, go_on=True)
    return session, path, options.language or spoken or language


def _begun(options: Options, language: str) -> tuple[Session, Path | None, str]:
    game = load_game(options.game, players=options.players)
    if options.players is None and len(options.seats) > game.num_players():
        game = load_game(options.game, players=len(options.seats))
    names = game.player_names
    asked = [*options.seats, *(f"{name}={HUMAN}" for name in names[len(options.seats) :])]
    seats = make_seats(asked, names)
    seed = int.from_bytes(os.urandom(7), "big") if options.seed is None else options.seed
    return Session(game, View(game, game.view(), strict=False), seats, seed), None, language


def _again(game: Game) -> Game:
    return load_game(game.name, players=game.num_players(), offers=game.offers)


def _given_keys(options: Options, session: Session, people: Sequence[int]) -> dict[str, int]:
    """Reads the keys of the folder that was named."""
    if not options.keys:
        return {}
    try:
        given = keys_of(
            Path(options.keys).expanduser(), {session.seats[n].name.casefold(): n for n in people}
        )
    except ValueError as error:
        raise HostProblem(str(error)) from None
    if not given:
        known = ", ".join(session.seats[n].name for n in people)
        about = f"its files are called NAME.pub, NAME being one of {known}"
        raise HostProblem(f"{options.keys} holds no key of a player", about)
    return given


def _renewed(options: Options, session: Session, people: Sequence[int]) -> list[int]:
    """Finds the seats that need a new code."""
    names = {session.seats[n].name.casefold(): n for n in people}
    for name in options.renew:
        if name.casefold() not in names:
            known = ", ".join(session.seats[n].name for n in people)
            raise HostProblem(f"no person at this table is called '{name}'", f"there are {known}")
    return [names[name.casefold()] for name in options.renew]


# --------------------------------------------------------------------------------------------------- the console


async def _serve(served: Host, options: Options, path: Path) -> None:
    key = data_folder() / "host_key"
    try:
        port = await served.open(options.address, options.port, key)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise HostProblem(
            f"cannot listen on {options.address} port {options.port}: {why}", "another --port may be free"
        ) from None
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    for line in _announcement(served, options.address, port, key, path):
        print(line, flush=True)
    await stop.wait()
    await served.shut()
    print(f"\nThe table is kept: 'harbourmaster host --resume {path}' goes on with it.", flush=True)


def _announcement(served: Host, address: str, port: int, key: Path, path: Path) -> list[str]:
    session, admission = served.table.session, served.admission
    lines = [
        f"{session.game.canonical}, {session.game.num_players()} players; open on {address} port {port}",
        f"host key {host_key(key).get_fingerprint()}",
        f"kept in {path}",
        "",
    ]
    widest = max(len(seat.name) for seat in session.seats)
    for n, seat in enumerate(session.seats):
        code = admission.code_of(n)
        if seat.kind != HUMAN:
            how = f"bot {seat.kind}"
        elif code is not None:
            how = f"code {written(code)}"
        elif n in admission.given.values():
            how = "comes with the key in your folder"
        else:
            how = f"has been here and comes back with his key or code (else: --new-code {seat.name})"
        lines.append(f"  {seat.name:<{widest}}  {how}")
    looking = admission.code_of(LOOKING_ON)
    lines.append(f"  to look on: code {written(looking) if looking is not None else '?'}")
    here = "localhost" if address in ("127.0.0.1", "::1", "localhost") else "THIS-HOST"
    return [
        *lines,
        "",
        f"They come in with 'ssh -p {port} {here}'. Ctrl-C closes the table and keeps it.",
        "",
    ]


def _report(text: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)
