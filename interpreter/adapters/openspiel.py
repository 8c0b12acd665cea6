"""Rule sets as OpenSpiel games (the extra `openspiel`).

    register()
    game = pyspiel.load_game("harbourmaster", {"ruleset": "GAME", "players": 4})
    game = open_spiel_game("GAME", players=4)       # the same

As OpenSpiel writes games with their parameters, `=` in a rule set's name is a colon there: `GAME+QUESTION:READING`.

Chance stands open: its nodes have their outcomes. Where several choose at once, they are asked one after another and see
nothing of each other's choices; where whoever acts first acts, chance says who is asked next (`turns.py`). Utilities are
the returns. A game that is not over when the rules' budget of decisions is spent ends there, without returns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyspiel

from ..game import Game, load_game
from .encoding import Encoding, is_race
from .observation import Observer
from .turns import Turns

SHORT_NAME = "harbourmaster"
_MOST_PLAYERS = 20
_PARAMETERS = {"ruleset": "", "players": 0, "offers": True}
_GAME_TYPE = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Rules read by Harbourmaster",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.GENERAL_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=_MOST_PLAYERS,
    min_num_players=1,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=False,
    parameter_specification=_PARAMETERS,
    default_loadable=False,
)


@lru_cache(maxsize=16)
def _loaded(ruleset: str, players: int, offers: bool) -> tuple[Game, Encoding, Observer]:
    game = load_game(ruleset, players=players or None, offers=offers)
    encoding = Encoding(game)
    return game, encoding, Observer(game, encoding)


def _info(game: Game, encoding: Encoding) -> Any:
    program = game.program
    players = game.num_players()
    races = any(is_race(d) for d in program.decisions)
    low, high = program.functions[program.score].bounds if program.score else (0, 0)
    return pyspiel.GameInfo(
        num_distinct_actions=encoding.size,
        max_chance_outcomes=max([players * races, *(c.count.high for c in program.chances)], default=0),
        num_players=players,
        min_utility=float(min(low, 0)),
        max_utility=float(max(high, 0)),
        utility_sum=None,
        max_game_length=program.decision_budget * (players + 1 if races else 1),
    )


class TableGame(pyspiel.Game):  # type: ignore[misc]
    """A rule set for a number of players."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Loads the rule set that the parameter `ruleset` names. Raises `RulesError`."""
        wanted = {**_PARAMETERS, **(params or {})}
        key = (str(wanted["ruleset"]).replace(":", "="), int(wanted["players"]), bool(wanted["offers"]))
        self.game, self.encoding, self.observer = _loaded(*key)
        super().__init__(_GAME_TYPE, _info(self.game, self.encoding), params or {})

    def new_initial_state(self, *_: object) -> TableState:
        """Gets a state at the start."""
        return TableState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> TableObserver:
        """Gets what fills observation tensors and strings."""
        if params:
            raise ValueError(f"observation parameters are not known here: {params}")
        return TableObserver(self, iig_obs_type)


class TableState(pyspiel.State):  # type: ignore[misc]
    """A state of a rule set."""

    def __init__(self, game: TableGame) -> None:
        super().__init__(game)
        self.turns = Turns(game.game, game.encoding)

    def current_player(self) -> int:
        """Gets who is asked: a seat, chance, or nobody at the end."""
        if self.turns.is_over:
            return int(pyspiel.PlayerId.TERMINAL)
        if self.turns.is_chance:
            return int(pyspiel.PlayerId.CHANCE)
        assert self.turns.asked is not None
        return self.turns.asked

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.turns.legal()) if player == self.turns.asked and not self.turns.is_over else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Gets the outcomes of chance with their probabilities."""
        return self.turns.outcomes()

    def _apply_action(self, action: int) -> None:
        if self.turns.is_chance:
            self.turns.take_outcome(action)
        else:
            self.turns.take(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player < 0:
            return f"chance: {action}"
        encoding = self.turns.encoding
        if action == encoding.passing:
            return "leave it to others"
        return self.turns.state.describe(encoding.decode(action), player)

    def is_terminal(self) -> bool:
        """Tests if the game is over, or its budget of decisions spent."""
        return self.turns.is_over

    def returns(self) -> list[float]:
        """Gets each player's score at the end, zeros before."""
        return self.turns.state.returns()

    def information_state_string(self, player: int | None = None) -> str:
        """Gets all that a player has seen."""
        asked = self.turns.asked
        seat = asked if player is None else player
        assert seat is not None
        seen = self.turns.state.information_state_string(seat)
        return f"{seen}\nasked {int(asked == seat)}"

    def __str__(self) -> str:
        return self.turns.state.observation_string(None)

    def __deepcopy__(self, memo: dict[int, Any]) -> TableState:
        made = TableState(self.get_game())
        made.turns = self.turns.copy()
        return made


class TableObserver:
    """Fills a tensor and a string with what a player sees now."""

    def __init__(self, game: TableGame, iig_obs_type: Any) -> None:
        self.observer = game.observer
        self.has_recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        self.tensor = np.zeros(game.observer.size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: TableState, player: int) -> None:
        """Fills the tensor."""
        self.tensor[:] = self.observer.vector(state.turns.state, player, asked=state.turns.asked == player)

    def string_from(self, state: TableState, player: int) -> str:
        """Gets the string: all that a player has seen where perfect recall was asked for, else what he sees now."""
        if self.has_recall:
            return state.information_state_string(player)
        return f"{state.turns.state.observation_string(player)}\nasked {int(state.turns.asked == player)}"


def register() -> str:
    """Makes the games known to `pyspiel.load_game`, and gets their name there."""
    if SHORT_NAME not in pyspiel.registered_names():
        pyspiel.register_game(_GAME_TYPE, TableGame)
    return SHORT_NAME


def open_spiel_game(ruleset: str, *, players: int | None = None, offers: bool = True) -> Any:
    """Loads a rule set as an OpenSpiel game. Raises `RulesError`."""
    register()
    _loaded(ruleset, players or 0, offers)  # so that mistakes are told before they go through C++
    named = {"ruleset": ruleset.replace("=", ":"), "players": players or 0, "offers": offers}
    return pyspiel.load_game(SHORT_NAME, named)
