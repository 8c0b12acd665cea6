"""`harbourmaster scenario`: turns a moment of a recorded game into a scenario."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..output import complain, show_diagnostics
from . import BAD, OK, UsageError
from .common import natural

DESCRIPTION = """
Writes a scenario file of a moment of a recorded game: the dice and draws as they fell, the moves, and what
held then. Name it after what it shows, take out the expectations that do not matter, and 'harbourmaster test
FILE' runs it.
"""
EXAMPLES = """
  harbourmaster scenario RECORD --at 12 --name 'a tie goes to the elder' --output tie.yaml
  harbourmaster test tie.yaml
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("record", metavar="RECORD", help="a record of a game")
    parser.add_argument("--at", type=natural, metavar="N", help="after choice N (default: after the last)")
    parser.add_argument("--name", default="", metavar="TEXT", help="what the scenario shows")
    parser.add_argument("--output", metavar="FILE", help="write to this file (default: standard output)")


def run(options: Namespace) -> int:
    """Writes the scenario."""
    from ...interpreter.record_scenarios import scenario_from_record
    from ...interpreter.records import RecordError, load_record

    try:
        text = scenario_from_record(load_record(options.record), options.at, name=options.name)
    except RecordError as error:
        diagnostic = error.diagnostic()
        if diagnostic is None:
            raise
        show_diagnostics([diagnostic])
        return BAD
    if options.output is None:
        sys.stdout.write(text)
        return OK
    path = Path(options.output)
    if path.exists():
        raise UsageError(f"'{path}' is there already", "name another file, or delete it first")
    path.write_text(text, "utf-8")
    complain(f"wrote {path}")
    return OK
