"""The types of the language as the checker sees them; ranges of numbers are the lowering's concern.

Every value is one whole number in a position: an entry of an enumeration its place from 0, `none` -1, a flag 0 or 1, a
set a bit mask. Piles take several slots.
"""

from __future__ import annotations

from msgspec import Struct

from ..grammar.span import Span


class Type(Struct, frozen=True):
    """Stands for any type."""


class IntType(Type, frozen=True):
    def __str__(self) -> str:
        return "a number"


class FlagType(Type, frozen=True):
    def __str__(self) -> str:
        return "yes or no"


class TextType(Type, frozen=True):
    """Free text chosen by a player, or a text printed on the board: shown, never branched on."""

    def __str__(self) -> str:
        return "a text"


class NoneType(Type, frozen=True):
    def __str__(self) -> str:
        return "none"


class EmptyType(Type, frozen=True):
    """The type of `empty`, which fits any set or pile."""

    def __str__(self) -> str:
        return "empty"


class UnknownType(Type, frozen=True):
    """The type of what has been complained about already; fits everything."""

    def __str__(self) -> str:
        return "unknown"


class EnumType(Type, frozen=True, eq=False):
    """An enumeration: a table, a kind, the players, or the readings of a question."""

    name: str
    entries: tuple[str, ...]
    origin: str  # "table", "kind", "players" or "question"
    span: Span | None = None

    def __str__(self) -> str:
        return f"a {self.name}" if self.origin != "question" else f"a reading of {self.name}"


class OptionalType(Type, frozen=True):
    base: Type

    def __str__(self) -> str:
        return f"{self.base} or none"


class SetType(Type, frozen=True):
    base: Type

    def __str__(self) -> str:
        return f"a set of {_plural(self.base)}"


class PileType(Type, frozen=True):
    base: Type

    def __str__(self) -> str:
        return f"a pile of {_plural(self.base)}"


class ListType(Type, frozen=True):
    """A list printed on the board: constant."""

    base: Type

    def __str__(self) -> str:
        return f"a list of {_plural(self.base)}"


def _plural(t: Type) -> str:
    if isinstance(t, EnumType):
        return f"{t.name}s"
    return "numbers" if isinstance(t, IntType) else f"{t}"


INT = IntType()
FLAG = FlagType()
TEXT = TextType()
NONE = NoneType()
EMPTY = EmptyType()
UNKNOWN = UnknownType()


def fits(value: Type, wanted: Type) -> bool:
    """Tests if a value of one type may stand where another is wanted.

    An optional value fits its plain type: that it is not none is checked when the rules run.
    """
    if isinstance(value, UnknownType) or isinstance(wanted, UnknownType) or value == wanted:
        return True
    match wanted:
        case OptionalType(base):
            if isinstance(value, OptionalType):
                return fits(value.base, base)
            return isinstance(value, NoneType) or fits(value, base)
        case SetType(base) | PileType(base):
            if isinstance(value, type(wanted)):
                return fits(value.base, base)
            return isinstance(value, EmptyType)
        case _:
            return isinstance(value, OptionalType) and fits(value.base, wanted)


def comparable(a: Type, b: Type) -> bool:
    """Tests if two values may be compared for equality."""
    return fits(a, b) or fits(b, a) or (isinstance(a, OptionalType) and fits(b, a.base))
