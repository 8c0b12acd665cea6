"""Counts sequences of decisions, to compare two referees: same options at the same time give the same counts.

Takes a state; chance comes out as the state's script or seed says and is not counted, nor is a decision
with a single option of its own, which the game takes without asking. A game that ends earlier has no
sequence of that length. Where several choose at once in secret they are asked by seat.
"""

from __future__ import annotations

from .errors import PlayError
from .game import State
from .plain import move_words
from .python_backend import Position, PythonMachine, Stop


def perft(state: State, depth: int) -> int:
    """Counts the sequences of `depth` decisions from a state, which stays as it is.

    Raises `PlayError` where chance has neither script nor seed.
    """
    if depth <= 0:
        return 1
    return _Counter(state).count(state.stop, state.position, depth)


def divide(state: State, depth: int) -> list[tuple[str, int]]:
    """Counts the sequences of `depth` decisions under each option, in the order of the options.

    The words bear the player in front where several may act.
    """
    counter = _Counter(state)
    found = []
    for action in state.legal_actions() if state.decision is not None else ():
        position = state.position[:]
        stop = counter.apply(position, action)
        found.append(
            (move_words(state, action), counter.count(stop, position, depth - 1) if depth > 1 else 1)
        )
    return found


class _Counter:
    """Counts with the fast machine, without making a state a node; the last level is counted in bulk."""

    def __init__(self, state: State) -> None:
        if state.is_chance_node():
            raise PlayError("open-chance", "chance decides here: give a script or a seed to count from")
        self.state = state
        self.machine: PythonMachine = state.game.machine()

    def apply(self, position: Position, action: int) -> Stop:
        """Makes a move in place and lets chance come out."""
        stop = self.machine.apply(position, action)
        if stop.__class__ is not tuple:
            return stop
        if self.state.streams is None:
            raise PlayError("open-chance", "chance decides on the way: give a script or a seed to count from")
        state = State(self.state.game, self.machine, position, stop, self.state.streams)
        state.settle()
        return state.stop

    def count(self, stop: Stop, position: Position, depth: int) -> int:
        """Counts the sequences from a position that stands at `stop`."""
        if stop.__class__ is not list:
            return 0
        assert isinstance(stop, list)
        if depth == 1:
            return len(stop)
        total = 0
        for action in stop:
            after = position[:]
            total += self.count(self.apply(after, action), after, depth - 1)
        return total
