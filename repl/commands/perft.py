"""`harbourmaster perft`: counts sequences of choices, to hold two referees against each other."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..output import say
from . import UsageError
from .common import add_players, add_ruleset, natural, whole

if TYPE_CHECKING:
    from ...interpreter.game import State
    from ...interpreter.scenario_files import Case

DESCRIPTION = """
Counts the sequences of N decisions from a position: two referees that offer the same options at the same time
give the same counts. Chance comes out as the scenario or the seed says and is not counted; a decision with a
single option is taken without asking and not counted either. Without a scenario it counts from the start of
the game.
"""
EXAMPLES = """
  harbourmaster perft GAME --seed 1 --depth 3
  harbourmaster perft GAME --scenario FILE --depth 2 --divide     # the count under each move, to bisect
  harbourmaster perft GAME --scenario FILE --name 'a part of its name' --depth 4 --no-offers
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument("--scenario", metavar="FILE", help="count from where these scenarios stand")
    parser.add_argument("--name", metavar="TEXT", help="only scenarios with this in their names")
    parser.add_argument("--depth", type=natural, required=True, metavar="N", help="how many decisions")
    parser.add_argument("--no-offers", action="store_true", help="leave standing offers out")
    parser.add_argument("--divide", action="store_true", help="count under each option")
    parser.add_argument("--seed", type=whole, metavar="S", help="what chance depends on, without a scenario")
    add_players(parser)
    parser.add_argument("--json", action="store_true", help="write the counts as JSON")


def run(options: Namespace) -> int:
    """Counts, from each position meant."""
    from ...interpreter.perft import divide, perft

    results: list[dict[str, object]] = []
    for title, state in _positions(options):
        start = time.perf_counter()
        moves = divide(state, options.depth) if options.divide else []
        total = sum(n for _, n in moves) if options.divide else perft(state, options.depth)
        seconds = time.perf_counter() - start
        if options.json:
            found: dict[str, object] = {
                "name": title,
                "ruleset": state.game.canonical,
                "hash": state.game.content_hash,
            }
            found |= {"depth": options.depth, "count": total, "seconds": round(seconds, 6)}
            if options.divide:
                found["moves"] = dict(moves)
            results.append(found)
            continue
        for words, n in moves:
            say(f"{n:>14,}  {words}")
        say(f"{total:>14,}  {title} (depth {options.depth}, {seconds:.2f} s)")
    if options.json:
        import json

        say(json.dumps(results, ensure_ascii=False, indent=2))
    return 0


def _positions(options: Namespace) -> Iterator[tuple[str, State]]:
    """Makes the positions to count from, each with a name."""
    from ...interpreter.game import load_game

    if options.scenario is None:
        if options.name is not None:
            raise UsageError("--name chooses scenarios, and no --scenario is given")
        game = load_game(options.ruleset, players=options.players, offers=not options.no_offers)
        state = game.new_initial_state(1 if options.seed is None else options.seed)
        yield f"{game.canonical}, {game.num_players()} players", state
        return
    if options.seed is not None:
        raise UsageError("--seed and --scenario exclude each other", "a scenario has chance of its own")
    for case in _cases(options.scenario, options.name):
        if options.players is not None and options.players != case.players:
            continue
        yield case.title, _state(case, options)


def _cases(file: str, name: str | None) -> list[Case]:
    from pathlib import Path

    from ...grammar.diagnostics import suggestion
    from ...interpreter.scenario_files import load_scenarios

    scenarios = load_scenarios(Path(file))
    cases = [s.cases[0] for s in scenarios]
    if name is None:
        return cases
    exact = [c for s in scenarios for c in s.cases if c.title == name]
    found = exact or [c for c in cases if name.casefold() in c.title.casefold()]
    if not found:
        help = suggestion(name, [c.title for c in cases], what="its scenarios are")
        raise UsageError(f"no scenario of '{file}' has '{name}' in its name", help)
    return found


def _state(case: Case, options: Namespace) -> State:
    """Plays a scenario's set-up and moves: under the rules named, or those of the scenario where it says
    more."""
    from ...interpreter.game import load_game
    from ...interpreter.scenarios import state_of

    own = case.rules.split("+")[0] == options.ruleset and "+" in case.rules
    name = case.rules if own else options.ruleset
    offers = case.offers and not options.no_offers
    return state_of(case, game=load_game(name, players=case.players, offers=offers))
