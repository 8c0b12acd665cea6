"""`harbourmaster show`: prints a rule as it stands after overlays, each line with where it came from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..output import has_colour, pad, paint, say, table
from . import UsageError
from .common import add_players, add_ruleset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...interpreter.ruleset import Definition, RuleSet
    from ...interpreter.ruletext import Line

DESCRIPTION = """
Prints a rule, move, define, type, kind, state variable, table or record of a rule set as it stands after all
overlays. In front of each line stands the file and line it came from; + marks what an overlay wrote. Without
a name, lists everything there is.
"""
EXAMPLES = """
  harbourmaster show GAME                       # what there is
  harbourmaster show GAME+VARIANT NAME
  harbourmaster show GAME score                 # also: tie-break, standing, invariants, measures
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a rule, move, define, state variable, table …"
    )
    add_players(parser)


def run(options: Namespace) -> int:
    """Prints, or lists."""
    from ...grammar.diagnostics import suggestion
    from ...interpreter.load import load_ruleset
    from ...interpreter.ruletext import find, lines_of

    rules = load_ruleset(options.ruleset, players=options.players)
    name = options.name
    if name is None:
        _list(rules)
        return 0
    found = find(rules, name)
    if found:
        for i, definition in enumerate(found):
            if i:
                say()
            _print(rules, definition, lines_of(rules, definition, name))
        return 0
    if name in rules.tables or name in rules.records:
        _print_table(rules, name)
        return 0
    if name.replace("_", "-") in rules.questions:
        help = f"it is a question: harbourmaster questions {options.ruleset} {name.replace('_', '-')}"
        raise UsageError(f"'{name}' has no text of its own", help)
    known = [n for d in rules.definitions for n in _names(d)]
    help = suggestion(name, [*known, *rules.tables, *rules.records])
    raise UsageError(
        f"{rules.canonical} has nothing called '{name}'", help or "without a name all are listed"
    )


def _names(definition: Definition) -> list[str]:
    from ...interpreter.ruletext import KINDS, names_of

    return [name for kind, name in names_of(definition.node) if name and kind in KINDS]


def _list(rules: RuleSet) -> None:
    from ...interpreter.ruletext import KINDS, named_nodes

    rows: list[list[str]] = []
    for definition in rules.definitions:
        layers = [n for n in (definition.layer, *definition.changed_by) if n]
        for kind, name, node in named_nodes(definition.node):
            place = f"{node.span.source.name}:{node.span.line}"
            shown = name if kind in KINDS else f"“{name}”" if name else ""
            rows.append([kind, shown, place, ", ".join(layers)])
    spans = [("table", n, t.span) for n, t in rules.tables.items()]
    spans += [("record", n, r.span) for n, r in rules.records.items()]
    for kind, name, span in spans:
        rows.append([kind, name, f"{span.source.name}:{span.line}", ""])
    table(["kind", "name", "where", "changed by"], rows)


# ------------------------------------------------------------------------------------------------------ rules


def short_place(line: Line) -> str:
    """Writes where a line stands: the name of its file, and its number."""
    return f"{PurePath(line.span.source.name).name}:{line.span.line}"


def _print(rules: RuleSet, definition: Definition, lines: Sequence[Line]) -> None:
    layers = [name for name in (definition.layer, *definition.changed_by) if name]
    if layers:
        word = "comes from" if definition.layer and not definition.changed_by else "is changed by"
        say(paint(f"# {rules.canonical}: {word} {', '.join(layers)}", "dim"))
    width = max(len(short_place(line)) for line in lines)
    for line, text in zip(lines, _coloured([line.text for line in lines]), strict=True):
        mark = paint("+", "green") if line.is_changed else " "
        told = f"{mark} {paint(pad(short_place(line), width), 'dim')}  {text}".rstrip()
        by = [layer for layer in line.layers if layer and layer != rules.layer_of(line.span)]
        say(told + (paint(f"   ({', '.join(by)})", "dim") if by else ""))


def _coloured(texts: list[str]) -> list[str]:
    if not has_colour():
        return texts
    from pygments import highlight
    from pygments.formatters import TerminalFormatter

    from ...grammar.highlight import RulesLexer

    lexer = RulesLexer(stripnl=False, ensurenl=False)
    made: str = highlight("\n".join(texts), lexer, TerminalFormatter())
    lines = made.rstrip("\n").split("\n")
    return lines if len(lines) == len(texts) else texts


# ----------------------------------------------------------------------------------------------------- tables


def _print_table(rules: RuleSet, name: str) -> None:
    from ...interpreter.comparing.differences import shown

    if name in rules.records:
        record = rules.records[name]
        rows = [
            [key, shown(c.value), f"{c.span.source.name}:{c.span.line}", c.layer]
            for key, c in record.cells.items()
        ]
        table([name, "value", "where", "changed by"], rows)
        return
    found = rules.tables[name]
    changed = [
        (f"{name}.{entry}.{attribute}", cells[entry])
        for attribute, cells in found.cells.items()
        for entry in found.enum.entries
        if cells[entry].layer
    ]
    rows = [
        [
            entry,
            *(
                shown(cells[entry].value) + ("*" if cells[entry].layer else "")
                for cells in found.cells.values()
            ),
        ]
        for entry in found.enum.entries
    ]
    table([name, *found.cells], rows)
    for path, cell in changed:
        say(f"* {path} is {shown(cell.value)} by {cell.layer}, {cell.span}")
