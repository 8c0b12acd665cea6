"""Formats rule files: takes a source, gives the same rules laid out in the one way we write them.

Works on tokens and lines, never on the tree, so that nothing the author wrote gets lost: comments stay on
their line, one-line definitions stay one-line. Only white space changes: four spaces a block, one space
between words, one blank line between definitions, the `else` of consecutive `needs` lines and the comments
behind consecutive lines in one column, long lists broken after commas. What stands inside texts and
comments is not touched. The layout depends on the tokens and on where blank lines and comments stand, and
on nothing else, so that formatting twice changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lark import Token

from .diagnostics import Report, display_width
from .parser import parse_rules, tokenize
from .span import Source

_WIDTH = 110
_INDENT = 4
_CONTINUED = 8  # a line that goes on stands further in than a block would
_SHORT_BRACKET = 40  # what is in brackets and no longer than this is never broken
_BEFORE_COMMENT = (2, 2)  # how many spaces at least, and at most, where there is room
_BEFORE_ELSE = (1, 4)


def format_rules(source: Source, report: Report) -> str | None:
    """Formats a rule file; after a syntax error, which goes to `report`, it gives None."""
    own = Report()
    parse_rules(source, own)
    if own.diagnostics:
        report.diagnostics += own.diagnostics
        return None
    text = source.text if source.text.endswith("\n") else source.text + "\n"
    rows = _read(text, tokenize(text))
    _set_blank_lines(rows)
    _lay_out(rows)
    out: list[str] = []
    for row in rows:
        if row.blank:
            out.append("")
        out += row.lines
    return "".join(f"{line}\n" for line in out)


# ----------------------------------------------------------------------------------------------- reading


@dataclass(slots=True)
class _Piece:
    """One word or sign of a line, with what stands between it and the next one beside spaces."""

    type: str
    text: str
    trailing: str = ""
    comments: list[str] = field(default_factory=list)
    ends_line: bool = False


@dataclass(slots=True)
class _Row:
    """A whole comment line, or one line of code (however many lines of text it takes)."""

    depth: int
    blank: bool
    """Whether a blank line stands before it."""
    pieces: list[_Piece]
    """Empty for a comment line."""
    comment: str = ""
    opens_block: bool = False
    lines: list[str] = field(default_factory=list)


def _read(text: str, tokens: Sequence[Token]) -> list[_Row]:
    """Reads the tokens into rows."""
    rows: list[_Row] = []
    pieces: list[_Piece] = []
    columns = [0]
    blank = False
    at = 0
    for index, token in enumerate(tokens):
        if token.type in ("_INDENT", "_DEDENT"):
            continue
        start = token.start_pos or 0
        if token.type != "_NL":
            if pieces:
                _between(pieces[-1], text[at:start])
            pieces += _split(token)
            at = start + len(token) if token.type != "COMMA" else start + 1
            continue
        first, *between, indent = token.split("\n")
        deeper = columns[:]
        for layout in tokens[index + 1 :]:
            if layout.type == "_INDENT":
                columns.append(len(indent))
            elif layout.type == "_DEDENT":
                columns.pop()
            else:
                break
        if pieces:
            opens = len(columns) > len(deeper)
            rows.append(_Row(len(deeper) - 1, blank, pieces, first.strip(), opens))
            pieces = []
        else:
            between.insert(0, first)
        blank = False
        if len(columns) >= len(deeper):
            deeper = columns[:]
        for line in between:
            comment = line.strip()
            if not comment:
                blank = True
                continue
            # A comment belongs to the innermost block that it is as far in as, of those that may end here.
            column = len(line) - len(line.lstrip())
            while len(deeper) > len(columns) and deeper[-1] > column:
                deeper.pop()
            rows.append(_Row(len(deeper) - 1, blank, [], comment))
            blank = False
    return rows


def _split(token: Token) -> Iterator[_Piece]:
    """Makes the pieces of a token: one, but `, or` is two, since the line may end between them."""
    if token.type == "COMMA":
        yield _Piece("COMMA", ",")
    elif token.type == "OR_MOVE":
        comma = _Piece("COMMA", ",")
        _between(comma, token[1:-2])
        yield comma
        yield _Piece("OR", "or")
    elif token.type == "TEXT":
        yield _Piece("TEXT", str(token))
    else:
        yield _Piece(token.type, re.sub(r"^, *", ", ", " ".join(token.split())))


def _between(piece: _Piece, gap: str) -> None:
    """Notes the line ends and comments that stand between a piece and the next one."""
    if "\n" not in gap:
        return
    first, *others = gap.split("\n")
    piece.ends_line = True
    piece.trailing = first.strip()
    piece.comments = [line.strip() for line in others if line.strip()]


# ------------------------------------------------------------------------------------------- blank lines


def _set_blank_lines(rows: list[_Row]) -> None:
    """Puts one blank line around each definition of several lines; keeps the others, one at a time."""
    if rows:
        rows[0].blank = False
    for row, following in pairwise(rows):
        if row.opens_block:
            following.blank = False
    starts = [i for i, row in enumerate(rows) if row.pieces and row.depth == 0]
    for start, following_start in pairwise([*starts, len(rows)]):
        block = rows[start].opens_block
        after = start + 1
        while after < len(rows) and rows[after].depth > 0:
            after += 1
        if block and after < len(rows):
            rows[after].blank = True
        if following_start < len(rows) and (block or rows[following_start].opens_block):
            # The comment lines right above a definition belong to it.
            first = following_start
            while not rows[first].blank and first - 1 > start and not rows[first - 1].pieces:
                if rows[first - 1].depth > 0:
                    break
                first -= 1
            rows[first].blank = True


# ------------------------------------------------------------------------------------------------ layout

_ENDS_VALUE = frozenset(
    ["NAME", "NUMBER", "RPAR", "RSQB", "RBRACE", "YES", "NO", "NONE", "EMPTY", "ROUNDED", "TEXT"]
)
_OPENING = frozenset(["LPAR", "LSQB", "LBRACE"])
_CLOSING = frozenset(["RPAR", "RSQB", "RBRACE"])
_NO_SPACE_BEFORE = frozenset([":", ";", ".", ")", "]", "}"])


def _render(pieces: Sequence[_Piece], before: _Piece | None = None) -> str:
    """Writes pieces in one line; `before` is the one that ends the line above."""
    out: list[str] = []
    previous, tight = before, True
    for piece in pieces:
        operand_before = previous is not None and previous.type in _ENDS_VALUE
        if (
            tight
            or piece.text in _NO_SPACE_BEFORE
            or piece.text.startswith(",")
            or (piece.type == "LPAR" and previous is not None and previous.type == "NAME")
            or (piece.type == "LSQB" and operand_before)
        ):
            out.append(piece.text)
        else:
            out.append(" " + piece.text)
        negates = piece.type == "MINUS" and not operand_before
        tight = piece.type in _OPENING or piece.type == "DOT" or negates
        previous = piece
    return "".join(out)


def _lay_out(rows: list[_Row]) -> None:
    """Makes the lines of text of each row."""
    for row in rows:
        indent = " " * (_INDENT * row.depth)
        row.lines = _broken(row, indent) if row.pieces else [indent + row.comment]
    _align(rows, _guard_parts, _BEFORE_ELSE)
    _align(rows, _comment_parts, _BEFORE_COMMENT)


def _guard_parts(row: _Row) -> tuple[str, str] | None:
    """Splits a `needs` line before the `else` of its reason."""
    if len(row.lines) > 1 or [p.type for p in [*row.pieces[:1], *row.pieces[-2:]]] != [
        "NEEDS",
        "ELSE",
        "TEXT",
    ]:
        return None
    reason = " ".join(p.text for p in row.pieces[-2:])
    return row.lines[0][: -len(reason)].rstrip(), reason


def _comment_parts(row: _Row) -> tuple[str, str] | None:
    if not row.pieces or not row.comment or len(row.lines) > 1:
        return None
    return row.lines[0], row.comment


def _align(rows: list[_Row], parts: Callable[[_Row], tuple[str, str] | None], gap: tuple[int, int]) -> None:
    """Puts the second parts of lines that follow each other in one column.

    The column is the one behind the longest first part with which every line stays in the page; first parts
    longer than that stand out to the right.
    """
    run: list[tuple[_Row, str, str]] = []
    for row in [*rows, None]:
        found = parts(row) if row is not None else None
        if run and (found is None or row is None or row.blank or row.depth != run[0][0].depth):
            _align_run(run, gap)
            run = []
        if row is not None and found is not None:
            run.append((row, *found))


def _align_run(run: list[tuple[_Row, str, str]], gap: tuple[int, int]) -> None:
    least, most = gap
    sizes = [(display_width(head), display_width(tail)) for _, head, tail in run]
    fitting = [(head, tail) for head, tail in sizes if head + least + tail <= _WIDTH]
    column = max(
        (
            width
            for width, _ in fitting
            if all(width + least + tail <= _WIDTH for head, tail in fitting if head <= width)
        ),
        default=0,
    )
    aligned = [tail for head, tail in fitting if head <= column]
    for (row, head, tail), (width, tail_width) in zip(run, sizes, strict=True):
        in_column = width <= column and width + least + tail_width <= _WIDTH
        end = column if in_column else width
        room = _WIDTH - end - (max(aligned) if in_column else tail_width)
        row.lines = [f"{head}{' ' * (end - width + min(most, max(least, room)))}{tail}"]


# ------------------------------------------------------------------------------------------- broken lines


def _broken(row: _Row, indent: str) -> list[str]:
    """Writes a row in as many lines as it needs; its comments stay behind the same words."""
    pieces = row.pieces
    rejoined = not any(p.ends_line and p.type != "COMMA" for p in pieces) or _same_tokens(pieces)
    lines: list[str] = []
    start = 0
    before: _Piece | None = None
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        if not last and not piece.trailing and not piece.comments and (rejoined or not piece.ends_line):
            continue
        lines += _wrapped(
            pieces, start, index + 1, before, indent if start == 0 else indent + " " * _CONTINUED
        )
        start, before = index + 1, piece
        if last:
            break
        if piece.trailing:
            lines[-1] += " " * _BEFORE_COMMENT[0] + piece.trailing
        lines += [f"{indent}{' ' * _CONTINUED}{comment}" for comment in piece.comments]
    if row.comment and len(lines) > 1:
        lines[-1] += " " * _BEFORE_COMMENT[0] + row.comment
    return lines


def _same_tokens(pieces: list[_Piece]) -> bool:
    """Tests if the pieces, written in one line, still are what they are: `or` and `none` become `or none`."""
    tokens = tokenize(_render(pieces) + "\n")
    read = [piece for token in tokens if token.type != "_NL" for piece in _split(token)]
    return [(p.type, p.text) for p in read] == [(p.type, p.text) for p in pieces]


def _wrapped(pieces: list[_Piece], start: int, end: int, before: _Piece | None, indent: str) -> Iterator[str]:
    """Writes pieces `start` to `end`, broken after the outermost commas where they do not fit in one line."""
    first = start == 0
    breakable = _commas(pieces, start, end)
    while True:
        line = indent + _render(pieces[start:end], before)
        later = [(depth, i) for depth, i in breakable if start <= i < end - 1]
        if display_width(line) <= _WIDTH or not later:
            yield line
            return
        fitting = [
            (depth, i)
            for depth, i in later
            if display_width(indent + _render(pieces[start : i + 1], before)) <= _WIDTH
        ]
        cut = min(fitting or later[:1], key=lambda c: (c[0], -c[1]))[1]
        yield indent + _render(pieces[start : cut + 1], before)
        start, before = cut + 1, pieces[cut]
        if first:
            first, indent = False, indent + " " * _CONTINUED


def _commas(pieces: list[_Piece], start: int, end: int) -> list[tuple[int, int]]:
    """Finds the commas where a line may be broken, each with how many brackets it stands in."""
    open_brackets: list[int] = []
    inside: list[list[tuple[int, int]]] = [[]]
    for index, piece in enumerate(pieces):
        if piece.type in _OPENING:
            open_brackets.append(index)
            inside.append([])
        elif piece.type in _CLOSING:
            opening = open_brackets.pop()
            commas = inside.pop()
            if len(_render(pieces[opening : index + 1])) > _SHORT_BRACKET:
                inside[-1] += commas
        elif piece.type == "COMMA" and start <= index < end:
            inside[-1].append((len(open_brackets), index))
    return sorted(inside[0], key=lambda c: c[1])
