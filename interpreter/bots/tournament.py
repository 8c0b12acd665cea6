"""Plays policies against each other: seats rotated, the same chance in every rotation.

A line-up seats the policies one after another, from another one each time; it is played once in every rotation, all with
one seed, so that nobody's seat or luck counts more than another's. Where there are more seats than policies they come
round again; where there are fewer, line-ups take turns. A game for one is played by each policy with the same seed, and
those count as having met.

With budgets of rollouts a tournament depends on its seed alone, however many processes share it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

from ..errors import PlayError
from ..game import Game, load_game
from ..playout import Endless, Random, seed_of_game
from ..simulate import choose, uniform
from .elo import Meeting, Rating, ratings
from .policy import Policy, ThinkingPolicy, make_policy

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..game import State


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play: all that a worker process needs to know."""

    name: str
    players: int
    policies: tuple[str, ...]
    games: int
    seed: int = 1
    offers: bool = True
    native: bool | None = None

    def line_up(self, number: int) -> tuple[int, list[int]]:
        """Gets a game's seed and who plays each seat, as numbers of policies."""
        count = len(self.policies)
        if self.players == 1:
            return seed_of_game(self.seed, number // count), [number % count]
        round_, turn = divmod(number, self.players)
        row = [(round_ + i) % count for i in range(self.players)]
        return seed_of_game(self.seed, round_), row[-turn:] + row[:-turn] if turn else row


@dataclass(frozen=True, slots=True)
class Played:
    """How a game came out: who sat where, the scores, the winners, and for each seat choices made and seconds taken."""

    number: int
    seats: tuple[int, ...]
    scores: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()
    choices: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()
    problem: str = ""
    """Why there is no result."""
    faults: tuple[str, ...] = ()
    """What went wrong with players that are programs of their own."""


@dataclass(slots=True)
class Standing:
    """How one policy did."""

    policy: str
    seats: int = 0
    """How many seats it played in all games together."""
    wins: float = 0.0
    points: int = 0
    points_squared: int = 0
    choices: int = 0
    seconds: float = 0.0
    rating: Rating = field(default_factory=lambda: Rating(0.0, 0.0, 0.0))

    @property
    def win_share(self) -> float:
        """The share of its seats that won, a shared win counted in parts."""
        return self.wins / self.seats if self.seats else 0.0

    def win_interval(self) -> tuple[float, float]:
        """Gets the 95 % interval of the share of wins (Wilson)."""
        return interval(self.win_share, self.seats)

    @property
    def mean(self) -> float:
        """Its mean score."""
        return self.points / self.seats if self.seats else 0.0

    def mean_half_width(self) -> float:
        """Gets the half width of the 95 % interval of its mean score."""
        n = self.seats
        if n < 2:
            return float("inf")
        return 1.96 * sqrt(max(0.0, self.points_squared / n - self.mean**2) / (n - 1))


@dataclass(slots=True)
class Pair:
    """How one policy did against another: every two of their seats in a game have met."""

    policy: str
    other: str
    games: int = 0
    """In how many games they met."""
    ahead: int = 0
    level: int = 0
    behind: int = 0

    @property
    def share(self) -> float:
        """The first one's share of the meetings, a level one counted as half."""
        met = self.ahead + self.level + self.behind
        return (self.ahead + self.level / 2) / met if met else 0.5

    def interval(self) -> tuple[float, float]:
        """Gets the 95 % interval of its share; meetings of one game count as one."""
        return interval(self.share, self.games)


def interval(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Gets the interval of a share among `n` (Wilson 1927); of 95 % with the usual `z`."""
    if not n:
        return 0.0, 1.0
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Table:
    """What came out of a tournament."""

    plan: Plan
    ruleset: str
    content_hash: str
    standings: list[Standing]
    pairs: list[Pair]
    """Every two policies that met, in the order of the standings."""
    games: int
    problems: list[Played]
    seconds: float
    faults: list[str] = field(default_factory=list)
    """What went wrong with players that are programs of their own."""
    interrupted: bool = False
    """Whether Ctrl-C came before all games were played."""

    def as_dict(self) -> dict[str, Any]:
        """Gets everything as plain data, for JSON."""
        return {
            "ruleset": self.ruleset,
            "hash": self.content_hash,
            "players": self.plan.players,
            "offers": self.plan.offers,
            "seed": self.plan.seed,
            "games": self.games,
            "without_result": [{"game": p.number, "why": p.problem} for p in self.problems],
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "faults": self.faults,
            "policies": [
                {
                    "policy": s.policy,
                    "seats": s.seats,
                    "wins": s.wins,
                    "win_share": s.win_share,
                    "win_share_interval": list(s.win_interval()),
                    "mean_score": s.mean,
                    "mean_score_half_width": s.mean_half_width() if s.seats > 1 else None,
                    "elo": round(s.rating.elo, 1),
                    "elo_interval": [round(s.rating.low, 1), round(s.rating.high, 1)],
                    "choices": s.choices,
                    "milliseconds_a_choice": round(1000 * s.seconds / s.choices, 3) if s.choices else None,
                }
                for s in self.standings
            ],
            "pairs": [
                {
                    "policy": p.policy,
                    "other": p.other,
                    "games": p.games,
                    "ahead": p.ahead,
                    "level": p.level,
                    "behind": p.behind,
                    "share": p.share,
                    "share_interval": list(p.interval()),
                }
                for p in self.pairs
            ],
        }


def play_tournament(
    plan: Plan, *, jobs: int = 1, progress: Callable[[int], None] | None = None, game: Game | None = None
) -> Table:
    """Plays a tournament, in `jobs` processes; `progress` is told how many games are done.

    After Ctrl-C it tells of the games that were over by then; if none was, `KeyboardInterrupt` is raised.
    """
    if game is None:
        game = load_game(plan.name, players=plan.players, offers=plan.offers)
    start = time.perf_counter()
    played: list[Played] = []
    interrupted = False
    try:
        for one in _games(plan, game, jobs):
            played.append(one)
            if progress is not None:
                progress(len(played))
    except KeyboardInterrupt:
        if not played:
            raise
        interrupted = True
    played.sort(key=lambda g: g.number)
    results = [g for g in played if not g.problem]
    meetings = _meetings(plan, results)
    standings = _standings(plan, results, meetings)
    return Table(
        plan,
        game.canonical,
        game.content_hash,
        standings,
        _pairs(plan, meetings, [s.policy for s in standings]),
        len(results),
        [g for g in played if g.problem],
        time.perf_counter() - start,
        [f"game {g.number}: {fault}" for g in played for fault in g.faults],
        interrupted,
    )


# -------------------------------------------------------------------------------------------------------- playing


def _games(plan: Plan, game: Game, jobs: int) -> Iterator[Played]:
    if jobs <= 1:
        players = Seated(game, plan)
        for number in range(plan.games):
            yield players.play(number)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    Seated(game, plan).warm_up()  # what is compiled now is not compiled once more in each process
    pool = ProcessPoolExecutor(jobs, initializer=_begin_process, initargs=(plan,))
    try:
        futures: list[Future[Played]] = [pool.submit(_in_process, n) for n in range(plan.games)]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool:
        time.sleep(0.2)  # where it was Ctrl-C that ended the workers, its own exception comes now
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_here: list[Seated] = []


def _begin_process(plan: Plan) -> None:
    """Makes a worker ready, and lets Ctrl-C end it at once, where it is not ignored."""
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    game = load_game(plan.name, players=plan.players, offers=plan.offers)
    _here[:] = [Seated(game, plan)]


def _in_process(number: int) -> Played:
    return _here[0].play(number)


class Seated:
    """Plays the games of a plan."""

    def __init__(self, game: Game, plan: Plan) -> None:
        self.game = game
        self.plan = plan
        self.policies: list[Policy] = [
            make_policy(name, native=plan.native, programs=True) for name in plan.policies
        ]

    def warm_up(self) -> None:
        """Gets compiled what the policies need."""
        from .rollouts import Roller

        self.game.machine()
        if any(isinstance(policy, ThinkingPolicy) for policy in self.policies):
            _ = Roller(self.game, native=self.plan.native, patience=None).backend

    def play(self, number: int) -> Played:
        """Plays one game."""
        seed, seats = self.plan.line_up(number)
        players = self.game.num_players()
        choices, seconds = [0] * players, [0.0] * players

        def timed(policy: Policy) -> Callable[[State, int, Random], int | None]:
            if policy.name == "random":
                return uniform

            def chooses(state: State, seat: int, numbers: Random) -> int | None:
                start = time.perf_counter()
                action = policy.choose(state, seat, numbers)
                choices[seat] += 1
                seconds[seat] += time.perf_counter() - start
                return action

            return chooses

        policies = [timed(self.policies[p]) for p in seats]
        try:
            state = self._to_the_end(seed, policies)
        except PlayError as error:
            return Played(number, tuple(seats), problem=str(error), faults=self._faults())
        return Played(
            number,
            tuple(seats),
            tuple(state.scores()),
            tuple(state.winners()),
            tuple(choices),
            tuple(seconds),
            faults=self._faults(),
        )

    def _faults(self) -> tuple[str, ...]:
        """Takes out what went wrong with players that are programs of their own."""
        found = []
        for policy in self.policies:
            noted: list[str] = getattr(policy, "faults", [])
            found += noted
            noted.clear()
        return tuple(found)

    def _to_the_end(self, seed: int, policies: Sequence[Callable[[State, int, Random], int | None]]) -> State:
        state = self.game.new_initial_state(seed)
        numbers = Random(seed)
        limit = self.game.program.decision_budget
        for _ in range(limit):
            if state.is_terminal():
                return state
            state.apply_action(choose(state, policies, numbers))
        if state.is_terminal():
            return state
        raise Endless(limit)


# ------------------------------------------------------------------------------------------------------- counting


def _names(plan: Plan) -> tuple[list[str], list[int]]:
    """Gets the different policies, and for each of the plan's the number among these."""
    names = list(dict.fromkeys(plan.policies))
    return names, [names.index(name) for name in plan.policies]


def _standings(plan: Plan, games: Sequence[Played], meetings: Sequence[Sequence[Meeting]]) -> list[Standing]:
    names, of = _names(plan)
    table = [Standing(name) for name in names]
    for game in games:
        for seat, policy in enumerate(game.seats):
            own = table[of[policy]]
            win = 1 / len(game.winners) if seat in game.winners and plan.players > 1 else 0.0
            own.seats += 1
            own.wins += win
            own.points += game.scores[seat]
            own.points_squared += game.scores[seat] ** 2
            own.choices += game.choices[seat]
            own.seconds += game.seconds[seat]
    found = ratings(meetings, len(names), plan.seed)
    for standing, rating in zip(table, found, strict=True):
        standing.rating = rating
    return sorted(table, key=lambda s: -s.rating.elo)


def _pairs(plan: Plan, meetings: Sequence[Sequence[Meeting]], order: Sequence[str]) -> list[Pair]:
    names, _ = _names(plan)
    found: dict[tuple[int, int], Pair] = {}
    for game in meetings:
        met: set[tuple[int, int]] = set()
        for a, b, share in game:
            first, second = (a, b) if order.index(names[a]) < order.index(names[b]) else (b, a)
            pair = found.setdefault((first, second), Pair(names[first], names[second]))
            own = share if first == a else 1 - share
            pair.ahead += own > 0.5
            pair.level += own == 0.5
            pair.behind += own < 0.5
            met.add((first, second))
        for key in met:
            found[key].games += 1
    return sorted(found.values(), key=lambda p: (order.index(p.policy), order.index(p.other)))


def _meetings(plan: Plan, games: Sequence[Played]) -> list[list[Meeting]]:
    _, of = _names(plan)
    if plan.players > 1:
        return [_meetings_of([of[p] for p in g.seats], _ranks(g)) for g in games]
    together: dict[int, list[Played]] = {}
    for game in games:
        together.setdefault(game.number // len(plan.policies), []).append(game)
    return [
        _meetings_of([of[g.seats[0]] for g in group], [(0, g.scores[0]) for g in group])
        for group in together.values()
    ]


def _ranks(game: Played) -> list[tuple[int, int]]:
    """Gets what ranks the seats of a game: the winners, whom a tie break may have made, then the scores."""
    return [(int(seat in game.winners), score) for seat, score in enumerate(game.scores)]


def _meetings_of(policies: Sequence[int], ranks: Sequence[tuple[int, int]]) -> list[Meeting]:
    return [
        (a, b, 0.5 if ranks[i] == ranks[j] else float(ranks[i] > ranks[j]))
        for i, a in enumerate(policies)
        for j, b in enumerate(policies)
        if i < j and a != b
    ]
