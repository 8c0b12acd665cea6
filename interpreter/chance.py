"""Streams of chance: named, seeded, and addressed by row and place, so that two rule sets meet the same dice.

Each stream draws from its own numbers; number (row, ordinal) of a stream depends on nothing but the seed, the name
and that address. A row is one roll of the rules (all dice of it), one draw or one shuffle. So a position needs only a
counter a stream, a copy of a position draws the same as the original, and rules that differ elsewhere roll alike.

The numbers come from the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over the address; both backends
compute the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
_ROW = 0xD1342543DE82EF95
_PLACE = 0x2545F4914F6CDD1D


def mix(x: int) -> int:
    """Scrambles 64 bits (the finaliser of SplitMix64)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def name_hash(name: str) -> int:
    """Gets the part of a stream's key that its name makes (64-bit FNV-1a)."""
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    return h


def stream_key(seed: int, name: str) -> int:
    """Gets the key of a named stream under a seed."""
    return mix((seed * GOLDEN + name_hash(name)) & MASK)


def number_at(key: int, row: int, ordinal: int) -> int:
    """Gets 64 random bits of a stream at an address."""
    return mix((key + (row + 1) * _ROW + (ordinal + 1) * _PLACE) & MASK)


Script = Sequence["int | Sequence[int]"]


class Streams:
    """Draws outcomes for one game: from the seed, or from a script where one is given.

    A script of a stream is a list of rows; a row is one outcome or the list of those of one roll. It starts again
    from its first row when it ends.
    """

    __slots__ = ("keys", "names", "scripts", "seed")

    def __init__(self, seed: int, names: Sequence[str], scripts: Mapping[str, Script] | None = None) -> None:
        self.seed = seed
        self.names = tuple(names)
        self.keys = tuple(stream_key(seed, n) for n in names)
        self.scripts = {names.index(k): v for k, v in (scripts or {}).items() if k in names}

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        """Draws one of `weights` outcomes from `low` (all as likely), or one by the weight of each."""
        script = self.scripts.get(stream)
        if script:
            entry = script[row % len(script)]
            if isinstance(entry, int):
                return entry
            if ordinal < len(entry):
                return entry[ordinal]
        bits = number_at(self.keys[stream], row, ordinal)
        if isinstance(weights, int):
            return low + (bits * weights >> 64)
        at = bits * sum(weights) >> 64
        for i, weight in enumerate(weights):
            at -= weight
            if at < 0:
                return low + i
        raise AssertionError("no outcome has any weight")
