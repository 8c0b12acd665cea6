"""Secrets kept: no text shown to somebody reads what he may not see.

A text of a move (`says`, `means`, the reason of a guard) is shown to who makes the move, so it may read what is secret
to `actor`; with `says`, everybody sees the words too unless `shows` gives others. A `tell` is for all, or for one
player, who may be told his own secrets. An `open to all` define may work with secrets: its result is for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..grammar import tree
from ..grammar.diagnostics import Label, Report
from ..grammar.span import Span
from ..grammar.walk import walk
from .symbols import Callable, Checked, Local, Variable


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret an expression reads: which variable or parameter, and whose, written as in the rules ("" unknown)."""

    what: str
    owner: str
    declared: Span


def check_secrets(checked: Checked, report: Report) -> None:
    """Refuses texts that would read a secret to somebody else."""
    finder = _Finder(checked)
    for symbol in checked.callables.values():
        node = symbol.node
        finder.lets = {n.name.text: n.value for n in walk(node) if isinstance(n, tree.Let | tree.ResultLet)}
        if isinstance(node, tree.Move):
            for text in (node.says, node.shows, node.means, *(g.reason for g in node.guards)):
                if text is None:
                    continue
                public = text is node.shows or (text is node.says and node.shows is None)
                finder.check(text, "" if public else "actor", report, open_params=not public)
        for inner in walk(node):
            if isinstance(inner, tree.Tell):
                to = inner.to.span.text if inner.to is not None else ""
                finder.check(inner.text, to, report, open_params=to == "actor")


def secrets_read(checked: Checked, node: tree.Expr) -> list[Secret]:
    """Finds the secrets an expression reads, through defines."""
    return _Finder(checked).secrets(node, set())


class _Finder:
    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.summaries: dict[str, list[Secret]] = {}
        self.lets: dict[str, tree.Expr] = {}

    def check(self, text: tree.Template, viewer: str, report: Report, *, open_params: bool) -> None:
        for piece in text.pieces:
            if isinstance(piece, str):
                continue
            for secret in self.secrets(piece, set()):
                if secret.owner and secret.owner == viewer:
                    continue
                if secret.owner == "actor" and open_params:
                    continue
                audience = "everybody" if not viewer else f"'{viewer}'"
                report.error(
                    "secret-shown",
                    f"this text would show {audience} what is secret: {secret.what}",
                    piece.span,
                    notes=[Label("it is declared secret here", secret.declared)],
                    help="give other words with 'shows', tell it to its owner alone ('tell p: …'), or make the figure "
                    "an 'open to all define' where it is for everybody by then",
                )
                break

    def secrets(self, node: tree.Node, seen: set[str]) -> list[Secret]:
        """Finds the secrets an expression reads, through lets and defines."""
        found: list[Secret] = []
        for inner in walk(node):
            ref = self.checked.refs.get(inner)
            if isinstance(inner, tree.Index) and isinstance(inner.value, tree.Name):
                v = self.checked.refs.get(inner.value)
                if isinstance(v, Variable) and (v.node.secret_to is not None or v.node.hidden):
                    owner = inner.indices[0].span.text if v.node.secret_to == "index" else ""
                    if isinstance(v.node.secret_to, tree.Expr):
                        owner = v.node.secret_to.span.text
                    found.append(Secret(v.name, owner, v.node.span))
            elif isinstance(inner, tree.Name) and isinstance(ref, Variable):
                v = ref
                if not v.indices and (v.node.secret_to is not None or v.node.hidden):
                    owner = v.node.secret_to.span.text if isinstance(v.node.secret_to, tree.Expr) else ""
                    found.append(Secret(v.name, owner, v.node.span))
            elif isinstance(inner, tree.Name) and isinstance(ref, Local):
                if ref.secret:
                    found.append(Secret(ref.name, "actor", ref.span))
                elif ref.name in self.lets and ref.name not in seen:
                    found += self.secrets(self.lets[ref.name], seen | {ref.name})
            elif isinstance(ref, Callable) and ref.kind == "define":
                assert isinstance(ref.node, tree.Define)
                if not ref.node.open:
                    found += self._through(ref, inner)
        return found

    def _through(self, define: Callable, call: tree.Node) -> list[Secret]:
        if define.name not in self.summaries:
            self.summaries[define.name] = []
            saved = self.lets
            self.lets = {n.name.text: n.value for n in walk(define.node) if isinstance(n, tree.ResultLet)}
            assert isinstance(define.node, tree.Define)
            self.summaries[define.name] = self.secrets(define.node.result, set())
            self.lets = saved
        arguments = call.arguments if isinstance(call, tree.Function) else ()
        names = {p.name: a.span.text for p, a in zip(define.params, arguments, strict=False)}
        return [Secret(s.what, names.get(s.owner, ""), s.declared) for s in self.summaries[define.name]]
