"""Ranks what could be read otherwise by how much it matters: every reading of every question, pairs of them,
sources.

`each_reading` compares a rule set with each reading that it does not follow; `interactions` tells which two
readings together do what neither does alone; `between_sources` compares, two by two, the variants that each
follow one document. All play pairs of games as `howmuch` does; the ranking is by the share of games that
another seat wins, then by that of games with other scores, then by that of games in which anything differed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct, field
from msgspec.structs import replace

from ...grammar.diagnostics import Report, RulesError
from ..errors import BrokenRule
from ..game import Game, load_game
from ..gamefiles import GAME_FILE, Files, entry, find_game, texts_of
from ..load import available_variants
from ..naming import RuleSetName
from ..overlay import read_stack
from ..playout import Endless, seed_of_game
from .differences import Differences, differences
from .howmuch import Measured, Plan
from .matching import Match
from .pairs import PairedPlayer, names_of
from .sameness import same_program
from .statistics import Interval, mean_interval, share_interval
from .story import find_story

Measure = Callable[[Plan, str], Measured]
"""Plays a plan; the words say what for."""


INTERRUPTED = "interrupted before anything was played"


class Item(Struct):
    """One comparison of a ranking."""

    name: str
    a: str
    b: str
    found: Differences | None = None
    same: str = ""
    """Why the two are certainly the same, if they are."""
    measured: Measured | None = None
    trouble: str = ""
    """Why they could not be compared, if they could not."""
    story: str = ""
    """What the search for a story claims, if there was one."""

    @property
    def weight(self) -> tuple[float, ...]:
        """How much it matters."""
        return self.measured.weight if self.measured is not None else (-1.0 if self.trouble else 0.0,)

    @property
    def largest(self) -> Interval | None:
        """The mean difference in points of the seat for which it is largest."""
        rows = self.measured.of("points") if self.measured is not None else []
        return max((r.difference for r in rows), key=lambda d: abs(d.value), default=None)


def ranked(items: Sequence[Item]) -> list[Item]:
    """Sorts items, what matters most first."""
    return sorted(items, key=lambda i: (tuple(-w for w in i.weight), i.name))


def readings_of(game: Game) -> Iterator[tuple[str, str]]:
    """Gets the readings that a rule set does not follow, with the names of the rule sets that do."""
    for question in game.checked().rules.arising():
        for reading in question.readings:
            if reading != question.chosen:
                name = RuleSetName.parse(game.canonical).with_setting(question.name, reading)
                yield f"{question.name}={reading}", name.canonical()


def compare_all(
    pairs: Sequence[tuple[str, str, str]], plan: Plan, measure: Measure, *, stories: bool = False
) -> list[Item]:
    """Compares rule sets two by two: (what it is called, one, the other); best first.

    Ctrl-C ends it; what was not come to then says so in its `trouble`.
    """
    items = [Item(*pair) for pair in pairs]
    for number, item in enumerate(items):
        try:
            _compare(item, plan, measure, stories=stories)
        except KeyboardInterrupt:
            if item.measured is None:
                item.trouble = INTERRUPTED
        else:
            if item.measured is None or item.measured.ended != "interrupted":
                continue
            if not item.measured.sums.pairs:
                item.measured, item.trouble = None, INTERRUPTED
        for left in items[number + 1 :]:
            left.trouble = INTERRUPTED
        break
    return ranked(items)


def _compare(item: Item, plan: Plan, measure: Measure, *, stories: bool) -> None:
    """Compares the two rule sets of an item."""
    try:
        first = load_game(item.a, players=plan.players, offers=plan.offers)
        second = load_game(item.b, players=plan.players, offers=plan.offers)
    except RulesError as error:
        item.trouble = error.diagnostics[0].message
        return
    item.found = differences(first.checked().rules, second.checked().rules)
    if item.found.none:
        item.same = item.found.items[0].idle if item.found.items else "nothing differs"
    elif same_program(first.program, second.program):
        item.same = "both run as one and the same program"
    if item.same:
        return
    item.measured = measure(replace(plan, a=item.a, b=item.b), item.name)
    if stories and item.measured.ended != "interrupted":
        item.story = find_story(first, second, seed=plan.seed, found=item.found).claim()


def each_reading(game: Game, plan: Plan, measure: Measure, *, stories: bool = False) -> list[Item]:
    """Compares a rule set with each reading that it does not follow."""
    pairs = [(name, game.name, other) for name, other in readings_of(game)]
    return compare_all(pairs, plan, measure, stories=stories)


# ---------------------------------------------------------------------------------------------------- sources


def profiles(game: str) -> list[str]:
    """Finds the variants of a game that follow one document: they set readings, name one source, and do no
    more.
    """
    found = []
    for name in available_variants(game):
        report = Report()
        named = RuleSetName.parse(f"{game}+{name}")
        folder = find_game(named.game.path, named.game.span, report)
        if folder is None:
            continue
        files = Files(report)
        root = files.yaml(folder, GAME_FILE, "game")
        overlays = read_stack(named, root, folder, files, report) if root is not None else []
        if report.has_errors:
            continue
        overlay = overlays[-1]
        cited = list(texts_of(entry(overlay.root, "sources")))
        whole = {"patch", "rules", "tables", "questions"} & overlay.root.entries.keys()
        readings = list(overlay.entries("set"))
        if len(cited) == 1 and " " not in cited[0][0] and readings and not whole:
            found.append(name)
    return found


def between_sources(game: Game, plan: Plan, measure: Measure, *, stories: bool = False) -> list[Item]:
    """Compares, two by two, the tables that each play by one document."""
    base = RuleSetName.parse(game.canonical)
    names = profiles(base.game.text)
    pairs = []
    for one, other in combinations(names, 2):
        a, b = base.with_overlay(one).canonical(), base.with_overlay(other).canonical()
        pairs.append((f"{one} – {other}", a, b))
    return compare_all(pairs, plan, measure, stories=stories)


# ----------------------------------------------------------------------------------------------- interactions


class Interaction(Struct):
    """What two readings do together that is not the sum of what each does alone."""

    one: str
    other: str
    games: int
    share: Interval
    """In what share of games the points together are not those of both added up."""
    points: list[Interval] = field(default_factory=list)
    """By seat: points under both, less those under each, plus those under neither."""
    trouble: str = ""

    @property
    def largest(self) -> Interval | None:
        """The interaction in points of the seat for which it is largest."""
        return max(self.points, key=lambda i: abs(i.value), default=None)


class _Quartet:
    """Plays rule sets that are matched with one base, each game once."""

    def __init__(self, base: str, plan: Plan) -> None:
        self.base = load_game(base, players=plan.players, offers=plan.offers)
        self.plan = plan
        self.kept: dict[str, list[tuple[int, ...] | None]] = {}

    def scores(self, name: str) -> list[tuple[int, ...] | None]:
        """Gets the scores of all games of a rule set; None where one broke off."""
        if name in self.kept:
            return self.kept[name]
        game = load_game(name, players=self.plan.players, offers=self.plan.offers)
        player = PairedPlayer(game, names_of(Match(self.base, game))[1])
        out: list[tuple[int, ...] | None] = []
        for number in range(self.plan.games):
            try:
                out.append(player.play(seed_of_game(self.plan.seed, number)).scores)
            except (BrokenRule, Endless):
                out.append(None)
        self.kept[name] = out
        return out


def interactions(
    game: Game, names: Sequence[str], plan: Plan, progress: Callable[[str], None] | None = None
) -> list[Interaction]:
    """Measures every two of some readings (`question=reading`) together; those that interact most first."""
    quartet = _Quartet(game.canonical, plan)
    none = quartet.scores(game.canonical)
    out = []
    base = RuleSetName.parse(game.canonical)
    for one, other in combinations(names, 2):
        if one.partition("=")[0] == other.partition("=")[0]:
            continue
        if progress is not None:
            progress(f"{one} with {other}")
        x, y = (base.with_setting(*n.split("=", 1)) for n in (one, other))
        both = x.with_setting(*other.split("=", 1))
        try:
            first, second, together = (quartet.scores(n.canonical()) for n in (x, y, both))
        except RulesError as error:
            out.append(Interaction(one, other, 0, share_interval(0, 0), trouble=error.diagnostics[0].message))
            continue
        out.append(_interaction(one, other, (none, first, second, together), plan.players))
        quartet.kept.pop(both.canonical(), None)
    out.sort(key=lambda i: (-i.share.value if math.isfinite(i.share.value) else 1, i.one, i.other))
    return out


def _interaction(
    one: str, other: str, scores: tuple[list[tuple[int, ...] | None], ...], players: int
) -> Interaction:
    rows: list[tuple[int, ...]] = []
    for games in zip(*scores, strict=True):
        if all(g is not None for g in games):
            none, x, y, both = games
            assert none is not None and x is not None and y is not None and both is not None
            rows.append(tuple(both[p] - x[p] - y[p] + none[p] for p in range(players)))
    n = len(rows)
    share = share_interval(n, sum(any(row) for row in rows))
    points = [mean_interval(n, sum(r[p] for r in rows), sum(r[p] ** 2 for r in rows)) for p in range(players)]
    return Interaction(one, other, n, share, points)
