"""Rule sets as PettingZoo environments (the extra `pettingzoo`).

    env = table_env("GAME", players=4)            # turn by turn, with PettingZoo's usual wrappers
    env = parallel_table_env("GAME", players=4)   # all agents at each step

An observation is a dictionary: `observation`, what the agent sees now (`observation.py`), and `action_mask`, what it may
do. Rewards are the returns, at the end. Chance is inside, drawn from the seed of `reset`. A game that is not over when
the rules' budget of decisions is spent is truncated.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers

from ..errors import IllegalMove
from ..game import Game, State, load_game
from ..playout import Random
from .encoding import Encoding, is_race
from .observation import Observer
from .turns import Turns

Observation = dict[str, npt.NDArray[Any]]
Step = tuple[
    dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]
"""What each agent observes, its reward, whether it is over for it or cut off, and more about it."""
_METADATA: dict[str, Any] = {"name": "harbourmaster_v0", "render_modes": ["ansi"]}


class _Seats:
    """What both environments share: agents, spaces, what an agent observes."""

    def __init__(self, game: Game, encoding: Encoding) -> None:
        self.game = game
        self.encoding = encoding
        self.observer = Observer(game, encoding)
        self.agents = [f"player_{p}" for p in range(game.num_players())]
        self.seat = {agent: p for p, agent in enumerate(self.agents)}
        low, high = self.observer.low, self.observer.high
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent in self.agents:
            self.observation_spaces[agent] = spaces.Dict(
                {
                    "observation": spaces.Box(low, high, dtype=np.int64),
                    "action_mask": spaces.Box(0, 1, (encoding.size,), np.int8),
                }
            )
            self.action_spaces[agent] = spaces.Discrete(encoding.size)

    def observe(self, state: State, agent: str, legal: Mapping[int, object], *, asked: bool) -> Observation:
        """Gets what an agent sees and may do."""
        mask = np.zeros(self.encoding.size, np.int8)
        mask[list(legal)] = 1
        vector = self.observer.vector(state, self.seat[agent], asked=asked)
        return {"observation": vector, "action_mask": mask}


class TableEnv(AECEnv[str, Observation, "int | None"]):  # type: ignore[misc]
    """A rule set, one agent asked at a time (`turns.py` says in which order)."""

    metadata = {**_METADATA, "is_parallelizable": False}  # noqa: RUF012  (as the library declares it)

    def __init__(
        self,
        ruleset: str,
        *,
        players: int | None = None,
        readings: Mapping[str, str] | None = None,
        offers: bool = True,
        render_mode: str | None = None,
    ) -> None:
        """Loads a rule set as `load_game` does. Raises `RulesError`."""
        super().__init__()
        self.game = load_game(ruleset, players=players, readings=readings, offers=offers)
        self.encoding = Encoding(self.game)
        self.render_mode = render_mode
        self._seats = _Seats(self.game, self.encoding)
        self.possible_agents = self._seats.agents[:]
        self.observation_spaces = self._seats.observation_spaces
        self.action_spaces = self._seats.action_spaces
        self.turns: Turns

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Gets the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Gets the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a new game; without a seed, chance draws from a new one."""
        self.turns = Turns(self.game, self.encoding, secrets.randbits(48) if seed is None else seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._select()

    def _select(self) -> None:
        turns = self.turns
        if turns.asked is not None:
            self.agent_selection = self.possible_agents[turns.asked]
        if turns.is_over:
            self.rewards = dict(zip(self.possible_agents, turns.state.returns(), strict=True))
            self.terminations = dict.fromkeys(self.agents, turns.state.is_terminal())
            self.truncations = dict.fromkeys(self.agents, turns.is_cut)

    def observe(self, agent: str) -> Observation:
        """Gets what an agent sees and may do: nothing where it is not asked."""
        asked = self.agent_selection == agent and not self.turns.is_over
        legal = self.turns.legal() if asked else {}
        return self._seats.observe(self.turns.state, agent, legal, asked=asked)

    def information_state(self, agent: str) -> str:
        """Gets all that an agent has seen, as a text."""
        return self.turns.state.information_state_string(self._seats.seat[agent])

    def step(self, action: int | None) -> None:
        """Takes the selected agent's action. Raises `IllegalMove` for one that the mask does not allow."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalMove("illegal", f"{agent} must act")
        self.turns.take(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._select()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Writes what everybody sees, with `render_mode="ansi"`."""
        return self.turns.state.observation_string(None) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Has nothing to let go of."""


class ParallelTableEnv(ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """A rule set, all agents at each step; those that are not to act have one action, to wait.

    Where whoever acts first acts, chance draws one of those that do not wait.
    """

    metadata = _METADATA

    def __init__(
        self,
        ruleset: str,
        *,
        players: int | None = None,
        readings: Mapping[str, str] | None = None,
        offers: bool = True,
        render_mode: str | None = None,
    ) -> None:
        """Loads a rule set as `load_game` does. Raises `RulesError`."""
        self.game = load_game(ruleset, players=players, readings=readings, offers=offers)
        self.encoding = Encoding(self.game, waits=True)
        self.render_mode = render_mode
        self._seats = _Seats(self.game, self.encoding)
        self.possible_agents = self._seats.agents[:]
        self.agents: list[str] = []
        self.observation_spaces = self._seats.observation_spaces
        self.action_spaces = self._seats.action_spaces
        self.state: State
        self.choices = 0
        """How many actions were taken."""
        self._numbers = Random(0)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Gets the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Gets the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begins a new game; without a seed, chance draws from a new one."""
        seed = secrets.randbits(48) if seed is None else seed
        self.state = self.game.new_initial_state(seed)
        self.choices = 0
        self._numbers = Random(seed)
        self.agents = self.possible_agents[:]
        return self._observe(), {agent: {} for agent in self.agents}

    def _observe(self) -> dict[str, Observation]:
        found = {}
        for agent in self.agents:
            legal = self._legal(agent)
            asked = any(action is not None for action in legal.values())
            found[agent] = self._seats.observe(self.state, agent, legal, asked=asked)
        return found

    def _legal(self, agent: str) -> dict[int, int | None]:
        """Gets what an agent may do now: the game's action by number; None for waiting."""
        state, player = self.state, self._seats.seat[agent]
        wait: dict[int, int | None] = {self.encoding.moves: None}
        decision = state.decision
        if decision is None or player not in state.players_to_act():
            return wait
        found: dict[int, int | None] = {self.encoding.encode(a): a for a in state.legal_actions(player)}
        return found | wait if is_race(decision) and self._may_wait(player) else found

    def _may_wait(self, player: int) -> bool:
        state = self.state
        decision = state.decision
        assert decision is not None
        if decision.mode == "one":
            return state.current_player() != player
        return any(state.actor(a) < 0 for a in state.legal_actions())

    def step(self, actions: dict[str, int]) -> Step:
        """Takes all agents' actions. Raises `IllegalMove` for one that its mask does not allow."""
        chosen: list[tuple[int, int]] = []
        for agent in self.agents:
            legal = self._legal(agent)
            if agent not in actions:
                raise IllegalMove("illegal", f"{agent} gave no action")
            number = int(actions[agent])
            if number not in legal:
                raise IllegalMove("illegal", f"{agent}: {number} is not offered here")
            action = legal[number]
            if action is not None:
                chosen.append((self._seats.seat[agent], action))
        state = self.state
        if state.is_simultaneous_node():
            self._take_at_once(chosen)
        elif chosen:
            self._apply(chosen[self._numbers.below(len(chosen))][1])
        else:
            self._apply(next(a for a in state.legal_actions() if state.actor(a) < 0))
        return self._outcome()

    def _apply(self, action: int, player: int | None = None) -> None:
        self.state.apply_action(action, player)
        self.choices += 1

    def _take_at_once(self, chosen: list[tuple[int, int]]) -> None:
        """Takes what was chosen at once, until the decision is over.

        The game may have made the last choices itself, where one option was left; then who has chosen is asked anew.
        """
        state, done = self.state, set[int]()
        decision = state.decision
        assert decision is not None
        for player, action in chosen:
            waiting = state.players_to_act()
            if state.decision is not decision or done & set(waiting):
                return
            if player in waiting and action in state.legal_actions(player):
                self._apply(action, player)
                if state.decode(action)[0].index in decision.moves:
                    done.add(player)

    def _outcome(self) -> Step:
        agents, state = self.agents, self.state
        over = state.is_terminal()
        cut = not over and self.choices >= self.game.program.decision_budget
        returns = state.returns()
        rewards = {agent: returns[self._seats.seat[agent]] for agent in agents}
        seen = self._observe()
        if over or cut:
            self.agents = []
        return (
            seen,
            rewards,
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            {agent: {} for agent in agents},
        )

    def information_state(self, agent: str) -> str:
        """Gets all that an agent has seen, as a text."""
        return self.state.information_state_string(self._seats.seat[agent])

    def render(self) -> str | None:
        """Writes what everybody sees, with `render_mode="ansi"`."""
        return self.state.observation_string(None) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Has nothing to let go of."""


def table_env(
    ruleset: str,
    *,
    players: int | None = None,
    readings: Mapping[str, str] | None = None,
    offers: bool = True,
    render_mode: str | None = None,
    illegal_reward: float = -1.0,
) -> AECEnv[str, Observation, int | None]:
    """Makes an environment with the wrappers PettingZoo recommends.

    An action that the mask does not allow ends the game, with `illegal_reward` for the agent. Raises `RulesError`.
    """
    raw = TableEnv(ruleset, players=players, readings=readings, offers=offers, render_mode=render_mode)
    ended = wrappers.TerminateIllegalWrapper(raw, illegal_reward=illegal_reward)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(ended))


def parallel_table_env(
    ruleset: str,
    *,
    players: int | None = None,
    readings: Mapping[str, str] | None = None,
    offers: bool = True,
    render_mode: str | None = None,
) -> ParallelTableEnv:
    """Makes an environment in which all agents act at each step. Raises `RulesError`."""
    return ParallelTableEnv(
        ruleset, players=players, readings=readings, offers=offers, render_mode=render_mode
    )
