"""`harbourmaster perft`: counts sequences of choices, to hold two referees against each other."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import say
from . import UsageError
from .common import add_ruleset, natural, whole
from .standing import add_positions, positions_of

if TYPE_CHECKING:
    from ...interpreter.exact.sequences import Count
    from ...interpreter.game import State

DESCRIPTION = """
Counts the sequences of N decisions from a position: two referees that offer the same options at the same time
give the same counts. Chance comes out as the scenario or the seed says and is not counted; a decision with a
single option is taken without asking and not counted either. Without a scenario it counts from the start of
the game.

With --exact chance comes out in every way instead: counted is every sequence of decisions together with all that
chance can give between them. Told are too the plain count on average over chance, as an exact fraction, and how
likely random play is to make so many decisions. Without a seed the first deal is left to chance as well.
"""
EXAMPLES = """
  harbourmaster perft GAME --seed 1 --depth 3
  harbourmaster perft GAME --scenario FILE --depth 2 --divide     # the count under each move, to bisect
  harbourmaster perft GAME --scenario FILE --name 'a part of its name' --depth 4 --no-offers
  harbourmaster perft GAME --scenario FILE --depth 3 --exact      # every outcome of chance
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument("--depth", type=natural, required=True, metavar="N", help="how many decisions")
    add_positions(parser, seed="what chance depends on, without a scenario", record=False)
    parser.add_argument("--divide", action="store_true", help="count under each option")
    parser.add_argument("--exact", action="store_true", help="let chance come out in every way")
    parser.add_argument(
        "--memory", type=whole, metavar="MB", help="with --exact: megabytes that may be used (default: 512)"
    )
    parser.add_argument("--json", action="store_true", help="write the counts as JSON")


def run(options: Namespace) -> int:
    """Counts, from each position meant."""
    if options.memory is not None and not options.exact:
        raise UsageError("--memory bounds what --exact keeps, and no --exact is given")
    results: list[dict[str, object]] = []
    for title, state in positions_of(options, default_seed=None if options.exact else 1):
        start = time.perf_counter()
        found: dict[str, object] = {
            "name": title,
            "ruleset": state.game.canonical,
            "hash": state.game.content_hash,
            "depth": options.depth,
        }
        told = _exactly(state, options, found) if options.exact else _plainly(state, options, found)
        seconds = time.perf_counter() - start
        if options.json:
            results.append(found | {"seconds": round(seconds, 6)})
            continue
        kind = ", every outcome of chance" if options.exact else ""
        for line in told:
            say(line)
        say(f"{found['count']:>14,}  {title} (depth {options.depth}{kind}, {seconds:.2f} s)")
        if options.exact:
            say(f"{found['mean']:>14}  on average over chance")
            over = f"over before that: {found['over']}"
            say(f"{found['reached']:>14}  probability that random play comes so far; {over}")
    if options.json:
        import json

        say(json.dumps(results, ensure_ascii=False, indent=2))
    return 0


def _plainly(state: State, options: Namespace, found: dict[str, object]) -> list[str]:
    """Counts under one fate; gets the lines to tell first."""
    from ...interpreter.perft import divide, perft

    if not options.divide:
        found["count"] = perft(state, options.depth)
        return []
    moves = divide(state, options.depth)
    found |= {"count": sum(n for _, n in moves), "moves": dict(moves)}
    return [f"{n:>14,}  {words}" for words, n in moves]


def _exactly(state: State, options: Namespace, found: dict[str, object]) -> list[str]:
    """Counts with every outcome of chance; gets the lines to tell first."""
    from ...interpreter.exact.sequences import count_exactly, divide_exactly

    memory = options.memory or 512
    moves: list[tuple[str, Count]] = []
    if options.divide:
        moves = divide_exactly(state, options.depth, memory=memory)
        found["moves"] = {words: c.sequences for words, c in moves}
    c = count_exactly(state, options.depth, memory=memory)
    found |= {"count": c.sequences}
    found |= {"mean": str(c.mean), "reached": str(c.reached), "over": str(c.over)}
    return [f"{c.sequences:>14,}  {words}" for words, c in moves]
