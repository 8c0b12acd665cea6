"""`harbourmaster compare`: holds two rule sets of a game against each other."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from ..output import complain, say
from . import FINDING, OK, UsageError
from .common import add_language, add_players, add_ruleset, language_of, natural, whole

if TYPE_CHECKING:
    from ...interpreter.comparing.comparison import Comparison
    from ...interpreter.comparing.howmuch import Measured, Plan
    from ...interpreter.comparing.story import Story
    from ...interpreter.game import Game

DESCRIPTION = """
Compares two rule sets of a game in full: what differs in the rules, the smallest story in which it shows, and
how much it matters in many pairs of games with the same dice and the same choices. Where no story is found it
says how far was searched. The exit status is 0 when nothing was seen to differ, 1 when something does.
"""
EXAMPLES = """
  harbourmaster compare GAME GAME+QUESTION=READING
  harbourmaster compare GAME GAME+VARIANT --games 20000 --jobs 0 --html report.html
  harbourmaster compare GAME GAME+./mine.yaml --save story.yaml   # the story as a scenario
  harbourmaster compare GAME --each-reading --pairs     # which questions matter most
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser, "a", metavar="A")
    parser.add_argument("b", metavar="B", nargs="?", help="another rule set of the same game")
    add_players(parser, help="how many play (default: the fewest that both allow)")
    parser.add_argument("--no-offers", action="store_true", help="leave standing offers out")
    parser.add_argument("--seed", type=natural, default=1, metavar="S", help="what all chance depends on")
    story = parser.add_argument_group("the story")
    story.add_argument("--no-story", action="store_true", help="do not look for a story")
    story.add_argument(
        "--seconds", type=seconds, default=10.0, metavar="T", help="search so long at most (default: 10)"
    )
    story.add_argument(
        "--decisions", type=whole, default=120_000, metavar="N", help="search through so many decisions"
    )
    story.add_argument("--from", dest="start", metavar="FILE[:NAME]", help="start where a scenario starts")
    story.add_argument("--save", metavar="FILE", help="write the story as a scenario")
    story.add_argument("--no-board", action="store_true", help="do not draw the table")
    many = parser.add_argument_group("many at once (with A alone)")
    many.add_argument("--each-reading", action="store_true", help="rank every reading by how much it matters")
    many.add_argument("--pairs", action="store_true", help="and tell which of them act on each other")
    many.add_argument("--sources", action="store_true", help="hold the variants of one source each together")
    many.add_argument("--stories", action="store_true", help="look for a story for each, too")
    figures = parser.add_argument_group("the figures")
    add_measuring(figures)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="write everything as JSON")
    output.add_argument("--html", metavar="FILE", help="write a report as one page for the browser")
    output.add_argument("--parquet", metavar="FILE", help="write the figures as a Parquet file")
    add_language(parser)


def add_measuring(parser: ArgumentParser | _Group) -> None:
    """Adds what tells how many games are played, by whom and where."""
    parser.add_argument(
        "--games",
        type=natural,
        metavar="N",
        help="how many pairs of games (default: 2000; 0: none)",
    )
    parser.add_argument(
        "--precision",
        type=seconds,
        default=0.0,
        metavar="P",
        help="stop when all seats' points are known to ± P",
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="who plays: one for all seats, one a seat, or several that play in turn at all seats, such as "
        "random,greedy; may be repeated",
    )
    parser.add_argument(
        "--backend", choices=("auto", "python", "c"), default="auto", help="what plays (default: auto)"
    )
    parser.add_argument("--jobs", type=natural, default=1, metavar="N", help="processes; 0: one a processor")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="play on a Dask cluster")
    parser.add_argument("--checkpoint", metavar="FILE", help="keep what is done, and go on from there")


if TYPE_CHECKING:
    from argparse import _ArgumentGroup as _Group


def seconds(text: str) -> float:
    """Reads a number above 0, or 0."""
    try:
        number = float(text)
    except ValueError:
        raise ArgumentTypeError(f"got '{text}', want a number") from None
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"got {text}, want at least 0")
    return number


def run(options: Namespace) -> int:
    """Compares, and tells."""
    from ...interpreter.comparing.comparison import Comparison
    from ...interpreter.comparing.differences import differences
    from .files import check_parquet, check_writable

    check_writable("--html", options.html)
    check_parquet(options.parquet)
    if options.each_reading or options.pairs or options.sources:
        return _rank(options)
    if options.b is None:
        raise UsageError("one rule set cannot be compared", "name another, or ask for --each-reading")
    if options.games is None:
        options.games = 2000
    a, b = load_pair(options.a, options.b, options.players, offers=not options.no_offers)
    try:
        found = differences(a.checked().rules, b.checked().rules)
    except ValueError as error:
        raise UsageError(str(error)) from None
    comparison = Comparison(found)
    plans = plans_of(a, b, options)
    if not options.no_story:
        comparison.story = _story(a, b, options)
        if options.save:
            _save(comparison.story, options.save)
    same = comparison.story is not None and comparison.story.proved
    if options.games and not same:
        comparison.measured = [measure(plan, options) for plan in plans]
    _report(comparison, options)
    return FINDING if comparison.differs else OK


def _rank(options: Namespace) -> int:
    from ...interpreter.comparing.howmuch import Plan
    from ...interpreter.game import load_game
    from ..compare_ranking import FEW, rank

    if options.b is not None:
        raise UsageError("many are compared with one rule set, got two", "leave B away")
    alone = ("--save", options.save), ("--from", options.start), ("--checkpoint", options.checkpoint)
    for flag, value in (*alone, ("--parquet", options.parquet)):
        if value:
            raise UsageError(f"{flag} is for two rule sets, and here many are compared", "name both, A and B")
    game = load_game(options.a, players=options.players, offers=not options.no_offers)
    policies = sets_of_policies(options.policy, game.num_players())
    if len(policies) > 1:
        raise UsageError("got several sets of policies, want one here")
    if options.pairs and policies[0]:
        raise UsageError("--pairs is played by chance alone", "leave --policy away, or --pairs")
    games = FEW if options.games is None else max(1, options.games)
    plan = Plan(
        game.name,
        game.name,
        game.num_players(),
        games,
        options.seed,
        game.offers,
        policies[0],
        options.precision,
    )
    items = rank(game, plan, options)
    return FINDING if any(i.measured is not None and i.measured.sums.differed for i in items) else OK


def load_pair(a: str, b: str, players: int | None, *, offers: bool) -> tuple[Game, Game]:
    """Loads two rule sets of a game for one number of players: the fewest that both allow, if none is
    named."""
    from ...interpreter.game import load_game

    first = load_game(a, players=players, offers=offers)
    second = load_game(b, players=players, offers=offers)
    if first.checked().rules.game != second.checked().rules.game:
        raise UsageError(
            f"'{a}' is a rule set of {first.checked().rules.game}, '{b}' of {second.checked().rules.game}",
            "name two rule sets of one game",
        )
    if players is None and first.num_players() != second.num_players():
        least = max(first.num_players(), second.num_players())
        first, second = load_game(a, players=least, offers=offers), load_game(b, players=least, offers=offers)
    return first, second


def _story(a: Game, b: Game, options: Namespace) -> Story:
    from ...interpreter.comparing.story import find_story

    language = language_of(options)
    start = None
    if options.start:
        from ...interpreter.comparing.starting import start_from

        start = start_from(options.start, a, b)
    return find_story(
        a,
        b,
        seed=options.seed,
        decisions=options.decisions,
        seconds=options.seconds,
        beginning=start,
        language=language,
    )


def _save(story: Story, path: str) -> None:
    from pathlib import Path

    from ...interpreter.comparing.scenario import scenario_text

    text = scenario_text(story)
    if not text:
        reason = "no story was found" if not story.parts else "a scenario cannot tell such a story"
        complain(f"nothing was written to {path}: {reason}")
        return
    Path(path).write_text(text, "utf-8")


def plans_of(a: Game, b: Game, options: Namespace) -> list[Plan]:
    """Makes the plans of what is to be measured, one for each set of policies."""
    from ...interpreter.comparing.howmuch import Plan

    plans = []
    for policies in sets_of_policies(options.policy, a.num_players()):
        plans.append(
            Plan(
                a=a.name,
                b=b.name,
                players=a.num_players(),
                games=options.games,
                seed=options.seed,
                offers=not options.no_offers,
                policies=policies,
                precision=options.precision,
            )
        )
    return plans


def sets_of_policies(named: list[str] | None, players: int) -> list[tuple[str, ...]]:
    """Reads sets of policies: one for all seats, one a seat with commas between, or several for all seats in turn."""
    from .policies import policies_of, split_policies

    sets: list[tuple[str, ...]] = []
    for text in named or ["random"]:
        pieces = split_policies(text)
        sets += (
            [policies_of(text, players)]
            if len(pieces) == players
            else [policies_of(p, players) for p in pieces]
        )
    if any(name.startswith("exec:") for names in sets for name in names):
        raise UsageError(
            "programs of their own cannot be compared with here", "'simulate' and 'tournament' take them"
        )
    return sets


def measure(plan: Plan, options: Namespace, *, label: str = "") -> Measured:
    """Plays a plan's pairs, with progress at a terminal."""
    from ...interpreter.comparing import howmuch

    path = options.checkpoint
    saved = None
    if path:
        try:
            saved = howmuch.load_checkpoint(path, plan)
        except ValueError as error:
            raise UsageError(str(error), "name another file, or remove it") from None
    save = None
    if path:
        save = howmuch.Keeper(path, plan).save
    blocks = None
    if options.scheduler:
        from ...interpreter.comparing.clusters import blocks_on

        blocks = blocks_on(options.scheduler, options.backend)
    with Bar(label) as bar:
        return howmuch.measure(
            plan,
            jobs=options.jobs or os.cpu_count() or 1,
            backend=options.backend,
            progress=bar.update if bar.shows else None,
            blocks=blocks,
            saved=saved,
            save=save,
        )


class Bar:
    """A line at the terminal that tells how far it is; shown after a second."""

    def __init__(self, label: str = "") -> None:
        self.label = f"{label}: " if label else ""
        self.shows = sys.stderr.isatty() and sys.stdout.isatty()
        self.shown = False

    def __enter__(self) -> Bar:
        import time

        self.start = time.monotonic()
        self.first: int | None = None
        return self

    def update(self, done: int, total: float) -> None:
        """Tells how many are done of how many, and how long it will take."""
        import time

        if self.first is None:
            self.first = done
        passed = time.monotonic() - self.start
        if passed < 1 or done <= self.first:
            return
        self.shown = True
        left = passed * (total - done) / (done - self.first)
        sys.stderr.write(
            f"\r\x1b[K{self.label}{done:,} of {total:,.0f} pairs, {left:,.0f} s left (Ctrl-C ends it)"
        )
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _report(comparison: Comparison, options: Namespace) -> None:
    language = language_of(options)
    if options.html:
        from pathlib import Path

        from ..compare_html import page

        Path(options.html).write_text(page(comparison, language), "utf-8")
    if options.parquet:
        from ...interpreter.comparing.tables import write_parquet

        write_parquet(options.parquet, comparison.measured)
    if options.json:
        import json

        say(json.dumps(comparison.as_data(), ensure_ascii=False, indent=2))
        return
    from ..compare_report import tell

    tell(comparison, language, board=not options.no_board)
