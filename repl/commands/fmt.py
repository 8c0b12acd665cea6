"""`harbourmaster fmt`: lays out rule files in the one way we write them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ..output import complain, count, say, show_diagnostics
from . import BAD, FINDING, OK, UsageError

if TYPE_CHECKING:
    from ...grammar.diagnostics import Report
    from ...grammar.span import Source

DESCRIPTION = """
Lays out rule files: four spaces a block, one space between words, one blank line between definitions, the
reasons of guards and the comments of consecutive lines in one column. Only white space changes, comments stay
where they are. Takes files, folders and names of games; - reads standard input and writes to standard output.
A file with a syntax error is left as it is.
"""
EXAMPLES = """
  harbourmaster fmt mine.rules
  harbourmaster fmt --check GAME                # changes nothing; exit status 1 when something would change
  harbourmaster fmt --diff ./mygame             # shows what would change
  harbourmaster fmt - < mine.rules
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("what", nargs="+", metavar="WHAT", help="a .rules file, a folder, a game, or -")
    parser.add_argument("--check", action="store_true", help="change nothing, tell which files would change")
    parser.add_argument("--diff", action="store_true", help="change nothing, show what would change")


def run(options: Namespace) -> int:
    """Formats, or tells what formatting would change."""
    from ...grammar.diagnostics import Report
    from ...grammar.formatter import format_rules

    report = Report()
    different = 0
    paths = [path for what in options.what for path in _files(what)]
    for path in dict.fromkeys(paths):
        source = _read(path, report)
        made = format_rules(source, report) if source is not None else None
        if source is None or made is None:
            continue
        if path is None and not (options.check or options.diff):
            sys.stdout.write(made)
        if made == source.text:
            continue
        different += 1
        if options.diff:
            _show(source, made)
        elif options.check:
            say(f"{source.name} is not laid out")
        elif path is not None:
            _write(path, made)
            complain(f"laid out {source.name}")
    show_diagnostics(report.sorted())
    if report.has_errors:
        return BAD
    if options.check or options.diff:
        complain(f"{count(different, 'file')} of {len(dict.fromkeys(paths)):,} would change")
        return FINDING if different else OK
    return OK


def _files(what: str) -> list[Path | None]:
    """Finds the rule files that an argument means; None is standard input."""
    from ...grammar.diagnostics import suggestion
    from ...interpreter.gamefiles import available_games, rules_folder

    if what == "-":
        return [None]
    path = Path(what)
    if path.is_file():
        if path.suffix in (".yaml", ".yml", ".json"):
            raise UsageError(f"{path} holds data, no rules", "only .rules files are laid out")
        return [path]
    if not path.is_dir():
        games = available_games()
        if what not in games:
            raise UsageError(
                f"no file, folder or game '{what}'", suggestion(what, games, what="the games are")
            )
        path = rules_folder() / what
    found: list[Path | None] = [*sorted(path.rglob("*.rules"))]
    if not found:
        raise UsageError(f"no rule files in '{what}'", "their names end in .rules")
    return found


def _read(path: Path | None, report: Report) -> Source | None:
    from ...grammar.span import Source
    from ...interpreter.sources import check_text, read_source

    if path is not None:
        return read_source(path, str(path), report)
    source = Source("<standard input>", sys.stdin.read())
    return source if check_text(source, report) else None


def _write(path: Path, text: str) -> None:
    """Writes a file in one step, following links and keeping its permissions."""
    from ...interpreter.cache import write

    path = path.resolve()
    mode = path.stat().st_mode
    write(path, text.encode("utf-8"))
    path.chmod(mode)


def _show(source: Source, made: str) -> None:
    from difflib import unified_diff

    lines = unified_diff(
        source.text.splitlines(), made.splitlines(), source.name, f"{source.name} laid out", lineterm=""
    )
    for line in lines:
        say(line)
