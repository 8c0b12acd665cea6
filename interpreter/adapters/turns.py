"""One game in which one player is asked at a time.

Where all choose at once they are asked by seat, and see nothing of each other's choices. Where whoever acts first acts
(and where standing offers are open to everybody), players are asked one after another, in an order that chance draws
anew at each decision, until one acts; each may pass but where somebody must act: then the last one asked, or the player
whose decision it is. When all pass, nobody acts.

With a seed, chance is drawn from it; without one it stands open, and so does who is asked next.

It is pickled as what it was made from and the numbers taken since.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..errors import IllegalMove
from ..game import Game, State, load_game
from ..playout import Random
from .encoding import Encoding, is_race


class Turns:
    """A game, and whom it asks."""

    def __init__(self, game: Game, encoding: Encoding, seed: int | None = None) -> None:
        self.game = game
        self.encoding = encoding
        self.state: State = game.new_initial_state(seed)
        self.asked: int | None = None
        """Who is asked; None when the game is over or chance decides."""
        self.choices = 0
        """How many actions were taken."""
        self._seed = seed
        self._taken: Any = None
        """The numbers of actions and outcomes so far, newest first: (earlier, number)."""
        self._numbers = None if seed is None else Random(seed)
        self._left: tuple[int, ...] = ()
        """Who may yet be asked at a race, besides those who must act."""
        self._must: int | None = None
        self._draws = False
        """Whether chance must say who is asked next."""
        self._legal: dict[int, int | None] | None = None
        self._settle()

    def copy(self) -> Turns:
        """Makes another that stands here, too."""
        made = Turns.__new__(Turns)
        made.__dict__.update(self.__dict__)
        made.state = self.state.clone()
        if self._numbers is not None:
            made._numbers = Random(0)
            made._numbers.x = self._numbers.x
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> Turns:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = []
        at = self._taken
        while at is not None:
            at, number = at
            numbers.append(number)
        made_from = (self.game.name, self.game.num_players(), self.game.offers, self.encoding.waits)
        return _again, (*made_from, self._seed, tuple(reversed(numbers)))

    # --------------------------------------------------------------------------------------------------- asking

    def _settle(self) -> None:
        """Finds who is asked first at a new decision."""
        self.asked, self._left, self._must, self._draws, self._legal = None, (), None, False, None
        decision = self.state.decision
        if decision is None:
            return
        if not is_race(decision):
            self.asked = self.state.current_player()
            return
        if decision.mode == "one":
            self._must = self.state.current_player()
        self._left = tuple(p for p in self.state.players_to_act() if p != self._must)
        self._ask_next()

    def _ask_next(self) -> None:
        self.asked, self._legal = None, None
        if len(self._left) > 1:
            if self._numbers is None:
                self._draws = True
            else:
                self._ask(self._left[self._numbers.below(len(self._left))])
        elif self._left:
            self._ask(self._left[0])
        elif self._must is not None:
            self.asked = self._must
        else:
            silence = self._nobody()
            assert silence is not None
            self._apply(silence, None)

    def _ask(self, player: int) -> None:
        self._draws = False
        self.asked = player
        self._left = tuple(p for p in self._left if p != player)

    def _nobody(self) -> int | None:
        """Gets the action that nobody takes, where there is one."""
        return next((a for a in self.state.legal_actions() if self.state.actor(a) < 0), None)

    @property
    def may_pass(self) -> bool:
        """Whether the player asked may leave it to others."""
        decision = self.state.decision
        if self.asked is None or decision is None or not is_race(decision):
            return False
        if decision.mode == "one":
            return self.asked != self._must
        return bool(self._left) or self._nobody() is not None

    def legal(self) -> dict[int, int | None]:
        """Gets what the player asked may do: the game's action by number; None for leaving it to others."""
        if self._legal is None:
            self._legal = {}
            if self.asked is not None:
                decision = self.state.decision
                one = decision is not None and decision.mode == "one" and not decision.everyone
                found = self.state.legal_actions(None if one else self.asked)
                self._legal = {self.encoding.encode(a): a for a in found}
                if self.may_pass and self.encoding.passing is not None:
                    self._legal[self.encoding.passing] = None
        return self._legal

    def take(self, number: int) -> None:
        """Takes an action for the player asked. Raises `IllegalMove`; nothing has changed then."""
        legal = self.legal()
        if number not in legal:
            raise IllegalMove("illegal", self._why_not(number))
        self.act(legal[number])

    def act(self, action: int | None) -> None:
        """Takes one of the game's own actions for the player asked; None leaves it to others."""
        number = self.encoding.passing if action is None else self.encoding.encode(action)
        self._taken = (self._taken, number)
        if action is None:
            self._ask_next()
        else:
            self._apply(action, self.asked if self.state.is_simultaneous_node() else None)

    def _why_not(self, number: int) -> str:
        if self.asked is None:
            return "nobody is asked here"
        if number == self.encoding.passing:
            return "this cannot be left to others"
        if not 0 <= number < self.encoding.moves:
            return f"there is no action {number}"
        refusal = self.state.why_not(self.encoding.decode(number), self.asked)
        return refusal.reason if refusal is not None else "that is not offered here"

    def _apply(self, action: int, player: int | None) -> None:
        self.state.apply_action(action, player)
        self.choices += 1
        self._settle()

    # --------------------------------------------------------------------------------------------------- chance

    @property
    def is_chance(self) -> bool:
        """Whether chance decides, which stands open."""
        return self._draws or self.state.is_chance_node()

    def outcomes(self) -> list[tuple[int, float]]:
        """Gets the outcomes of chance, numbered from 0, with their probabilities."""
        if self._draws:
            return [(p, 1 / len(self._left)) for p in self._left]
        low = self._lowest()
        return [(outcome - low, p) for outcome, p in self.state.chance_outcomes()]

    def take_outcome(self, number: int) -> None:
        """Takes an outcome of chance."""
        self._taken = (self._taken, number)
        if self._draws:
            self._ask(number)
            return
        self.state.apply_action(number + self._lowest())
        self._settle()

    def _lowest(self) -> int:
        assert self.state.stop.__class__ is tuple
        node: int = self.state.stop[0]
        return self.game.program.chances[node].low

    # ------------------------------------------------------------------------------------------------------ end

    @property
    def is_cut(self) -> bool:
        """Whether the rules' budget of decisions is spent before the game is over."""
        return not self.state.is_terminal() and self.choices >= self.game.program.decision_budget

    @property
    def is_over(self) -> bool:
        """Whether it goes no further: the game is over, or cut."""
        return self.state.is_terminal() or self.is_cut


@lru_cache(maxsize=16)
def _game(name: str, players: int, offers: bool, waits: bool) -> tuple[Game, Encoding]:
    game = load_game(name, players=players, offers=offers)
    return game, Encoding(game, waits=waits)


def _again(
    name: str, players: int, offers: bool, waits: bool, seed: int | None, numbers: Sequence[int]
) -> Turns:
    """Makes again what was pickled."""
    made = Turns(*_game(name, players, offers, waits), seed)
    for number in numbers:
        if made.is_chance:
            made.take_outcome(number)
        else:
            made.take(number)
    return made
