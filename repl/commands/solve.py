"""`harbourmaster solve`: works out what a position near the end is worth under best play."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from fractions import Fraction
from typing import TYPE_CHECKING

from ..output import count, say, table
from .common import add_ruleset, whole
from .standing import add_positions, positions_of

if TYPE_CHECKING:
    from ...interpreter.exact.endings import Ending, Value
    from ...interpreter.game import State

DESCRIPTION = """
Works out, going backward from the ends of the game, what a position is worth to each player when everybody plays
best: the score of the rules at the end, or its exact mean where chance still decides. Each option is told with its
worth, and how best play goes on. All positions that can follow are gone through, so it is for endings.

Best play knows everything. Where players do not see all, or choose at once in secret, that is not what they could
do: it is refused, unless --open-hands asks what the position would be worth if all lay open.
"""
EXAMPLES = """
  harbourmaster solve GAME --record FILE --at 40
  harbourmaster solve GAME --scenario FILE --name 'a part of its name'
  harbourmaster solve GAME --record FILE --open-hands --json
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    add_positions(parser, seed="deal by this seed at the beginning; later chance counts with every outcome")
    parser.add_argument("--open-hands", action="store_true", help="as if all players saw everything")
    parser.add_argument(
        "--memory", type=whole, default=512, metavar="MB", help="megabytes that may be used (default: 512)"
    )
    parser.add_argument("--json", action="store_true", help="write the values as JSON")


def run(options: Namespace) -> int:
    """Solves each position meant."""
    from ...interpreter.exact.endings import value_of

    results: list[dict[str, object]] = []
    for title, state in positions_of(options, default_seed=None):
        start = time.perf_counter()
        found = value_of(state, open_hands=options.open_hands, memory=options.memory)
        seconds = time.perf_counter() - start
        if options.json:
            results.append(_plain(found, title, state) | {"seconds": round(seconds, 6)})
        else:
            _tell(found, title, state, seconds)
    if options.json:
        import json

        say(json.dumps(results, ensure_ascii=False, indent=2))
    return 0


def _plain(found: Ending, title: str, state: State) -> dict[str, object]:
    return {
        "name": title,
        "ruleset": state.game.canonical,
        "hash": state.game.content_hash,
        "value": [str(v) for v in found.value],
        "options": [{"words": o.words, "value": [str(v) for v in o.value]} for o in found.options],
        "line": list(found.line),
        "positions": found.positions,
        "ends": found.ends,
        "undecided": found.undecided,
        "open_hands": found.open_hands,
    }


def _tell(found: Ending, title: str, state: State, seconds: float) -> None:
    names = state.game.player_names
    rows = [("best play", *_figures(found.value)), *((o.words, *_figures(o.value)) for o in found.options)]
    table(["", *names], rows, right=range(1, len(names) + 1), title=title)
    if found.line:
        say(f"best play: {', '.join(found.line)}")
    say(f"{count(found.positions, 'position')}, {count(found.ends, 'end')} ({seconds:.1f} s)")
    if found.open_hands:
        say("with open hands: players who do not see everything may not be able to play so")
    if found.undecided:
        say(
            f"in {count(found.undecided, 'position')} the mover has several best options that are not worth the "
            "same to the others; the first in the order of the rules was taken"
        )


def _figures(value: Value) -> list[str]:
    return [_figure(v) for v in value]


def _figure(v: Fraction) -> str:
    """Writes a value: exactly where that is short, else rounded."""
    if v.denominator == 1:
        return f"{v.numerator:,}"
    exact = str(v)
    return f"{float(v):,.3f}" + (f" = {exact}" if len(exact) < 12 else "")
