"""What can go wrong in play, split by whose fault it is."""

from __future__ import annotations

from ..grammar.span import Span


class PlayError(Exception):
    """Says that play cannot go on; `span` is the place in the rules, if there is one."""

    def __init__(self, code: str, message: str, span: Span | None = None) -> None:
        super().__init__(f"{span}: {message}" if span is not None else message)
        self.code = code
        self.message = message
        self.span = span


class BrokenRule(PlayError):
    """The rules did what they must not: a value left its range, a loop found no end, nobody could move."""


class IllegalMove(PlayError):
    """A move was tried that the rules do not allow here; the message says why."""


class UnclearMove(PlayError):
    """Words that name no move, or several."""
