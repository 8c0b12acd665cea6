"""Judges a rule set by itself: is it fair between seats, how long is it, what is every move worth.

Plays games in which chance or policies choose. What a move is worth is the result of an experiment: at each decision
of a seat that chance plays, what is offered is chosen or not by lot, so the points of those who chose it, less the
points of those who had it offered and chose otherwise, differ by nothing but the choice (and what follows from it).
Points are taken above the table's mean of the game, and every case is weighted by how unlikely the lot was that fell
(inverse probability weighting), since decisions have more and fewer options. The same is done with every measure that
is counted by player. A policy's choices are no lots (who bids high may do so because he is rich), so they have no worth
here; how often they are made, and what comes in for what is bought, is counted whoever chooses.

Intervals come from parts of the games: each of `PARTS` parts gives its own estimate, and Student's interval is taken
over these; nothing is assumed about how moves within a game hang together. A move that only good players can use looks
worse than it is, as its worth is that of one who chooses by chance; the other seats may be played well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct, field

from .. import program as ir
from ..chance import Streams
from ..errors import BrokenRule
from ..game import Game, load_game
from ..playout import Endless, Random, seed_of_game
from ..positions import decode
from ..simulate import POLICIES, choose
from .howmuch import leave_interrupts
from .lockstep import Side
from .spaces import Book, Books, Keeper, Spaces, add_books, spaces_of
from .statistics import LEVEL, Interval, mean_interval, share_interval, student_quantile

PARTS = 20
MOST_INSTANCES = 32
"""A move with more instances is judged as one, not each of its instances by itself."""
_TEXT = "worth-choices"


class Plan(Struct, frozen=True):
    """What to play."""

    name: str
    players: int
    games: int
    seed: int = 1
    offers: bool = True
    policies: tuple[str, ...] = ()
    """The policy of each seat; none means all choose by chance."""

    @property
    def alike(self) -> bool:
        """Whether all seats play by the same policy."""
        return len(set(self.policies)) <= 1

    @property
    def by_lot(self) -> tuple[bool, ...]:
        """For each seat, whether it chooses by chance."""
        return tuple(p == "random" for p in self.policies or ["random"] * self.players)

    @property
    def who(self) -> str:
        """Who plays: a policy for all seats, or those of all seats in turn."""
        return (self.policies[0] if self.alike else ", ".join(self.policies)) if self.policies else "random"


class Tally(Struct):
    """What was seen of one move: weighted sums where it was chosen and where it was not."""

    offered: int = 0
    chosen: int = 0
    games: int = 0
    """In how many games it was chosen at all."""
    weight: list[float] = field(default_factory=lambda: [0.0, 0.0])
    sums: list[list[float]] = field(default_factory=list)
    """For points and each measure: weighted sums where it was chosen, and where it was not."""


class Part(Struct):
    """What came of one part of the games."""

    games: int = 0
    broken: int = 0
    points: list[list[int]] = field(default_factory=list)
    """By seat: sum and sum of squares of points."""
    wins: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    """The decisions of each game."""
    whole: list[list[int]] = field(default_factory=list)
    """Of each measure of a whole game: sum and sum of squares."""
    moves: dict[str, Tally] = field(default_factory=dict)
    books: Books = field(default_factory=dict)


class Worth(Struct, frozen=True):
    """What a move is worth."""

    name: str
    offered: float
    """How often a game it is offered."""
    taken: Interval
    """How often it is chosen where it is offered."""
    per_game: float
    """How often a game it is chosen."""
    points: Interval
    """What choosing it does to the chooser's points, against choosing otherwise."""
    measures: tuple[float, ...]
    """The same for each measure by player."""
    sure: Interval
    """An interval of the points so wide that all moves' together hold in 95 % of the runs (Bonferroni)."""

    @property
    def bad(self) -> bool:
        """Whether choosing otherwise was certainly better."""
        return self.sure.high < 0

    @property
    def good(self) -> bool:
        """Whether choosing it was certainly better."""
        return self.sure.low > 0


class Return(Struct, frozen=True):
    """What a space brings to who buys it: by the books, without what it does for other pieces."""

    per_game: float
    """How often a game it is bought."""
    price: float
    """What is paid for it, on average."""
    net: Interval
    """What comes in, less the price."""
    chance: Interval
    """How often anything comes in."""


class Space(Struct, frozen=True):
    """What a space brings, in all and by the round in which it is bought."""

    name: str
    whole: Return
    rounds: dict[int, Return]
    sure: Interval
    """An interval of `net` so wide that all spaces' and rounds' together hold in 95 % of the runs."""
    sure_rounds: dict[int, Interval]

    @property
    def loses(self) -> bool:
        """Whether it certainly brings in less than it costs, whenever it is bought."""
        return self.sure.high < 0 and all(i.high < 0 for i in self.sure_rounds.values())


class Balance(Struct):
    """How a rule set is balanced."""

    plan: Plan
    names: tuple[str, ...]
    games: int
    broken: int
    points: list[Interval]
    wins: list[Interval]
    length: Interval
    quantiles: tuple[int, int, int]
    """The lengths that a twentieth, half and nineteen twentieths of the games do not pass."""
    whole: dict[str, Interval]
    measures: tuple[str, ...]
    """The measures by player."""
    moves: list[Worth]
    unseen: list[str]
    """Moves that were never offered."""
    untaken: list[str]
    """Moves that were offered and never chosen."""
    spaces: list[Space]
    """What can be bought, where the game's view tells: the best first."""
    parts: int = PARTS
    """Of how many parts of the games it comes."""

    @property
    def fair(self) -> bool:
        """Whether every seat's share of wins may be the same; tells of the rules where all seats play alike."""
        return all(w.low <= 1 / len(self.names) <= w.high for w in self.wins)

    @property
    def interrupted(self) -> bool:
        """Whether it was ended before all games were played."""
        return self.parts < PARTS

    def never_worth(self) -> list[Worth]:
        """Gets the moves for which choosing otherwise was certainly better."""
        return [w for w in self.moves if w.bad]

    def losing(self) -> list[Space]:
        """Gets the spaces that certainly bring in less than they cost, in whatever round they are bought."""
        return [s for s in self.spaces if s.loses]

    @property
    def rounds(self) -> list[int]:
        """The rounds in which anything was bought, where the view tells them apart."""
        found = sorted({r for s in self.spaces for r in s.rounds})
        return found if len(found) > 1 else []

    def method(self) -> str:
        """Says how it was found."""
        books = (
            "; what spaces bring in is bookkeeping: what came in for a piece less what was paid for it, without "
            "what it does for other pieces"
        )
        plan = self.plan
        whom = "those who" if all(plan.by_lot) else "those whom chance plays who"
        worth = (
            f"worth: points above the table's mean of {whom} chose the move less those who had it offered and chose "
            "otherwise, weighted by inverse probability; "
            if any(plan.by_lot)
            else "what moves are worth is told of seats that chance plays, and here is none; "
        )
        chooses = "in which chance chooses (" if all(plan.by_lot) else f"(policy {plan.who}, "
        early = ", then interrupted" if self.interrupted else ""
        return (
            f"{self.games:,} games {chooses}seed {plan.seed}){early}; {worth}intervals of 95 % by Student's t over "
            f"{self.parts} parts of the games (for seats and for what is called certain, 95 % for all together)"
            + (books if self.spaces else "")
        )


Progress = Callable[[int, int], None]
"""Is told how many parts are done of how many."""


def judge(plan: Plan, *, jobs: int = 1, progress: Progress | None = None) -> Balance:
    """Plays and judges a rule set. Ctrl-C ends it with what was played by then, if two parts were.

    Raises `RulesError`.
    """
    parts: list[Part] = []
    try:
        for part in _parts(plan, jobs):
            parts.append(part)
            if progress is not None:
                progress(len(parts), PARTS)
    except KeyboardInterrupt:
        if len(parts) < 2:  # no interval comes from one
            raise
    return _judged(plan, parts)


def _parts(plan: Plan, jobs: int) -> Iterator[Part]:
    if jobs <= 1:
        for number in range(PARTS):
            yield play_part(plan, number)
        return
    from concurrent.futures import ProcessPoolExecutor

    _side(plan)  # compiled once, not once a process
    pool = ProcessPoolExecutor(jobs, initializer=leave_interrupts)
    try:
        yield from pool.map(play_part, [plan] * PARTS, range(PARTS))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


# --------------------------------------------------------------------------------------------------------- playing


@lru_cache(maxsize=4)
def _table(name: str, players: int, offers: bool) -> tuple[Side, Callable[[int], str], Spaces | None]:
    game = load_game(name, players=players, offers=offers)
    group = group_names(game)
    return Side(game), group, spaces_of(game, group)


def _side(plan: Plan) -> Side:
    return _table(plan.name, plan.players, plan.offers)[0]


def group_names(game: Game) -> Callable[[int], str]:
    """Makes what names the move that an action counts for: with what it takes, where there are few instances."""
    program = game.program
    labels = game.labels("en")
    known: dict[int, str] = {}

    def name(action: int) -> str:
        plain = action % program.actions
        found = known.get(plain)
        if found is None:
            move, arguments = decode(program, plain)
            found = move.name.replace("_", " ")
            if move.actions <= MOST_INSTANCES:
                shown = [labels.value(v, t) for v, t in zip(arguments, move.types, strict=True)]
                found = " ".join([found, *shown])
            known[plain] = found
        return found

    return name


def play_part(plan: Plan, number: int) -> Part:
    """Plays one part of the games."""
    side, group, spaces = _table(plan.name, plan.players, plan.offers)
    first, last = (plan.games * k // PARTS for k in (number, number + 1))
    by_player = [k for k, (_, per) in enumerate(side.figures) if per]
    part = Part(
        points=[[0, 0] for _ in side.seats],
        wins=[0.0] * plan.players,
        whole=[[0, 0] for _, per in side.figures if not per],
    )
    for game in range(first, last):
        seed = seed_of_game(plan.seed, game)
        try:
            keeper = spaces.keeper() if spaces is not None else None
            if plan.policies:
                position, cases = _play_by_policies(side, plan.policies, group, seed, keeper)
            else:
                position, cases = _play(side, group, seed, keeper)
        except (BrokenRule, Endless):
            part.broken += 1
            continue
        _count(part, side, position, cases, by_player, plan.by_lot)
        if keeper is not None:
            add_books(part.books, keeper.books)
    return part


Case = tuple[int, int, dict[str, int], str]
"""A decision: seat, how many options, how many of each group, and the group chosen."""


def _play(
    side: Side, group: Callable[[int], str], seed: int, keeper: Keeper | None
) -> tuple[list[int], list[Case]]:
    program = side.program
    streams = Streams(seed, program.streams)
    numbers = Random(seed)
    n = program.actions
    position, stop = side.start(streams)
    cases: list[Case] = []
    while stop is not None:
        if len(cases) >= program.decision_budget:
            raise Endless(program.decision_budget)
        who = side.who(position, stop)
        seat = who if isinstance(who, int) else (who[1][0] if who[0] == "each" else -1)
        action = stop[numbers.below(len(stop))]
        seat = action // n - 1 if action >= n else seat
        cases.append(
            _case(seat, [o for o in stop if (o // n - 1 if o >= n else seat) == seat], group, action)
        )
        if keeper is not None:
            keeper.choose(position, action % n, seat)
        stop = side.apply(position, action, streams)
        if keeper is not None:
            keeper.settle(position, over=stop is None)
    return position, cases


def _play_by_policies(
    side: Side, names: Sequence[str], group: Callable[[int], str], seed: int, keeper: Keeper | None
) -> tuple[list[int], list[Case]]:
    """Plays the game that `simulate` plays with these policies and this seed."""
    game = side.game
    policies = [POLICIES[name](game, seat) for seat, name in enumerate(names)]
    state = game.new_initial_state(seed)
    numbers = Random(seed)
    cases: list[Case] = []
    while not state.is_terminal():
        if len(cases) >= side.program.decision_budget:
            raise Endless(side.program.decision_budget)
        options = state.legal_actions()
        action = choose(state, policies, numbers)
        seat = state.actor(action)
        cases.append(_case(seat, [o for o in options if state.actor(o) == seat], group, action))
        if keeper is not None:
            keeper.choose(state.position, action % side.program.actions, seat)
        state.apply_action(action)
        if keeper is not None:
            keeper.settle(state.position, over=state.is_terminal())
    return state.position, cases


def _case(seat: int, options: list[int], group: Callable[[int], str], action: int) -> Case:
    counts: dict[str, int] = {}
    for option in options:
        name = group(option)
        counts[name] = counts.get(name, 0) + 1
    return seat, len(options), counts, group(action)


def _count(
    part: Part,
    side: Side,
    position: list[int],
    cases: list[Case],
    by_player: list[int],
    by_lot: tuple[bool, ...],
) -> None:
    scores = side.scores(position)
    mean = (
        sum(scores) / len(scores) if len(scores) > 1 else 0
    )  # who plays alone has no table to be held against
    part.games += 1
    part.lengths.append(len(cases))
    winners = side.winners(position)
    for p, score in enumerate(scores):
        part.points[p][0] += score
        part.points[p][1] += score * score
        part.wins[p] += 1 / len(winners) if p in winners else 0
    whole = [figure(position) for figure, per in side.figures if not per]
    for row, value in zip(part.whole, whole, strict=True):
        row[0] += value
        row[1] += value * value
    figures = [[side.figures[k][0](position, p) for k in by_player] for p in side.seats]
    results = [[scores[p] - mean, *figures[p]] for p in side.seats]
    taken: set[str] = set()
    for seat, total, counts, chosen in cases:
        if seat < 0:
            continue
        result = results[seat]
        for name, count in counts.items():
            tally = part.moves.get(name)
            if tally is None:
                tally = part.moves[name] = Tally(sums=[[0.0, 0.0] for _ in result])
            tally.offered += 1
            here = name == chosen
            tally.chosen += here
            if count == total or not by_lot[seat]:
                continue  # no lot fell
            weight = total / count if here else total / (total - count)
            k = 0 if here else 1
            tally.weight[k] += weight
            for sums, value in zip(tally.sums, result, strict=True):
                sums[k] += weight * value
        if chosen not in taken:
            taken.add(chosen)
            part.moves[chosen].games += 1


# --------------------------------------------------------------------------------------------------------- judging


def _judged(plan: Plan, parts: list[Part]) -> Balance:
    side = _side(plan)
    games = sum(p.games for p in parts)
    lengths = sorted(n for p in parts for n in p.lengths)
    points = [[sum(p.points[s][k] for p in parts) for k in (0, 1)] for s in range(plan.players)]
    wholes = [m.text for m in side.program.measures if not m.per]
    whole = {}
    for k, text in enumerate(wholes):
        total, squares = (sum(p.whole[k][i] for p in parts) for i in (0, 1))
        whole[text] = mean_interval(games, total, squares)
    names = dict.fromkeys(name for p in parts for name in p.moves)
    moves = [_worth(name, parts, games, len(names)) for name in names]
    moves.sort(key=lambda w: (-w.points.value if math.isfinite(w.points.value) else 1e9, w.name))
    return Balance(
        plan=plan,
        names=side.game.player_names,
        games=games,
        broken=sum(p.broken for p in parts),
        points=[mean_interval(games, total, squares) for total, squares in points],
        wins=[_wins(parts, games, s, plan.players) for s in range(plan.players)],
        length=mean_interval(games, sum(lengths), sum(n * n for n in lengths)),
        quantiles=_quantiles(lengths),
        whole=whole,
        measures=tuple(m.text for m in side.program.measures if m.per),
        moves=moves,
        unseen=_unseen(side.program, names),
        untaken=[w.name for w in moves if w.per_game == 0],
        spaces=_spaces(parts, games),
        parts=len(parts),
    )


def _wins(parts: list[Part], games: int, seat: int, players: int) -> Interval:
    """Gets a seat's share of wins; the intervals of all seats together hold in 95 % of the runs."""
    return share_interval(games, round(sum(p.wins[seat] for p in parts)), level=1 - 0.05 / players)


def _quantiles(lengths: list[int]) -> tuple[int, int, int]:
    if not lengths:
        return 0, 0, 0
    low, middle, high = (lengths[min(len(lengths) - 1, int(q * len(lengths)))] for q in (0.05, 0.5, 0.95))
    return low, middle, high


def _unseen(program: ir.Program, names: dict[str, None]) -> list[str]:
    seen = {name.split(" ")[0] for name in names} | set(names)
    wanted = [m.name.replace("_", " ") for m in program.moves]
    return [w for w in wanted if w not in seen and not any(n.startswith(f"{w} ") or n == w for n in names)]


def _worth(name: str, parts: list[Part], games: int, moves: int) -> Worth:
    tallies = [p.moves[name] for p in parts if name in p.moves]
    offered, chosen = sum(t.offered for t in tallies), sum(t.chosen for t in tallies)
    figures = len(tallies[0].sums)
    estimates = [[_difference(t, k) for t in tallies if all(w > 0 for w in t.weight)] for k in range(figures)]
    weights = [sum(t.weight[i] for t in tallies) for i in (0, 1)]
    whole: list[float] = []
    for k in range(figures):
        if min(weights) > 0:
            one, other = (sum(t.sums[k][i] for t in tallies) / weights[i] for i in (0, 1))
            whole.append(one - other)
        else:
            whole.append(math.nan)
    return Worth(
        name,
        offered / max(1, games),
        share_interval(offered, chosen),
        chosen / max(1, games),
        _around(whole[0], estimates[0]),
        tuple(whole[1:]),
        _around(whole[0], estimates[0], 1 - 0.05 / max(1, moves)),
    )


def _difference(tally: Tally, k: int) -> float:
    return tally.sums[k][0] / tally.weight[0] - tally.sums[k][1] / tally.weight[1]


def _around(value: float, estimates: list[float], level: float = LEVEL) -> Interval:
    """Gets the interval of an estimate from those of parts."""
    n = len(estimates)
    if n < 2 or not math.isfinite(value):
        return Interval(value, -math.inf, math.inf)
    mean = sum(estimates) / n
    spread = math.sqrt(sum((e - mean) ** 2 for e in estimates) / (n - 1) / n)
    half = student_quantile(0.5 + level / 2, n - 1) * spread
    return Interval(value, value - half, value + half)


def _spaces(parts: list[Part], games: int) -> list[Space]:
    books: Books = {}
    for part in parts:
        add_books(books, part.books)
    level = 1 - 0.05 / max(1, sum(1 + len(rounds) for rounds in books.values()))
    spaces = []
    for name, rounds in books.items():
        by_part = [part.books.get(name, {}) for part in parts]
        whole, sure = _return(_sum(rounds), [_sum(p) for p in by_part], games, level)
        found = {
            r: _return(rounds[r], [p.get(r, Book()) for p in by_part], games, level) for r in sorted(rounds)
        }
        spaces.append(
            Space(name, whole, {r: f[0] for r, f in found.items()}, sure, {r: f[1] for r, f in found.items()})
        )
    return sorted(spaces, key=lambda s: (-s.whole.net.value, s.name))


def _sum(rounds: dict[int, Book]) -> Book:
    total = Book()
    for book in rounds.values():
        total.add(book)
    return total


def _return(book: Book, parts: list[Book], games: int, level: float) -> tuple[Return, Interval]:
    net = (book.income - book.price) / book.bought
    estimates = [(p.income - p.price) / p.bought for p in parts if p.bought]
    return (
        Return(
            book.bought / max(1, games),
            book.price / book.bought,
            _around(net, estimates),
            share_interval(book.bought, book.paid),
        ),
        _around(net, estimates, level),
    )
