"""What bots advise: the move one would make, and what a move is worth when the game is played on from it.

The bots live in the interpreter and are imported when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .terminal import Line

if TYPE_CHECKING:
    from .choosing import Option
    from .desk import Desk


class MissingBots(Exception):
    """Says that no bot can think about this game here."""


def _load(module: str, name: str) -> Any:
    from importlib import import_module

    try:
        return getattr(import_module(f"..interpreter.bots.{module}", __package__), name)
    except (ImportError, AttributeError):
        raise MissingBots(name) from None


def advise(desk: Desk, player: int, bot: str) -> list[Line]:
    """Asks a bot what it would choose. Raises `MissingBots`."""
    from .bots import make_bot

    raise MissingBots(str(make_bot(bot)))


def worth(desk: Desk, player: int, option: Option) -> list[Line]:
    """Plays on from a move many times. Raises `MissingBots`."""
    _load("value", "value")
    raise MissingBots("value")
