"""Writes rules as they stand after overlays, each line with where it came from.

Takes a definition of a rule set; gives its lines. What an overlay has put before or after a rule or move
stands where it acts, and a choice to which moves were added or from which they were removed is written anew;
all other lines are those of the files, comments included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..grammar import tree
from ..grammar.span import Source, Span
from ..grammar.walk import walk
from .ruleset import Definition, RuleSet


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a rule: its text, where it stands, and the layers that wrote it ("" for the game itself)."""

    text: str
    span: Span
    layers: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether an overlay wrote it."""
        return any(self.layers)


KINDS = ("rule", "move", "define", "type", "kind", "state", "tally")
"""The kinds of what has a name, in the order in which they are looked for."""


def names_of(node: tree.Definition) -> list[tuple[str, str]]:
    """Gets kind and name of what a definition defines; things without a name go by their kind alone."""
    return [(kind, name) for kind, name, _ in named_nodes(node)]


def named_nodes(node: tree.Definition) -> list[tuple[str, str, tree.Node]]:
    """Gets kind, name and node of what a definition defines: of a block of variables, each variable."""
    if isinstance(node, tree.StateBlock):
        return [("tally" if node.tally else "state", v.name.text, v) for v in node.variables]
    return [(kind, name, node) for kind, name in _key(node)]


def _key(node: tree.Definition) -> list[tuple[str, str]]:
    match node:
        case tree.Rule():
            return [("rule", node.name.text)]
        case tree.Move():
            return [("move", node.name.text)]
        case tree.Define():
            return [("define", node.name.text)]
        case tree.TypeDef():
            return [("type", node.name.text)]
        case tree.KindDef():
            return [("kind", node.name.text)]
        case tree.Standing():
            return [("standing", "")]
        case tree.Score():
            return [("tie break" if node.tie_break else "score", "")]
        case tree.Invariant():
            return [("invariant", node.text.text)]
        case tree.Measure():
            return [("measure", node.text.text)]
        case tree.EndsWhen():
            return [("ends when", "")]
        case _:
            return []


def find(rules: RuleSet, name: str) -> list[Definition]:
    """Finds the definitions of a name; several only of what has no name of its own, such as standing
    offers."""
    wanted = name.replace("-", " ") if name in ("tie-break", "ends-when") else name
    found = [d for d in rules.definitions if any(n == name for _, n in names_of(d.node) if n)]
    return found or [
        d for d in rules.definitions if any(wanted in (kind, f"{kind}s") for kind, _ in names_of(d.node))
    ]


def lines_of(rules: RuleSet, definition: Definition, name: str = "") -> list[Line]:
    """Writes a definition; of a block of state variables only the one named, if one is."""
    node = definition.node
    writer = _Writer(rules, definition)
    if isinstance(node, tree.StateBlock) and name:
        for variable in node.variables:
            if variable.name.text == name:
                return list(writer.region(variable.span.source, variable.span.line, _last_line(variable)))
    parts = _parts(node)
    inserted = [p for p in parts if not _within(p.span, node.span)]
    if not inserted:
        first = _with_comments(node.span.source, node.span.line)
        return list(writer.region(node.span.source, first, _last_line(node)))
    return list(writer.assembled(node, parts))


def _parts(node: tree.Definition) -> list[tree.Node]:
    """Gets the lines of a rule or move below its head, in the order in which they act."""
    match node:
        case tree.Rule():
            return list(node.body)
        case tree.Move():
            texts = [t for t in (node.says, node.shows, node.means) if t is not None]
            return [*texts, *node.guards, *node.body]
        case _:
            return []


def _within(span: Span, whole: Span) -> bool:
    return span.source is whole.source and whole.line <= span.line <= max(whole.end_line, whole.line)


def _last_line(node: tree.Node) -> int:
    return max(n.span.end_line for n in walk(node) if n.span.source is node.span.source)


def _with_comments(source: Source, line: int) -> int:
    """Gets the first of the comment lines that stand directly above a line."""
    while line > 1 and source.line(line - 1).lstrip().startswith("#"):
        line -= 1
    return line


class _Writer:
    def __init__(self, rules: RuleSet, definition: Definition) -> None:
        self.rules = rules
        self.definition = definition
        choices = [n for n in walk(definition.node) if isinstance(n, tree.Choose)]
        self.changed = [(c, text) for c in choices if (text := _rewritten(c)) is not None]

    def line(self, source: Source, number: int, text: str, layers: Iterable[str] = ()) -> Line:
        span = Span(source, number, 1, number, len(source.line(number)) + 1)
        return Line(text, span, tuple(dict.fromkeys((*layers, self.rules.layer_of(span)))))

    def region(self, source: Source, first: int, last: int) -> Iterator[Line]:
        """Writes lines of a file, the choices in them as they stand now."""
        number = first
        while number <= last:
            for choice, text in self.changed:
                if choice.span.source is source and choice.span.line == number:
                    before = source.line(number)[: choice.span.column - 1]
                    after = source.line(choice.span.end_line)[choice.span.end_column - 1 :]
                    yield self.line(source, number, before + text + after, self.layers_of(choice))
                    number = choice.span.end_line
                    break
            else:
                yield self.line(source, number, source.line(number))
            number += 1

    def layers_of(self, choice: tree.Choose) -> list[str]:
        """Gets the layers that changed a choice: those that added moves, else the last that changed the
        rule."""
        added = [self.rules.layer_of(m.span) for m in choice.moves if m.span.source is not choice.span.source]
        return added or list(self.definition.changed_by[-1:])

    def assembled(self, node: tree.Definition, parts: Sequence[tree.Node]) -> Iterator[Line]:
        """Writes a rule or move with what overlays have put into it."""
        source = node.span.source
        own = [p for p in parts if _within(p.span, node.span)]
        first_own = min((p.span.line for p in own), default=_last_line(node) + 1)
        if first_own > node.span.line:
            head = node.span.line
            while head < first_own - 1 and not _ends_head(source.line(head)):
                head += 1
            yield from self.region(source, _with_comments(source, node.span.line), head)
        else:  # the whole definition stands on one line
            column = min(p.span.column for p in own)
            text = source.line(node.span.line)[: column - 1].rstrip()
            yield self.line(source, node.span.line, text)
        done: tuple[Source, int] | None = None
        for part in parts:
            where, line = part.span.source, part.span.line
            if done is not None and done[0] is where and line <= done[1]:
                continue  # it stands on the same line as the part before it
            last = _last_line(part)
            start = where.line(line)[: part.span.column - 1]
            if start.strip() and not _is_text_part(part):
                yield self.line(where, line, "    " + where.line(line)[part.span.column - 1 :])
            else:
                yield from self.region(where, _with_comments(where, line), last)
            done = (where, last)


def _is_text_part(part: tree.Node) -> bool:
    """Tests if a part is the text of a line that begins with a word of its own, such as `says`."""
    return isinstance(part, tree.Template)


def _ends_head(line: str) -> bool:
    return re.sub(r"#.*", "", line).rstrip().endswith(":")


def _rewritten(choice: tree.Choose) -> str | None:
    """Writes a choice anew if its moves are not those of its file any more."""
    text = choice.span.text
    head, _, tail = text.rpartition(":")
    written, *nobody = re.split(r",?\s+or\s+", tail.strip(), maxsplit=1)
    moves = [m.text for m in choice.moves]
    if re.split(r"\s*,\s*", written.strip()) == moves:
        return None
    return f"{head}: {', '.join(moves)}" + (f", or {nobody[0]}" if nobody else "")
