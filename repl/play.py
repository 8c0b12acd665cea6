"""Starts a game at this terminal: fills the seats, takes up a kept game or begins a new one, picks the shell."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from msgspec import Struct

from ..interpreter.game import load_game
from .desk import Desk
from .journal import Journal, JournalError, last_game, read_journal
from .seats import SeatError, make_seats
from .session import Session
from .taking_up import take_up
from .terminal import Look, wants_ascii
from .texts import find_language, language_of_surroundings, say
from .view import View


class Options(Struct, frozen=True):
    """What `harbourmaster play` was asked for."""

    game: str = ""
    """The rule set's name; the only bundled game if empty."""
    players: int | None = None
    seats: tuple[str, ...] = ()
    """`NAME`, `KIND` or `NAME=KIND` for each seat; without any, a person at seat 1 and random bots."""
    seed: int | None = None
    lang: str | None = None
    """A language as people write it; that of the surroundings if None."""
    resume: bool = False
    file: str = ""
    """With `resume`, the game to go on with; the last one if empty."""
    ascii: bool = False
    autosave: bool = True


BAD = 2


class PlayProblem(Exception):
    """Says in one sentence why no game can be started."""


def play(options: Options) -> int:
    """Plays; gives the exit status. Raises `RulesError` and `PlayProblem`."""
    language = find_language(options.lang) if options.lang else language_of_surroundings()
    if language is None:
        raise PlayProblem(say("en", "which-language", known="en, zh-Hans, zh-Hant"))
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    size = shutil.get_terminal_size((80, 24)) if interactive else os.terminal_size((80, 24))
    look = Look(size.columns, size.lines, language, options.ascii or wants_ascii())
    try:
        desk = _open(options, look)
    except (SeatError, JournalError) as error:
        raise PlayProblem(say(language, error.key, **error.about)) from None
    if interactive:
        from .prompt import PromptShell

        return PromptShell(desk).run()
    from .plain_shell import PlainShell

    return PlainShell(desk).run()


def _open(options: Options, look: Look) -> Desk:
    if options.resume:
        path = Path(options.file).expanduser() if options.file else last_game()
        if path is None:
            raise JournalError("no-game-to-resume")
        head, operations = read_journal(path, mend=True)
        session = take_up(head, operations)
        journal = Journal(path, head)
        if options.lang is None:
            look = Look(look.width, look.height, head.language, look.ascii)
        return Desk(session, look, journal=journal)
    session = new_session(options)
    desk = Desk(session, look)
    if options.autosave:
        start_journal(desk)
    return desk


def new_session(options: Options) -> Session:
    """Begins a new game."""
    name = options.game or _only_game()
    players = options.players if options.players is not None else len(options.seats) or None
    game = load_game(name, players=players)
    seats = make_seats(options.seats, game.player_names)
    seed = int.from_bytes(os.urandom(6), "big") if options.seed is None else options.seed
    session = Session(game, View(game, game.view()), seats, seed)
    return session


def start_journal(desk: Desk) -> None:
    """Keeps the game from now on; where nothing can be written it is played all the same."""
    try:
        desk.journal = Journal.start(desk.head())
    except OSError:
        return
    desk.session.listeners.append(desk.journal.add)


def _only_game() -> str:
    from ..interpreter.gamefiles import available_games

    games = available_games()
    return games[0] if games else ""
