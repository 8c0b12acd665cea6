"""`harbourmaster engine`: the referee for programs, in lines of JSON on standard input and output."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, BinaryIO

from ..output import complain
from .common import add_players, add_ruleset

if TYPE_CHECKING:
    from ...interpreter.engine import Engine

DESCRIPTION = """
Referees games for another program, in any language: it reads a request a line from standard input and answers
each with a line on standard output, both JSON. Games are begun, moves listed, made, explained and taken back,
states cloned, bots asked, records saved and loaded. The first line tells the protocol's version, the rule set
and its hash. interpreter/PROTOCOL.md says what may be asked; it also tells how a program can sit at a table of
'play', 'simulate' and 'tournament'.
"""
EXAMPLES = """
  harbourmaster engine GAME --players 4
  echo '{"do": "new", "seed": 7}' | harbourmaster engine GAME
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    add_players(parser, help="how many play where a request does not say (default: the fewest allowed)")


def run(options: Namespace) -> int:
    """Answers until the input ends or it is asked to quit."""
    from ...interpreter.engine import Engine

    engine = Engine(options.ruleset, options.players)
    if sys.stdin.isatty():
        complain('lines of JSON are read from here, as {"do": "new"}; {"do": "quit"} or Ctrl-D ends')
    serve(engine, sys.stdin.buffer, sys.stdout.buffer)
    return 0


def serve(engine: Engine, source: BinaryIO, target: BinaryIO) -> None:
    """Answers the lines of a source."""
    from ...interpreter.engine_requests import LONGEST

    def write(line: bytes) -> None:
        target.write(line)
        target.flush()

    write(engine.greeting())
    while not engine.is_over and (line := source.readline(LONGEST + 1)):
        if len(line) > LONGEST and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST)
            write(engine.too_long())
        elif line.strip():
            write(engine.answer(line))
