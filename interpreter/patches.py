"""Changes data: sets questions to readings, patches values of tables and records.

Takes the tables and questions of a game and, layer by layer, what is to change; changes them in place.
Each changed value remembers its layer. Refuses paths and readings that do not exist, values of another
kind, and two layers that change one value unless one builds on the other. Of two layers that set one
question the upper one holds, so that source profiles can be stacked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from collections.abc import Sequence as SequenceOf

from msgspec import Struct, field

from ..grammar.diagnostics import Label, Report, nearest, suggestion
from ..grammar.span import Span
from .naming import SOURCE_NAME, Setting
from .overlay import Overlay, may_override
from .ruleset import Cell, Datum, Question, Record, Table, holds
from .tables import Seats, format_datum, is_entry, kind_of, read_datum
from .types import EnumType
from .yamlfile import Mapping, Node, Scalar, describe


class _Change(Struct, frozen=True):
    """Remembers that a layer changed the value at a path."""

    path: tuple[str, ...]
    overlay: Overlay | None
    span: Span
    value: str


class _At(Struct, frozen=True):
    """Says who changes something, and which words name it."""

    overlay: Overlay | None
    key: str
    key_span: Span

    @property
    def layer(self) -> str:
        return SOURCE_NAME if self.overlay is None else self.overlay.name

    def first(self, count: int) -> Span:
        """Gets the span of the first names of the key."""
        span = self.key_span
        start = span.column + (1 if span.text[:1] in "\"'" else 0)
        length = len(".".join(self.key.split(".")[:count]))
        if span.source.line(span.line)[start - 1 :].startswith(self.key):
            return Span(span.source, span.line, start, span.line, start + length)
        return span


class Data(Struct):
    """The tables, records and questions of a game while overlays are applied."""

    game: str
    tables: dict[str, Table]
    records: dict[str, Record]
    table_files: dict[str, str]
    questions: dict[str, Question]
    variants: tuple[str, ...]
    known_variants: tuple[str, ...]
    seats: Seats
    report: Report
    changes: list[_Change] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """The settings of the rule set's name that changed anything, as a canonical name writes them."""

    # Layers

    def apply_overlay(self, overlay: Overlay) -> None:
        """Applies what an overlay sets and patches."""
        for item in overlay.entries("set"):
            at = _At(overlay, item.key, item.key_span)
            if "." in item.key:
                self._patch(at, item.value)
            else:
                self._answer(at, item.value)
        for item in overlay.entries("patch"):
            self._patch(_At(overlay, item.key, item.key_span), item.value)

    def apply_settings(self, settings: Collection[Setting]) -> None:
        """Applies what the rule set's own name sets; collects in `kept` what made a difference."""
        readings: list[str] = []
        patches: list[str] = []
        for setting in settings:
            at = _At(None, setting.key, setting.key_span)
            if setting.is_patch:
                node = setting.node(self.report)
                patches += [] if node is None else self._patch(at, node)
            elif self._answer(at, Scalar(setting.value, setting.value_span)):
                readings.append(f"{setting.key}={setting.value}")
        self.kept = sorted(readings) + sorted(patches)
        for setting in settings:
            if not setting.is_patch:
                self._refuse_senseless(setting)

    def _refuse_senseless(self, setting: Setting) -> None:
        """Refuses a reading asked for where its question does not arise, or that makes no sense there."""
        question = self.questions.get(setting.key)
        if question is None or question.chosen != setting.value:
            return
        reading = question.readings[question.chosen]
        for key, reason in {**question.not_with, **reading.not_with}.items():
            if holds(key, self.variants, self.questions):
                self.report.error(
                    "question-does-not-arise",
                    f"'{setting.key}={setting.value}' makes no sense with '{key}': {reason}",
                    setting.key_span.to(setting.value_span),
                    notes=[Label("the question is here", question.span)],
                )

    # Questions

    def _answer(self, at: _At, node: Node) -> bool:
        """Sets a question; tells if that changed its reading."""
        question = self.questions.get(at.key)
        if question is None:
            self._unknown_question(at)
            return False
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            self._no_reading(question, node)
            return False
        if node.value not in question.readings:
            self._unknown_reading(question, node.value, node.span)
            return False
        if question.only_with and not set(question.only_with) & set(self.variants):
            if at.overlay is None:
                self._does_not_arise(question, at, node.value)
            return False
        if at.overlay is None and question.players and self.seats.players not in question.players:
            counts = " or ".join(str(n) for n in question.players)
            self.report.warning(
                "question-players",
                f"'{question.name}' matters for {counts} players, not for {self.seats.players}",
                at.key_span.to(node.span),
                notes=[Label("the question is here", question.span)],
            )
        changed = question.chosen != node.value
        question.chosen = node.value
        if changed:
            question.layer = at.layer
        return changed

    def _unknown_question(self, at: _At) -> None:
        known = [*self.questions, *self.tables, *self.records]
        near = nearest(at.key, known)
        dashed = at.key.replace("_", "-")
        if at.overlay is None and at.key in self.known_variants:
            help = f"'{at.key}' is a variant; write {self.game}+{at.key}"
        elif dashed in self.questions:
            help = f"did you mean '{dashed}'?"
        elif near is not None and near not in self.questions:
            help = f"'{near}' is a table; its values have longer paths, such as {self._some_path(near)}"
        else:
            help = suggestion(at.key, self.questions, what="its questions are")
        self.report.error(
            "unknown-question", f"{self.game} has no question '{at.key}'", at.key_span, help=help
        )

    def _some_path(self, name: str) -> str:
        if name in self.records:
            return f"{name}.{next(iter(self.records[name].cells))}"
        table = self.tables[name]
        return ".".join([name, table.enum.entries[0], *list(table.cells)[:1]])

    def _no_reading(self, question: Question, node: Node) -> None:
        help = suggestion("", question.readings, what="its readings are")
        if isinstance(node, Scalar) and isinstance(node.value, bool) and question.is_flag:
            help = f'write "{"yes" if node.value else "no"}"'
        self.report.error(
            "overlay-wrong-type",
            f"'{question.name}' wants one of its readings, got {describe(node)}",
            node.span,
            notes=[Label("the question is here", question.span)],
            help=help,
        )

    def _unknown_reading(self, question: Question, reading: str, span: Span) -> None:
        others = [q.name for q in self.questions.values() if reading in q.readings]
        help = suggestion(reading, question.readings, what="its readings are")
        if others and nearest(reading, question.readings) is None:
            listed = ", ".join(question.readings)
            help = f"'{reading}' is a reading of {' and '.join(others[:3])}; its readings are {listed}"
        self.report.error(
            "unknown-reading",
            f"'{question.name}' has no reading '{reading}'",
            span,
            notes=[Label("the question is here", question.span)],
            help=help,
        )

    def _does_not_arise(self, question: Question, at: _At, reading: str) -> None:
        variant = question.only_with[0]
        self.report.error(
            "question-does-not-arise",
            f"'{question.name}' arises only with {' or '.join(question.only_with)}",
            at.key_span,
            notes=[Label("the question is here", question.span)],
            help=f"write {self.game}+{variant}+{question.name}={reading}",
        )

    # Tables and records

    def _patch(self, at: _At, node: Node) -> list[str]:
        """Changes the values at a path; gets what made a difference, as settings."""
        names = at.key.split(".")
        walk = _Walk(self, at, 0)
        of_file = [table for table, stem in self.table_files.items() if stem == names[0]]
        if of_file and len(names) > 1 and not self._is_held(names[0], names[1]):
            if names[1] in of_file:
                walk.skipped = 1
            elif names[0] not in self.table_files:
                walk.skipped = 1
                walk.unknown(names[1:2], "table", of_file)
                return []
        walk.go(tuple(names[walk.skipped :]), node)
        return walk.kept

    def _is_held(self, owner: str, name: str) -> bool:
        """Tests if a table has an entry, or a record a constant, of a name."""
        if owner in self.tables:
            return name in self.tables[owner].enum.entries
        return owner in self.records and name in self.records[owner].cells


class _Walk(Struct):
    """Follows one path into the tables, and on into the mapping that stands as its value."""

    data: Data
    at: _At
    skipped: int
    kept: list[str] = field(default_factory=list)

    def go(self, path: tuple[str, ...], node: Node) -> None:
        """Changes what a path names."""
        data = self.data
        if path[0] in data.tables:
            self._table(data.tables[path[0]], path, node)
        elif path[0] in data.records:
            self._record(data.records[path[0]], path, node)
        else:
            self.unknown(path[:1], "table", [*data.tables, *data.records])

    def _within(self, path: tuple[str, ...], node: Node, what: str) -> None:
        """Follows a mapping that stands for several values."""
        if not is_entry(node):
            self._wrong(path, what, node, None)
            return
        assert isinstance(node, Mapping)
        for item in node.entries.values():
            inner = _Walk(self.data, _At(self.at.overlay, item.key, item.key_span), self.skipped)
            inner.go((*path, item.key), item.value)
            self.kept += inner.kept

    # Records and tables

    def _record(self, record: Record, path: tuple[str, ...], node: Node) -> None:
        if len(path) == 1:
            self._within(path, node, "a mapping of constants")
        elif path[1] not in record.cells:
            self.unknown(path[:2], "constant", record.cells, record.span)
        else:
            self._cell(
                record.cells[path[1]], path, 2, node, lambda cell: record.cells.update({path[1]: cell})
            )

    def _table(self, table: Table, path: tuple[str, ...], node: Node) -> None:
        if table.factors:
            names = " and ".join(name for name, _ in table.factors)
            message = f"'{table.name}' is every combination of {names}: those can be changed, not it"
            notes = [Label("the table is here", table.span)]
            self.data.report.error("overlay-product", message, self.at.first(self.skipped + 1), notes=notes)
        elif len(path) == 1:
            self._within(path, node, "a mapping of entries")
        elif path[1] not in table.enum.entries:
            if len(path) == 2 and is_entry(node):
                self._new_entry(table, path, node)
            else:
                self.unknown(path[:2], "entry", table.enum.entries, table.span)
        elif len(path) == 2:
            self._within(path, node, "a mapping of attributes")
        elif path[2] not in table.cells:
            place = table.entry_spans[table.enum.entries.index(path[1])]
            self.unknown(path[:3], "attribute", table.cells, place)
        else:
            column = table.cells[path[2]]
            self._cell(column[path[1]], path, 3, node, lambda cell: column.update({path[1]: cell}))

    def _new_entry(self, table: Table, path: tuple[str, ...], node: Node) -> None:
        """Adds an entry behind the others."""
        assert isinstance(node, Mapping)
        name, given = path[1], node.entries
        data = self.data
        if not _NAME.fullmatch(name):
            message = f"'{name}' cannot be the name of an entry"
            help = "a name begins with a letter; letters, digits and '_' follow"
            data.report.error("overlay-entry-name", message, self.at.first(self.skipped + 2), help=help)
            return
        missing = [a for a in table.cells if a not in given]
        if missing:
            help = suggestion(name, table.enum.entries)
            if not help.startswith("did you mean"):
                help = f"a new entry of '{table.name}' needs {' and '.join(missing)} too"
            self.unknown(path, "entry", table.enum.entries, table.span, help)
            return
        cells: dict[str, Cell] = {}
        for attribute, item in given.items():
            if attribute not in table.cells:
                inner = _Walk(data, _At(self.at.overlay, attribute, item.key_span), 0)
                inner.unknown((*path, attribute), "attribute", table.cells, table.span)
                return
            model = next(iter(table.cells[attribute].values()))
            value = self._value((*path, attribute), item.value, model)
            if value is None:
                return
            cells[attribute] = Cell(value, item.key_span, self.at.layer)
        if not self._claim(path, "{…}"):
            return
        table.enum = EnumType(table.name, (*table.enum.entries, name), "table", table.enum.span)
        table.entry_spans = (*table.entry_spans, self.at.first(self.skipped + 2))
        for attribute, cell in cells.items():
            table.cells[attribute][name] = cell
        attributes = ",".join(f"{a}: {_written(c.value)}" for a, c in cells.items())
        self.kept.append(f"{'.'.join(path)}={{{attributes}}}")

    # Values

    def _cell(
        self, cell: Cell, path: tuple[str, ...], depth: int, node: Node, put: Callable[[Cell], None]
    ) -> None:
        """Changes a value, or one item of a list."""
        old = cell.value
        if len(path) == depth:
            value = self._value(path, node, cell)
        elif isinstance(old, tuple) and len(path) == depth + 1:
            if not path[depth].isdecimal() or not 1 <= int(path[depth]) <= len(old):
                help = f"its items are 1 to {len(old)}" if old else "it has no items"
                self.unknown(path[: depth + 1], "item", (), cell.span, help)
                return
            place = int(path[depth]) - 1
            item = self._value(path, node, Cell(old[place], cell.span))
            value = None if item is None else (*old[:place], item, *old[place + 1 :])
        else:
            help = f"'{'.'.join(path[:depth])}' is {kind_of(old)}"
            self.unknown(path[: depth + 1], "item", (), cell.span, help)
            return
        if value is None or not self._claim(path, format_datum(value)):
            return
        if value != old:
            put(Cell(value, self.at.key_span, self.at.layer))
            changed = (
                value
                if len(path) == depth
                else value[int(path[depth]) - 1]
                if isinstance(value, tuple)
                else value
            )
            self.kept.append(f"{'.'.join(path)}={_written(changed)}")

    def _value(self, path: tuple[str, ...], node: Node, model: Cell) -> Datum | None:
        """Reads a value of the same kind as another."""
        value = (
            None if is_entry(node) else read_datum(node, ".".join(path), self.data.seats, self.data.report)
        )
        if value is None or kind_of(value) != kind_of(model.value):
            self._wrong(path, kind_of(model.value), node, model)
            return None
        return value

    def _claim(self, path: tuple[str, ...], value: str) -> bool:
        """Notes a change, unless another layer that this one does not build on has changed the same."""
        data, overlay = self.data, self.at.overlay
        for change in data.changes:
            short = min(len(change.path), len(path))
            if change.path[:short] != path[:short] or (change.path == path and change.value == value):
                continue
            if change.overlay is not overlay and may_override(overlay, change.overlay):
                continue
            who = "the rule set's name" if change.overlay is None else f"'{change.overlay.name}'"
            notes = [Label(f"{who} changes it here", change.span)]
            message = f"'{'.'.join(path)}' is changed twice"
            help = ""
            if overlay is not None and change.overlay is not None and overlay is not change.overlay:
                message = f"'{overlay.name}' and '{change.overlay.name}' both change '{'.'.join(path)}'"
                help = f"leave out one of them; or '{overlay.name}' may require '{change.overlay.name}'"
            data.report.error("overlay-changed-twice", message, self.at.key_span, notes=notes, help=help)
            return False
        data.changes.append(_Change(path, overlay, self.at.key_span, value))
        return True

    # Complaints

    def unknown(
        self,
        path: SequenceOf[str],
        what: str,
        known: Iterable[str],
        place: Span | None = None,
        help: str = "",
    ) -> None:
        """Reports that what a path leads to does not exist; `place` is what should hold it."""
        holder = {"constant": "record", "attribute": "entry", "item": "value"}.get(what, "table")
        owner = self.data.game if what == "table" else f"the tables of {self.data.game}"
        plural = {"entry": "entries"}.get(what, f"{what}s")
        self.data.report.error(
            "overlay-unknown-path",
            f"no {what} '{'.'.join(path)}' in {owner}",
            self.at.first(self.skipped + len(path)),
            notes=[] if place is None else [Label(f"the {holder} is here", place)],
            help=help or suggestion(path[-1], known, what=f"its {plural} are"),
        )

    def _wrong(self, path: tuple[str, ...], wants: str, node: Node, cell: Cell | None) -> None:
        notes = [Label("its value is here", cell.span)] if cell is not None else []
        help = ""
        if isinstance(node, Scalar) and wants == "yes or no" and node.value in ("yes", "no"):
            help = f"write {'true' if node.value == 'yes' else 'false'}"
        self.data.report.error(
            "overlay-wrong-type",
            f"'{'.'.join(path)}' is {wants}, got {describe(node)}",
            node.span,
            notes=notes,
            help=help,
        )


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_BARE = re.compile(r"[A-Za-z][A-Za-z0-9 _-]*")
_NOT_TEXT = frozenset(["true", "false", "null"])


def _written(value: Datum) -> str:
    """Writes a value as it stands in a name, a text in quotes where it needs them."""
    if isinstance(value, str) and (not _BARE.fullmatch(value) or value.casefold() in _NOT_TEXT):
        return json.dumps(value, ensure_ascii=False)
    return format_datum(value)
