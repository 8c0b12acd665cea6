"""Parses rule files: text to syntax tree, every syntax error of a file in one go.

Lark's LALR tables are made once and cached in the user's cache folder; the tree is built while parsing
(`builder.py`). After a syntax error the definition it stands in is blanked out and the rest is parsed again, so that
one run shows the errors of all definitions.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.indenter import DedentError, Indenter

from . import tree
from .builder import Builder
from .diagnostics import Report, nearest
from .span import Source, Span

_DEEPEST_NESTING = 60
_MOST_ERRORS = 20


class _Indentation(Indenter):
    NL_type = "_NL"
    OPEN_PAREN_types = ["LPAR", "LSQB", "LBRACE"]  # noqa: RUF012  # Lark wants lists
    CLOSE_PAREN_types = ["RPAR", "RSQB", "RBRACE"]  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


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
            except _PlaceholderError as error:
                line = error.span.line
                report.error(error.code, error.message, error.span, help=error.help)
            except (UnexpectedInput, DedentError) as error:
                line = _report_syntax(source, error, report)
            text = _blank_definition(text, line)
    return tree.File(Span(source, 1, 1, 1, 1), ())


def parse_expression(source: Source, report: Report) -> tree.Expr | None:
    """Parses one expression, e.g. from a view or a scenario; None after an error."""
    if not _check_text(source, report):
        return None
    with _lock:
        try:
            return cast(tree.Expr, _run(source, source.text, "expression", 0, 0))
        except _PlaceholderError as error:
            report.error(error.code, error.message, error.span, help=error.help)
        except (UnexpectedInput, DedentError) as error:
            _report_syntax(source, error, report)
    return None


def parse_template(source: Source, span: Span, text: str, report: Report) -> tree.Template | None:
    """Parses a text with placeholders that stands at `span`, e.g. a value of a YAML file; None after an error."""
    with _lock:
        _builder.source = source
        _builder.line_offset, _builder.column_offset = span.line - 1, span.column - 1
        _builder.parse_placeholder = _placeholder
        token = Token("TEXT", f'"{text}"', line=1, column=1, end_line=1, end_column=len(text) + 3)
        try:
            return _builder.template(token)
        except _PlaceholderError as error:
            report.error(error.code, error.message, error.span, help=error.help)
            return None


def _run(source: Source, text: str, start: str, line_offset: int, column_offset: int) -> Any:
    saved = (_builder.source, _builder.line_offset, _builder.column_offset)
    _builder.source, _builder.line_offset, _builder.column_offset = source, line_offset, column_offset
    _builder.parse_placeholder = _placeholder
    try:
        return _parser().parse(text, start=start)
    finally:
        _builder.source, _builder.line_offset, _builder.column_offset = saved


class _PlaceholderError(Exception):
    def __init__(self, code: str, message: str, span: Span, help: str) -> None:
        super().__init__(message)
        self.code, self.message, self.span, self.help = code, message, span, help


_SIMPLE_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def _placeholder(text: str, line: int, column: int) -> tree.Expr:
    source = _builder.source
    span = Span(source, line, column, line, column + len(text))
    if _SIMPLE_NAME.match(text):
        return tree.Name(span, text)
    try:
        # The lexer and its indenter keep their state for one text at a time: a fresh instance for the inner one.
        return cast(tree.Expr, _run_inner(source, text, line - 1, column - 1))
    except UnexpectedInput:
        raise _PlaceholderError(
            "syntax", f"'{{{text}}}' is no expression", span, "a placeholder holds a name or an expression"
        ) from None


_inner: Lark | None = None


def _run_inner(source: Source, text: str, line_offset: int, column_offset: int) -> Any:
    global _inner
    if _inner is None:
        _inner = lark_parser(cache=_cache_file() or False)
    saved = (_builder.source, _builder.line_offset, _builder.column_offset)
    _builder.source, _builder.line_offset, _builder.column_offset = source, line_offset, column_offset
    try:
        return _inner.parse(text, start="expression")
    finally:
        _builder.source, _builder.line_offset, _builder.column_offset = saved


# ------------------------------------------------------------------------------------------------------- complaints


def _check_text(source: Source, report: Report) -> bool:
    """Checks what the lexer could not explain well: tabs, characters from elsewhere, deep nesting."""
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
        code = line.split("#", 1)[0] if '"' not in line else line
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
    while first > 0 and not _starts_definition(lines[first]):
        first -= 1
    last = max(first + 1, min(line, len(lines)) - 1)
    while last < len(lines) and not _starts_definition(lines[last]):
        last += 1
    return "\n".join([*lines[:first], *[""] * (last - first), *lines[last:]])


def _starts_definition(line: str) -> bool:
    return bool(line) and not line[0].isspace() and line[0] != "#"


_FRIENDLY = {
    "_NL": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "$END": "the end of the file",
    "NAME": "a name",
    "NUMBER": "a number",
    "TEXT": 'a text in "quotes"',
}


def _friendly(terminal: str) -> str:
    if terminal in _FRIENDLY:
        return _FRIENDLY[terminal]
    for definition in _parser().terminals:
        if definition.name == terminal:
            pattern = definition.pattern
            if pattern.type == "str":
                return f"'{pattern.value}'"
            words = re.sub(r"\\b|\(\[ \]\*\\n\)\*|\(\[ \]\*\(#.*?\\n\)\*", "", pattern.value)
            words = words.replace(" +", " ").replace(" *", " ").replace(",?", "").replace("\\", "")
            return f"'{words.strip()}'"
    return terminal.lower()


def _expected(terminals: set[str]) -> str:
    names = sorted({_friendly(t) for t in terminals if t != "COMMENT"})
    if "a name" in names and "a number" in names:
        names = ["a value"]
    if len(names) > 6:
        names = [*names[:6], "…"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" or {names[-1]}"


def _report_syntax(source: Source, error: UnexpectedInput | DedentError, report: Report) -> int:
    if isinstance(error, UnexpectedToken):
        return _report_token(source, error, report)
    if isinstance(error, UnexpectedCharacters):
        line, column = error.line + _builder.line_offset, error.column + _builder.column_offset
        character = source.line(line)[column - 1 : column] or "?"
        message = "this text has no closing quote" if character == '"' else f"'{character}' means nothing here"
        report.error("syntax", message, Span(source, line, column, line, column + 1), help=_habit(character))
        return line
    line = _uneven_line(source)
    indent = len(source.line(line)) - len(source.line(line).lstrip())
    report.error(
        "indentation",
        "this line is indented like no block around it",
        Span(source, line, indent + 1, line, indent + 2),
        help="indent each block by four spaces",
    )
    return line


_HABITS = {
    "!": "write 'is not' or 'not'",
    "&": "write 'and'",
    "|": "write 'or'",
    "%": "write 'mod'",
    "'": 'texts stand in double quotes: "…"',
    "+": "write 'increase x by n'",
    "=": "'=' compares; ':=' gives a variable a value",
    ":=": "':=' gives a variable a value; '=' compares",
}


def _habit(text: str) -> str:
    return _HABITS.get(text, "")


def _report_token(source: Source, error: UnexpectedToken, report: Report) -> int:
    token = error.token
    expected = set(error.accepts or error.expected)
    if token.type == "$END" or token.type == "_DEDENT":
        line = max(1, min(token.line or 1, len(source.lines)))
        while line > 1 and not source.line(line).strip():
            line -= 1
        column = len(source.line(line).rstrip()) + 1
        span, got = Span(source, line, column, line, column + 1), _friendly(token.type)
    elif token.type == "_NL":
        line, column = token.line, token.column
        span, got = Span(source, line, column, line, column + 1), "the end of the line"
    elif token.type == "_INDENT":
        line = token.line + token.count("\n")
        indent = len(source.line(line)) - len(source.line(line).lstrip())
        span, got = Span(source, line, 1, line, indent + 1), "an indented line"
    else:
        line, column = token.line, token.column
        end = token.end_column if token.end_line == token.line else column + 1
        span, got = Span(source, line, column, line, end), f"'{token.strip()}'"
    help = _habit(str(token).strip())
    words = [p.strip("'") for p in (_friendly(t) for t in expected) if p.startswith("'")]
    if token.type == "NAME":
        near = nearest(str(token), words)
        if near:
            help = f"did you mean '{near}'?"
    elif "NAME" in expected and str(token).isidentifier():
        help = help or f"'{token}' is a word of the language and cannot be a name"
    report.error("syntax", f"got {got}, want {_expected(expected)}", span, help=help)
    return line


def _uneven_line(source: Source) -> int:
    """Finds the first line that closes to an indentation no open block has."""
    stack = [0]
    for number, indent in _indents(source):
        if indent > stack[-1]:
            stack.append(indent)
            continue
        while indent < stack[-1]:
            stack.pop()
        if indent != stack[-1]:
            return number
    return 1


def _indents(source: Source) -> Iterator[tuple[int, int]]:
    for number, line in enumerate(source.lines, 1):
        stripped = line.lstrip()
        if stripped and not stripped.startswith("#"):
            yield number, len(line) - len(stripped)
