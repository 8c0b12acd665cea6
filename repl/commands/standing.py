"""Positions that commands start from: the beginning of a game, a scenario, a moment of a record."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..output import count
from . import UsageError
from .common import add_players, natural, whole

if TYPE_CHECKING:
    from ...interpreter.game import State
    from ...interpreter.scenario_files import Case


def add_positions(parser: ArgumentParser, *, seed: str, record: bool = True) -> None:
    """Adds what says where to start; `seed` explains what a seed does where nothing else is said."""
    parser.add_argument("--scenario", metavar="FILE", help="start where these scenarios stand")
    parser.add_argument("--name", metavar="TEXT", help="only scenarios with this in their names")
    if record:
        parser.add_argument("--record", metavar="FILE", help="start in this recorded game")
        parser.add_argument(
            "--at", type=natural, metavar="N", help="after choice N of the record (default: its end)"
        )
    parser.add_argument("--seed", type=whole, metavar="S", help=seed)
    parser.add_argument("--no-offers", action="store_true", help="leave standing offers out")
    add_players(parser)


def positions_of(options: Namespace, *, default_seed: int | None) -> Iterator[tuple[str, State]]:
    """Makes the positions to start from, each with a name.

    Without seed, scenario and record the game begins with `default_seed`; if that is None, chance stands open.
    """
    from ...interpreter.game import load_game

    record = getattr(options, "record", None)
    given = [
        name
        for name, value in (("--seed", options.seed), ("--scenario", options.scenario), ("--record", record))
        if value is not None
    ]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other", "each says where to start")
    if options.name is not None and options.scenario is None:
        raise UsageError("--name chooses scenarios, and no --scenario is given")
    if record is None and getattr(options, "at", None) is not None:
        raise UsageError("--at is a place in a record, and no --record is given")
    if record is not None:
        yield _recorded(options, record)
    elif options.scenario is not None:
        for case in _cases(options.scenario, options.name):
            if options.players is None or options.players == case.players:
                yield case.title, _state(case, options)
    else:
        game = load_game(options.ruleset, players=options.players, offers=not options.no_offers)
        seed = default_seed if options.seed is None else options.seed
        yield f"{game.canonical}, {count(game.num_players(), 'player')}", game.new_initial_state(seed)


def _recorded(options: Namespace, file: str) -> tuple[str, State]:
    """Replays a record, which says itself under which rules and by how many it was played."""
    from itertools import islice

    from ...interpreter.records import load_record, replay

    record = load_record(file)
    if record.rules.split("+")[0] != options.ruleset.split("+")[0]:
        raise UsageError(f"the record is of {record.rules}, got {options.ruleset}")
    total = len(record.choices())
    at = total if options.at is None else options.at
    if at > total:
        raise UsageError(f"the record has {count(total, 'choice')}, got --at {at}")
    *_, state = islice(replay(record), at + 1)
    return f"{record.rules} after {count(at, 'choice')}", state


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
    """Plays a scenario's set-up and moves: under the rules named, or those of the scenario where it says more."""
    from ...interpreter.game import load_game
    from ...interpreter.scenarios import state_of

    own = case.rules.split("+")[0] == options.ruleset and "+" in case.rules
    name = case.rules if own else options.ruleset
    offers = case.offers and not options.no_offers
    return state_of(case, game=load_game(name, players=case.players, offers=offers))
