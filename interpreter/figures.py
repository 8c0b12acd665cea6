"""Figures: expressions of the rules language worked out on positions, for views, scenarios and questions at the prompt.

One that gives a set, a pile or a list gives its members; every other one number. How they are made stands in
`figure_compiler.py`, apart, so that figures kept from before need neither parser nor lowering.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from .errors import BrokenRule
from .types import Type

if TYPE_CHECKING:
    from .game import Game, State


class Kept(Struct, frozen=True):
    """What the cache keeps of a figure."""

    text: str
    type: Type
    many: bool
    secrets: tuple[tuple[str, str], ...]
    code: bytes


class Figure:
    """An expression ready to be worked out on states of one game."""

    def __init__(self, game: Game, kept: Kept, hooks: Mapping[str, Callable[..., Any]]) -> None:
        self.game = game
        self.text = kept.text
        self.type = kept.type
        """The type of the value, or of each member where there are many."""
        self.many = kept.many
        """Whether it gives a list of members (of a set, pile or list) rather than one value."""
        self.secrets = kept.secrets
        """The secret variables it reads, each with whose it is as written (or "")."""
        names: dict[str, Any] = dict(hooks)
        exec(marshal.loads(kept.code), names)
        self._function: Callable[..., Any] = names["figure"]

    def value(self, state: State, *arguments: int) -> int:
        """Works it out; arguments are the parameters' values in order."""
        return int(self._function(state.position, *arguments))

    def members(self, state: State, *arguments: int) -> list[int]:
        """Works out its members, in their order."""
        return list(self._function(state.position, *arguments))

    def show(self, state: State, *arguments: int, language: str = "en") -> str:
        """Works it out and writes it as people read it."""
        labels = self.game.labels(language)
        if self.many:
            return ", ".join(labels.value(v, self.type) for v in self.members(state, *arguments))
        return labels.value(self.value(state, *arguments), self.type)


def hooks() -> dict[str, Callable[..., Any]]:
    """Gets what a figure's code calls when a value is missing or out of range."""

    def bad(site: int, why: str, value: int, low: int, high: int) -> int:
        raise BrokenRule(
            f"runtime-{why}", f"this cannot be worked out here: got {value}, want {low} to {high}"
        )

    return {"bad": bad}
