"""The players by name, for any rule set.

    random              any option, each as likely
    greedy[:N]          every option N times played on by chance; the best mean (default 24)
    montecarlo[:MS]     sequential halving over the options, for MS milliseconds (default 200)
    mcts[:MS]           a search tree over what the player knows, and rollouts that learn good moves (default 200)
    exec:[MS:]COMMAND   a program of its own, in any language (outside.py), with MS milliseconds a choice (default 10000)

In place of milliseconds, `500r` is a budget of 500 rollouts: then a choice depends on the random numbers alone, and is
the same on every machine and backend.

A policy may play any seats of any games, one after another; it remembers what each seat has seen as long as the game
goes on. `stop`, when set, is asked now and then whether to stop thinking; the best option found by then is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ...grammar.diagnostics import suggestion
from ..playout import Random
from .budget import Budget, Meter, Stopper, never
from .rollouts import Roller
from .search import halving, one_ply
from .thinker import Choice, Thinker, choices_of

if TYPE_CHECKING:
    from ..game import Game, State

DEFAULT_MS = 200
DEFAULT_EACH = 24


class UnknownPolicy(ValueError):
    """Says that a policy's name means nothing; `help` says what would."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


class Policy(Protocol):
    """Chooses for a seat."""

    name: str
    stop: Stopper

    def choose(self, state: State, player: int, rng: Random) -> int | None:
        """Picks one of `state.legal_actions(player)`, or None to leave it to others where others may act."""


class RandomPolicy:
    """Takes any option, each as likely; where it may keep silent, it does so half of the time."""

    def __init__(self) -> None:
        self.name = "random"
        self.stop: Stopper = never

    def choose(self, state: State, player: int, rng: Random) -> int | None:
        """Picks an action."""
        choices = choices_of(state, player)
        if choices and choices[-1].action is None and (len(choices) == 1 or rng.below(2)):
            return None
        actions = [c for c in choices if c.action is not None]
        return actions[rng.below(len(actions))].action


class ThinkingPolicy:
    """A player that tries its options out."""

    tries = 0
    """Among how many options a taste picks in its rollouts; 0: they are played by chance."""

    def __init__(
        self, name: str, budget: Budget, *, native: bool | None = None, patience: float | None = 0.0
    ) -> None:
        self.name = name
        self.budget = budget
        self.stop: Stopper = never
        self.choices: list[Choice] = []
        """What it thought of each option in its last choice."""
        self._native = native
        self._patience = patience
        self._thinkers: dict[int, Thinker] = {}

    def choose(self, state: State, player: int, rng: Random) -> int | None:
        """Picks the action that looks best."""
        choices = self.choices = choices_of(state, player)
        if len(choices) < 2:
            return choices[0].action if choices else None
        thinker = self.thinker(state.game, player)
        thinker.begin(state, Meter(self.allowance(len(choices)), self.stop), rng, self.tries)
        return self.think(thinker, state, choices, rng).action

    def thinker(self, game: Game, player: int) -> Thinker:
        """Gets who thinks for a seat of a game."""
        found = self._thinkers.get(player)
        if found is None or found.game is not game:
            roller = next((t.roller for t in self._thinkers.values() if t.game is game), None)
            if roller is None:
                roller = Roller(game, native=self._native, patience=self._patience)
            found = self._thinkers[player] = Thinker(game, player, roller)
        return found

    def allowance(self, options: int) -> Budget:
        """Gets the budget of a choice among so many options."""
        return self.budget

    def think(self, thinker: Thinker, state: State, choices: list[Choice], rng: Random) -> Choice:
        """Finds the best option."""
        raise NotImplementedError


class Greedy(ThinkingPolicy):
    """Tries each option equally often."""

    def allowance(self, options: int) -> Budget:
        """Gets the budget of a choice among so many options."""
        return Budget(rollouts=self.budget.rollouts * options)

    def think(self, thinker: Thinker, state: State, choices: list[Choice], rng: Random) -> Choice:
        """Finds the best option."""
        return one_ply(thinker, choices, self.budget.rollouts)


class MonteCarlo(ThinkingPolicy):
    """Tries good options more often than bad ones."""

    def think(self, thinker: Thinker, state: State, choices: list[Choice], rng: Random) -> Choice:
        """Finds the best option."""
        return halving(thinker, choices, rng)


class TreeSearch(ThinkingPolicy):
    """Looks ahead along its own and the others' good options."""

    tries = 4

    def think(self, thinker: Thinker, state: State, choices: list[Choice], rng: Random) -> Choice:
        """Finds the best option."""
        from .tree import Tree

        return Tree(thinker, rng).search(choices)


# ------------------------------------------------------------------------------------------------------- by name


def _greedy(argument: str) -> tuple[type[ThinkingPolicy], Budget]:
    return Greedy, Budget(rollouts=_whole(argument or f"{DEFAULT_EACH}"))


def _by_time(kind: type[ThinkingPolicy]) -> Callable[[str], tuple[type[ThinkingPolicy], Budget]]:
    def read(argument: str) -> tuple[type[ThinkingPolicy], Budget]:
        if argument.endswith("r"):
            return kind, Budget(rollouts=_whole(argument[:-1]))
        return kind, Budget(seconds=_whole(argument or f"{DEFAULT_MS}") / 1000)

    return read


_KINDS: dict[str, Callable[[str], tuple[type[ThinkingPolicy], Budget]]] = {
    "greedy": _greedy,
    "montecarlo": _by_time(MonteCarlo),
    "mcts": _by_time(TreeSearch),
}
NAMES = ("random", *_KINDS)
"""The names of policies, without what may follow after a colon; besides there are programs, `exec:COMMAND`."""


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**9:
        raise ValueError(text)
    return int(text)


def make_policy(
    name: str, *, native: bool | None = None, patience: float | None = None, programs: bool = False
) -> Policy:
    """Makes the policy of a name, e.g. `montecarlo:200`. Raises `UnknownPolicy`.

    `programs`: whether the name may start a program (`exec:COMMAND`): only where whoever names it owns this machine.

    `native`: whether rollouts run on native code; None: where it is to be had. `patience`: how many seconds to wait for
    it to be compiled before beginning without; None: as long as it takes.
    """
    kind, colon, argument = name.partition(":")
    if name == "random":
        return RandomPolicy()
    if kind == "exec" and not programs:
        raise UnknownPolicy(
            "programs of their own are not started from here", "they are seated where a game begins"
        )
    if kind == "exec":
        from .outside import make_outside

        return make_outside(name, argument)
    if kind not in _KINDS:
        raise UnknownPolicy(f"no policy '{name}'", suggestion(kind, NAMES, what="the policies are"))
    try:
        if colon and not argument:
            raise ValueError(name)
        made, budget = _KINDS[kind](argument)
    except ValueError:
        takes = "rollouts" if kind == "greedy" else "milliseconds, or rollouts with an r"
        example = "24" if kind == "greedy" else "200' or ':500r"
        raise UnknownPolicy(
            f"'{name}': got '{argument}', want {takes}", f"as in '{kind}:{example}'"
        ) from None
    return made(name, budget, native=native, patience=patience)
