"""Positions as they may be, for all that a player knows.

A dealer sits beside a player for the length of a game. It deals

- the position as it is, when nothing is ever hidden in these rules;
- else by playing the game's history again with other hidden chance and other secret choices (`particles.py`);
- else, where the history is not known or no such game is found, by dealing what is hidden anew (`redeal.py`).

A state's history tells all when the game was played without streams, chance being an action like others (as
`simulate`, tournaments and the table do for bots), or when the state has its streams still; of these nothing is
drawn but what has been drawn. What is dealt depends on what the player has seen and on the seed, on nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..chance import GOLDEN, MASK, mix
from ..playout import Random
from ..python_backend import Position, Stop
from .changes import Contents, hides_anything
from .particles import Particles
from .redeal import Redealer
from .sight import Sight
from .trail import NoTrail, Trail

if TYPE_CHECKING:
    from ..game import Game, State

_FAILURES = 6
"""After so many particles that could not be made, with none that could, the position alone is dealt from."""
_OTHERS, _APART = 3, 1000
"""How many particles are tried for one position, and how far apart their numbers are."""
_SEED = 0x1DEA


class Dealer:
    """Deals to one player positions that may be, one after another."""

    def __init__(self, game: Game, player: int, seed: int = _SEED) -> None:
        self.game = game
        self.player = player
        self.seed = seed
        self.sight = Sight(game, player)
        self.hides = hides_anything(game)
        self.way = "as it is"
        """How positions were dealt last: `as it is`, `replayed` or `dealt anew`."""
        contents = Contents(game)
        self._trail = Trail(game, self.sight, contents)
        self._particles = Particles(game, self._trail, seed)
        self._redealer = Redealer(game, self.sight, contents)
        self._position: Position = []
        self._stop: Stop = None
        self._made = self._failed = 0

    def look(self, state: State) -> None:
        """Takes in where the game stands now."""
        self._position, self._stop = state.position[:], state.stop
        self._made = self._failed = 0
        if not self.hides:
            return
        self.way = "replayed"
        try:
            if not self._trail.follow(state):
                self._particles.forget()
        except NoTrail:
            self._particles.forget()
            self.way = "dealt anew"

    def deal(self, number: int, expired: Callable[[], bool] = lambda: False) -> Position:
        """Gets position `number` of those that may be; `expired` says that there is no time to look for long."""
        found = self.find(number, expired)
        if found is not None:
            return found
        numbers = Random(mix((self.seed + number * GOLDEN) & MASK))
        return self._redealer.deal(self._position, self._stop, numbers, expired)[0]

    def find(self, number: int, expired: Callable[[], bool]) -> Position | None:
        """Gets position `number` of those that fit the history; None where there is none or it is not known."""
        if not self.hides:
            return self._position[:]
        return self._replayed(number, expired) if self.way == "replayed" else None

    def _replayed(self, number: int, expired: Callable[[], bool]) -> Position | None:
        """Gets a particle: the one of that number or, where it could not be made, another."""
        for other in (*range(number, number + _OTHERS * _APART, _APART), *range(number)):
            found = self._particles.get(other, expired)
            if found is not None:
                self._made += 1
                return found[0]
            self._failed += 1
            if expired():
                break
        if self._failed >= _FAILURES and not self._made:
            self.way = "dealt anew"
        return None


_DEALT = 64
"""How many different positions `determinise` deals to a player at one moment."""
_KEPT = 16
_dealers: OrderedDict[tuple[int, int], Dealer] = OrderedDict()


def dealer_of(game: Game, player: int) -> Dealer:
    """Gets a dealer who may have dealt to the player before, and then is faster."""
    key = (id(game), player)
    dealer = _dealers.pop(key, None)
    if dealer is None or dealer.game is not game:
        dealer = Dealer(game, player)
    _dealers[key] = dealer
    while len(_dealers) > _KEPT:
        _dealers.popitem(last=False)
    return dealer


def determinise(state: State, player: int, rng: Random) -> State:
    """Makes a state that looks the same to a player, all that he cannot know being dealt anew; without streams."""
    dealer = dealer_of(state.game, player)
    dealer.look(state)
    return state.game.state_at(dealer.deal(rng.below(_DEALT)))
