"""What one player sees of positions: the same as `State.observation_string`, as numbers and fast.

An observation is taken wherever somebody decides. It holds where in the rules the game stands, who may act, who has
already chosen (where all choose at once), what he himself has chosen, and every slot he sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from .. import program as ir
from ..positions import elements, evaluate
from ..python_backend import Position, PythonMachine, Stop

if TYPE_CHECKING:
    from ..game import Game

HIDDEN, OPEN, PRIVATE, ABSENT = 0, 1, 2, 3
"""What a slot is to a player: hidden, seen by all, seen by him alone, no part of the state that rules declare."""

Where = tuple[object, ...]
Observation = tuple[Where, tuple[int, ...]]


class Sight:
    """One player's view of a game's positions."""

    def __init__(self, game: Game, player: int) -> None:
        self.player = player
        self.program = game.program
        self.game = game
        self.kind = [ABSENT] * game.program.size
        self.owned: list[tuple[str, list[int]]] = []
        """Slots seen by one player alone, who changes: the function that tells who, and the slots."""
        for v in game.program.variables.values():
            if not v.tally:
                self._place(v)
        self.always = [slot for slot, kind in enumerate(self.kind) if kind in (OPEN, PRIVATE)]
        self._get = _getter(self.always)

    def _place(self, v: ir.Variable) -> None:
        mine: list[int] = []
        for offset, indices in elements(v):
            for k in range(v.width):
                slot = v.slot + offset + k
                self.kind[slot] = HIDDEN
                if v.visibility == "all":
                    self.kind[slot] = OPEN
                elif v.visibility == "index" and indices[0] == self.player:
                    self.kind[slot] = PRIVATE
                mine.append(slot)
        if v.visibility == "player":
            self.owned.append((v.owner, mine))

    def owner(self, function: str, position: Position) -> int:
        """Gets who alone sees some slots now; only the traced machine is sure to know such functions."""
        machine: PythonMachine = self.game.machine(traced=True)
        return machine.call(function, position)

    def kinds(self, position: Position) -> list[int]:
        """Gets what each slot of a position is to the player."""
        kinds = self.kind[:]
        for owner, slots in self.owned:
            if self.owner(owner, position) == self.player:
                for slot in slots:
                    kinds[slot] = PRIVATE
        return kinds

    def visible(self, position: Position) -> list[int]:
        """Gets the slots he sees, in a fixed order."""
        slots = self.always
        for owner, mine in self.owned:
            if self.owner(owner, position) == self.player:
                slots = slots + mine
        return slots

    def values(self, position: Position) -> tuple[int, ...]:
        """Gets the values of the slots he sees."""
        found = self._get(position)
        for owner, mine in self.owned:
            if self.owner(owner, position) == self.player:
                found += tuple(position[slot] for slot in mine)
        return found

    def where(self, position: Position, stop: Stop) -> Where:
        """Gets what he sees of where the game stands: the place, who may act, who has chosen."""
        if stop.__class__ is not list:
            return (position[0],) if stop.__class__ is tuple else (-1,)
        decision = decision_at(self.program, position)
        if decision.mode == "each":
            pending = decision.pending
            chosen = tuple(
                position[pending + p] if p == self.player else (position[pending + p] > 0)
                for p in range(self.program.players)
            )
            return (position[0], chosen)
        if decision.mode == "any" or decision.everyone:
            n = self.program.actions
            options: list[int] = stop
            actors = tuple(sorted({a // n for a in options}))
            return (position[0], actor_of(decision, position, self.program), actors)
        return (position[0], actor_of(decision, position, self.program))

    def observe(self, position: Position, stop: Stop) -> Observation:
        """Gets all that he sees of a position that has stopped."""
        return (self.where(position, stop), self.values(position))


def _getter(slots: Sequence[int]) -> Callable[[Position], tuple[int, ...]]:
    """Makes what gets the values of slots as a tuple, also of one or none."""
    if len(slots) > 1:
        return itemgetter(*slots)
    return lambda position: tuple(position[slot] for slot in slots)


def decision_at(program: ir.Program, position: Position) -> ir.Decision:
    """Gets the decision a position stands at."""
    end = program.blocks[position[0]].end
    assert isinstance(end, ir.Decide)
    return program.decisions[end.decision]


def actor_of(decision: ir.Decision, position: Position, program: ir.Program) -> int:
    """Gets who decides, where one does; -1 elsewhere."""
    return evaluate(decision.actor, position, program) if decision.mode == "one" else -1


def owner_of_action(decision: ir.Decision, position: Position, action: int, program: ir.Program) -> int:
    """Gets who would take an action at a decision: a seat, or -1 for nobody."""
    n = program.actions
    if action >= n:
        return action // n - 1
    if decision.mode == "any":
        return -1
    if decision.mode == "each":
        return next(p for p in range(program.players) if position[decision.pending + p] == 0)
    return evaluate(decision.actor, position, program)
