"""Takes up a game from its journal: loads the rules it was played by and does again what was done."""

from __future__ import annotations

from collections.abc import Sequence

from ..interpreter.errors import PlayError
from ..interpreter.game import load_game
from .journal import Head, JournalError
from .seats import make_seats
from .session import Operation, Session
from .view import View


def take_up(head: Head, operations: Sequence[Operation]) -> Session:
    """Makes the session as it stood; refuses when the rules have changed so that a choice is not possible any more."""
    game = load_game(head.rules, players=head.players)
    seats = make_seats(head.seats, game.player_names)
    session = Session(game, View(game, game.view()), seats, head.seed)
    for number, operation in enumerate(operations, 1):
        try:
            do_again(session, operation)
        except (PlayError, IndexError) as error:
            about = {"number": str(number), "words": operation.words, "why": str(error)}
            raise JournalError("rules-have-changed", **about) from None
    session.fresh()
    return session


def do_again(session: Session, operation: Operation) -> None:
    """Does an operation of a journal again."""
    if operation.kind == "choose":
        session.choose(operation.action, operation.player)
    elif operation.kind == "undo":
        session.go_back(operation.to)
    else:
        session.go_forward(operation.to)
