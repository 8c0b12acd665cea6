"""Finds what differs between two rule sets: readings, figures, rules; both places of each.

Takes two loaded rule sets; gives the differences as data, for `diff` and for comparisons. Rules are compared
by their meaning as written, not by their layout: comments and white space make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..grammar import tree
from ..grammar.span import Span
from .ruleset import Cell, Datum, Definition, RuleSet
from .ruletext import Line, lines_of, named_nodes


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two rule sets has: a value in words or the lines of a rule, where, and by which
    layer."""

    value: str
    span: Span
    layer: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference; a side is None where that rule set has no such thing."""

    kind: str
    name: str
    a: Side | None
    b: Side | None


def differences(a: RuleSet, b: RuleSet) -> list[Difference]:
    """Finds all differences: first of the game itself, then of readings, of figures, of rules."""
    return [*_games(a, b), *_questions(a, b), *_figures(a, b), *_rules(a, b)]


def _games(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    figures: tuple[tuple[str, Any, Any], ...] = (
        ("the game", a.game, b.game),
        ("numbers of players", _range(a), _range(b)),
        ("the rule it starts with", a.start, b.start),
        ("decisions allowed", a.budget.decisions, b.budget.decisions),
        ("steps allowed", a.budget.steps, b.budget.steps),
    )
    for name, left, right in figures:
        if left != right:
            at_a, at_b = a.layers[0].span, b.layers[0].span
            yield Difference("game", name, Side(f"{left}", at_a, ""), Side(f"{right}", at_b, ""))


def _range(rules: RuleSet) -> str:
    least, most = rules.player_counts
    return f"{least} to {most}"


def _questions(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    for name in {**a.questions, **b.questions}:
        sides: list[Side | None] = []
        for rules in (a, b):
            question = rules.questions.get(name)
            if question is None:
                sides.append(None)
                continue
            span = question.readings[question.chosen].span
            sides.append(Side(question.chosen, span, question.layer))
        left, right = sides
        if (left and left.value) != (right and right.value):
            yield Difference("question", name, left, right)


# ---------------------------------------------------------------------------------------------------- figures


def _cells(rules: RuleSet) -> dict[str, Cell]:
    """Gets all figures of a rule set by their paths."""
    found: dict[str, Cell] = {}
    for table in rules.tables.values():
        for entry in table.enum.entries:
            for attribute, cells in table.cells.items():
                found[f"{table.name}.{entry}.{attribute}"] = cells[entry]
            if not table.cells:
                at = table.entry_spans[table.enum.entries.index(entry)]
                found[f"{table.name}.{entry}"] = Cell("there", at, rules.layer_of(at))
    for record in rules.records.values():
        for name, cell in record.cells.items():
            found[f"{record.name}.{name}"] = cell
    return found


def show_datum(value: Datum) -> str:
    """Writes a figure as in a file of data."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(show_datum, value))}]"
    return str(value)


def _figures(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    of_a, of_b = _cells(a), _cells(b)
    for path in {**of_a, **of_b}:
        left, right = (
            Side(show_datum(c.value), c.span, c.layer) if (c := cells.get(path)) is not None else None
            for cells in (of_a, of_b)
        )
        if (left and left.value) != (right and right.value):
            yield Difference("figure", path, left, right)


# ------------------------------------------------------------------------------------------------------ rules


@dataclass(frozen=True, slots=True)
class _Named:
    """A definition by kind and name, or one variable of a block of state variables."""

    definition: Definition
    node: tree.Node


def _named(rules: RuleSet) -> dict[tuple[str, str], list[_Named]]:
    found: dict[tuple[str, str], list[_Named]] = {}
    for definition in rules.definitions:
        for kind, name, node in named_nodes(definition.node):
            found.setdefault((kind, name), []).append(_Named(definition, node))
    return found


def _rules(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    of_a, of_b = _named(a), _named(b)
    for kind, name in {**of_a, **of_b}:
        left, right = list(of_a.get((kind, name), ())), list(of_b.get((kind, name), ()))
        for one in left[:]:
            other = next((n for n in right if same(one.node, n.node)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
        for i in range(max(len(left), len(right))):
            yield Difference(
                kind,
                name,
                _side(a, left[i], name) if i < len(left) else None,
                _side(b, right[i], name) if i < len(right) else None,
            )


def _side(rules: RuleSet, named: _Named, name: str) -> Side:
    lines = tuple(lines_of(rules, named.definition, name))
    layer = next((n for n in reversed(named.definition.changed_by)), named.definition.layer)
    return Side("", named.node.span, layer, lines)


def same(a: Any, b: Any) -> bool:
    """Tests if two pieces of syntax are the same but for where they stand."""
    if isinstance(a, tree.Node):
        if type(a) is not type(b):
            return False
        return all(same(getattr(a, f), getattr(b, f)) for f in a.__struct_fields__ if f != "span")
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
