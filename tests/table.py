"""A table for tests: sessions and desks without a terminal."""

from __future__ import annotations

import random
from collections.abc import Sequence

from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.repl.desk import Desk, Reply, run_line
from harbourmaster.repl.pace import let_bots_play
from harbourmaster.repl.seats import make_seats
from harbourmaster.repl.session import Session
from harbourmaster.repl.taking_up import keep
from harbourmaster.repl.terminal import Look, plain
from harbourmaster.repl.view import View


def open_session(game: Game, seats: Sequence[str] = (), seed: int = 1, *, programs: bool = False) -> Session:
    """Begins a session, recorded in memory."""
    filled = make_seats(seats, game.player_names, programs=programs)
    session = Session(game, View(game, game.view()), filled, seed)
    keep(session, "en", on_disk=False)
    return session


def open_desk(
    name: str = "manila",
    players: int | None = 3,
    seats: Sequence[str] = (),
    seed: int = 1,
    look: Look | None = None,
    *,
    programs: bool = False,
) -> Desk:
    """Opens a desk at a new game, with the bots' first moves made."""
    session = open_session(load_game(name, players=players), seats, seed, programs=programs)
    desk = Desk(session, look or Look())
    settle(desk)
    desk.news()
    return desk


def settle(desk: Desk) -> None:
    """Lets the bots play."""
    for _ in let_bots_play(desk):
        pass


def type_in(desk: Desk, *lines: str) -> str:
    """Types lines, letting the bots play after each; gets all that was shown, private or not."""
    shown = []
    for line in lines:
        shown.append(plain(answer(desk, line).lines))
    return "\n".join(shown)


def answer(desk: Desk, line: str) -> Reply:
    """Types a line and lets the bots play."""
    reply = run_line(desk, line)
    settle(desk)
    return reply


def play_on(session: Session, choices: int, seed: int = 1) -> None:
    """Makes random choices, whoever is to act."""
    numbers = random.Random(seed)
    for _ in range(choices):
        state = session.state
        if state.is_terminal():
            return
        if state.is_simultaneous_node():
            player = state.players_to_act()[0]
            session.choose(numbers.choice(state.legal_actions(player)), player)
        else:
            session.choose(numbers.choice(state.legal_actions()))
