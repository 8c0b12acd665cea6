"""`harbourmaster simulate`: plays many games by themselves and adds up what comes out."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ..output import complain, count, say, table
from .common import add_language, add_players, add_ruleset, language_of, natural, whole

if TYPE_CHECKING:
    from ...interpreter.game import Game
    from ...interpreter.simulate import Result

DESCRIPTION = """
Plays games in which every player chooses each legal option as likely as any other, or plays by the policy
named for his seat, and tells how they came out: points and share of wins by seat (a tie shared equally), and
the measures that the rules declare. The same seed gives the same results, however many processes share the
work and whichever backend plays (but for policies that think for a time, as montecarlo:200; montecarlo:500r
thinks for 500 rollouts). The rules' invariants are tested after each game.

Policies: random, greedy[:rollouts for each option], montecarlo[:milliseconds], mcts[:milliseconds], and
exec:COMMAND for a program of your own that speaks the protocol of interpreter/PROTOCOL.md
(exec:2000:COMMAND with milliseconds a choice). One is for all seats, several with commas are for one seat
each, SEAT=POLICY is for a seat by its player's name or its number.
"""
EXAMPLES = """
  harbourmaster simulate GAME --players 4 --games 10000 --seed 1
  harbourmaster simulate GAME+VARIANT --games 10000 --jobs 8      # the same games under a variant
  harbourmaster simulate GAME --policy greedy,random,random --games 20 --parquet figures.parquet
  harbourmaster simulate GAME --policy 1=mcts:200r --policy 'Bo=exec:python3 bot.py' --games 20
  harbourmaster simulate GAME --no-offers --race --json           # for measuring speed
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    add_players(parser)
    parser.add_argument(
        "--games", type=whole, default=1000, metavar="N", help="how many games (default: 1000)"
    )
    parser.add_argument(
        "--seed", type=natural, default=1, metavar="S", help="what the chance of the run depends on"
    )
    parser.add_argument("--no-offers", action="store_true", help="leave standing offers out")
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="who plays: one for all seats, one a seat with commas, or SEAT=POLICY (default: random)",
    )
    parser.add_argument(
        "--backend", choices=("auto", "python", "c"), default="auto", help="what plays (default: auto)"
    )
    parser.add_argument(
        "--jobs", type=natural, default=1, metavar="N", help="how many processes; 0: one a processor"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--check", action="store_true", help="test the invariants after each game (as is done anyway)"
    )
    group.add_argument("--race", action="store_true", help="do not test the invariants")
    parser.add_argument("--json", action="store_true", help="write the results as JSON")
    parser.add_argument("--parquet", metavar="FILE", help="write the figures as a Parquet file")
    add_language(parser)


def run(options: Namespace) -> int:
    """Plays, and tells how it came out."""
    from ...interpreter.game import load_game
    from ...interpreter.native import NativeUnavailable
    from ...interpreter.simulate import Plan, simulate
    from . import UsageError
    from .files import check_parquet
    from .policies import players_for, seated_policies

    check_parquet(options.parquet)
    game = load_game(options.ruleset, players=options.players, offers=not options.no_offers)
    wanted = players_for(options.policy or (), game)
    if options.players is None and wanted != game.num_players():
        game = load_game(options.ruleset, players=wanted, offers=not options.no_offers)
    plan = Plan(
        name=game.name,
        players=game.num_players(),
        games=options.games,
        seed=options.seed,
        offers=not options.no_offers,
        backend=options.backend,
        policies=seated_policies(options.policy or (), game),
        check=not options.race,
    )
    jobs = options.jobs or os.cpu_count() or 1
    try:
        with progress_of(options.games, quiet=options.json) as progress:
            result = simulate(plan, jobs=jobs, progress=progress, game=game)
    except NativeUnavailable as error:
        raise UsageError(str(error), "leave '--backend c' out: the Python backend gives the same") from None
    if result.note:
        complain(f"note: {result.note}")
    tell_faults(result.faults)
    if options.parquet:
        from ...interpreter.simulated import write_parquet

        write_parquet(options.parquet, result, game)
    if options.json:
        import json

        say(json.dumps(result.as_dict(), ensure_ascii=False, indent=2))
    else:
        _tell(result, game, language_of(options))
    return 0


_FAULTS_TOLD = 10


def tell_faults(faults: Sequence[str]) -> None:
    """Tells what went wrong with players that are programs of their own."""
    for fault in faults[:_FAULTS_TOLD]:
        complain(f"note: {fault}")
    if len(faults) > _FAULTS_TOLD:
        complain(f"note: and {len(faults) - _FAULTS_TOLD:,} more such faults")


def progress_of(games: int, *, quiet: bool) -> AbstractContextManager[Callable[[int], None] | None]:
    """Gets what shows how far a run is, at a terminal; it is told how many games are done."""
    if quiet or not sys.stderr.isatty() or not sys.stdout.isatty():
        return nullcontext()
    return _Bar(games)


class _Bar:
    """A line at the terminal that tells how far it is; shown after a second."""

    def __init__(self, games: int) -> None:
        self.games = games

    def __enter__(self) -> Callable[[int], None]:
        import time

        self.start = time.monotonic()
        self.shown = False
        return self._update

    def _update(self, done: int) -> None:
        import time

        seconds = time.monotonic() - self.start
        if seconds < 1:
            return
        self.shown = True
        left = seconds * (self.games - done) / done
        sys.stderr.write(f"\r\x1b[K{done:,} of {self.games:,} games, {left:,.0f} s left")
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _tell(result: Result, game: Game, language: str) -> None:
    data = result.as_dict()
    who = count(game.num_players(), "player")
    say(
        f"{result.ruleset} ({result.content_hash}), {who}, seed {result.plan.seed}: "
        f"{count(data['games'], 'game')} in {result.seconds:.2f} s"
    )
    say(
        f"{_rate(data['games_per_second'])} games and {_rate(data['decisions_per_second'])} decisions a second, "
        f"{data['decisions_per_game']:.2f} decisions a game, {result.backend} backend"
        + (f", rollouts on the {result.rollouts} backend" if result.rollouts else "")
    )
    if data["endless"]:
        limit = game.program.decision_budget
        say(f"{count(data['endless'], 'game')} more did not end within {limit:,} decisions")
    labels = game.labels(language)
    measures = {labels.sentence(text): mean for text, mean in result.measures().items()}
    whole_game = {text: mean for text, mean in measures.items() if not isinstance(mean, list)}
    for text, mean in whole_game.items():
        say(f"{text}: {mean:,.3f}")
    say()
    by_seat = {text: means for text, means in measures.items() if isinstance(means, list)}
    rows = [
        ["points", *_figures(result.returns())],
        ["  their deviation", *_figures(result.deviations())],
        *([] if game.num_players() == 1 else [["share of wins", *(f"{s:.1%}" for s in result.win_shares())]]),
        *([text, *_figures(means)] for text, means in by_seat.items()),
    ]
    table(["", *game.player_names], rows, right=range(1, game.num_players() + 1))


def _rate(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _figures(numbers: list[float]) -> list[str]:
    return [f"{number:,.2f}" for number in numbers]
