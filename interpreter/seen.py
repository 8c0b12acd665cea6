"""What a player sees, as plain data: for programs that sit at the table and know nothing of this one.

Elements of variables are called as in the rules (`cash[Ann]`), entries of tables too; a number is a number, a flag
true or false, a pile the list of what lies in it, nobody and nothing null. What is hidden from the player is not there.
"""

from __future__ import annotations

from typing import Any

from . import program as ir
from .game import Game, State
from .plain import element_name, plain_game
from .types import FlagType, IntType, OptionalType, SetType, Type

Value = Any
"""What JSON can say of a value: a number, true, false, null, a text, or a list of such."""


class Onlooker:
    """Tells what players of one game see."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.plain = plain_game(game)
        self._labels = self.plain.labels("en")

    def variables(self, state: State, player: int | None) -> dict[str, Value]:
        """Gets all elements of variables that a player (None: a spectator) sees, by name."""
        found: dict[str, Value] = {}
        slots: dict[int, tuple[ir.Variable, int]] = {
            slot: (v, value) for v, slot, value in state.visible(player)
        }
        done: set[int] = set()
        for slot, (v, value) in slots.items():
            if slot in done:
                continue
            offset = (slot - v.slot) // v.width * v.width
            indices = self._indices(v, offset // v.width)
            if v.width > 1:
                base = getattr(v.type, "base", v.type)
                items = [slots[slot + 1 + k][1] for k in range(value)]
                found[self._name(v, indices)] = [self.value(base, item) for item in items]
                done.update(range(slot, slot + v.width))
            else:
                found[self._name(v, indices)] = self.value(v.type, value)
        return found

    def _indices(self, v: ir.Variable, element: int) -> tuple[int, ...]:
        indices: list[int] = []
        for _, low, count in reversed(v.dims):
            indices.insert(0, low + element % count)
            element //= count
        return tuple(indices)

    def _name(self, v: ir.Variable, indices: tuple[int, ...]) -> str:
        if v.width > 1:  # as the whole pile is called
            return element_name(self.plain, v.name, (*indices, 0)).removeprefix("length of ")
        return element_name(self.plain, v.name, indices)

    def value(self, type_: Type, value: int) -> Value:
        """Gets a value of a type."""
        match type_:
            case IntType():
                return value
            case FlagType():
                return bool(value)
            case OptionalType(base):
                return None if value < 0 and not isinstance(base, IntType) else self.value(base, value)
            case SetType(base):
                return [self.value(base, i) for i in range(value.bit_length()) if value >> i & 1]
            case _:
                return None if value < 0 else self._labels.value(value, type_)

    def seen(self, state: State, player: int) -> dict[str, Value]:
        """Gets what a player has seen: the information state as a text, and the variables he sees now."""
        return {
            "information_state": state.information_state_string(player),
            "variables": self.variables(state, player),
        }

    def actions(self, state: State, player: int) -> list[dict[str, Value]]:
        """Gets what a player may do: each action's number and words."""
        return [{"action": a, "words": state.describe(a, player)} for a in state.legal_actions(player)]
