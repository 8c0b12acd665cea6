"""Parses rule files: text to syntax tree, every syntax error of a file in one go.

Lark's LALR tables are made once and cached in the user's cache folder; the tree is built while parsing
(`builder.py`). After a syntax error, which `complaints.py` explains, the definition it stands in is blanked
out and the rest is parsed again, so that one run shows the errors of all definitions.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.indenter import DedentError, Indenter

from . import tree
from .builder import Builder, BuildError
from .complaints import UnevenIndentation, explain, starts_definition
from .diagnostics import Diagnostic, Report
from .span import Source, Span

_DEEPEST_NESTING = 60
_MOST_ERRORS = 20


class _Indentation(Indenter):
    """Turns indentation into tokens, and keeps the tokens of the text in work for explaining an error."""

    NL_type = "_NL"
    OPEN_PAREN_types = ["LPAR", "LSQB", "LBRACE"]  # noqa: RUF012  # Lark wants lists
    CLOSE_PAREN_types = ["RPAR", "RSQB", "RBRACE"]  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Token] = []

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        # A text in work may hold placeholders to be parsed in between, so each text has a worker of its own.
        worker = _Indentation()
        self.seen = worker.seen
        for token in Indenter.process(worker, stream):  # type: ignore[no-untyped-call]
            worker.seen.append(token)
            yield token

    def handle_NL(self, token: Token) -> Iterator[Token]:
        try:
            yield from super().handle_NL(token)
        except DedentError:
            raise UnevenIndentation((token.line or 1) + token.count("\n")) from None


_builder = Builder()
_lock = threading.RLock()
_lark: Lark | None = None


def lark_parser(*, strict: bool = False, cache: str | bool = False) -> Lark:
    """Makes the Lark parser of the language; `strict` refuses any ambiguity (used in tests)."""
    return Lark.open(
        str(Path(__file__).with_name("rules.lark")),
        parser="lalr",
        lexer="basic",
        postlex=_Indentation(),
        keep_all_tokens=True,
        start=["start", "expression"],
        transformer=_builder,
        maybe_placeholders=False,
        strict=strict,
        cache=cache,
    )


def _parser() -> Lark:
    global _lark
    if _lark is None:
        _lark = lark_parser(cache=_cache_file() or False)
    return _lark


def _cache_file() -> str | None:
    """Gets where Lark's tables are kept, or None where no cache can be written."""
    import hashlib

    import lark
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("harbourmaster"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    key = hashlib.sha256(Path(__file__).with_name("rules.lark").read_bytes() + lark.__version__.encode())
    return str(folder / f"tables-{key.hexdigest()[:16]}.bin")


def parse_rules(source: Source, report: Report) -> tree.File:
    """Parses a rule file; syntax errors go to `report`, and what could be read is returned."""
    text = source.text
    if not text.endswith("\n"):
        text += "\n"
    if not _check_text(source, report):
        return tree.File(Span(source, 1, 1, 1, 1), ())
    with _lock:
        for _ in range(_MOST_ERRORS):
            try:
                return cast(tree.File, _run(source, text, "start", 0, 0))
            except _ERRORS as error:
                diagnostic = _explain(source, error)
            report.diagnostics.append(diagnostic)
            text = _blank_definition(text, diagnostic.span.line)
    return tree.File(Span(source, 1, 1, 1, 1), ())


def parse_expression(source: Source, report: Report) -> tree.Expr | None:
    """Parses one expression, e.g. from a view or a scenario; None after an error."""
    if not _check_text(source, report):
        return None
    with _lock:
        try:
            return cast(tree.Expr, _run(source, source.text, "expression", 0, 0))
        except _ERRORS as error:
            report.diagnostics.append(_explain(source, error))
    return None


def parse_template(source: Source, span: Span, text: str, report: Report) -> tree.Template | None:
    """Parses a text with placeholders that stands at `span`, e.g. a value in YAML; None after an error."""
    at = source.line(span.line).find(text, span.column - 1)
    with _lock:
        _builder.source = source
        # The builder takes a text with its quotes, so that it counts from one column before.
        _builder.line_offset, _builder.column_offset = span.line - 1, (at if at >= 0 else span.column - 1) - 1
        _builder.parse_placeholder = _placeholder
        token = Token("TEXT", f'"{text}"', line=1, column=1, end_line=1, end_column=len(text) + 3)
        try:
            return tree.Template(span, text, _builder.template(token).pieces)
        except BuildError as error:
            report.diagnostics.append(_explain(source, error))
            return None


def tokenize(text: str) -> list[Token]:
    """Splits a text that parses into its tokens; spaces, and line ends inside brackets, lie between them."""
    with _lock:
        return list(_parser().lex(text))


def _run(source: Source, text: str, start: str, line_offset: int, column_offset: int) -> Any:
    saved = (_builder.source, _builder.line_offset, _builder.column_offset)
    _builder.source, _builder.line_offset, _builder.column_offset = source, line_offset, column_offset
    _builder.parse_placeholder = _placeholder
    try:
        return _parser().parse(text, start=start)
    finally:
        _builder.source, _builder.line_offset, _builder.column_offset = saved


_SIMPLE_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def _placeholder(text: str, line: int, column: int) -> tree.Expr:
    source = _builder.source
    span = Span(source, line, column, line, column + len(text))
    if _SIMPLE_NAME.match(text) and text not in _patterns().values():
        return tree.Name(span, text)
    try:
        seen = _indentation().seen
        made = cast(tree.Expr, _run(source, text, "expression", line - 1, column - 1))
        _indentation().seen = seen
        return made
    except (UnexpectedInput, UnevenIndentation):
        help = "in a text, braces hold what to show there: a name or an expression"
        braces = Span(source, line, column - 1, line, column + len(text) + 1)
        raise BuildError(f"'{{{text}}}' is no expression", braces, help) from None


def _indentation() -> _Indentation:
    return cast(_Indentation, _parser().options.postlex)


# ------------------------------------------------------------------------------------------------ complaints


_TEXT_OR_COMMENT = re.compile(r'"[^"]*"|#.*')


def _check_text(source: Source, report: Report) -> bool:
    """Checks what the lexer could not explain well: tabs, deep nesting."""
    before = len(report.diagnostics)
    depth = 0
    for number, line in enumerate(source.lines, 1):
        if "\t" in line:
            column = line.index("\t") + 1
            report.error(
                "tab",
                "a tab stands here",
                Span(source, number, column, number, column + 1),
                help="indent with spaces",
            )
        code = _TEXT_OR_COMMENT.sub(lambda found: " " * len(found[0]), line)
        for column, character in enumerate(code, 1):
            if character in "([{":
                depth += 1
                if depth > _DEEPEST_NESTING:
                    report.error(
                        "nesting",
                        f"brackets nest more than {_DEEPEST_NESTING} deep",
                        Span(source, number, column, number, column + 1),
                    )
                    return False
            elif character in ")]}":
                depth = max(0, depth - 1)
    return len(report.diagnostics) == before


def _blank_definition(text: str, line: int) -> str:
    """Blanks out the definition around `line`, so that the rest can be parsed with its line numbers kept."""
    lines = text.split("\n")
    first = min(line, len(lines)) - 1
    while first > 0 and not starts_definition(lines[first]):
        first -= 1
    last = max(first + 1, min(line, len(lines)) - 1)
    while last < len(lines) and not starts_definition(lines[last]):
        last += 1
    return "\n".join([*lines[:first], *[""] * (last - first), *lines[last:]])


@functools.cache
def _patterns() -> dict[str, str]:
    """Gets how each terminal is written; regular expressions stand between slashes."""
    return {
        t.name: t.pattern.value if t.pattern.type == "str" else f"/{t.pattern.value}/"
        for t in _parser().terminals
    }


_ERRORS = (UnexpectedInput, UnevenIndentation, BuildError)


def _explain(source: Source, error: UnexpectedInput | UnevenIndentation | BuildError) -> Diagnostic:
    if isinstance(error, BuildError):
        return Diagnostic("syntax", error.message, error.span, help=error.help)
    return explain(source, error, _indentation().seen, _patterns())
