"""Scripts of chance as scenarios write them: by the name of each stream, what comes out, row by row.

Takes the entries of `chance:`; gives streams that draw from them. Refuses names of no stream and words that
are no outcome; an outcome that cannot come out where it is drawn (a seventh side, a card that is gone) is
told when play gets there, at its place in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..grammar import tree
from ..grammar.diagnostics import Report, suggestion
from ..grammar.span import Span
from ..grammar.walk import walk
from .chance import Streams
from .errors import PlayError
from .game import Game
from .gamefiles import items_of
from .literals import Literals, NoLiteral
from .symbols import Checked
from .types import INT, PileType, Type
from .yamlfile import Entry

Row = tuple[tuple[int, ...], bool, Span]
"""The outcomes of one roll, whether one stands for all of them, and where it stands."""


@lru_cache(maxsize=64)
def stream_types(game: Game) -> dict[str, Type]:
    """Gets for each stream of chance the type of what comes out; a shuffle's are places, from 0."""
    checked: Checked = game.checked()
    found: dict[str, Type] = {}
    for definition in checked.rules.definitions:
        for node in walk(definition.node):
            match node:
                case tree.Roll(_, target):
                    name = _variable(target)
                    type_ = checked.variables[name].type if name in checked.variables else INT
                    found[name] = INT if isinstance(type_, PileType) else type_
                case tree.Draw(_, word, _, _, _, stream):
                    name = stream.text if stream is not None else _owner(definition.node)
                    found[name] = checked.locals[word].type
                case tree.Shuffle(_, target):
                    found[_variable(target)] = INT
    return {name: found.get(name, INT) for name in game.program.streams}


def shuffle_streams(game: Game) -> frozenset[str]:
    """Gets the streams whose outcomes are places that items are put to by a shuffle."""
    nodes = (n for d in game.checked().rules.definitions for n in walk(d.node))
    return frozenset(_variable(n.target) for n in nodes if isinstance(n, tree.Shuffle))


def _variable(node: tree.Expr) -> str:
    while not isinstance(node, tree.Name):
        match node:
            case tree.Index(_, value) | tree.Attribute(_, value):
                node = value
            case tree.Group(_, inner):
                node = inner
            case _:
                return ""
    return node.text


def _owner(node: tree.Definition) -> str:
    return node.name.text if isinstance(node, tree.Rule | tree.Move) else ""


def read_scripts(
    entries: Sequence[Entry], game: Game, literals: Literals, report: Report
) -> dict[int, list[Row]]:
    """Reads the scripts of a scenario by the number of their stream."""
    types = stream_types(game) if entries else {}
    scripts: dict[int, list[Row]] = {}
    for entry in entries:
        if entry.key not in types:
            help = suggestion(entry.key, types, what="the streams of chance are")
            report.error("scenario-stream", f"no chance is called '{entry.key}'", entry.key_span, help=help)
            continue
        rows: list[Row] = []
        for item in items_of(entry.value):
            outcomes = items_of(item)
            try:
                values = tuple(literals.read(o, types[entry.key]) for o in outcomes or (item,))
                rows.append((values, not outcomes, item.span))
            except NoLiteral as error:
                error.tell(report)
        scripts[game.program.streams.index(entry.key)] = rows
    return scripts


class ScriptedStreams(Streams):
    """Streams that draw from scripts, and from the seed where a stream has none."""

    __slots__ = ("rows",)

    def __init__(self, seed: int, names: Sequence[str], rows: dict[int, list[Row]]) -> None:
        super().__init__(seed, names)
        self.rows = rows

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        """Draws from the script. Raises `PlayError` where what it says cannot come out."""
        rows = self.rows.get(stream)
        if not rows:
            return super().outcome(stream, row, ordinal, low, weights)
        values, for_all, span = rows[row % len(rows)]
        if for_all:
            value = values[0]
        elif ordinal < len(values):
            value = values[ordinal]
        else:
            wanted = f"one more than the {len(values)} given here is drawn from '{self.names[stream]}'"
            raise PlayError("scenario-chance", wanted, span)
        count = weights if isinstance(weights, int) else len(weights)
        possible = low <= value < low + count and (isinstance(weights, int) or weights[value - low] > 0)
        if not possible:
            raise PlayError("scenario-chance", f"this cannot come out of '{self.names[stream]}' here", span)
        return value
