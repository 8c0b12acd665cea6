"""`harbourmaster replay`: plays a recorded game again, checking every step."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import count, pad, paint, say, show_diagnostics
from . import BAD, OK, UsageError
from .common import add_language, language_of, natural

if TYPE_CHECKING:
    from ...interpreter.game import State
    from ...interpreter.records import Choice, Record

DESCRIPTION = """
Plays a recorded game again and tests at each step who decides, how many options there are, the move, and all
that it changes. A record that was made under other rules than today's is refused, with the choice and the
rule at which the two part.
"""
EXAMPLES = """
  harbourmaster replay FILE                     # every choice in words, and the scores
  harbourmaster replay FILE --quiet             # only whether it still fits
  harbourmaster replay FILE --at 12 --board     # the position after choice 12
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("record", metavar="FILE", help="a record of a game")
    parser.add_argument("--at", type=natural, metavar="N", help="stop after choice N")
    parser.add_argument("--board", action="store_true", help="draw the position where it stops")
    parser.add_argument("--quiet", action="store_true", help="do not tell the choices")
    add_language(parser)


def run(options: Namespace) -> int:
    """Replays, telling each choice."""
    from ...interpreter.records import RecordError, load_record

    try:
        record = load_record(options.record)
        state, done = _follow(record, options, language_of(options))
    except RecordError as error:
        diagnostic = error.diagnostic()
        if diagnostic is None:
            raise
        show_diagnostics([diagnostic])
        return BAD
    total = len(record.choices())
    if options.at is not None and options.at > total:
        raise UsageError(f"the record has {count(total, 'choice')}, got --at {options.at}")
    if options.board:
        draw(state, language_of(options))
    if state.is_terminal():
        scores = ", ".join(f"{n} {s}" for n, s in zip(record.names, state.scores(), strict=True))
        say(f"the game is over: {scores}")
    say(f"{record.rules} ({record.content_hash}): {count(done, 'choice')} of {total:,} checked")
    return OK


def _follow(record: Record, options: Namespace, language: str) -> tuple[State, int]:
    from ...interpreter.records import replay

    choices = record.choices()
    states = replay(record)
    state = next(states)
    done = 0
    if not options.quiet:
        say(f"{record.rules} ({record.content_hash})")
    for choice in choices if options.at is None else choices[: options.at]:
        words = _words(state, choice, record, language)
        state = next(states)
        done += 1
        if not options.quiet:
            width = max(map(len, record.names))
            say(f"{paint(f'{choice.number:>4}', 'dim')}  {pad(choice.player, width)}  {words}")
    if done == len(choices):
        state = [state, *states][-1]  # what stands behind the last choice is tested too
    return state, done


def _words(state: State, choice: Choice, record: Record, language: str) -> str:
    if state.is_chance_node() or language == "en":
        return choice.words
    seat = record.names.index(choice.player) if choice.player in record.names else -1
    return state.describe(choice.action, seat, language)


def draw(state: State, language: str) -> None:
    """Draws a position, as everybody at the table sees it."""
    import shutil

    from ..board import draw_board
    from ..terminal import Look, plain, wants_ascii
    from ..view import View

    size = shutil.get_terminal_size((80, 24))
    look = Look(size.columns, size.lines, language, wants_ascii())
    view = View(state.game, state.game.view())
    say(plain(draw_board(view, state, look), ascii=look.ascii))
