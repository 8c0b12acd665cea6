"""Who sits where: names, people and bots, as asked for on the command line.

A seat is written `NAME`, `KIND` or `NAME=KIND`; the kind is `human` (also `me`, `h`), the name of a bot, or
`exec:COMMAND` for a program of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from .bots import BOTS, Bot, make_bot, make_program

HUMAN = "human"
PROGRAM = "exec"
_PEOPLE = ("human", "me", "h", "person")


class SeatError(Exception):
    """Says that the seats cannot be filled as asked; `key` and `about` make the sentence."""

    def __init__(self, key: str, **about: str) -> None:
        super().__init__(key)
        self.key = key
        self.about = about


class Seat(Struct):
    """A player: the name, and the bot that plays for it, if one does."""

    name: str
    kind: str = HUMAN
    bot: Bot | None = None

    @property
    def is_human(self) -> bool:
        """Whether a person plays it."""
        return self.bot is None

    def written(self) -> str:
        """Writes the seat as it is asked for."""
        return f"{self.name}={self.kind}"


def make_seats(
    asked: Sequence[str], names: Sequence[str], *, others: str = "random", programs: bool = False
) -> list[Seat]:
    """Fills the seats; those nobody asked for get the bot `others`, but seat 1 a person if none is asked for.

    `programs`: whether programs may be seated; what is asked for must then come from whoever owns this machine.
    """
    if len(asked) > len(names):
        raise SeatError("too-many-seats", asked=str(len(asked)), seats=str(len(names)))
    seats = [_seat(text, name, programs=programs) for text, name in zip(asked, names, strict=False)]
    for name in names[len(seats) :]:
        seats.append(Seat(name) if not asked and not seats else Seat(name, others, make_bot(others)))
    known: set[str] = set()
    for seat in seats:
        if seat.name.casefold() in known:
            raise SeatError("same-name", name=seat.name)
        known.add(seat.name.casefold())
    return seats


def _seat(text: str, default: str, *, programs: bool) -> Seat:
    alone = programs and text.startswith(f"{PROGRAM}:")
    name, equals, kind = ("", "=", text) if alone else text.partition("=")
    name, kind = name.strip(), kind.strip()
    if not equals:
        is_kind = name.casefold() in _PEOPLE or name.partition(":")[0] in BOTS
        name, kind = (default, name) if is_kind else (name, HUMAN)
    return seat_of(" ".join(name.split()) or default, kind, programs=programs)


def seat_of(name: str, kind: str, *, programs: bool = False) -> Seat:
    """Fills one seat. Raises `SeatError`."""
    if kind.casefold() in _PEOPLE:
        return Seat(name)
    if programs and kind.startswith(f"{PROGRAM}:"):
        return Seat(name, kind, _program(kind))
    bot = make_bot(kind)
    if bot is None:
        raise SeatError("no-bot", kind=kind, known=", ".join([HUMAN, *sorted(BOTS)]))
    return Seat(name, kind, bot)


def _program(kind: str) -> Bot:
    from ..interpreter.bots.policy import UnknownPolicy

    try:
        return make_program(kind)
    except UnknownPolicy as error:
        raise SeatError("no-program", why=f"{error} ({error.help})") from None
