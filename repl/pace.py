"""Lets bots play until a person is to act, one choice at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ..interpreter.errors import BrokenRule
from .desk import Desk
from .terminal import Line


def let_bots_play(desk: Desk) -> Iterator[list[Line]]:
    """Yields what to tell after each choice of a bot, and what went wrong if the rules did."""
    try:
        while desk.session.bots_turn():
            yield desk.news()
    except BrokenRule as error:
        yield desk.broken(error).lines
