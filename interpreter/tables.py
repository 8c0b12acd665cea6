"""Makes tables and records of what is printed on the board.

Takes the tree of a tables file, for a number of players; gives `Table` (an enumeration with attributes)
and `Record` (constants). Refuses entries that lack an attribute others have, attributes of two kinds,
constants by players that forget a number of players. Shapes are the schema's concern.

A table may be made of others: `tile: {every: [shape, shade]}` has an entry for every pair, `ring_pale` and
so on, in the order of the tables named, and each entry has the attributes `shape` and `shade`. Such tables
are filled when all others are known, and again when overlays have changed those (`fill_products`).
"""

from __future__ import annotations

from itertools import product
from math import prod

from msgspec import Struct

from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Span
from .ruleset import Cell, Datum, Record, Table
from .types import EnumType
from .yamlfile import Entry, Mapping, Node, Scalar, Sequence

BY_PLAYERS = "by players"
EVERY = "every"
MOST_ENTRIES = 4096
"""How many entries a table made of others may have."""


class Seats(Struct, frozen=True):
    """Tells for how many players values are made: this game's number, and those it allows."""

    players: int
    least: int
    most: int


def read_tables(root: Mapping, seats: Seats, report: Report) -> list[Table | Record]:
    """Makes the tables and records of a file."""
    return [_table(item, seats, report) for item in root.entries.values()]


def is_entry(node: Node) -> bool:
    """Tests if a node is an entry with attributes rather than a constant."""
    return isinstance(node, Mapping) and BY_PLAYERS not in node.entries


def _table(item: Entry, seats: Seats, report: Report) -> Table | Record:
    if isinstance(item.value, Sequence):
        return _make_table(item, _names(item.value), {})
    assert isinstance(item.value, Mapping)
    every = item.value.entries.get(EVERY)
    if every is not None and isinstance(every.value, Sequence):
        table = _make_table(item, [], {})
        table.factors = tuple(_names(every.value))
        return table
    entries = item.value.entries
    if all(is_entry(e.value) for e in entries.values()):
        return _table_of_entries(item, entries, seats, report)
    cells = {
        key: Cell(value, e.key_span)
        for key, e in entries.items()
        if (value := read_datum(e.value, key, seats, report)) is not None
    }
    return Record(item.key, item.key_span, cells)


def _names(node: Sequence) -> list[tuple[str, Span]]:
    return [(n.value, n.span) for n in node.items if isinstance(n, Scalar) and isinstance(n.value, str)]


def _table_of_entries(item: Entry, entries: dict[str, Entry], seats: Seats, report: Report) -> Table:
    cells: dict[str, dict[str, Cell]] = {}
    for name, e in entries.items():
        assert isinstance(e.value, Mapping)
        for attribute, value_entry in e.value.entries.items():
            value = read_datum(value_entry.value, f"{name}.{attribute}", seats, report)
            if value is not None:
                column = cells.setdefault(attribute, {})
                column[name] = Cell(value, value_entry.key_span)
    table = _make_table(item, [(n, e.key_span) for n, e in entries.items()], cells)
    for attribute, column in cells.items():
        _check_column(table, attribute, column, report)
    return table


def _make_table(item: Entry, names: list[tuple[str, Span]], cells: dict[str, dict[str, Cell]]) -> Table:
    enum = EnumType(item.key, tuple(name for name, _ in names), "table", item.key_span)
    return Table(item.key, item.key_span, enum, tuple(span for _, span in names), cells)


def _check_column(table: Table, attribute: str, column: dict[str, Cell], report: Report) -> None:
    kinds = [kind_of(cell.value) for cell in column.values()]
    usual = max(kinds, key=kinds.count)  # the odd one out is the fault
    model_name, model = next((n, c) for n, c in column.items() if kind_of(c.value) == usual)
    for name, span in zip(table.enum.entries, table.entry_spans, strict=True):
        cell = column.get(name)
        if cell is None:
            report.error(
                "table-missing-attribute",
                f"'{table.name}.{name}' lacks '{attribute}', which '{model_name}' has",
                span,
                notes=[Label(f"'{model_name}' has it here", model.span)],
                help="every entry of a table has the same attributes",
            )
        elif kind_of(cell.value) != kind_of(model.value):
            report.error(
                "table-attribute-kind",
                f"'{table.name}.{name}.{attribute}' is {kind_of(cell.value)}, that of '{model_name}' is "
                f"{kind_of(model.value)}",
                cell.span,
                notes=[Label(f"that of '{model_name}' is here", model.span)],
                help="an attribute is of one kind in all entries",
            )


# --------------------------------------------------------------------------------------- tables of every pair


def fill_products(tables: dict[str, Table], report: Report) -> None:
    """Fills the tables made of others, in place; one whose tables have not changed stays as it is."""
    done: set[str] = set()
    for table in tables.values():
        _fill(table, tables, (), done, report)


def _fill(
    table: Table, tables: dict[str, Table], inside: tuple[str, ...], done: set[str], report: Report
) -> None:
    if not table.factors or table.name in done:
        return
    done.add(table.name)
    inside = (*inside, table.name)
    factors: list[tuple[Table, Span]] = []
    for name, span in table.factors:
        factor = tables.get(name)
        if factor is None:
            known = [t for t in tables if t not in inside]
            help = suggestion(name, known, what="the tables are")
            message = f"'{table.name}' is made of '{name}', which is no table"
            report.error("table-factor", message, span, help=help)
        elif name in inside:
            circle = " of ".join([*inside[inside.index(name) :], name])
            report.error("table-factor", f"'{name}' is made of itself: {circle}", span)
        else:
            _fill(factor, tables, inside, done, report)
            factors.append((factor, span))
    if len(factors) == len(table.factors) and all(factor.enum.entries for factor, _ in factors):
        _cross(table, factors, report)


def _cross(table: Table, factors: list[tuple[Table, Span]], report: Report) -> None:
    """Gives a table an entry for every choice of one entry of each factor, the last one changing fastest."""
    count = prod(len(factor.enum.entries) for factor, _ in factors)
    if count > MOST_ENTRIES:
        message = f"'{table.name}' would have {count} entries, want at most {MOST_ENTRIES}"
        report.error("table-factor", message, table.span)
        return
    choices = list(product(*(factor.enum.entries for factor, _ in factors)))
    names = tuple("_".join(choice) for choice in choices)
    if names == table.enum.entries:
        return
    seen: dict[str, tuple[str, ...]] = {}
    for name, choice in zip(names, choices, strict=True):
        if name in seen:
            message = f"'{name}' is {' with '.join(seen[name])} and {' with '.join(choice)}"
            help = "name the entries of one of them otherwise"
            report.error("duplicate-name", message, table.span, help=help)
        seen.setdefault(name, choice)
    table.enum = EnumType(table.name, names, "table", table.enum.span)
    table.entry_spans = tuple(table.span for _ in names)
    table.cells = {
        factor.name: {name: Cell(choice[k], span) for name, choice in zip(names, choices, strict=True)}
        for k, (factor, span) in enumerate(factors)
    }


# ----------------------------------------------------------------------------------------------------- values


def kind_of(value: Datum) -> str:
    """Says what kind of value it is."""
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list of numbers"


def format_datum(value: Datum) -> str:
    """Writes a value as it stands in the name of a rule set."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{','.join(format_datum(item) for item in value)}]"
    return str(value)


def plain_datum(node: Node) -> Datum | None:
    """Gets the value of a node that does not depend on the players; None when it is no value of a table."""
    if isinstance(node, Scalar) and isinstance(node.value, bool | int | str):
        return node.value
    if isinstance(node, Sequence):
        items = [plain_datum(item) for item in node.items]
        numbers = tuple(i for i in items if isinstance(i, int) and not isinstance(i, bool))
        return numbers if len(numbers) == len(items) else None
    return None


def read_datum(node: Node, name: str, seats: Seats, report: Report) -> Datum | None:
    """Gets the value of a node for the number of players; reports when there is none."""
    by_players = node.entries.get(BY_PLAYERS) if isinstance(node, Mapping) else None
    if by_players is None:
        return plain_datum(node)
    values = by_players.value.entries if isinstance(by_players.value, Mapping) else {}
    if not values:
        return None
    missing = [str(n) for n in range(seats.least, seats.most + 1) if str(n) not in values]
    if missing:
        report.error(
            "table-by-players",
            f"'{name}' has no value for {' or '.join(missing)} players",
            by_players.key_span,
            help=f"the game is for {seats.least} to {seats.most} players",
        )
    data = {key: (plain_datum(e.value), e.key_span) for key, e in values.items()}
    (first_key, (first, first_span)), *others = data.items()
    for key, (value, span) in others:
        if first is not None and value is not None and kind_of(value) != kind_of(first):
            report.error(
                "table-attribute-kind",
                f"'{name}' is {kind_of(value)} for {key} players, {kind_of(first)} for {first_key}",
                span,
                notes=[Label("the other value is here", first_span)],
            )
    chosen = data.get(str(seats.players))
    return chosen[0] if chosen is not None else first
