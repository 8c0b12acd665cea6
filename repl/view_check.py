"""Checks a game's view against its rules: every expression and placeholder, every rule and variable it names.

The view is compiled as for drawing, with its tables of chances; what does not fit is told with its place in
the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..grammar.diagnostics import Report, RulesError, nearest
from ..grammar.span import Span
from ..grammar.tree import Move
from ..interpreter.gamefiles import Files, text_of
from ..interpreter.view_files import _view_of
from ..interpreter.yamlfile import Mapping, Node, Scalar, Sequence, plain
from .odds_tables import _table
from .view import _PLACEHOLDER, View, ViewError

if TYPE_CHECKING:
    from ..interpreter.game import Game


def check_view(game: Game, report: Report) -> None:
    """Checks the view of a game; complaints go to the report."""
    found = _view_of(game.name, Report())
    if found is None:
        return
    folder, named = found
    root = Files(Report()).yaml(folder, text_of(named), "view", named.span)
    if not isinstance(root, Mapping):
        return
    places: dict[str, Span] = {}
    for text, span in _texts(root):
        places.setdefault(text, span)
    data = plain(root)
    try:
        view = View(game, data, strict=False, places=places)
    except (RulesError, ViewError) as error:
        _tell(error, root, places, report)
        return
    faults: list[RulesError | ViewError] = list(view.faults)
    for words in list(view.all_words):
        for language in words.texts:
            try:
                words.parts(language)
            except (RulesError, ViewError) as error:
                faults.append(error)
    for n, entry in enumerate(data.get("odds", ()), 1):
        try:
            _table(view, entry, f"odds {n}")
        except (RulesError, ViewError) as error:
            faults.append(error)
    faults += _worth(game, data.get("worth"), places)
    for fault in faults:
        _tell(fault, root, places, report)
    _names(game, root, report)


def _worth(game: Game, data: Any, places: dict[str, Span]) -> list[RulesError | ViewError]:
    """Compiles what the view says of what is bought, each entry by itself, so that all faults are told."""
    from ..interpreter.comparing.spaces import Spaces

    faults: list[RulesError | ViewError] = []
    if data is None:
        return faults
    for entries in ([], *([e] for e in data["bought"])):
        try:
            Spaces(game, {**data, "bought": entries}, str, places)
        except RulesError as error:
            if not entries:
                return [error]
            faults.append(error)
    return faults


def _names(game: Game, root: Mapping, report: Report) -> None:
    """Checks the rules whose stages, and the variables whose changes, the view tells."""
    checked = game.checked()
    stages = root.entries.get("stages")
    if stages is not None and isinstance(stages.value, Mapping):
        for e in stages.value.entries.values():
            if e.key not in checked.callables:
                _unknown("unknown-rule", "rule", e.key, e.key_span, list(checked.callables), report)
    worth = root.entries.get("worth")
    bought = worth.value.entries.get("bought") if worth and isinstance(worth.value, Mapping) else None
    if bought is not None and isinstance(bought.value, Sequence):
        moves = [name for name, c in checked.callables.items() if isinstance(c.node, Move)]
        for item in bought.value.items:
            e3 = item.entries.get("move") if isinstance(item, Mapping) else None
            if e3 is not None and isinstance(e3.value, Scalar) and str(e3.value.value) not in moves:
                _unknown("unknown-move", "move", str(e3.value.value), e3.value.span, moves, report)
    told = root.entries.get("tell")
    if told is not None and isinstance(told.value, Sequence):
        for item in told.value.items:
            e2 = item.entries.get("variable") if isinstance(item, Mapping) else None
            if (
                e2 is not None
                and isinstance(e2.value, Scalar)
                and str(e2.value.value) not in checked.variables
            ):
                name = str(e2.value.value)
                _unknown("unknown-name", "variable", name, e2.value.span, list(checked.variables), report)


def _unknown(code: str, what: str, name: str, span: Span, known: list[str], report: Report) -> None:
    near = nearest(name, known)
    report.error(code, f"no {what} is called '{name}'", span, help=f"did you mean '{near}'?" if near else "")


def _tell(error: RulesError | ViewError, root: Node, places: dict[str, Span], report: Report) -> None:
    if isinstance(error, RulesError):
        report.diagnostics += error.diagnostics
        return
    message = str(error).partition(": ")[2] or str(error)
    code = "secret-shown" if "is secret" in message else "type"
    report.error(code, message, places.get(error.text, root.span))


def _texts(node: Node) -> Iterator[tuple[str, Span]]:
    """Yields the texts of a file with their places, and what stands in braces in them."""
    if isinstance(node, Scalar):
        text = str(node.value)
        yield text, node.span
        line = node.span.source.line(node.span.line)
        for found in _PLACEHOLDER.finditer(text):
            at = line.find(found[0], node.span.column - 1)
            column = at + 2 if at >= 0 else node.span.column
            yield (
                found[1],
                Span(node.span.source, node.span.line, column, node.span.line, column + len(found[1])),
            )
    elif isinstance(node, Mapping):
        for e in node.entries.values():
            yield from _texts(e.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _texts(item)
