"""Compares syntax trees by what they mean: layout, brackets and the names of locals do not count.

`form` turns a definition into nested tuples in which two definitions are equal exactly when they are built
alike. Sentences (what a move says, reasons, what is told) count only with `words`. `changes` finds the
smallest pieces in which two definitions of one name differ, each with its place in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from msgspec import Struct

from ...grammar import tree
from ...grammar.span import Span

Form = Any
"""Nested tuples of strings and numbers."""


class Change(Struct, frozen=True):
    """A piece in which two definitions differ; None where one of them has nothing there."""

    a: Span | None
    b: Span | None


# What introduces a local for everything below it, by the field that holds its name.
_BINDERS: dict[type, str] = {
    tree.Fold: "variable",
    tree.Search: "variable",
    tree.Quantify: "variable",
    tree.For: "variable",
    tree.Choose: "variable",
    tree.Roll: "variable",
    tree.ResultLet: "name",
    tree.Score: "player",
    tree.Measure: "per",
}
_SENTENCES = {"says", "shows", "means", "reason"}


def form(node: tree.Node, *, words: bool = False) -> Form:
    """Gets the form of a definition or of a piece of one."""
    return _Former(words).node(node, {})


class _Former:
    def __init__(self, words: bool) -> None:
        self.words = words
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"${self.count}"

    def node(self, node: tree.Node, scope: dict[str, str]) -> Form:
        match node:
            case tree.Group(_, inner):
                return self.node(inner, scope)
            case tree.Word(_, text) | tree.Name(_, text):
                return ("name", scope.get(text, text))
            case tree.Template(_, _, pieces):
                if not self.words:
                    return ()
                return tuple(p if isinstance(p, str) else self.node(p, scope) for p in pieces)
            case tree.Tell(_, to, _) if not self.words:
                return ("Tell", None if to is None else self.node(to, scope))
            case tree.Param(_, name, type_, secret):
                return ("Param", scope.get(name.text, name.text), self.node(type_, scope), secret)
        below = scope
        binder = _BINDERS.get(type(node))
        if binder is not None:
            word = getattr(node, binder)
            if word is not None:
                below = {**scope, word.text: self.fresh()}
        elif isinstance(node, tree.Rule | tree.Move | tree.Define):
            below = {**scope, **{p.name.text: self.fresh() for p in node.params}}
        return (type(node).__name__, *(self.field(node, name, below) for name in node.__struct_fields__[1:]))

    def field(self, node: tree.Node, name: str, scope: dict[str, str]) -> Form:
        value = getattr(node, name)
        if isinstance(value, tree.Node):
            if name in _SENTENCES and not self.words:
                return ()
            return self.node(value, scope)
        if type(value) is tuple:
            return self.several(value, scope)
        return value

    def several(self, items: tuple[Any, ...], scope: dict[str, str]) -> Form:
        out = []
        scope = dict(scope)
        for item in items:
            if isinstance(item, tree.Let | tree.Draw):
                before = self.node_of_binding(item, scope)
                scope[item.name.text] = self.fresh()
                out.append((*before, scope[item.name.text]))
            elif isinstance(item, tree.Node):
                out.append(self.node(item, scope))
            else:
                out.append(item)
        return tuple(out)

    def node_of_binding(self, node: tree.Let | tree.Draw, scope: dict[str, str]) -> Form:
        """Gets the form of a `let` or `draw` without the name it gives; a draw's own where and weight know
        it.
        """
        inner = dict(scope)
        if isinstance(node, tree.Draw):
            inner[node.name.text] = "$it"
        fields = [f for f in node.__struct_fields__[1:] if f != "name"]
        return (type(node).__name__, *(self.field(node, f, inner) for f in fields))


def changes(a: tree.Node, b: tree.Node, *, words: bool = False) -> list[Change]:
    """Finds the smallest pieces in which two nodes differ, in the order of the first."""
    found: list[Change] = []
    seen: set[tuple[object, object]] = set()
    for change in _changes(a, b, words):
        lines = (_line(change.a), _line(change.b))
        if lines not in seen:
            seen.add(lines)
            found.append(change)
    return found


def _line(span: Span | None) -> tuple[str, int] | None:
    return None if span is None else (span.source.name, span.line)


def _changes(a: tree.Node, b: tree.Node, words: bool) -> Iterator[Change]:
    if form(a, words=words) == form(b, words=words):
        return
    if type(a) is not type(b) or not _goes_deeper(a):
        yield Change(a.span, b.span)
        return
    any_below = False
    for name in a.__struct_fields__[1:]:
        x, y = getattr(a, name), getattr(b, name)
        if name in _SENTENCES and not words:
            continue
        if isinstance(x, tree.Node) and isinstance(y, tree.Node):
            below = list(_changes(x, y, words))
        elif type(x) is tuple and type(y) is tuple:
            below = list(_aligned(x, y, words))
        elif x is None and isinstance(y, tree.Node):
            below = [Change(None, y.span)]
        elif y is None and isinstance(x, tree.Node):
            below = [Change(x.span, None)]
        else:
            below = []
        for change in below:
            any_below = True
            yield Change(change.a or _head(a), change.b or _head(b)) if isinstance(a, tree.Expr) else change
    if not any_below:
        yield Change(_head(a), _head(b))


def _goes_deeper(node: tree.Node) -> bool:
    return not isinstance(node, tree.Expr | tree.TypeExpr | tree.Domain | tree.Word | tree.Template)


def _head(node: tree.Node) -> Span:
    """Gets the place of a node's first line."""
    span = node.span
    if span.end_line == span.line:
        return span
    return Span(span.source, span.line, span.column, span.line, len(span.source.line(span.line)) + 1)


def _aligned(a: tuple[Any, ...], b: tuple[Any, ...], words: bool) -> Iterator[Change]:
    forms_a = [repr(form(x, words=words)) if isinstance(x, tree.Node) else repr(x) for x in a]
    forms_b = [repr(form(x, words=words)) if isinstance(x, tree.Node) else repr(x) for x in b]
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, forms_a, forms_b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        paired = min(a2 - a1, b2 - b1)
        for x, y in zip(a[a1 : a1 + paired], b[b1 : b1 + paired], strict=True):
            if isinstance(x, tree.Node) and isinstance(y, tree.Node):
                yield from _changes(x, y, words)
        for x in a[a1 + paired : a2]:
            if isinstance(x, tree.Node):
                yield Change(_head(x), None)
        for y in b[b1 + paired : b2]:
            if isinstance(y, tree.Node):
                yield Change(None, _head(y))
