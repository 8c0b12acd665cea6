"""What a player sees, as an array of a fixed length: whole numbers, each with its bounds and a name.

In front stands where the game is: the seat that looks, the decision (-1: none), whether he is asked now, who has yet to
choose where all choose at once, and what he himself has chosen there. Then come the variables he sees, element by
element; of those that each player sees of himself alone only his own, at the same places for every player. Variables
that one player at a time sees are below their bounds for the others. What is secret from all is not there, nor are free
texts.

This is what he sees now. All that he has ever seen is `State.information_state_string`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import program as ir
from ..game import Game, State
from ..positions import elements
from ..types import SetType, TextType
from .encoding import Encoding

if TYPE_CHECKING:
    from collections.abc import Iterator

Vector = npt.NDArray[np.int64]
_HEAD = ("seat", "decision", "asked", "chosen")


class Observer:
    """Sees for the players of a game."""

    def __init__(self, game: Game, encoding: Encoding) -> None:
        self.game = game
        self.encoding = encoding
        program = game.program
        self.players = program.players
        self._slots: list[list[int]] = [[] for _ in range(self.players)]
        """For each player the slots he sees, in one order for all."""
        self._owned: list[tuple[str, int, int]] = []
        """Of what one at a time sees: the function that tells who, and where it stands in the vector."""
        self._sets: list[tuple[int, int]] = []
        """Where the vector has a set's members: place and how many."""
        names: list[str] = []
        low: list[int] = []
        high: list[int] = []
        for v in program.variables.values():
            if v.tally or v.visibility == "none" or isinstance(v.type, TextType):
                continue
            first = len(names)
            for name, slots in self._elements(v):
                names.append(name)
                bottom, top = program.bounds[slots[0]]
                low.append(bottom - (v.visibility == "player"))
                high.append(top)
                for player, slot in enumerate(slots):
                    self._slots[player].append(slot)
            if v.visibility == "player":
                self._owned.append((v.owner, first, len(names)))
            if isinstance(v.type, SetType):
                self._sets += [(k, high[k].bit_length()) for k in range(first, len(names))]
        head_low = [0, -1, 0, 0, *[0] * self.players]
        head_high = [
            self.players - 1,
            len(program.decisions) - 1,
            1,
            encoding.size,
            *[1] * self.players,
        ]
        waits = [f"waits for {name}" for name in game.player_names]
        self.names: list[str] = [*_HEAD, *waits, *self._spread(names, names)]
        """What each place of the vector tells."""
        self.low: Vector = np.array([*head_low, *self._spread(low, None)], np.int64)
        self.high: Vector = np.array([*head_high, *self._spread(high, None, top=True)], np.int64)
        self._low = np.array(low, np.int64)

    def _elements(self, v: ir.Variable) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yields each element as one player sees it: its name, and its slot for each player."""
        own = v.visibility == "index"
        stride = 0
        if own:
            _, lowest, _ = v.dims[0]
            whole = v.width
            for _, _, n in v.dims[1:]:
                whole *= n
            stride = whole
        for offset, indices in elements(v):
            if own and indices[0] != lowest:
                continue
            shown = ["own", *map(str, indices[1:])] if own else [*map(str, indices)]
            name = f"{v.name}[{', '.join(shown)}]" if shown else v.name
            for k in range(v.width):
                slot = v.slot + offset + k
                slots = tuple(slot + (p - lowest if own else 0) * stride for p in range(self.players))
                yield (f"{name}.{k}" if v.width > 1 else name), slots

    def _spread(self, items: list, names: list[str] | None, *, top: bool = False) -> list:  # type: ignore[type-arg]
        """Writes sets out, a place for each possible member."""
        found = []
        sets = dict(self._sets)
        for k, item in enumerate(items):
            if k not in sets:
                found.append(item)
            elif names is not None:
                found += [f"{item}.{i}" for i in range(sets[k])]
            else:
                found += [int(top)] * sets[k]
        return found

    @property
    def size(self) -> int:
        """How long the vector is."""
        return len(self.names)

    def vector(self, state: State, player: int, *, asked: bool) -> Vector:
        """Gets what a player sees; `asked` tells whether he is to choose now."""
        position = state.position
        seen: list[int] = [position[slot] for slot in self._slots[player]]
        if self._owned:
            machine = self.game.machine(traced=True)
            for owner, first, end in self._owned:
                if machine.call(owner, position) != player:
                    seen[first:end] = [int(n) for n in self._low[first:end]]
        for k, members in reversed(self._sets):
            seen[k : k + 1] = [max(seen[k], 0) >> i & 1 for i in range(members)]
        decision = state.decision
        chosen, waits = 0, [0] * self.players
        if decision is not None and decision.mode == "each":
            pending = position[decision.pending + player]
            chosen = self.encoding.encode(pending - 1) + 1 if pending > 0 else 0
            for p in state.players_to_act():
                waits[p] = 1
        number = -1 if decision is None else decision.number
        return np.array([player, number, int(asked), chosen, *waits, *seen], np.int64)
