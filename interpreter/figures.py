"""Figures: expressions of the rules language worked out on positions, for views, scenarios and questions at the prompt.

An expression is parsed, checked and lowered like those of the rules, then compiled alone. One that gives a set, a pile
or a list gives its members; every other one number.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ..grammar import tree
from ..grammar.diagnostics import Report
from ..grammar.parser import parse_expression
from ..grammar.span import Source, Span
from . import program as ir
from .check_expressions import ExpressionChecker
from .check_secrets import secrets_read
from .environment import Env
from .lower_searches import SearchLowering
from .program import FALSE, const
from .python_backend import write_functions
from .symbols import Checked, Local
from .types import ListType, PileType, SetType, Type

if TYPE_CHECKING:
    from .game import Game, State

SOURCE_NAME = "<expression>"


class Kept(Struct, frozen=True):
    """What the cache keeps of a figure."""

    text: str
    type: Type
    many: bool
    secrets: tuple[tuple[str, str], ...]
    code: bytes


class Figure:
    """An expression ready to be worked out on states of one game."""

    def __init__(self, game: Game, kept: Kept, hooks: Mapping[str, Callable[..., Any]]) -> None:
        self.game = game
        self.text = kept.text
        self.type = kept.type
        """The type of the value, or of each member where there are many."""
        self.many = kept.many
        """Whether it gives a list of members (of a set, pile or list) rather than one value."""
        self.secrets = kept.secrets
        """The secret variables it reads, each with whose it is as written (or "")."""
        names: dict[str, Any] = dict(hooks)
        exec(marshal.loads(kept.code), names)
        self._function: Callable[..., Any] = names["figure"]

    def value(self, state: State, *arguments: int) -> int:
        """Works it out; arguments are the parameters' values in order."""
        return int(self._function(state.position, *arguments))

    def members(self, state: State, *arguments: int) -> list[int]:
        """Works out its members, in their order."""
        return list(self._function(state.position, *arguments))

    def show(self, state: State, *arguments: int, language: str = "en") -> str:
        """Works it out and writes it as people read it."""
        labels = self.game.labels(language)
        if self.many:
            return ", ".join(labels.value(v, self.type) for v in self.members(state, *arguments))
        return labels.value(self.value(state, *arguments), self.type)


def compile_figure(
    game: Game, text: str, parameters: Mapping[str, str], *, name: str = SOURCE_NAME, span: Span | None = None
) -> Kept:
    """Compiles an expression; `parameters` gives the type of each name it may use besides those of the rules.

    `span` says where the text stands, so that complaints point there. Raises `RulesError`.
    """
    report = Report()
    checked: Checked = game.checked()
    source = Source(name, text)
    parsed = parse_expression(source, report)
    _raise_errors(report, source, span)
    assert parsed is not None
    checker = ExpressionChecker(checked, report)
    checker.index_entries()
    locals_: list[Local] = []
    types: list[tree.TypeExpr] = []
    for parameter, type_name in parameters.items():
        types.append(tree.NamedType(parsed.span, type_name))
        locals_.append(checker.declare(tree.Word(parsed.span, parameter), checker.type_of(types[-1])))
    type_ = checker.infer(parsed)
    _raise_errors(report, source, span)
    lowering = SearchLowering(checked, report)
    lowering.variables = game.program.variables
    names: list[str] = []
    env = Env()
    for local, node in zip(locals_, types, strict=True):
        shape = lowering.shape(node)
        names.append(f"{local.name}_")
        env = env.bind(local, ir.Temp(shape.low, shape.high, names[-1]))
    many = isinstance(type_, SetType | PileType | ListType)
    if many:
        run = lowering.run(tree.Members(parsed.span, parsed), env)
        body: list[ir.Stmt] = []
        for k in range(run.bound):
            emit = ir.Emit(run.value(const(k)))
            holds = run.holds(const(k))
            if holds != FALSE:
                body.append(emit if holds == ir.TRUE else ir.If(holds, (emit,)))
        function = ir.Function("figure", tuple(names), tuple(body), "options")
        assert isinstance(type_, SetType | PileType | ListType)
        type_ = type_.base
    else:
        function = ir.Function("figure", tuple(names), (ir.Return(lowering.expr(parsed, env)),), "value")
    _raise_errors(report, source, span)
    source_text = write_functions(game.program, [*lowering.functions.values(), function], lowering.tables)
    code: CodeType = compile(source_text, SOURCE_NAME, "exec")
    secrets = tuple((s.what, s.owner) for s in secrets_read(checked, parsed))
    return Kept(text, type_, many, secrets, marshal.dumps(code))


def _raise_errors(report: Report, source: Source, at: Span | None) -> None:
    """Raises the errors found; where the text stands in a file (`at`), they point there."""
    if at is not None:
        first = source.lines[0].strip()
        column = at.source.line(at.line).find(first, at.column - 1)
        shift = column - source.lines[0].index(first) if column >= 0 else at.column - 1

        def moved(span: Span) -> Span:
            if span.source is not source:
                return span
            ends = span.end_column + (shift if span.end_line == 1 else 0)
            column = span.column + (shift if span.line == 1 else 0)
            return Span(at.source, at.line + span.line - 1, column, at.line + span.end_line - 1, ends)

        report.diagnostics = [
            replace(d, span=moved(d.span), notes=tuple(replace(n, span=moved(n.span)) for n in d.notes))
            for d in report.diagnostics
        ]
    report.raise_errors()


def hooks(sites: Sequence[Span] = ()) -> dict[str, Callable[..., Any]]:
    """Gets what a figure's code calls when a value is missing or out of range."""
    from .errors import BrokenRule

    def bad(site: int, why: str, value: int, low: int, high: int) -> int:
        raise BrokenRule(
            f"runtime-{why}", f"this cannot be worked out here: got {value}, want {low} to {high}"
        )

    return {"bad": bad}


__all__ = ["Figure", "Kept", "compile_figure"]
