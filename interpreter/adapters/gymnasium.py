"""One seat of a rule set as a Gymnasium environment, with bots at the others (the extra `gymnasium`).

    env = SeatEnv("GAME", players=4, seat=0, opponents="montecarlo:50r")

An observation is what the seat sees now (`observation.py`); `action_masks()` and `info["action_mask"]` tell what it may
do, as MaskablePPO of sb3-contrib asks. The reward is the seat's return, at the end. An action that the mask does not
allow ends the game with `illegal_reward`; `info["illegal"]` tells why. A game that is not over when the rules' budget of
decisions is spent is truncated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from ..game import load_game
from ..playout import Random
from ..simulate import POLICIES, Policy
from .encoding import Encoding
from .observation import Observer, Vector
from .turns import Turns

ID = "harbourmaster/Seat-v0"


class SeatEnv(gymnasium.Env[Vector, np.int64]):
    """A game in which one seat learns and bots play the others."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012  (as the library declares it)

    def __init__(
        self,
        ruleset: str,
        *,
        players: int | None = None,
        readings: Mapping[str, str] | None = None,
        offers: bool = True,
        seat: int = 0,
        opponents: str | Sequence[str] = "random",
        illegal_reward: float = -1.0,
        native: bool | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Loads a rule set as `load_game` does.

        `seat` counts from 0. `opponents` is the name of a policy (`bots/policy.py`) for all other seats, or one for each
        of them in order; `native` tells whether their rollouts run on native code (None: where it is to be had). Raises
        `RulesError`, or `ValueError` for a wrong seat or policy.
        """
        self.game = load_game(ruleset, players=players, readings=readings, offers=offers)
        count = self.game.num_players()
        if not 0 <= seat < count:
            raise ValueError(f"there is no seat {seat}: the seats are 0 to {count - 1}")
        self.seat = seat
        names = [opponents] * (count - 1) if isinstance(opponents, str) else list(opponents)
        if len(names) != count - 1:
            raise ValueError(f"got {len(names)} opponents, want 1 name or {count - 1}")
        for name in names:
            if name not in POLICIES:
                raise ValueError("; ".join(filter(None, POLICIES.complaint(name))))
        names.insert(seat, "random")
        self.opponents = tuple(names)
        self.native = native
        self.illegal_reward = illegal_reward
        self.render_mode = render_mode
        self.encoding = Encoding(self.game)
        self.observer = Observer(self.game, self.encoding)
        self.observation_space = spaces.Box(self.observer.low, self.observer.high, dtype=np.int64)
        self.action_space = spaces.Discrete(self.encoding.size)
        self.turns = Turns(self.game, self.encoding, 0)
        self._policies: list[Policy] = []
        self._numbers = Random(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begins a new game and plays on until the seat is asked."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(1 << 48))
        self._numbers = Random(drawn ^ 1)  # other numbers than those that say who is asked
        self._policies = [
            POLICIES.player(name, self.game, p, native=self.native)[0]
            for p, name in enumerate(self.opponents)
        ]
        self.turns = Turns(self.game, self.encoding, drawn)
        self._play_others()
        return self._observe(), self._info()

    def _play_others(self) -> None:
        turns = self.turns
        while not turns.is_over and turns.asked != self.seat:
            assert turns.asked is not None
            action = self._policies[turns.asked](turns.state, turns.asked, self._numbers)
            if action is None and not turns.may_pass:
                legal = [a for a in turns.legal().values() if a is not None]
                action = legal[self._numbers.below(len(legal))]
            turns.act(action)

    def _observe(self) -> Vector:
        return self.observer.vector(self.turns.state, self.seat, asked=self.turns.asked == self.seat)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8)}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Tells of each action whether it may be taken now."""
        mask = np.zeros(self.encoding.size, np.bool_)
        if not self.turns.is_over:
            mask[list(self.turns.legal())] = True
        return mask

    def information_state(self) -> str:
        """Gets all that the seat has seen, as a text."""
        return self.turns.state.information_state_string(self.seat)

    def step(self, action: np.int64) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Takes the seat's action and plays on until it is asked again."""
        from ..errors import IllegalMove

        turns = self.turns
        try:
            turns.take(int(action))
        except IllegalMove as error:
            return (
                self._observe(),
                self.illegal_reward,
                True,
                False,
                {**self._info(), "illegal": error.message},
            )
        self._play_others()
        over = turns.state.is_terminal()
        reward = turns.state.returns()[self.seat] if over else 0.0
        return self._observe(), reward, over, turns.is_cut, self._info()

    def render(self) -> str | None:
        """Writes what the seat sees, with `render_mode="ansi"`."""
        return self.turns.state.observation_string(self.seat) if self.render_mode == "ansi" else None


def register() -> str:
    """Makes the environment known to `gymnasium.make`, and gets its name there."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, f"{__name__}:SeatEnv")
    return ID
