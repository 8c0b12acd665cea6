"""Measures how much it matters which of two rule sets is played: many pairs of games with the same chance.

Takes a plan (two rule sets, a seed, how many pairs or how narrow an interval, who plays); gives for every
seat and every measure the rules declare the means, the mean difference within pairs with its interval, and in
what share of games anything, the scores and the winner differed. Pair number n depends on the seed and n
alone, pairs are added up in blocks of one size and in order, and whether to stop is looked at after certain
numbers of pairs: so the results are the same to the last digit however many processes share the work, whether
it was interrupted and taken up again, and whatever plays.

Stopping as soon as an interval is narrow enough makes it hold slightly less often than it says; so it is not
looked at before 1,000 pairs and after every 1,000 only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from ..errors import BrokenRule
from ..game import load_game
from ..playout import Endless, seed_of_game
from ..simulate import Backend
from .matching import Match
from .pairs import Outcome, PairedPlayer, Player, PolicyPlayer, names_of, players_of
from .statistics import LEVEL, Interval, mean_interval, share_interval

if TYPE_CHECKING:
    from .native_pairs import NativePlayer

BLOCK = 100
"""How many pairs are played and sent at a time."""
WORTH_COMPILING = 3000
"""For fewer pairs nothing is compiled unless it is asked for."""
LOOK = 1000
"""After how many pairs each it is looked whether the interval is narrow enough."""


class Plan(Struct, frozen=True):
    """What to play: everything a worker needs to know."""

    a: str
    b: str
    players: int
    games: int
    """How many pairs at most."""
    seed: int = 1
    offers: bool = True
    policies: tuple[str, ...] = ()
    """The policy of each seat; none means all choose by chance."""
    precision: float = 0.0
    """Stop when the interval of every seat's difference in points is no wider than this to either side; 0:
    never.
    """

    @property
    def who(self) -> str:
        """Who plays: a policy for all seats, or those of all seats in turn."""
        return ", ".join(self.policies if len(set(self.policies)) > 1 else self.policies[:1]) or "random"


class Sums(Struct):
    """Whole numbers added up over pairs.

    Each of `figures` has: sum in the first game, in the second, of differences (second less first), and the
    three sums of squares. The figures are the scores by seat, the wins by seat (times `whole`, ties shared),
    the number of decisions, and the measures.
    """

    pairs: int = 0
    differed: int = 0
    """In how many anything differed: who decided, what was offered, or how it came out."""
    scored: int = 0
    """In how many the scores differed."""
    won: int = 0
    """In how many other seats won."""
    broken: tuple[int, int] = (0, 0)
    """How many games of each broke a rule or did not end; their pairs are left out."""
    example: str = ""
    """What went wrong first."""
    figures: list[list[int]] = field(default_factory=list)

    def add(self, other: Sums) -> None:
        """Adds the sums of later pairs."""
        if not self.figures:
            self.figures = [[0] * 6 for _ in other.figures]
        self.pairs += other.pairs
        self.differed += other.differed
        self.scored += other.scored
        self.won += other.won
        self.broken = (self.broken[0] + other.broken[0], self.broken[1] + other.broken[1])
        self.example = self.example or other.example
        for mine, theirs in zip(self.figures, other.figures, strict=True):
            for k, value in enumerate(theirs):
                mine[k] += value

    def count(self, a: Outcome, b: Outcome, whole: int) -> None:
        """Adds a pair."""
        self.pairs += 1
        same = a.scores == b.scores and a.winners == b.winners
        self.differed += a.course != b.course or not same or a.figures != b.figures
        self.scored += a.scores != b.scores
        self.won += a.winners != b.winners
        x, y = numbers_of(a, whole), numbers_of(b, whole)
        if not self.figures:
            self.figures = [[0] * 6 for _ in x]
        for row, p, q in zip(self.figures, x, y, strict=True):
            d = q - p
            row[0] += p
            row[1] += q
            row[2] += d
            row[3] += p * p
            row[4] += q * q
            row[5] += d * d


def numbers_of(outcome: Outcome, whole: int) -> list[int]:
    """Gets the figures of a game in the order of the sums."""
    winners = outcome.winners.bit_count()
    wins = [whole // winners if outcome.winners >> p & 1 else 0 for p in range(len(outcome.scores))]
    return [*outcome.scores, *wins, outcome.decisions, *outcome.figures]


class Row(Struct, frozen=True):
    """What came out for one figure: means, and the difference of the second from the first."""

    name: str
    seat: int | None
    a: Interval
    b: Interval
    difference: Interval


class Measured(Struct):
    """What came of a measurement."""

    plan: Plan
    sums: Sums
    rows: list[Row]
    seconds: float
    ended: str
    """Why it ended: "games", "precision" or "interrupted"."""
    names: tuple[str, ...]
    """The players' names."""
    level: float = LEVEL

    @property
    def pairs(self) -> int:
        """How many pairs were counted."""
        return self.sums.pairs

    def share(self, which: str) -> Interval:
        """Gets the share of pairs in which something `differed`, was `scored` or `won` otherwise."""
        return share_interval(self.pairs, getattr(self.sums, which), level=self.level)

    def of(self, name: str) -> list[Row]:
        """Gets the rows of a figure, by seat where it is."""
        return [r for r in self.rows if r.name == name]

    @property
    def largest(self) -> Row | None:
        """The row of the seat for which the mean difference in points is largest."""
        return max(self.of(POINTS), key=lambda r: abs(r.difference.value), default=None)

    @property
    def weight(self) -> tuple[float, float, float]:
        """How much it matters, for ranking: share of other winners, of other scores, of anything."""
        n = max(1, self.pairs)
        return self.sums.won / n, self.sums.scored / n, self.sums.differed / n

    def method(self) -> str:
        """Says how the intervals are worked out."""
        return (
            f"{self.pairs:,} pairs of games with the same chance and the same choices wherever both offer them "
            f"(policy {self.plan.who}, seed {self.plan.seed}); means with {self.level:.0%} intervals by Student's t, "
            "differences within pairs; shares with Wilson's intervals"
        )


Progress = Callable[[int, float], None]
"""Is told how many pairs are done, and how many there will be (estimated where precision decides)."""


def measure(
    plan: Plan,
    *,
    jobs: int = 1,
    backend: Backend = "auto",
    progress: Progress | None = None,
    blocks: Callable[[Plan, int], Iterator[Sums]] | None = None,
    saved: tuple[int, Sums] | None = None,
    save: Callable[..., None] | None = None,
) -> Measured:
    """Plays a plan's pairs and adds them up; Ctrl-C ends it with what it has.

    `blocks` plays elsewhere (see `clusters`): gets the plan and the first block, gives the sums of each block
    in order. `saved` are blocks done before with their sums; `save` is told of blocks done. Raises
    `RulesError`.
    """
    started = time.perf_counter()
    first, sums = saved if saved is not None else (0, Sums())
    sums = msgspec.convert(msgspec.to_builtins(sums), Sums)
    total = math.ceil(plan.games / BLOCK)
    ended = "games"
    done = first
    if blocks is not None:
        work = blocks(plan, first)
    elif jobs > 1:
        work = _by_processes(plan, first, jobs, backend)
    else:
        work = _in_turn(plan, first, backend)
    try:
        if first and _narrow(plan, sums, first):
            ended = "precision"
        else:
            for part in work:
                sums.add(part)
                done += 1
                if save is not None:
                    save(done, sums)
                if progress is not None:
                    progress(min(done * BLOCK, plan.games), _expected(plan, sums))
                if _narrow(plan, sums, done):
                    ended = "precision"
                    break
                if done >= total:
                    break
        if save is not None:
            save(done, sums, now=True)
    except KeyboardInterrupt:
        ended = "interrupted"
        if save is not None:
            save(done, sums, now=True)
    finally:
        close = getattr(work, "close", None)
        if close is not None:
            close()
    return result(plan, sums, time.perf_counter() - started, ended)


def _narrow(plan: Plan, sums: Sums, done: int) -> bool:
    """Tests if it is time to look and the intervals are narrow enough."""
    if plan.precision <= 0 or done * BLOCK % LOOK or sums.pairs < 2:
        return False
    return all(
        mean_interval(sums.pairs, row[2], row[5]).half <= plan.precision
        for row in sums.figures[: plan.players]
    )


def _expected(plan: Plan, sums: Sums) -> float:
    """Estimates how many pairs there will be."""
    if plan.precision <= 0 or sums.pairs < 2:
        return plan.games
    widest = max(mean_interval(sums.pairs, row[2], row[5]).half for row in sums.figures[: plan.players])
    wanted = sums.pairs * (widest / plan.precision) ** 2
    return min(plan.games, max(LOOK, math.ceil(wanted / LOOK) * LOOK))


def result(plan: Plan, sums: Sums, seconds: float, ended: str) -> Measured:
    """Works out what sums come to."""
    match, _ = _table(plan.a, plan.b, plan.players, plan.offers, plan.policies)
    n = sums.pairs
    rows = []
    for row, (name, seat, scale) in zip(sums.figures, figure_names(match, plan), strict=False):
        intervals = [mean_interval(n, row[k], row[k + 3], scale=scale) for k in range(3)]
        rows.append(Row(name, seat, *intervals))
    return Measured(plan, sums, rows, seconds, ended, match.a.player_names)


POINTS, WINS, LENGTH = "points", "share of wins", "decisions"


def figure_names(match: Match, plan: Plan) -> list[tuple[str, int | None, int]]:
    """Gets for each figure its name, its seat if it has one, and how many times too large it is kept."""
    seats = range(plan.players)
    whole = whole_of(plan.players)
    names: list[tuple[str, int | None, int]] = [(POINTS, p, 1) for p in seats]
    names += [(WINS, p, whole) for p in seats]
    names.append((LENGTH, None, 1))
    for m in match.a.program.measures:
        names += [(m.text, p, 1) for p in seats] if m.per else [(m.text, None, 1)]
    return names


def whole_of(players: int) -> int:
    """Gets the number that shares of a win are parts of."""
    return math.lcm(*range(1, players + 1))


# ---------------------------------------------------------------------------------------------------- playing


@lru_cache(maxsize=8)
def _table(
    a: str, b: str, players: int, offers: bool, policies: tuple[str, ...]
) -> tuple[Match, tuple[Player, Player]]:
    match = Match(load_game(a, players=players, offers=offers), load_game(b, players=players, offers=offers))
    return match, players_of(match, policies)


def _players(plan: Plan, backend: Backend) -> tuple[Player | NativePlayer, Player | NativePlayer]:
    """Gets who plays the two games: native code where it is wanted, can be had and chance alone chooses."""
    few = backend == "auto" and plan.games < WORTH_COMPILING
    if backend == "python" or plan.policies or few:
        return _table(plan.a, plan.b, plan.players, plan.offers, plan.policies)[1]
    from ..native import NativeUnavailable

    try:
        return _native(plan.a, plan.b, plan.players, plan.offers)
    except NativeUnavailable:
        if backend == "c":
            raise
        return _table(plan.a, plan.b, plan.players, plan.offers, plan.policies)[1]


@lru_cache(maxsize=8)
def _native(a: str, b: str, players: int, offers: bool) -> tuple[NativePlayer, NativePlayer]:
    from .native_pairs import NativePlayer

    match, _ = _table(a, b, players, offers, ())
    names = names_of(match)
    return NativePlayer(match.a, names[0]), NativePlayer(match.b, names[1])


def play_block(plan: Plan, block: int, backend: Backend = "auto") -> Sums:
    """Plays one block of pairs."""
    match, _ = _table(plan.a, plan.b, plan.players, plan.offers, plan.policies)
    players = _players(plan, backend)
    numbers = range(block * BLOCK, min((block + 1) * BLOCK, plan.games))
    played = [
        None
        if isinstance(p, PairedPlayer | PolicyPlayer)
        else p.play_many(plan.seed, numbers.start, len(numbers))
        for p in players
    ]
    shared = _shared_measures(match)
    whole = whole_of(plan.players)
    sums = Sums()
    for number in numbers:
        seed = seed_of_game(plan.seed, number)
        outcomes: list[Outcome] = []
        for k, player in enumerate(players):
            try:
                rows = played[k]
                outcome = rows[number - numbers.start] if rows is not None else None
                outcomes.append(outcome if outcome is not None else player.play(seed))
            except (BrokenRule, Endless) as error:
                broken = list(sums.broken)
                broken[k] += 1
                sums.broken = (broken[0], broken[1])
                which = "the first" if k == 0 else "the second"
                sums.example = sums.example or f"pair {number}, {which} game: {error}"
        if len(outcomes) == 2:
            a, b = outcomes
            if shared is not None:
                b = msgspec.structs.replace(b, figures=tuple(b.figures[i] if i >= 0 else 0 for i in shared))
            sums.count(a, b, whole)
    if not sums.figures:
        sums.figures = [[0] * 6 for _ in figure_names(match, plan)]
    return sums


def _shared_measures(match: Match) -> list[int] | None:
    """Gets for each figure of the first game's measures its place in the second's (-1: none); None where all
    fit.
    """
    a, b = match.a.program, match.b.program
    if [(m.text, m.per) for m in a.measures] == [(m.text, m.per) for m in b.measures]:
        return None
    places: dict[tuple[str, bool], int] = {}
    at = 0
    for m in b.measures:
        places[m.text, m.per] = at
        at += match.players if m.per else 1
    out: list[int] = []
    for m in a.measures:
        width = match.players if m.per else 1
        found = places.get((m.text, m.per), -1)
        out += [found + k if found >= 0 else -1 for k in range(width)]
    return out


def _in_turn(plan: Plan, first: int, backend: Backend) -> Iterator[Sums]:
    for block in range(first, math.ceil(plan.games / BLOCK)):
        yield play_block(plan, block, backend)


def _by_processes(plan: Plan, first: int, jobs: int, backend: Backend) -> Iterator[Sums]:
    """Plays blocks in processes and gives them in order."""
    from collections import deque
    from concurrent.futures import Future, ProcessPoolExecutor

    _players(plan, backend)  # compiled once, not once a process
    todo = iter(range(first, math.ceil(plan.games / BLOCK)))
    waiting: deque[Future[Sums]] = deque()
    pool = ProcessPoolExecutor(jobs, initializer=leave_interrupts)
    try:
        for block in todo:
            waiting.append(pool.submit(play_block, plan, block, backend))
            if len(waiting) >= 3 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def leave_interrupts() -> None:
    """Leaves Ctrl-C to the process that shares out the work."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


# ------------------------------------------------------------------------------------------------ checkpoints


class Checkpoint(Struct):
    """What is kept on disk of a measurement under way."""

    plan: Plan
    rules: tuple[str, str]
    """The content hashes of the two rule sets."""
    blocks: int
    sums: Sums


def content_of(plan: Plan) -> tuple[str, str]:
    """Gets the content hashes of a plan's two rule sets."""
    match, _ = _table(plan.a, plan.b, plan.players, plan.offers, plan.policies)
    return match.a.content_hash, match.b.content_hash


class Keeper:
    """Keeps a checkpoint up to date, every few seconds."""

    EVERY = 5.0

    def __init__(self, path: str, plan: Plan) -> None:
        self.path, self.plan = path, plan
        self.last = time.monotonic()

    def save(self, blocks: int, sums: Sums, *, now: bool = False) -> None:
        """Writes what is done, if it is time, all is done, or `now`."""
        if now or blocks * BLOCK >= self.plan.games or time.monotonic() - self.last >= self.EVERY:
            save_checkpoint(self.path, self.plan, blocks, sums)
            self.last = time.monotonic()


def save_checkpoint(path: str, plan: Plan, blocks: int, sums: Sums) -> None:
    """Writes a checkpoint in one step."""
    from pathlib import Path

    from .. import cache

    cache.write(Path(path), msgspec.json.encode(Checkpoint(plan, content_of(plan), blocks, sums)))


def load_checkpoint(path: str, plan: Plan) -> tuple[int, Sums] | None:
    """Reads a checkpoint; None where there is no file.

    Raises `ValueError` when it is that of another plan or of other rules; more pairs or a finer precision may
    be asked for than before.
    """
    from pathlib import Path

    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    try:
        kept = msgspec.json.decode(data, type=Checkpoint)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} is no checkpoint: {error}") from None
    same = msgspec.structs.replace(kept.plan, games=plan.games, precision=plan.precision)
    if same != plan:
        raise ValueError(f"{path} is the checkpoint of another measurement: {kept.plan.a} and {kept.plan.b}")
    if kept.rules != content_of(plan):
        raise ValueError(f"the rules have changed since {path} was written")
    if kept.blocks * BLOCK > plan.games:
        raise ValueError(
            f"{path} holds {kept.blocks * BLOCK:,} pairs, more than the {plan.games:,} asked for"
        )
    return kept.blocks, kept.sums


def as_data(measured: Measured) -> dict[str, Any]:
    """Gets everything as plain data, for JSON."""
    plan, sums = measured.plan, measured.sums
    return {
        "policies": list(plan.policies) or ["random"] * plan.players,
        "seed": plan.seed,
        "pairs": sums.pairs,
        "left_out": list(sums.broken),
        "seconds": round(measured.seconds, 3),
        "ended": measured.ended,
        "level": measured.level,
        "method": measured.method(),
        "differed": _plain(measured.share("differed")),
        "scores_differed": _plain(measured.share("scored")),
        "winner_changed": _plain(measured.share("won")),
        "figures": [
            {
                "name": r.name,
                "seat": None if r.seat is None else r.seat + 1,
                "a": _plain(r.a),
                "b": _plain(r.b),
                "difference": _plain(r.difference),
            }
            for r in measured.rows
        ],
    }


def _plain(interval: Interval) -> list[float | None]:
    return [v if math.isfinite(v) else None for v in (interval.value, interval.low, interval.high)]


__all__: Sequence[str] = ["BLOCK", "Measured", "Plan", "Row", "Sums", "measure", "play_block"]
