"""Who plays a seat when nobody does: bots, by name.

A bot is asked with a position and the actions its seat may take; it gives one of them, or None to keep
silent where silence is possible. Chance it needs comes from `numbers`, which depends on the game's seed,
the seat and the number of the choice alone, so that a game taken up again goes on as it would have.

Bots that think are the interpreter's policies (`interpreter/bots/policy.py`). While one thinks, the terminal
tells so after a moment; Ctrl-C has it choose at once, and a second Ctrl-C right after stops the bots.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from ..interpreter.game import State
from .indicator import Indicator

if TYPE_CHECKING:
    from ..interpreter.bots.policy import Policy

LONGEST = 20.0
"""How many seconds a bot may think, whatever its name says."""
_AGAIN = 1.0
"""Within how many seconds a second Ctrl-C stops the bots."""
_PATIENCE = 0.3
"""How long the first choice waits for native code; if it is not there by then, it comes in when it is compiled."""


class Bot(Protocol):
    """Plays a seat."""

    def choose(
        self, state: State, player: int, actions: Sequence[int], numbers: random.Random, *, may_pass: bool
    ) -> int | None:
        """Picks one of `actions`, or None for silence if `may_pass`."""


class RandomBot:
    """Takes any action, all as likely."""

    def choose(
        self, state: State, player: int, actions: Sequence[int], numbers: random.Random, *, may_pass: bool
    ) -> int | None:
        """Picks one of `actions`; keeps silent half of the time where it may."""
        if may_pass and (not actions or numbers.random() < 0.5):
            return None
        return numbers.choice(list(actions))


class ThinkingBot:
    """Plays as a policy does, and can be told to come to an end."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def choose(
        self, state: State, player: int, actions: Sequence[int], numbers: random.Random, *, may_pass: bool
    ) -> int | None:
        """Picks the action that looks best."""
        from ..interpreter.playout import Random

        seed = numbers.getrandbits(63)
        with Thinking(state.game.player_names[player]) as thinking:
            self.policy.stop = thinking.is_over
            action = self.policy.choose(state, player, Random(seed))
        if action is None and not may_pass:
            return actions[0]
        return action

    def take_faults(self) -> list[str]:
        """Gets what went wrong with a program of its own since this was last called."""
        noted: list[str] = getattr(self.policy, "faults", [])
        found = noted[:]
        noted.clear()
        return found


class Thinking:
    """A time in which a bot thinks: the terminal tells so, and it ends at Ctrl-C or when it takes too long."""

    _last_interrupt = -_AGAIN

    def __init__(self, name: str) -> None:
        self.interrupted = False
        self.begun = time.monotonic()
        self._before: Any = None
        self._indicator = Indicator(name)

    def __enter__(self) -> Thinking:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
            self._indicator.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._indicator.__exit__(kind, error, trace)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        again = now - Thinking._last_interrupt < _AGAIN
        Thinking._last_interrupt = now
        if self.interrupted or again:
            raise KeyboardInterrupt
        self.interrupted = True

    def is_over(self) -> bool:
        """Tests if it has been told to end, or has thought too long."""
        return self.interrupted or time.monotonic() - self.begun > LONGEST


def _thinking(kind: str) -> Callable[[str], Bot]:
    def make(argument: str) -> Bot:
        from ..interpreter.bots.policy import make_policy

        return ThinkingBot(make_policy(f"{kind}:{argument}" if argument else kind, patience=_PATIENCE))

    return make


def _random(argument: str) -> Bot:
    if argument:
        raise ValueError(argument)
    return RandomBot()


BOTS: dict[str, Callable[[str], Bot]] = {
    "random": _random,
    "greedy": _thinking("greedy"),
    "montecarlo": _thinking("montecarlo"),
    "mcts": _thinking("mcts"),
}
"""The makers of bots by name; each is called with what stands after the colon, as in `name:argument`."""


def make_bot(name: str) -> Bot | None:
    """Makes the bot of a name, or None where there is none."""
    kind, colon, argument = name.partition(":")
    maker = BOTS.get(kind)
    if maker is None or (colon and not argument):
        return None
    try:
        return maker(argument)
    except ValueError:
        return None


def make_program(name: str) -> Bot:
    """Makes a bot that is a program of its own. Raises `UnknownPolicy`.

    For names from this machine's own command line alone: who may call this may run any command.
    """
    from ..interpreter.bots.policy import make_policy

    return ThinkingBot(make_policy(name, programs=True))
