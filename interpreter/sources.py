"""Reads the text of rule and data files.

Takes a path; gives a `Source` that every later pass can point into. Refuses what would make positions, hashes
or pictures of the text differ between two people's machines: other encodings than UTF-8, byte-order marks, CR
line ends, control characters (they can also repaint a terminal), and files too large to be rules. Where the
text can be mended without guessing (a byte-order mark, CR LF) the complaint is noted and the mended text is
given all the same, so that the rest of the file is checked in the same run.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..grammar.diagnostics import Report, suggestion
from ..grammar.span import Source, Span

LARGEST_FILE = 2_000_000
"""The most bytes a rule or data file may have."""

_BYTE_ORDER_MARK = "\ufeff"

# Everything but tab, line feed and what prints. NEL, LS and PS are out because YAML 1.1 readers count them as
# line ends; the bidirectional overrides because they make a line read otherwise than it runs; lone surrogates
# because they cannot be written again.
_REFUSED = re.compile(
    "[^\t\n\\x20-\\x7e\\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def refused_character(text: str) -> int | None:
    """Finds where the first character stands that no rule or data file may hold."""
    found = _REFUSED.search(text)
    return found.start() if found else None


def name_character(character: str) -> str:
    """Names an unprintable character, as ``U+0007``."""
    return f"U+{ord(character):04X}"


def check_text(source: Source, report: Report) -> bool:
    """Tests if a text holds only what rule and data files may hold, or reports the first offence."""
    text = source.text
    start = 0
    if text.startswith(_BYTE_ORDER_MARK):
        _report_byte_order_mark(source, report)
        start = 1
    at = refused_character(text[start:])
    if at is None:
        return start == 0
    at += start
    span = _span_at(source, at)
    if text[at] != "\r":
        report.error(
            "control-character",
            f"the character {name_character(text[at])} may not stand in rules or data",
            span,
            help="delete it, or write it as words",
        )
    elif text[at : at + 2] == "\r\n":
        _report_line_ends(span, report)
    else:
        report.error("crlf", "a line ends with CR, want LF", span, help="save the file with Unix line ends")
    return False


def read_source(path: Path, shown_name: str, report: Report, named_at: Span | None = None) -> Source | None:
    """Reads a file as a source shown under `shown_name`, or reports why it cannot be read and gives None.

    `named_at` is the value that names the file, if a value does: a missing file is that value's fault.
    """
    data = _read_bytes(path, shown_name, report, named_at)
    if data is None:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _report_encoding(data, error, shown_name, report)
        return None
    source = Source(shown_name, text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n"))
    if text.startswith(_BYTE_ORDER_MARK):
        _report_byte_order_mark(source, report)
    if "\r\n" in text:
        _report_line_ends(_line_end_span(source, text[: text.index("\r\n")].count("\n") + 1), report)
    return source if check_text(source, report) else None


def _read_bytes(path: Path, shown_name: str, report: Report, named_at: Span | None) -> bytes | None:
    at = named_at or Span(Source(shown_name, ""), 1, 1, 1, 1)
    try:
        if path.is_dir():
            report.error("file-is-folder", f"'{shown_name}' is a folder, want a file", at)
            return None
        if path.exists() and not path.is_file():
            report.error("file-unreadable", f"'{shown_name}' is not an ordinary file", at)
            return None
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        report.error("file-missing", f"no file '{shown_name}'", at, help=_near_files(path))
        return None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.error("file-unreadable", f"cannot read '{shown_name}': {reason.lower()}", at)
        return None
    if len(data) > LARGEST_FILE:
        report.error(
            "file-too-large",
            f"'{shown_name}' has more than {LARGEST_FILE:,} bytes",
            Span(Source(shown_name, ""), 1, 1, 1, 1) if named_at is None else named_at,
            help="rules and data are small texts: is this the right file?",
        )
        return None
    return data


def _near_files(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix == path.suffix]
    except OSError:
        return f"there is no folder '{path.parent.name}' either"
    return suggestion(path.name, names, what=f"the {path.suffix} files there are")


def _report_encoding(data: bytes, error: UnicodeDecodeError, shown_name: str, report: Report) -> None:
    source = Source(shown_name, data.decode("utf-8", "replace"))
    line_start = data.rfind(b"\n", 0, error.start) + 1
    line = data.count(b"\n", 0, error.start) + 1
    column = len(data[line_start : error.start].decode("utf-8", "replace")) + 1
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        message = "the file is in UTF-16, want UTF-8"
    else:
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
    report.error(
        "not-utf8", message, Span(source, line, column, line, column + 1), help="save the file as UTF-8"
    )


def _report_byte_order_mark(source: Source, report: Report) -> None:
    report.error(
        "byte-order-mark",
        "the file begins with a byte-order mark",
        Span(source, 1, 1, 1, 2),
        help="save the file as UTF-8 without a byte-order mark (BOM)",
    )


def _report_line_ends(span: Span, report: Report) -> None:
    report.error(
        "crlf",
        "the lines end with CR LF, want LF",
        span,
        help="save the file with Unix line ends; for git: '* text eol=lf' in .gitattributes",
    )


def _line_end_span(source: Source, line: int) -> Span:
    column = len(source.line(line)) + 1
    return Span(source, line, column, line, column + 1)


def _span_at(source: Source, index: int) -> Span:
    line = source.text.count("\n", 0, index) + 1
    column = index - source.text.rfind("\n", 0, index)
    return Span(source, line, column, line, column + 1)
