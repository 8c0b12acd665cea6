"""Counts sequences of decisions with every outcome of chance between them, each with its probability.

The plain count (`perft.py`) meets one fate, as a seed or a script has it; here chance comes out in every way. What is
counted: a sequence is N decisions and all that chance gave before the last of them; what it gives after the last is
not counted. As in the plain count a single option is taken without asking.

Positions that are the same are counted once and bear the number of ways that lead to them, so that the work grows
with the different positions, not with the sequences. Levels go by decisions: first chance is let come out in full,
wave by wave, then every option is taken.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from ..game import State
from ..plain import move_words
from ..python_backend import Position, PythonMachine, Stop
from .outcomes import MEGABYTE, TooLarge, after_outcomes


class Count(Struct, frozen=True):
    """The sequences of `depth` decisions from a position.

    `sequences`: how many there are, decisions and outcomes of chance both counted. `mean`: what the plain count gives
    on average over chance: the sum of the sequences' chance probabilities. `reached`: the probability that random
    play, each option as likely, makes so many decisions; `over`: that the game is over before. The two sum to 1.
    """

    depth: int
    sequences: int
    mean: Fraction
    reached: Fraction
    over: Fraction


class _Ways(Struct):
    """The ways that lead to a position: how many, their chance probabilities summed, and those under random play."""

    position: Position
    stop: Stop
    number: int
    chance: Fraction
    random: Fraction


_Level = dict[tuple[int, ...], _Ways]


def count_exactly(state: State, depth: int, *, memory: int = 512) -> Count:
    """Counts the sequences of `depth` decisions from a state, which stays as it is; chance comes out in every way.

    `memory`: megabytes that may be used, roughly. Raises `TooLarge`, `BrokenRule`.
    """
    return _Counter(state, memory).count(state.position, state.stop, depth)


def divide_exactly(state: State, depth: int, *, memory: int = 512) -> list[tuple[str, Count]]:
    """Counts as `count_exactly` does under each option, in the order of the options; where chance decides, under each
    outcome. The probabilities of an option are those after it has been taken.
    """
    counter = _Counter(state, memory)
    found = []
    if state.is_chance_node():
        assert state.stop is not None
        for outcome in state.legal_actions():
            after = state.position[:]
            stop = counter.machine.decide(after, state.stop[0], outcome)
            found.append((str(outcome), counter.count(after, stop, depth)))
    elif state.stop is not None and depth > 0:
        for action in state.legal_actions():
            after = state.position[:]
            stop = counter.machine.apply(after, action)
            found.append((move_words(state, action), counter.count(after, stop, depth - 1)))
    return found


class _Counter:
    def __init__(self, state: State, memory: int) -> None:
        self.machine: PythonMachine = state.game.machine()
        self.compared = state.game.program.compared
        # a list and a tuple of numbers a position, the fractions, and what holds them together
        self.most = max(1, memory * MEGABYTE // (16 * state.game.program.size + 700))

    def count(self, position: Position, stop: Stop, depth: int) -> Count:
        """Goes down level by level."""
        one, zero = Fraction(1), Fraction(0)
        if depth <= 0:
            return Count(0, 1, one, one, zero)
        level: _Level = {}
        self.add(level, position[:], stop, 1, one, one)
        level, over = self.settled(level)
        for _ in range(depth - 1):
            level, ended = self.settled(self.moved(level))
            over += ended
        return Count(
            depth,
            sum(w.number * len(w.stop or ()) for w in level.values()),
            sum((w.chance * len(w.stop or ()) for w in level.values()), zero),
            sum((w.random for w in level.values()), zero),
            over,
        )

    def settled(self, level: _Level) -> tuple[_Level, Fraction]:
        """Lets chance come out until every position stands at a decision; gets the probability of those over."""
        ready: _Level = {}
        over = Fraction(0)
        while level:
            waiting: _Level = {}
            for w in level.values():
                if w.stop is None:
                    over += w.random
                elif w.stop.__class__ is list:
                    self.merge(ready, w)
                else:
                    for position, stop, weight, total in after_outcomes(self.machine, w.position, w.stop[0]):
                        share = Fraction(weight, total)
                        self.add(waiting, position, stop, w.number, w.chance * share, w.random * share)
                    self.within(len(ready) + len(waiting))
            level = waiting
        return ready, over

    def moved(self, level: _Level) -> _Level:
        """Takes every option of every position."""
        after: _Level = {}
        for w in level.values():
            assert isinstance(w.stop, list)
            share = w.random / len(w.stop)
            for action in w.stop:
                position = w.position[:]
                stop = self.machine.apply(position, action)
                self.add(after, position, stop, w.number, w.chance, share)
            self.within(len(level) + len(after))
        return after

    def add(
        self, level: _Level, position: Position, stop: Stop, number: int, chance: Fraction, random: Fraction
    ) -> None:
        """Files ways that lead to a position."""
        self.merge(level, _Ways(position, stop, number, chance, random))

    def merge(self, level: _Level, w: _Ways) -> None:
        """Adds ways to those that lead to the same position."""
        key = tuple(w.position[: self.compared])
        same = level.get(key)
        if same is None:
            level[key] = w
            return
        same.number += w.number
        same.chance += w.chance
        same.random += w.random

    def within(self, positions: int) -> None:
        """Stops where there are more positions than the memory holds."""
        if positions > self.most:
            message = f"more than {self.most:,} positions have to be kept at once: that is more than the memory allows"
            raise TooLarge(message)
