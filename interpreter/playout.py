"""Plays games to their end by chance, as fast as Python can: for mass play, and for bots that think by
playing on.

Every option is as likely as any other; chance draws from the game's streams. Nothing here depends on anything
but the seed: the picks come from a linear congruential generator (Knuth's constants, MMIX), whose start is a
stream of the seed like those of chance, so that another backend can play the very same games.

    x = stream_key(seed, "policy")
    at each decision with n options: x = (x * MULTIPLIER + INCREMENT) mod 2^64, pick (x >> 32) * n >> 32

The loop is one function without calls but those of the generated code; what it shares with `PythonMachine`
and `Streams` is written out in it again. A test plays it in step with `State`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .chance import GOLDEN, MASK, mix, number_at, stream_key
from .errors import BrokenRule
from .python_backend import Position, PythonMachine, Stop

MULTIPLIER = 6364136223846793005
INCREMENT = 1442695040888963407
POLICY_STREAM = "policy"


class Endless(BrokenRule):
    """Says that a game was not over when the rules' budget of decisions was spent."""

    def __init__(self, limit: int) -> None:
        super().__init__("runtime-endless", f"the game is not over after {limit:,} decisions")


Keys = Sequence[int]
"""The keys of a game's chance streams, in the order of the program's streams."""


def seed_of_game(seed: int, number: int) -> int:
    """Gets the seed of game `number` (from 0) of a run."""
    return mix((seed * GOLDEN + number) & MASK)


def policy_start(seed: int) -> int:
    """Gets where the generator of the picks starts in a game."""
    return stream_key(seed, POLICY_STREAM)


class Random:
    """The generator of the picks, for policies: cheap, seeded, the same everywhere."""

    __slots__ = ("x",)

    def __init__(self, seed: int) -> None:
        self.x = policy_start(seed)

    def below(self, n: int) -> int:
        """Draws a whole number from 0 to n - 1; `n` is at most 2^32."""
        self.x = x = (self.x * MULTIPLIER + INCREMENT) & MASK
        return (x >> 32) * n >> 32


def stream_keys(machine: PythonMachine, seed: int) -> list[int]:
    """Gets the keys of all streams of a game's chance under a seed."""
    return [stream_key(seed, name) for name in machine.program.streams]


Player = Callable[[Position, "int | Stop", Keys, int], tuple[int, int]]
"""Plays a position on to the end: (position, block or stop it stands at, keys, x) → (decisions made, x)."""


def player_of(machine: PythonMachine) -> Player:
    """Makes the function that plays positions of a machine to their end by chance.

    It changes the position in place. A position that has stopped may be given with its stop, or with
    `position[0]`, the block it stands at. It raises `Endless` when more decisions are made than the rules'
    budget allows.
    """
    blocks = machine.blocks
    appliers = machine.appliers
    informers = machine.chance_info
    outcomes = machine.outcomes
    budget = machine.budget
    limit = machine.program.decision_budget

    def play(position: Position, place: int | Stop, keys: Keys, x: int) -> tuple[int, int]:
        decisions = 0
        while True:
            while place.__class__ is int:
                place = blocks[place](position)
            if place.__class__ is list:
                decisions += 1
                if decisions > limit:
                    raise endless(limit)
                budget[0] = 0
                x = (x * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
                # A pick of the high half: the low bits of such a generator have short periods.
                action = place[(x >> 32) * len(place) >> 32]
                place = appliers[position[0]](position, action)
            elif place is None:
                return decisions, x
            else:
                node = place[0]  # type: ignore[index]
                stream, row, ordinal, low, count, weigh = informers[node](position)
                z = keys[stream] + (row + 1) * 0xD1342543DE82EF95 + (ordinal + 1) * 0x2545F4914F6CDD1D
                z &= 0xFFFFFFFFFFFFFFFF
                z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
                z = (z ^ z >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
                z ^= z >> 31
                budget[0] = 0
                if weigh is None:
                    outcome = low + (z * count >> 64)
                else:
                    outcome = low + weighted(z, [weigh(position, v) for v in range(low, low + count)])
                place = outcomes[node](position, outcome)

    return play


def weighted(bits: int, weights: Sequence[int]) -> int:
    """Picks an index by the weight of each, with 64 random bits."""
    at = bits * sum(weights) >> 64
    for i, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return i
    raise AssertionError("no outcome has any weight")


def settle_chance(machine: PythonMachine, position: Position, stop: Stop, keys: Keys) -> Stop:
    """Lets chance decide, as it does in whole games, until somebody chooses or the game is over."""
    while stop.__class__ is tuple:
        node: int = stop[0]
        stream, row, ordinal, low, count, weigh = machine.chance_info[node](position)
        bits = number_at(keys[stream], row, ordinal)
        if weigh is None:
            outcome = low + (bits * count >> 64)
        else:
            outcome = low + weighted(bits, [weigh(position, v) for v in range(low, low + count)])
        stop = machine.decide(position, node, outcome)
    return stop


def endless(limit: int) -> Endless:
    """Makes the error about a game without end."""
    return Endless(limit)
