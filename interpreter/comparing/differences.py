"""Tells what differs between two rule sets of one game, from their rules alone: readings, values,
definitions.

Takes two rule sets as loading gives them; gives each difference with both places, and for readings what they
say and who says so. Definitions are compared by how they are built, not by their text: layout, comments,
brackets, the order of definitions and the names of locals make no difference. Sentences are kept apart: they
change what is shown, not the game. A reading that does not arise, or that no line of the rules turns on, is
told as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field

from ...grammar import tree
from ...grammar.span import Span
from ...grammar.walk import walk
from ..load import load_ruleset
from ..ruleset import Cell, Datum, Definition, Question, RuleSet
from .structure import Change, changes, form

DifferenceKind = Literal["players", "reading", "value", "entry", "definition"]


class Given(Struct, frozen=True):
    """What one of the two rule sets has: how it is written, where, and the overlay that wrote it ("" for the
    game).
    """

    text: str
    span: Span | None
    layer: str = ""
    says: str = ""
    sources: tuple[str, ...] = ()


class Difference(Struct, frozen=True):
    """One difference; a side that has nothing there is None."""

    kind: DifferenceKind
    name: str
    a: Given | None
    b: Given | None
    changes: tuple[Change, ...] = ()
    """Of a definition the smallest pieces that differ; of a reading or value the lines that turn on it."""
    idle: str = ""
    """Why it has no effect by itself, if that is certain."""

    def brief(self) -> str:
        """Says in a line what it is: both values with the keys of their sources, or the first lines that differ."""
        if self.kind != "definition":
            return f"{self.name}: {_briefly(self.a)} | {_briefly(self.b)}"
        if self.a is None or self.b is None:
            return f"{self.name}: only in {'B' if self.a is None else 'A'}"
        if not self.changes:
            return self.name
        first, more = self.changes[0], len(self.changes) - 1
        lines = [_line(s) if s is not None else "–" for s in (first.a, first.b)]
        return f"{self.name}: {lines[0]} | {lines[1]}" + (f" (and {more} more)" if more else "")


def _briefly(given: Given | None) -> str:
    if given is None:
        return "–"
    keys = dict.fromkeys(s.split(" ", 1)[0] for s in given.sources)
    return given.text + (f" ({' '.join(keys)})" if keys else "")


def _line(span: Span) -> str:
    """Gets the line of the rules at a place, without its comment."""
    return span.source.line(span.line).split("  #", 1)[0].strip()


class Differences(Struct):
    """All that differs between two rule sets."""

    a: str
    b: str
    players: int
    items: list[Difference] = field(default_factory=list)
    words: list[Difference] = field(default_factory=list)
    """Sentences that differ in definitions that are otherwise the same."""

    @property
    def meant(self) -> list[Difference]:
        """Those that may have an effect."""
        return [d for d in self.items if not d.idle]

    @property
    def none(self) -> bool:
        """Whether the two are the same rules."""
        return not self.meant

    def verdict(self) -> str:
        """Says in a sentence what was found."""
        if self.meant:
            n = len(self.meant)
            return f"{n} {'thing differs' if n == 1 else 'things differ'}"
        if self.items:
            return "what differs has no effect: the two are the same rules"
        if self.words:
            return "only sentences differ: the two are the same rules and change no meaning"
        if self.a == self.b:
            return "nothing differs: it is one and the same rule set"
        return "nothing differs: the two are the same rules, and what was overlaid changes no meaning"


def compare_names(a: str, b: str, players: int | None = None) -> Differences:
    """Loads two rule sets for a number of players (None: the fewest both allow) and tells what differs.

    Raises `RulesError`, or `ValueError` when they are rule sets of two games.
    """
    first, second = load_ruleset(a, players=players), load_ruleset(b, players=players)
    _refuse_two_games(first, second)
    if players is None and first.players != second.players:
        players = max(first.player_counts[0], second.player_counts[0])
        first, second = load_ruleset(a, players=players), load_ruleset(b, players=players)
    return differences(first, second)


def differences(a: RuleSet, b: RuleSet) -> Differences:
    """Tells what differs between two rule sets. Raises `ValueError` when they are rule sets of two games."""
    _refuse_two_games(a, b)
    found = Differences(a.canonical, b.canonical, a.players)
    if a.player_counts != b.player_counts:
        counts = [Given(_counts(r), r.layers[-1].span if r.layers else None) for r in (a, b)]
        idle = f"both allow {a.players}" if a.players == b.players else ""
        found.items.append(Difference("players", "players", counts[0], counts[1], idle=idle))
    found.items += _readings(a, b)
    found.items += _values(a, b)
    for difference in _definitions(a, b):
        (found.items if difference.kind == "definition" and difference.idle != WORDS else found.words).append(
            difference
        )
    return found


def _refuse_two_games(a: RuleSet, b: RuleSet) -> None:
    if a.game != b.game:
        raise ValueError(f"'{a.canonical}' is a rule set of {a.game}, '{b.canonical}' of {b.game}")


WORDS = "only its sentences differ"


def _counts(rules: RuleSet) -> str:
    least, most = rules.player_counts
    return f"{least}" if least == most else f"{least} to {most}"


# --------------------------------------------------------------------------------------------------- readings


def _readings(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    arising = [{q.name for q in r.arising()} for r in (a, b)]
    for name in dict.fromkeys([*a.questions, *b.questions]):
        x, y = a.questions.get(name), b.questions.get(name)
        if x is not None and y is not None and x.chosen == y.chosen:
            continue
        here = x if x is not None else y
        assert here is not None
        lines = [_turning_on(r, q) for r, q in ((a, x), (b, y))]
        if x is None or y is None:
            idle = "only one of the two has this question; what its readings do, the definitions below tell"
        elif name not in arising[0] and name not in arising[1]:
            wanted = [f"with {v}" for v in here.only_with]
            if here.players:
                wanted.append(f"with {' or '.join(map(str, here.players))} players")
            idle = f"it arises only {' or '.join(wanted)}"
        elif not any(lines):
            idle = "no line of the rules turns on it"
        else:
            idle = ""
        places = tuple(Change(s, None) for s in lines[0]) or tuple(Change(None, s) for s in lines[1])
        yield Difference("reading", name, _reading(x, a), _reading(y, b), places, idle)


def _reading(question: Question | None, rules: RuleSet) -> Given | None:
    if question is None:
        return None
    reading = question.readings[question.chosen]
    says = reading.says.get("en") or next(iter(reading.says.values()), "")
    return Given(question.chosen, reading.span, question.layer, says, reading.sources)


def _turning_on(rules: RuleSet, question: Question | None) -> list[Span]:
    if question is None:
        return []
    return list(lines_that_mention(rules.definitions, {question.identifier}))


def lines_that_mention(definitions: list[Definition], names: set[str]) -> Iterator[Span]:
    """Gets the statements, guards and results that mention a name, each once, by its first line."""
    seen: set[tuple[str, int]] = set()
    for definition in definitions:
        holder: tree.Node = definition.node
        stack: list[tuple[tree.Node, tree.Node]] = [(definition.node, holder)]
        while stack:
            node, holder = stack.pop()
            if isinstance(node, tree.Template):
                continue
            if isinstance(node, tree.Statement | tree.Needs | tree.Result | tree.Definition | tree.StateVar):
                holder = node
            if isinstance(node, tree.Name | tree.Word) and node.text in names:
                at = (holder.span.source.name, holder.span.line)
                if at not in seen:
                    seen.add(at)
                    yield holder.span
            stack += [(child, holder) for child in reversed(list(_below(node)))]


def _below(node: tree.Node) -> Iterator[tree.Node]:
    for name in node.__struct_fields__[1:]:
        value = getattr(node, name)
        if isinstance(value, tree.Node):
            yield value
        elif type(value) is tuple:
            yield from (item for item in value if isinstance(item, tree.Node))


# ----------------------------------------------------------------------------------------------------- values


def _values(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    for name in dict.fromkeys([*a.tables, *b.tables]):
        x, y = a.tables.get(name), b.tables.get(name)
        if x is None or y is None:
            there = [Given(", ".join(t.enum.entries), t.span) if t is not None else None for t in (x, y)]
            yield Difference("entry", name, there[0], there[1])
            continue
        if x.enum.entries != y.enum.entries:
            yield from _entries(name, a, b)
        for attribute in dict.fromkeys([*x.cells, *y.cells]):
            left, right = x.cells.get(attribute, {}), y.cells.get(attribute, {})
            for entry in dict.fromkeys([*left, *right]):
                if entry in x.enum.entries and entry in y.enum.entries:
                    yield from _cell(f"{name}.{entry}.{attribute}", left.get(entry), right.get(entry), a, b)
    for name in dict.fromkeys([*a.records, *b.records]):
        cells = [r.records[name].cells if name in r.records else {} for r in (a, b)]
        for constant in dict.fromkeys([*cells[0], *cells[1]]):
            yield from _cell(f"{name}.{constant}", cells[0].get(constant), cells[1].get(constant), a, b)


def _entries(name: str, a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    x, y = a.tables[name], b.tables[name]
    for table, other, first in ((x, y, True), (y, x, False)):
        for entry, span in zip(table.enum.entries, table.entry_spans, strict=True):
            if entry not in other.enum.entries:
                given = Given(entry, span)
                yield Difference(
                    "entry", f"{name}.{entry}", given if first else None, None if first else given
                )
    order = [[e for e in t.enum.entries if e in o.enum.entries] for t, o in ((x, y), (y, x))]
    if order[0] != order[1]:
        orders = [Given(", ".join(o), t.span) for o, t in zip(order, (x, y), strict=True)]
        yield Difference("entry", f"the order of {name}", orders[0], orders[1])


def _cell(name: str, x: Cell | None, y: Cell | None, a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    if x is not None and y is not None and _same_datum(x.value, y.value):
        return
    words = {name.rsplit(".", 1)[1]}
    lines = [list(lines_that_mention(r.definitions, words)) for r in (a, b)]
    places = tuple(Change(s, None) for s in lines[0]) or tuple(Change(None, s) for s in lines[1])
    idle = "" if any(lines) else "no line of the rules reads it"
    yield Difference("value", name, _datum(x), _datum(y), places, idle)


def _same_datum(x: Datum, y: Datum) -> bool:
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(map(_same_datum, x, y))
    return type(x) is type(y) and x == y


def _datum(cell: Cell | None) -> Given | None:
    return None if cell is None else Given(shown(cell.value), cell.span, cell.layer)


def shown(value: Datum) -> str:
    """Writes a value as a data file does."""
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return f"[{', '.join(map(shown, value))}]"
        case _:
            return str(value)


# ------------------------------------------------------------------------------------------------ definitions


def _definitions(a: RuleSet, b: RuleSet) -> Iterator[Difference]:
    left, right = _named(a), _named(b)
    for key in dict.fromkeys([*left, *right]):
        x, y = left.get(key), right.get(key)
        if x is None or y is None:
            idle = WORDS if key.startswith(("measure ", "invariant ")) else ""
            yield Difference("definition", key, _definition(x), _definition(y), idle=idle)
            continue
        (one, layer), (other, other_layer) = x, y
        there = (Given(_first_line(one), one.span, layer), Given(_first_line(other), other.span, other_layer))
        if form(one) != form(other):
            yield Difference("definition", key, *there, changes=tuple(changes(one, other)))
        elif form(one, words=True) != form(other, words=True):
            yield Difference(
                "definition", key, *there, changes=tuple(changes(one, other, words=True)), idle=WORDS
            )


def _definition(found: tuple[tree.Node, str] | None) -> Given | None:
    return None if found is None else Given(_first_line(found[0]), found[0].span, found[1])


def _first_line(node: tree.Node) -> str:
    return node.span.source.line(node.span.line).strip()


def _named(rules: RuleSet) -> dict[str, tuple[tree.Node, str]]:
    """Gets what is defined, each by its kind and name, with the overlay that wrote or last changed it."""
    found: dict[str, tuple[tree.Node, str]] = {}
    for definition in rules.definitions:
        layer = definition.changed_by[-1] if definition.changed_by else definition.layer
        node = definition.node
        if isinstance(node, tree.StateBlock):
            for variable in node.variables:
                kind = "tally" if node.tally else "state"
                found[f"{kind} {variable.name.text}"] = (variable, layer)
            continue
        name = definition_name(node)
        if name in found:
            name = f"{name} ({sum(k.startswith(name) for k in found) + 1})"
        found[name] = (node, layer)
    return found


def definition_name(node: tree.Definition) -> str:
    """Gets what kind of definition it is, with its name."""
    match node:
        case tree.Rule():
            return f"rule {node.name.text}"
        case tree.Move():
            return f"move {node.name.text}"
        case tree.Define():
            return f"define {node.name.text}"
        case tree.TypeDef():
            return f"type {node.name.text}"
        case tree.KindDef():
            return f"kind {node.name.text}"
        case tree.Standing():
            return "standing at all decisions" if node.everyone else "standing at own decisions"
        case tree.Invariant():
            return f"invariant {node.text.text}"
        case tree.Measure():
            return f"measure {node.text.text}"
        case tree.Score():
            return "tie break" if node.tie_break else "score"
        case _:
            return type(node).__name__.lower()


# -------------------------------------------------------------------------------------------- what is touched


def touched(found: Differences, a: RuleSet, b: RuleSet) -> tuple[set[tuple[str, int]], set[str]]:
    """Finds where play must pass to meet a difference: lines of rules (file and number), and names of
    definitions.

    The names are of the definitions in which something differs, and of those that call them.
    """
    lines: set[tuple[str, int]] = set()
    spans = [s for d in found.meant for c in d.changes for s in (c.a, c.b) if s is not None]
    for span in spans:
        lines.update((span.source.name, n) for n in range(span.line, span.end_line + 1))
    names: set[str] = set()
    for rules in (a, b):
        for definition in rules.definitions:
            node = definition.node
            if isinstance(node, tree.Rule | tree.Move | tree.Define) and _overlaps(node.span, lines):
                names.add(node.name.text)
    names |= {d.name.split(" ", 1)[1] for d in found.meant if d.kind == "definition" and " " in d.name}
    for rules in (a, b):
        for definition in rules.definitions:
            node = definition.node
            if isinstance(node, tree.Rule | tree.Move) and node.name.text not in names:
                mentioned = {n.text for n in walk(node) if isinstance(n, tree.Word)}
                if mentioned & names:
                    names.add(node.name.text)
    return lines, names


def _overlaps(span: Span, lines: set[tuple[str, int]]) -> bool:
    return any((span.source.name, n) in lines for n in range(span.line, span.end_line + 1))
