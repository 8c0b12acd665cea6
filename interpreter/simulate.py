"""Plays many games by themselves and adds up what came out.

Takes a game, a seed and how many games; gives returns, win shares and the measures that the rules declare.
Game `n` of a run depends on the run's seed and `n` alone, and what is added up are whole numbers, so the
results are the same to the last bit whatever the backend and however many processes share the work.

Seats are played by policies. All seats `random` is the fast case: then no `State` is made, and every game is
one call of the loop in `playout.py` or of native code.
"""

from __future__ import annotations

import math
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ..grammar.diagnostics import suggestion
from ..grammar.span import Span
from .errors import BrokenRule, PlayError
from .game import Game, State, load_game
from .native_totals import Totals
from .playout import Endless, Random, player_of, policy_start, seed_of_game, stream_keys
from .python_backend import Position

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .native import NativeMachine

Backend = Literal["auto", "python", "c"]

Policy = Callable[[State, int, Random], "int | None"]
"""Chooses for a seat: (state, seat, random numbers) → one of `state.legal_actions(seat)`.

Where several may act first, it may give None to leave it to others. All its chance comes from the random
numbers given; what it keeps between calls must not outlive a game.
"""


def uniform(state: State, seat: int, numbers: Random) -> int:
    """Chooses any legal action, each as likely: the policy `random`."""
    actions = state.legal_actions(seat)
    return actions[numbers.below(len(actions))]


Maker = Callable[[Game, int], Policy]


class Policies(dict[str, Maker]):
    """Makers of policies by name, for (game, seat): those added here, and the thinking ones of `bots/policy.py`.

    What these take stands in the name, as in `montecarlo:200`.
    """

    def __missing__(self, name: str) -> Maker:
        from .bots.policy import UnknownPolicy, make_policy

        try:
            make_policy(name, programs=True)
        except UnknownPolicy as error:
            raise KeyError(str(error)) from None
        return lambda game, seat: make_policy(name, programs=True).choose

    def player(self, name: str, game: Game, seat: int, *, native: bool | None) -> tuple[Policy, list[str]]:
        """Makes the policy of a seat, and gets the list of what goes wrong with it as it plays.

        `native`: whether rollouts run on native code; None: where it is to be had.
        """
        if dict.__contains__(self, name):
            return self[name](game, seat), []
        from .bots.policy import make_policy

        made = make_policy(name, native=native, programs=True)
        return made.choose, getattr(made, "faults", [])

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        return isinstance(name, str) and self.complaint(name) == ("", "")

    def complaint(self, name: str) -> tuple[str, str]:
        """Tells what is wrong with a name and what would do; nothing if it can be had."""
        from .bots.policy import NAMES, UnknownPolicy, make_policy

        try:
            make_policy(name, programs=True)
        except UnknownPolicy as error:
            if name.partition(":")[0] in NAMES:
                return str(error), error.help
            known = {*self, *NAMES, "exec"}
            named = name.partition(":")[0]
            return str(error), error.help if named == "exec" else suggestion(
                named, known, what="the policies are"
            )
        return "", ""


POLICIES = Policies({"random": lambda game, seat: uniform})
"""Makes policies by name, for (game, seat)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play: everything a worker process needs to know."""

    name: str
    players: int
    games: int
    seed: int
    offers: bool = True
    backend: Backend = "auto"
    policies: tuple[str, ...] = ()
    """The policy of each seat; none means all are `random`."""
    check: bool = True
    """Whether to test the invariants after each game."""

    @property
    def is_uniform(self) -> bool:
        """Whether every seat plays by chance."""
        return all(p == "random" for p in self.policies)

    @property
    def thinks(self) -> bool:
        """Whether a seat's policy plays rollouts."""
        from .bots.policy import NAMES

        return any(p.partition(":")[0] in NAMES and p != "random" for p in self.policies)


@dataclass(frozen=True, slots=True)
class Result:
    """What came out of a simulation."""

    plan: Plan
    ruleset: str
    content_hash: str
    backend: str
    totals: Totals
    seconds: float
    measure_names: tuple[tuple[str, bool], ...]
    """Each measure's text, and whether it is per player."""
    note: str = ""
    """How it could have been faster."""
    rollouts: str | None = None
    """The backend of the policies' rollouts, where there are any."""
    faults: tuple[str, ...] = ()
    """What went wrong with players that are programs of their own."""

    def returns(self) -> list[float]:
        """Gets the mean return of each seat."""
        return [self._mean(r) for r in self.totals.scores]

    def deviations(self) -> list[float]:
        """Gets the standard deviation of each seat's return."""
        pairs = zip(self.totals.scores, self.totals.scores_squared, strict=True)
        n = self.totals.games
        return [math.sqrt(n * q - r * r) / n if n else math.nan for r, q in pairs]

    def win_shares(self) -> list[float]:
        """Gets the share of wins of each seat, a tie shared equally."""
        whole = math.lcm(*range(1, self.plan.players + 1))
        return [
            self._mean(sum(w * (whole // k) for k, w in enumerate(row, 1))) / whole
            for row in self.totals.wins
        ]

    def _mean(self, total: int) -> float:
        return total / self.totals.games if self.totals.games else math.nan

    def measures(self) -> dict[str, float | list[float]]:
        """Gets the mean of each measure; a list by seat where it is per player."""
        out: dict[str, float | list[float]] = {}
        at = 0
        for text, per in self.measure_names:
            width = self.plan.players if per else 1
            means = [self._mean(t) for t in self.totals.figures[at : at + width]]
            out[text] = means if per else means[0]
            at += width
        return out

    def as_dict(self) -> dict[str, Any]:
        """Gets everything as plain data, for JSON."""
        t = self.totals
        seconds = max(self.seconds, 1e-9)
        return {
            "ruleset": self.ruleset,
            "hash": self.content_hash,
            "players": self.plan.players,
            "offers": self.plan.offers,
            "policies": list(self.plan.policies) or ["random"] * self.plan.players,
            "backend": self.backend,
            "rollouts": self.rollouts,
            "seed": self.plan.seed,
            "games": t.games,
            "endless": t.unfinished,
            "seconds": round(self.seconds, 6),
            "games_per_second": round(t.games / seconds, 3),
            "decisions_per_second": round(t.decisions / seconds, 3),
            "decisions_per_game": self._mean(t.decisions),
            "mean_returns": self.returns(),
            "sd_returns": self.deviations(),
            "win_share": self.win_shares(),
            "measures": self.measures(),
            "faults": list(self.faults),
        }


class SimulationError(PlayError):
    """Says that a game of a simulation went wrong, and which: `number` and its `seed`."""

    def __init__(self, code: str, message: str, span: Span | None, number: int, seed: int) -> None:
        super().__init__(code, f"{message} (in game {number}, whose seed is {seed})", span)
        self.number = number
        self.seed = seed


# -------------------------------------------------------------------------------------------------- the whole


def simulate(
    plan: Plan, *, jobs: int = 1, progress: Callable[[int], None] | None = None, game: Game | None = None
) -> Result:
    """Plays the games of a plan, in `jobs` processes; `progress` is told how many are done.

    Raises `RulesError` when the rules cannot be loaded, `SimulationError` when a game goes wrong: the first
    that does, by number, of those played by then.
    """
    if game is None:
        game = _game(plan.name, plan.players, plan.offers)
    backend, note = choose_backend(plan, game)
    rollouts = None
    if plan.thinks:
        rollouts = "python" if note or plan.backend == "python" else "c"
    start = time.perf_counter()
    totals = Totals.empty(game.program)
    faults: list[str] = []
    for part, went_wrong in _parts(plan, game, backend, jobs):
        if isinstance(part, Failure):
            raise SimulationError(part.code, part.message, _span(game, part.site), part.number, part.seed)
        totals += part
        faults += went_wrong
        if progress is not None:
            progress(totals.games + totals.unfinished)
    seconds = time.perf_counter() - start
    names = tuple((m.text, m.per) for m in game.program.measures)
    about = (plan, game.canonical, game.content_hash, backend, totals, seconds, names, note)
    return Result(*about, rollouts, tuple(faults))


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a game; errors themselves do not travel between processes."""

    code: str
    message: str
    site: tuple[str, int, int] | None
    number: int
    seed: int


def _span(game: Game, site: tuple[str, int, int] | None) -> Span | None:
    spans = [*game.program.sites, *(span for _, _, span in game.program.invariants)]
    return next((s for s in spans if _site(s) == site), None)


def _site(span: Span | None) -> tuple[str, int, int] | None:
    return None if span is None else (span.source.name, span.line, span.column)


@lru_cache(maxsize=4)
def _game(name: str, players: int, offers: bool) -> Game:
    return load_game(name, players=players, offers=offers)


_WORTH_COMPILING = 3000
"""How many games it takes for native code to be compiled without being asked for."""


def choose_backend(plan: Plan, game: Game) -> tuple[str, str]:
    """Settles which backend plays, and says why it is not native code where that was not to be had.

    Policies choose on the Python backend; what is settled then is where those that think play their rollouts.

    Raises `NativeUnavailable` when native code was asked for and cannot be had.
    """
    if plan.backend == "python":
        return "python", ""
    if not plan.is_uniform and not plan.thinks:
        return "python", "these policies play on the Python backend" if plan.backend == "c" else ""
    if plan.is_uniform and plan.backend == "auto" and plan.games < _WORTH_COMPILING:
        return "python", ""
    from .native import NativeUnavailable

    try:
        _native(game)
    except NativeUnavailable as error:
        if plan.backend == "c":
            raise
        return "python", str(error)
    return "c" if plan.is_uniform else "python", ""


def _native(game: Game) -> NativeMachine:
    """Gets the native machine of a game, which keeps it."""
    found = _machines.get(id(game))
    if found is None or found[0] is not game:
        from .native import native_machine

        found = _machines[id(game)] = (game, native_machine(game))
    return found[1]


_machines: dict[int, tuple[Game, NativeMachine]] = {}


_SECONDS_A_PART = 0.3
_GUESS = 64
"""How many games the first parts have, before it is known how long a game takes."""


class _Sizes:
    """Sizes the parts that are played at a time so that each takes about as long as it should."""

    def __init__(self, size: int) -> None:
        self.size = size

    def learn(self, count: int, seconds: float) -> None:
        """Notes how long so many games took."""
        fitting = int(_SECONDS_A_PART * count / max(seconds, 1e-6))
        self.size = max(1, min(8 * self.size, fitting))


Part = tuple["Totals | Failure", list[str]]
"""What came of some games, and what went wrong with players that are programs of their own."""


def _parts(plan: Plan, game: Game, backend: str, jobs: int) -> Iterator[Part]:
    """Plays a plan's games in parts, which come out in the order of the games."""
    if jobs > 1:
        yield from _parts_of_processes(plan, game, backend, jobs)
        return
    first, sizes = 0, _Sizes(_GUESS if plan.is_uniform else 1)
    while first < plan.games:
        count = min(sizes.size, plan.games - first)
        part, seconds = _timed_part(plan, game, backend, first, count)
        yield part
        sizes.learn(count, seconds)
        first += count


def _timed_part(plan: Plan, game: Game, backend: str, first: int, count: int) -> tuple[Part, float]:
    start = time.perf_counter()
    faults: list[str] = []
    part = play_part(plan, game, backend, first, count, faults)
    return (part, faults), time.perf_counter() - start


def _parts_of_processes(plan: Plan, game: Game, backend: str, jobs: int) -> Iterator[Part]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    game.machine()  # what is compiled now is not compiled once more in each process
    first, sizes = 0, _Sizes(_GUESS if plan.is_uniform else 1)
    waiting: deque[tuple[int, Future[tuple[Part, float]]]] = deque()
    pool = ProcessPoolExecutor(jobs, initializer=_begin_process)
    try:
        while first < plan.games or waiting:
            while first < plan.games and len(waiting) < 3 * jobs:
                count = min(sizes.size, plan.games - first)
                waiting.append((count, pool.submit(_part_in_process, plan, backend, first, count)))
                first += count
            count, future = waiting.popleft()
            part, seconds = future.result()
            yield part
            sizes.learn(count, seconds)
    except BrokenProcessPool:
        time.sleep(0.2)  # where it was Ctrl-C that ended the workers, its own exception comes now
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_process() -> None:
    """Lets Ctrl-C end a worker at once: what was asked for is told by the process that asked.

    Where Ctrl-C is ignored, as in the background of a shell, it stays so.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _part_in_process(plan: Plan, backend: str, first: int, count: int) -> tuple[Part, float]:
    return _timed_part(plan, _game(plan.name, plan.players, plan.offers), backend, first, count)


def play_part(
    plan: Plan, game: Game, backend: str, first: int, count: int, faults: list[str] | None = None
) -> Totals | Failure:
    """Plays games number `first` to `first` + `count` - 1 of a plan.

    What goes wrong with players that are programs of their own is added to `faults`.
    """
    if backend == "c" and plan.is_uniform:
        try:
            return _native(game).play(plan.seed, first, count, check=plan.check)[0]
        except PlayError:
            backend = "python"  # where the same game goes wrong, but says which it was
    player = _Uniform(game, backend) if plan.is_uniform else _Seated(game, plan.policies, plan.backend)
    sums = Sums(game, check=plan.check)
    for number in range(first, first + count):
        seed = seed_of_game(plan.seed, number)
        try:
            position, decisions = player.play(seed)
            sums.add(position, decisions)
        except Endless:
            sums.totals.numbers[1] += 1
        except PlayError as error:
            return Failure(error.code, error.message, _site(error.span), number, seed)
        if faults is not None and isinstance(player, _Seated):
            faults += [f"game {number}: {fault}" for fault in player.faults()]
    return sums.totals


# -------------------------------------------------------------------------------------------------- one game


class _Uniform:
    """Plays games in which every seat plays by chance."""

    def __init__(self, game: Game, backend: str) -> None:
        self.machine = game.machine()
        self.player = _native(game).finish if backend == "c" else player_of(self.machine)

    def play(self, seed: int) -> tuple[Position, int]:
        """Plays one game; gets its last position and how many decisions were made."""
        program = self.machine.program
        position = program.initial[:]
        keys = stream_keys(self.machine, seed)
        decisions, _ = self.player(position, program.start, keys, policy_start(seed))
        return position, decisions


class _Seated:
    """Plays games in which seats have policies of their own."""

    def __init__(self, game: Game, policies: Sequence[str], backend: Backend = "auto") -> None:
        self.game = game
        self.names = policies
        self.native = False if backend == "python" else None
        self._faults: list[list[str]] = []

    def play(self, seed: int) -> tuple[Position, int]:
        """Plays one game; gets its last position and how many decisions were made."""
        made = [
            POLICIES.player(name, self.game, seat, native=self.native) for seat, name in enumerate(self.names)
        ]
        policies = [policy for policy, _ in made]
        self._faults = [faults for _, faults in made]
        state = self.game.new_initial_state(seed)
        numbers = Random(seed)
        limit = self.game.program.decision_budget
        decisions = 0
        while not state.is_terminal():
            decisions += 1
            if decisions > limit:
                raise Endless(limit)
            state.apply_action(choose(state, policies, numbers))
        return state.position, decisions

    def faults(self) -> list[str]:
        """Gets what went wrong in the last game with players that are programs of their own."""
        return [fault for faults in self._faults for fault in faults]


def choose(state: State, policies: Sequence[Policy], numbers: Random) -> int:
    """Lets the seats' policies choose an action.

    One of all actions is drawn, each as likely: whose it is, he acts first, by his policy. Where he leaves it
    to others, it is drawn again among their actions, and nobody's; when all leave it to others, the last one
    drawn is taken. So when all play by chance, every action of all is as likely.
    """
    actions = state.legal_actions()
    while True:
        action = actions[numbers.below(len(actions))]
        seat = state.actor(action)
        if seat < 0 or policies[seat] is uniform:
            return action
        chosen = policies[seat](state, seat, numbers)
        if chosen is not None:
            return chosen
        others = [a for a in actions if state.actor(a) != seat]
        if not others:
            return action
        actions = others


class Sums:
    """Adds up how games came out."""

    def __init__(self, game: Game, *, check: bool) -> None:
        program, names = game.program, game.machine().names
        self.totals = Totals.empty(program)
        self.score = names[program.score] if program.score else None
        self.tie_break = names[program.tie_break] if program.tie_break else None
        self.figures = [(names[m.function], m.per) for m in program.measures]
        self.invariants = [(names[f], text, span) for text, f, span in program.invariants] if check else []

    def add(self, position: Position, decisions: int) -> None:
        """Adds a game by its last position. Raises `BrokenRule` when an invariant does not hold."""
        for holds, text, span in self.invariants:
            if not holds(position):
                raise BrokenRule("runtime-invariant", f"at the end this does not hold: {text}", span)
        numbers, n = self.totals.numbers, self.totals.players
        seats = range(n)
        scores = [self.score(position, p) for p in seats] if self.score else [0] * n
        keys = [(s, self.tie_break(position, p) if self.tie_break else 0) for p, s in enumerate(scores)]
        best = max(keys)
        winners = keys.count(best)
        numbers[0] += 1
        numbers[2] += decisions
        numbers[3] += decisions * decisions
        for p, score in enumerate(scores):
            numbers[4 + p] += score
            numbers[4 + n + p] += score * score
            if keys[p] == best:
                numbers[4 + 2 * n + p * n + winners - 1] += 1
        at = 4 + n * (2 + n)
        for figure, per in self.figures:
            for value in [figure(position, p) for p in seats] if per else [figure(position)]:
                numbers[at] += value
                numbers[at + self.totals.figures_each] += value * value
                at += 1
