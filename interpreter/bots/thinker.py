"""What the thinking players share: what there is to choose from, positions as they may be, rollouts from them.

Positions are dealt as they are asked for. With a budget of seconds dealing may take a part of the time; where it would
take more, those that have been dealt come round again. With a budget of rollouts their number depends on that alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..chance import MASK, mix
from ..playout import Random
from ..python_backend import Position
from ..taste import Taste
from .budget import Meter
from .determinise import Dealer, dealer_of
from .rollouts import NativeTaste, Result, Roller, Scale

if TYPE_CHECKING:
    from ..game import Game, State

_MOST_DEALT = 32
_ROLLOUTS_A_DEAL = 24
_DEALING = 0.25
"""The part of the time that dealing may take."""
_LONGEST_DEAL, _FIRST_DEALS = 0.15, (0.2, 0.15, 0.15)
"""The shares of the time that dealing one position may take, and the first, which is tried several times."""
PASS = -1


@dataclass(slots=True)
class Choice:
    """An option, and what came of it in rollouts."""

    action: int | None
    """As `State.legal_actions(player)` has it; None to leave it to others."""
    coded: int
    """As machines take it; `PASS` for None."""
    count: int = 0
    total: float = 0.0
    results: list[Result] = field(default_factory=list)
    """Kept until it is known what results are worth."""

    @property
    def mean(self) -> float:
        """What it is worth, as far as it is known; below all else if it has not been tried."""
        return self.total / self.count if self.count else -1.0


def choices_of(state: State, player: int) -> list[Choice]:
    """Gets what a player may choose from: his options and, where others may act instead, to leave it to them."""
    decision = state.decision
    if decision is None:
        return []
    program = state.game.program
    actions = state.legal_actions(player)
    if decision.mode == "each":
        return [Choice(a, a + program.actions * (player + 1)) for a in actions]
    found = [Choice(a, a) for a in actions]
    if may_pass(state, player):
        found.append(Choice(None, PASS))
    return found


def may_pass(state: State, player: int) -> bool:
    """Tests if a player may leave a decision to others."""
    decision = state.decision
    if decision is None or decision.mode == "each":
        return False
    if decision.mode == "one":
        return state.current_player() != player
    return any(state.actor(a) != player for a in state.legal_actions())


class Positions:
    """Positions as they may be at one moment, dealt to a player as they are asked for."""

    def __init__(self, dealer: Dealer, state: State, meter: Meter) -> None:
        self.dealer = dealer
        self.meter = meter
        self.dealt: list[Position] = []
        rollouts = meter.budget.rollouts // _ROLLOUTS_A_DEAL
        self.most = _MOST_DEALT if meter.budget.seconds is not None else max(1, min(_MOST_DEALT, rollouts))
        with meter.dealing():
            dealer.look(state)

    def get(self, number: int) -> Position:
        """Gets a position; with rising numbers they come round again."""
        dealt, meter = self.dealt, self.meter
        number %= self.most
        if number < len(dealt):
            return dealt[number]
        seconds = meter.budget.seconds
        late = seconds is not None and meter.dealt > _DEALING * meter.seconds()
        if dealt and (late or not self.dealer.hides):
            return dealt[number % len(dealt)]
        with meter.dealing():
            if dealt:
                found = self.dealer.find(len(dealt), self._expiry(_LONGEST_DEAL))
                dealt.append(dealt[number % len(dealt)] if found is None else found)
            else:
                dealt.append(self._first())
        return dealt[-1]

    def _first(self) -> Position:
        """Deals the first position: where one takes long, another is begun."""
        for other, share in enumerate(_FIRST_DEALS if self.meter.budget.seconds is not None else ()):
            found = self.dealer.find(other, self._expiry(share))
            if found is not None:
                return found
        return self.dealer.deal(0, self._expiry(_LONGEST_DEAL))

    def _expiry(self, share: float) -> Callable[[], bool]:
        """Makes what tells that such a share of the budget has gone by from now, where time is what counts."""
        meter = self.meter
        seconds = meter.budget.seconds
        if seconds is None:
            return meter.stop
        limit = meter.seconds() + share * seconds
        return lambda: meter.stop() or meter.seconds() > limit


class Thinker:
    """Thinks for one seat of one game; knows what the seat has seen from one choice to the next."""

    def __init__(self, game: Game, player: int, roller: Roller) -> None:
        self.game = game
        self.player = player
        self.roller = roller
        self.dealer: Dealer = dealer_of(game, player)
        self.meter: Meter
        self.scale = Scale(roller.players)
        self.seed = 0
        self.positions: Positions
        self.tries = 0
        self.taste: Taste | NativeTaste | None = None
        """By what rollouts are played on; None: by chance."""

    def begin(self, state: State, meter: Meter, rng: Random, tries: int = 0) -> None:
        """Begins to think about a choice; with `tries`, rollouts come to be played by taste."""
        self.meter = meter
        self.tries, self.taste = tries, None
        self.scale = Scale(self.roller.players)
        self.seed = mix(rng.below(1 << 32) << 32 | rng.below(1 << 32)) & MASK
        self.positions = Positions(self.dealer, state, meter)

    def position(self, number: int) -> Position:
        """Gets a position as it may be; with rising numbers they come round again."""
        return self.positions.get(number)

    def try_out(self, choice: Choice, position: Position, number: int, games: int) -> None:
        """Plays rollouts of a choice and adds up what they are worth; the same number meets the same chance."""
        results = self.roller.play(position, choice.coded, self.seed ^ number, games, 0, self.taste)
        self.meter.spent += games
        if not self.scale.spread:
            choice.results += results
            return
        self._add(choice, results)

    def settle_scale(self, choices: list[Choice]) -> None:
        """Settles what results are worth by those there are, if that is still open, and adds them up."""
        kept = [r for c in choices for r in c.results]
        if self.scale.spread or len(kept) < 2:
            return
        self.scale.learn(kept)
        if self.tries > 1:
            spread, middle = max(1, round(self.scale.spread)), round(self.scale.middle)
            self.taste = self.roller.taste(self.tries, spread, middle)
        for choice in choices:
            self._add(choice, choice.results)
            choice.results = []

    def _add(self, choice: Choice, results: list[Result]) -> None:
        choice.count += len(results)
        for result in results:
            choice.total += self.scale.worth(result, self.player)
