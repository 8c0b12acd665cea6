"""A rule set: one game with its tables, questions and definitions, after overlays, for a number of players.

This is what loading gives and what the checker and the lowering read; nothing later looks at files again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from ..grammar.span import Span
from .types import EnumType

if TYPE_CHECKING:
    from ..grammar import tree

Datum = int | bool | str | tuple["Datum", ...]
"""A value printed on the board."""


class Cell(Struct, eq=False):
    """One value of a table or record: where it stands, and the overlay that wrote it ("" for the game)."""

    value: Datum
    span: Span
    layer: str = ""


class Table(Struct, eq=False):
    """An enumeration with attributes: `cells[attribute][entry]`."""

    name: str
    span: Span
    enum: EnumType
    entry_spans: tuple[Span, ...]
    cells: dict[str, dict[str, Cell]]
    factors: tuple[tuple[str, Span], ...] = ()
    """The tables of which it holds every combination, with the places that name them."""


class Record(Struct, eq=False):
    """A record of constants."""

    name: str
    span: Span
    cells: dict[str, Cell]


class Reading(Struct, eq=False):
    """One answer to a question, its name with dashes.

    It holds what the answer says, by language, and the places in the sources that say so.
    """

    name: str
    span: Span
    says: dict[str, str]
    sources: tuple[str, ...]
    not_with: dict[str, str] = field(default_factory=dict)
    """Variants and `question=reading`s that it makes no sense with, with the reason."""

    @property
    def identifier(self) -> str:
        """Its name in the language."""
        return self.name.replace("-", "_")


def holds(key: str, variants: Collection[str], questions: Mapping[str, Question]) -> bool:
    """Tests if a variant is among `variants`, or a `question=reading` chosen."""
    name, given, reading = key.partition("=")
    if not given:
        return name in variants
    return name in questions and questions[name].chosen == reading


class Question(Struct, eq=False):
    """An open point of the rules: a constant in the language, its name with dashes on the command line."""

    name: str
    span: Span
    asks: dict[str, str]
    readings: dict[str, Reading]
    chosen: str
    layer: str = ""
    only_with: tuple[str, ...] = ()
    not_with: dict[str, str] = field(default_factory=dict)
    """Variants and `question=reading`s with which it does not arise, with the reason."""
    players: tuple[int, ...] = ()
    note: str = ""
    base: str = ""

    @property
    def identifier(self) -> str:
        """Its name in the language."""
        return self.name.replace("-", "_")

    @property
    def is_flag(self) -> bool:
        """Whether its readings are just yes and no."""
        return set(self.readings) == {"yes", "no"}


class Budget(Struct, eq=False):
    """How long a game and one step of it may take before the rules are taken to run in circles."""

    decisions: int = 100_000
    steps: int = 100_000


class Definition(Struct, eq=False):
    """A definition with the overlay it came from ("" for the game itself) and those that changed it since.

    Statements keep their spans: whose line is whose, `RuleSet.layer_of` tells.
    """

    node: tree.Definition
    layer: str = ""
    changed_by: tuple[str, ...] = ()


class Layer(Struct, eq=False):
    """The game itself ("") or an overlay: where it stands and what it says of itself."""

    name: str
    span: Span
    folder: Path
    title: dict[str, str]
    says: dict[str, str]
    labels: dict[str, Path]
    files: tuple[str, ...] = ()
    """The names of its sources, as diagnostics show them."""


class Change(Struct, frozen=True):
    """Says that an overlay, or the rule set's name, changed the value at a path, and where."""

    path: tuple[str, ...]
    value: str
    span: Span


class RuleSet(Struct, eq=False):
    """One game under one choice of overlays and readings, for `players` players."""

    game: str
    canonical: str
    title: dict[str, str]
    players: int
    player_counts: tuple[int, int]
    player_names: tuple[str, ...]
    start: str
    start_span: Span
    definitions: list[Definition]
    tables: dict[str, Table]
    records: dict[str, Record]
    questions: dict[str, Question]
    variants: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    content_hash: str = ""
    layers: tuple[Layer, ...] = ()
    table_files: dict[str, str] = field(default_factory=dict)
    """For each table and record the stem of its file."""
    view: Path | None = None
    sources: Path | None = None
    changes: list[Change] = field(default_factory=list)
    """The values of tables and records that are not those of the game's own files."""

    def arising(self) -> list[Question]:
        """Gets the questions that arise with its variants and its number of players."""
        return [
            q
            for q in self.questions.values()
            if (not q.only_with or set(q.only_with) & set(self.variants))
            and (not q.players or self.players in q.players)
            and not any(self.holds(key) for key in q.not_with)
        ]

    def holds(self, key: str) -> bool:
        """Tests if a variant is there, or a `question=reading` chosen."""
        return holds(key, self.variants, self.questions)

    def layer_of(self, span: Span) -> str:
        """Gets the layer in whose file something stands; "" for the game."""
        name = span.source.name
        return next((layer.name for layer in reversed(self.layers) if name in layer.files), "")
