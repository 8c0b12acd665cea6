"""Lets bots play until a person is to act, one choice at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ..interpreter.errors import BrokenRule
from .bots import ThinkingBot
from .desk import Desk
from .terminal import Line


def let_bots_play(desk: Desk) -> Iterator[list[Line]]:
    """Yields what to tell after each choice of a bot, and what went wrong if the rules did."""
    try:
        while desk.session.bots_turn():
            _note_faults(desk)
            yield desk.news()
    except BrokenRule as error:
        yield desk.broken(error).lines


def _note_faults(desk: Desk) -> None:
    """Tells what went wrong with bots that are programs of their own."""
    for seat in desk.session.seats:
        for fault in seat.bot.take_faults() if isinstance(seat.bot, ThinkingBot) else ():
            desk.session.note("bot-fault", name=seat.name, why=fault)
