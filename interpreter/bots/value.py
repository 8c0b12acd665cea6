"""What moves are worth to a player, for people: the mean of rollouts with an interval.

Each rollout starts from a position that may be, for all that the player knows, makes the move, and plays on by chance.
The same number of a rollout meets the same position and the same chance whatever the move, so that the values of two
moves compare better than their intervals say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from ..chance import GOLDEN, MASK, mix
from ..playout import Random
from .budget import Budget, Meter, Stopper, never
from .determinise import dealer_of
from .rollouts import Result, Roller
from .thinker import Choice, Positions, choices_of

if TYPE_CHECKING:
    from ..game import Game, State

_SEED = 0x7A1E
_A_DEAL = 8
"""How many rollouts each position is used for before the next is dealt."""
_NORMAL = 1.96
"""Half the width of an interval of 95 % in standard errors."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean and the half width of its 95 % interval."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half


@dataclass(frozen=True, slots=True)
class Valuation:
    """What a move is worth: the player's points, his lead over the best of the others, his share of wins."""

    action: int | None
    rollouts: int
    points: Figure
    lead: Figure
    wins: Figure


def value(
    state: State,
    action: int | None,
    player: int,
    *,
    budget: Budget | None = None,
    stop: Stopper = never,
    rng: Random | None = None,
    roller: Roller | None = None,
) -> Valuation:
    """Values one of `state.legal_actions(player)`; None: leaving it to others."""
    return values(state, player, [action], budget=budget, stop=stop, rng=rng, roller=roller)[0]


def values(
    state: State,
    player: int,
    actions: Sequence[int | None] | None = None,
    *,
    budget: Budget | None = None,
    stop: Stopper = never,
    rng: Random | None = None,
    roller: Roller | None = None,
) -> list[Valuation]:
    """Values some or all of a player's options, with one budget for all; the best first where all are valued.

    Best is who leads by most. Without a budget it takes two seconds, or 2000 rollouts a move where that is less. The
    same random numbers, and a budget of rollouts, give the same values.
    """
    known = choices_of(state, player)
    chosen = known if actions is None else [_find(known, state, a, player) for a in actions]
    meter = Meter(budget or Budget(seconds=2.0), stop)
    most = (1 << 30) if budget is not None else 2000
    rounds = _Rounds(state, player, roller or roller_of(state.game), meter, rng)
    rounds.play(chosen, most)
    found = [_valuation(c, player, state.game.num_players()) for c in chosen]
    return found if actions is not None else sorted(found, key=lambda v: -v.lead.mean)


def _find(known: list[Choice], state: State, action: int | None, player: int) -> Choice:
    """Gets the choice of an action, which may be an equal one of several that are listed."""
    for choice in known:
        if choice.action == action:
            return choice
    coded = action if action is not None else -1
    if state.is_simultaneous_node() and coded >= 0:
        coded += state.game.program.actions * (player + 1)
    return Choice(action, coded)


class _Rounds:
    """Plays rollouts of several moves in turn."""

    def __init__(self, state: State, player: int, roller: Roller, meter: Meter, rng: Random | None) -> None:
        self.roller = roller
        self.meter = meter
        self.seed = mix(rng.below(1 << 32)) if rng is not None else _SEED
        self.positions = Positions(dealer_of(state.game, player), state, meter)

    def play(self, choices: list[Choice], most: int) -> None:
        """Plays until the budget is spent, or each move has been played so often; at least once."""
        turn, games = 0, 1
        while turn == 0 or not self.meter.is_spent():
            count = max(len(c.results) for c in choices)
            if count >= most:
                return
            games = min(games, most - count, max(1, self.meter.left() // len(choices)))
            position = self.positions.get(turn)
            for choice in choices:
                if turn and self.meter.is_spent():
                    break
                choice.results += self.roller.play(
                    position, choice.coded, mix((self.seed + turn * GOLDEN) & MASK), games
                )
                self.meter.spent += games
            turn += 1
            games = _A_DEAL if self.roller.backend == "c" else 1


def _valuation(choice: Choice, player: int, players: int) -> Valuation:
    results = choice.results
    points = [float(r[1 + player]) for r in results]
    leads = [
        float(r[1 + player] - max((s for p, s in enumerate(r[1:]) if p != player), default=0))
        for r in results
    ]
    wins = [_win(r, player) for r in results]
    return Valuation(choice.action, len(results), _figure(points), _figure(leads), _figure(wins))


def _win(result: Result, player: int) -> float:
    return 1 / result[0].bit_count() if result[0] >> player & 1 else 0.0


def _figure(numbers: list[float]) -> Figure:
    n = len(numbers)
    if n == 0:
        return Figure(float("nan"), float("inf"))
    mean = sum(numbers) / n
    if n == 1:
        return Figure(mean, float("inf"))
    variance = sum((x - mean) ** 2 for x in numbers) / (n - 1)
    return Figure(mean, _NORMAL * sqrt(variance / n))


_rollers: dict[int, Roller] = {}


def roller_of(game: Game) -> Roller:
    """Gets what plays rollouts of a game, native as soon as it is compiled."""
    found = _rollers.get(id(game))
    if found is None or found.game is not game:
        _rollers.clear()
        found = _rollers[id(game)] = Roller(game, patience=0.2)
    return found
