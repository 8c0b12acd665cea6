"""Checks that each name of a rule set stands for one thing.

Takes a rule set after its overlays; reports every name that is given twice, or that the language has
taken. Rules, moves, defines, types, kinds, state variables, tables, records and questions share one
namespace, with one exception: a move may be called like the table or record that holds its figures, since
a move's name stands only where moves are offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from ..grammar import tree
from ..grammar.diagnostics import Label, Report
from ..grammar.span import Span
from .ruleset import Definition, RuleSet

BUILTIN_NAMES = ("player", "players", "actor", "min", "max", "abs", "left_of", "seat")
_SHARES = {frozenset(["move", "table"]), frozenset(["move", "record"])}
_ANSWERS = frozenset(["yes", "no", "none"])  # words that may be readings


class _Named(Struct, frozen=True):
    kind: str
    name: str
    span: Span
    layer: str


def check_names(rules: RuleSet, report: Report) -> None:
    """Reports clashes of names, and names that are words of the language."""
    words = keywords()
    seen: dict[str, list[_Named]] = {}
    for named in _names(rules):
        if named.name in BUILTIN_NAMES:
            message = f"'{named.name}' is a name of the language itself and cannot be a {named.kind}"
            report.error("builtin-name", message, named.span)
            continue
        for other in seen.get(named.name, ()):
            if frozenset([named.kind, other.kind]) not in _SHARES:
                _clash(named, other, report)
                break
        seen.setdefault(named.name, []).append(named)
    for name, span, is_reading in _words(rules):
        if name in words and not (is_reading and name in _ANSWERS):
            report.error("reserved-word", f"'{name}' is a word of the language and cannot be a name", span)
    _check_single(rules.definitions, report)


def _clash(named: _Named, other: _Named, report: Report) -> None:
    help = ""
    if named.layer and named.layer != other.layer:
        same = named.kind == other.kind and named.kind in ("rule", "move", "define")
        help = f"to change it write 'replace {named.kind} {named.name}'" if same else "give it another name"
    what = f"{named.kind} '{named.name}'"
    message = f"a second {what}" if named.kind == other.kind else f"{what} has the name of a {other.kind}"
    notes = [Label(f"the {'first one' if named.kind == other.kind else other.kind} is here", other.span)]
    report.error("duplicate-name", message, named.span, notes=notes, help=help)


def _names(rules: RuleSet) -> Iterator[_Named]:
    for table in rules.tables.values():
        yield _Named("table", table.name, table.span, "")
    for record in rules.records.values():
        yield _Named("record", record.name, record.span, "")
    for question in rules.questions.values():
        yield _Named("question", question.identifier, question.span, question.layer)
    for definition in rules.definitions:
        for kind, word in named_by(definition.node):
            yield _Named(kind, word.text, word.span, definition.layer)


def named_by(node: tree.Definition) -> Iterator[tuple[str, tree.Word]]:
    """Yields the kinds and names of what a definition defines."""
    match node:
        case tree.Rule(_, name):
            yield "rule", name
        case tree.Move(_, name):
            yield "move", name
        case tree.Define(_, name):
            yield "define", name
        case tree.TypeDef(_, name):
            yield "type", name
        case tree.KindDef(_, name):
            yield "kind", name
        case tree.StateBlock(_, variables):
            for variable in variables:
                yield "state variable", variable.name
        case _:
            pass


def _words(rules: RuleSet) -> Iterator[tuple[str, Span, bool]]:
    """Yields the names that stand in data, where no parser has refused the language's words."""
    for table in rules.tables.values():
        yield table.name, table.span, False
        for name, span in zip(table.enum.entries, table.entry_spans, strict=True):
            yield name, span, False
        for attribute, column in table.cells.items():
            yield attribute, next(iter(column.values())).span, False
    for record in rules.records.values():
        yield record.name, record.span, False
        for name, cell in record.cells.items():
            yield name, cell.span, False
    for question in rules.questions.values():
        yield question.identifier, question.span, False
        for reading in question.readings.values():
            yield reading.identifier, reading.span, True


def _check_single(definitions: list[Definition], report: Report) -> None:
    """Reports a second `score` or `tie break`."""
    first: dict[bool, Span] = {}
    for definition in definitions:
        node = definition.node
        if isinstance(node, tree.Score):
            if node.tie_break in first:
                what = "tie break" if node.tie_break else "score"
                notes = [Label("the first one is here", first[node.tie_break])]
                help = f"to change it write 'replace {what} …'" if definition.layer else ""
                report.error("duplicate-score", f"a second {what}", node.span, notes=notes, help=help)
            first.setdefault(node.tie_break, node.span)


@cache
def keywords() -> frozenset[str]:
    """Gets the words of the language that cannot be names, from the grammar."""
    text = Path(tree.__file__).with_name("rules.lark").read_text("utf-8")
    code = "\n".join(line.split("//")[0] for line in text.split("\n"))
    single = set(re.findall(r'"([a-z]+)"', code))
    return frozenset(single | set(re.findall(r"^[A-Z_]+(?:\.[0-9]+)?: /([a-z]+)\\b/", code, re.MULTILINE)))
