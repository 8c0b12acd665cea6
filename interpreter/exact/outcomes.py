"""Lets chance come out in every way, from wherever a position stands."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import PlayError
from ..python_backend import Position, PythonMachine, Stop

MEGABYTE = 1 << 20


class TooLarge(PlayError):
    """Says that what was asked does not fit into the memory allowed; the message says how far it came."""

    def __init__(self, message: str) -> None:
        super().__init__("exact-memory", message)


def outcomes(machine: PythonMachine, position: Position, node: int) -> Iterator[tuple[int, int, int]]:
    """Gets the outcomes of a chance node that can come: each with its weight, and the sum of all weights."""
    _, _, _, low, count, weigh = machine.chance_info[node](position)
    if weigh is None:
        for value in range(low, low + count):
            yield value, 1, count
        return
    weights = [weigh(position, low + i) for i in range(count)]
    total = sum(weights)
    for i, weight in enumerate(weights):
        if weight:
            yield low + i, weight, total


def after_outcomes(
    machine: PythonMachine, position: Position, node: int
) -> Iterator[tuple[Position, Stop, int, int]]:
    """Gets where each outcome of a chance node leads: position, stop, weight, sum of weights."""
    for value, weight, total in outcomes(machine, position, node):
        copy = position[:]
        stop = machine.decide(copy, node, value)
        yield copy, stop, weight, total
