"""Starts a game at this terminal: fills the seats, takes up a kept game or begins a new one, picks the
shell.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from msgspec import Struct, structs

from ..interpreter.errors import PlayError
from ..interpreter.game import load_game
from .desk import Desk
from .indicator import Indicator
from .seats import SeatError, make_seats
from .session import Session
from .taking_up import keep, last_game, take_up
from .terminal import Look, wants_ascii
from .texts import find_language, language_of_surroundings, say
from .view import View, ViewError

OPPONENT = "montecarlo:100r"
"""Who plays the seats that nobody asked for: worth playing against, and quick to answer."""


class Options(Struct, frozen=True):
    """What `harbourmaster play` was asked for."""

    game: str = ""
    """The rule set's name; the only bundled game if empty."""
    players: int | None = None
    seats: tuple[str, ...] = ()
    """`NAME`, `KIND` or `NAME=KIND` for each seat; without any, a person at seat 1, and bots at the others."""
    seed: int | None = None
    lang: str | None = None
    """A language as people write it; that of the surroundings if None."""
    resume: bool = False
    file: str = ""
    """With `resume`, the game to go on with; the last one if empty."""
    ascii: bool = False
    autosave: bool | None = None
    """Whether the game is kept while it is played; if None, it is where somebody sits at a terminal."""
    pace: float = 0.0
    """How many seconds to wait after each move of a bot."""


class PlayProblem(Exception):
    """Says in one sentence why no game can be started."""


def play(options: Options) -> int:
    """Plays; gives the exit status. Raises `RulesError` and `PlayProblem` where no game can be started."""
    language = find_language(options.lang) if options.lang else language_of_surroundings()
    if language is None:
        raise PlayProblem(say("en", "which-language", known="en, zh-Hans, zh-Hant"))
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    size = shutil.get_terminal_size((80, 24)) if interactive else os.terminal_size((80, 24))
    look = Look(size.columns, size.lines, language, options.ascii or wants_ascii())
    try:
        with Indicator():
            desk = _open(options, look, interactive=interactive or sys.stdin.isatty())
        desk.pace = options.pace
    except SeatError as error:
        raise PlayProblem(say(language, error.key, **error.about)) from None
    except (PlayError, ViewError) as error:
        raise PlayProblem(str(error)) from None
    except OSError as error:
        about = {"file": str(error.filename), "why": error.strerror or str(error)}
        raise PlayProblem(say(language, "cannot-read", **about)) from None
    if interactive:
        from .prompt import PromptShell

        return PromptShell(desk).run()
    from .plain_shell import PlainShell

    return PlainShell(desk).run()


def _open(options: Options, look: Look, *, interactive: bool) -> Desk:
    if options.resume:
        path = Path(options.file).expanduser() if options.file else last_game(options.game)
        if path is None:
            raise PlayProblem(say(look.language, "no-game-to-resume"))
        session, language = take_up(path, go_on=True)
        known = find_language(language) if language is not None and options.lang is None else None
        return Desk(session, structs.replace(look, language=known or look.language), kept=path)
    session = new_session(options)
    on_disk = interactive if options.autosave is None else options.autosave
    return Desk(session, look, kept=start_record(session, look.language, on_disk=on_disk))


def start_record(session: Session, language: str, *, on_disk: bool) -> Path | None:
    """Keeps the game from now on; where nothing can be written it is played all the same."""
    try:
        return keep(session, language, on_disk=on_disk)
    except OSError:
        return keep(session, language, on_disk=False)


def new_session(options: Options) -> Session:
    """Begins a new game."""
    name = options.game or _only_game()
    game = load_game(name, players=options.players)
    if options.players is None and len(options.seats) > game.num_players():
        game = load_game(name, players=len(options.seats))
    seats = make_seats(options.seats, game.player_names, others=OPPONENT, programs=True)
    seed = int.from_bytes(os.urandom(6), "big") if options.seed is None else options.seed
    return Session(game, View(game, game.view(), strict=False), seats, seed)


def _only_game() -> str:
    from ..interpreter.gamefiles import available_games

    games = available_games()
    return games[0] if games else ""
