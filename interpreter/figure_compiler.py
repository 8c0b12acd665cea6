"""Makes figures: parses, checks and lowers an expression like those of the rules, then compiles it alone."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from types import CodeType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..grammar import tree
from ..grammar.diagnostics import Report
from ..grammar.parser import parse_expression
from ..grammar.span import Source, Span
from . import program as ir
from .check_expressions import ExpressionChecker
from .check_secrets import secrets_read
from .environment import Env
from .figures import Kept
from .lower_searches import SearchLowering
from .program import FALSE, const
from .python_backend import write_functions
from .symbols import Checked, Local
from .types import ListType, PileType, SetType

if TYPE_CHECKING:
    from .game import Game

SOURCE_NAME = "<expression>"


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
