"""Who plays a seat when nobody does: bots, by name.

A bot is asked with a position and the actions its seat may take; it gives one of them, or None to keep
silent where silence is possible. Chance it needs comes from `numbers`, which depends on the game's seed,
the seat and the number of the choice alone, so that a game taken up again goes on as it would have.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from ..interpreter.game import State


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


BOTS: dict[str, Callable[[str], Bot]] = {"random": lambda argument: RandomBot()}
"""The makers of bots by name; each is called with what stands after the colon, as in `name:argument`."""


def make_bot(name: str) -> Bot | None:
    """Makes the bot of a name, or None where there is none."""
    kind, _, argument = name.partition(":")
    maker = BOTS.get(kind)
    return None if maker is None else maker(argument)
