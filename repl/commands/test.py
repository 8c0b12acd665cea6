"""`harbourmaster test`: runs scenarios."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..output import paint, say
from . import BAD, FINDING, OK, UsageError
from .common import add_language, language_of

if TYPE_CHECKING:
    from ...interpreter.coverage import Coverage
    from ...interpreter.scenario_files import Case
    from ...interpreter.scenarios import Result

DESCRIPTION = """
Runs scenarios: stories with what must come of them. Takes games, files and folders; without any, runs the
scenarios of all games that come along. For each that fails it shows expected and found side by side, the
position, and what happened last. The exit status is 0 when all pass, 1 when some fail, 2 when one cannot be
used.
"""
EXAMPLES = """
  harbourmaster test GAME
  harbourmaster test mine.yaml --name tie       # those with 'tie' in their names
  harbourmaster test GAME --coverage            # lines and readings that no scenario reaches
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("what", nargs="*", metavar="WHAT", help="a game, a file or a folder of scenarios")
    parser.add_argument("--name", metavar="TEXT", help="only those with this in their names")
    parser.add_argument("--coverage", action="store_true", help="name what no scenario reaches")
    parser.add_argument("--verbose", "-v", action="store_true", help="name the scenarios that pass, too")
    parser.add_argument("--no-board", action="store_true", help="do not draw the position of failures")
    add_language(parser)


def run(options: Namespace) -> int:
    """Runs the scenarios."""
    from ...interpreter.gamefiles import available_games
    from ...interpreter.scenarios import run_scenarios

    what = options.what or list(available_games())
    for name in what:
        _must_exist(name)
    coverage = _coverage() if options.coverage else None
    start = time.perf_counter()
    passed = failed = unusable = 0
    load = coverage.load if coverage is not None else None
    for result in run_scenarios(what, load=load, only=_chosen(options.name)):
        passed += result.passed
        unusable += not result.usable
        failed += result.usable and not result.passed
        if coverage is not None:
            coverage.note(result)
        _tell(result, options)
    if coverage is not None:
        say(coverage.render())
    seconds = time.perf_counter() - start
    parts = [(passed, "passed", "green"), (failed, "failed", "red"), (unusable, "cannot be used", "red")]
    said = ", ".join(paint(f"{n:,} {word}", style) for n, word, style in parts if n)
    say(f"{said or 'no scenarios'} in {seconds:.2f} s")
    if unusable or not passed + failed:
        return BAD
    return FINDING if failed else OK


def _must_exist(name: str) -> None:
    from ...grammar.diagnostics import suggestion
    from ...interpreter.gamefiles import available_games

    games = available_games()
    if name not in games and not Path(name).exists():
        raise UsageError(f"no game, file or folder '{name}'", suggestion(name, games, what="the games are"))


def _coverage() -> Coverage:
    from ...interpreter.coverage import Coverage

    return Coverage()


def _chosen(text: str | None) -> Callable[[Case], bool] | None:
    if text is None:
        return None
    wanted = text.casefold()
    return lambda case: wanted in case.title.casefold()


def _tell(result: Result, options: Namespace) -> None:
    if result.passed:
        if options.verbose:
            say(f"{paint('passed', 'green')}  {result.case.title}  {paint(str(result.case.span), 'dim')}")
        return
    say(result.report())
    if result.state is not None and not options.no_board and not options.coverage:
        from .replay import draw

        draw(result.state, language_of(options))
    say()
