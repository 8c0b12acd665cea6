"""Lets bots play until a person is to act, one choice at a time."""

from __future__ import annotations

from collections.abc import Iterator

from .desk import Desk


def let_bots_play(desk: Desk) -> Iterator[None]:
    """Yields after each choice of a bot."""
    while desk.session.bots_turn():
        yield
