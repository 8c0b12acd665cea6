"""`harbourmaster tournament`: plays policies against each other and rates them."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import complain, count, say, table
from .common import add_players, add_ruleset, natural, whole

if TYPE_CHECKING:
    from ...interpreter.bots.tournament import Pair, Standing, Table

DESCRIPTION = """
Plays policies against each other, each line-up once in every rotation of the seats and with the same chance,
and tells how they did: Elo ratings from who did better than whom, shares of wins, points, and how often each
was ahead of each other, with intervals of 95 %. Ctrl-C ends it early: it tells of the games that were over.
Policies: random, greedy[:rollouts for each option], montecarlo[:milliseconds],
mcts[:milliseconds]; 500r in place of milliseconds is a budget of rollouts, with which the same seed gives the
same results everywhere. exec:COMMAND is a program of your own that speaks the protocol of
interpreter/PROTOCOL.md (exec:2000:COMMAND with milliseconds a choice).
"""
EXAMPLES = """
  harbourmaster tournament GAME --players 4 --policy montecarlo:100,greedy,random --games 40
  harbourmaster tournament GAME --policy mcts:200r,montecarlo:200r --games 100 --jobs 4 --json
  harbourmaster tournament GAME --policy random --policy 'exec:python3 bot.py' --games 20
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    add_players(parser)
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAMES",
        help="who plays, separated by commas (default: montecarlo,greedy,random)",
    )
    parser.add_argument("--games", type=whole, default=40, metavar="N", help="how many games (default: 40)")
    parser.add_argument("--seed", type=natural, default=1, metavar="S", help="what all chance depends on")
    parser.add_argument("--no-offers", action="store_true", help="leave standing offers out")
    parser.add_argument(
        "--backend", choices=("auto", "python"), default="auto", help="what plays rollouts (default: auto)"
    )
    parser.add_argument(
        "--jobs", type=natural, default=1, metavar="N", help="how many processes; 0: one a processor"
    )
    parser.add_argument("--json", action="store_true", help="write the results as JSON")


def run(options: Namespace) -> int:
    """Plays, and tells how they did."""
    from ...interpreter.bots.tournament import Plan, play_tournament
    from ...interpreter.game import load_game
    from ..cli import INTERRUPTED
    from . import FINDING, OK, UsageError
    from .policies import check_policy, split_policies
    from .simulate import progress_of, tell_faults

    texts = options.policy or ["montecarlo,greedy,random"]
    names = [check_policy(name) for text in texts for name in split_policies(text)]
    if len(set(names)) < 2:
        raise UsageError("got 1 policy, want 2 or more that differ", "as in --policy montecarlo,random")
    game = load_game(options.ruleset, players=options.players, offers=not options.no_offers)
    plan = Plan(
        name=game.name,
        players=game.num_players(),
        policies=tuple(names),
        games=options.games,
        seed=options.seed,
        offers=not options.no_offers,
        native=False if options.backend == "python" else None,
    )
    with progress_of(options.games, quiet=options.json) as progress:
        found = play_tournament(plan, jobs=options.jobs or os.cpu_count() or 1, progress=progress, game=game)
    if options.json:
        import json

        say(json.dumps(found.as_dict(), ensure_ascii=False, indent=2))
    else:
        _tell(found)
    for played in found.problems:
        complain(f"game {played.number} has no result: {played.problem}")
    tell_faults(found.faults)
    if found.interrupted:
        return INTERRUPTED
    return FINDING if found.problems else OK


def _tell(found: Table) -> None:
    plan = found.plan
    who = count(plan.players, "player")
    say(
        f"{found.ruleset} ({found.content_hash}), {who}, seed {plan.seed}: "
        f"{count(found.games, 'game')} in {found.seconds:.1f} s"
        + (f", then interrupted; {plan.games:,} were to be played" if found.interrupted else "")
    )
    say()
    alone = plan.players == 1
    head = [
        "",
        "Elo",
        "from",
        "to",
        "seats",
        *([] if alone else ["wins", "from", "to"]),
        "points",
        "±",
        "ms a choice",
    ]
    rows = [_row(s, alone=alone) for s in found.standings]
    table(head, rows, right=range(1, len(head)))
    say()
    met = [_met(p) for p in found.pairs]
    table(["", "", "ahead", "level", "behind", "share", "from", "to"], met, right=range(2, 8))


def _met(p: Pair) -> list[str]:
    low, high = p.interval()
    return [
        p.policy,
        p.other,
        *(f"{n:,}" for n in (p.ahead, p.level, p.behind)),
        *(f"{share:.1%}" for share in (p.share, low, high)),
    ]


def _row(s: Standing, *, alone: bool) -> list[str]:
    low, high = s.win_interval()
    wins = [] if alone else [f"{s.win_share:.1%}", f"{low:.1%}", f"{high:.1%}"]
    half = s.mean_half_width()
    return [
        s.policy,
        f"{s.rating.elo:+.0f}",
        f"{s.rating.low:+.0f}",
        f"{s.rating.high:+.0f}",
        f"{s.seats}",
        *wins,
        f"{s.mean:,.1f}",
        f"{half:,.1f}" if s.seats > 1 else "–",
        f"{1000 * s.seconds / s.choices:,.1f}" if s.choices else "–",
    ]
