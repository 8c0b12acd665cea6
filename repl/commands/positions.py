"""`harbourmaster positions`: counts the different positions within reach."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import complain, count, say, table
from . import OK
from .common import add_ruleset, natural, whole
from .standing import add_positions, positions_of

if TYPE_CHECKING:
    from ...interpreter.exact.reach import Level, Reach, Tick

DESCRIPTION = """
Counts the different positions that can be reached within N decisions: every option is taken, chance comes out in
every way, and a position met before is not counted again. A decision with a single option is taken without asking
and does not count. Without a seed the first deal is left to chance as well.

Memory is bounded: when it is full, or at Ctrl-C, the levels counted so far are told, and the last one as "at least".
"""
EXAMPLES = """
  harbourmaster positions GAME --seed 1 --within 4
  harbourmaster positions GAME --record FILE --at 40 --within 10
  harbourmaster positions GAME --scenario FILE --within 3 --memory 2000 --json
"""
INTERRUPTED = 130


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument("--within", type=natural, required=True, metavar="N", help="how many decisions")
    add_positions(parser, seed="deal by this seed at the beginning; later chance comes out in every way")
    parser.add_argument(
        "--memory", type=whole, default=512, metavar="MB", help="megabytes that may be used (default: 512)"
    )
    parser.add_argument(
        "--backend", choices=("auto", "python", "c"), default="auto", help="what counts (default: auto)"
    )
    parser.add_argument("--json", action="store_true", help="write the counts as JSON")


def run(options: Namespace) -> int:
    """Counts, from each position meant."""
    from ...interpreter.exact.reach import reachable
    from ...interpreter.native import NativeUnavailable
    from . import UsageError

    results: list[dict[str, object]] = []
    status = OK
    for title, state in positions_of(options, default_seed=None):
        start = time.perf_counter()
        try:
            found = reachable(
                state, options.within, memory=options.memory, backend=options.backend, tick=_ticker()
            )
        except NativeUnavailable as error:
            raise UsageError(str(error)) from None
        seconds = time.perf_counter() - start
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        if options.json:
            results.append(
                {
                    "name": title,
                    "ruleset": state.game.canonical,
                    "hash": state.game.content_hash,
                    "within": options.within,
                    "positions": found.positions,
                    "exact": not found.stopped,
                    "stopped": found.stopped or None,
                    "levels": [
                        {"decisions": v.decisions, "positions": v.positions, "over": v.over}
                        for v in found.levels
                    ],
                    "seconds": round(seconds, 6),
                }
            )
        else:
            _tell(found, title, options, seconds)
        if found.stopped == "interrupted":
            status = INTERRUPTED
            break
    if options.json:
        import json

        say(json.dumps(results, ensure_ascii=False, indent=2))
    return status


def _tell(found: Reach, title: str, options: Namespace, seconds: float) -> None:
    rows = []
    total = 0
    for level in found.levels:
        total += level.positions
        least = "≥ " if found.stopped and level is found.levels[-1] else ""
        rows.append(
            (
                str(level.decisions),
                f"{least}{level.positions:,}",
                f"{least}{total:,}",
                f"{least}{level.over:,}",
            )
        )
    table(["decisions", "new positions", "all", "the game is over"], rows, right=range(4), title=title)
    least = "at least " if found.stopped else ""
    say(
        f"{least}{count(found.positions, 'position')} within {count(options.within, 'decision')} "
        f"({found.backend}, {seconds:.1f} s)"
    )
    if found.stopped == "memory":
        complain(f"{options.memory:,} MB are full: the last level is not complete; --memory gives more")
    elif found.stopped:
        complain("stopped by Ctrl-C: the last level is not complete")
    elif found.closed:
        say("no game goes on from there: these are all the positions there are")


def _ticker() -> Tick | None:
    """Makes what tells, on a terminal, how far the count is; None elsewhere."""
    if not sys.stderr.isatty():
        return None
    last = [time.monotonic()]

    def tick(level: Level) -> None:
        if time.monotonic() - last[0] > 0.3:
            last[0] = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{level.decisions} decisions: {level.positions:,} so far")
            sys.stderr.flush()

    return tick
