"""Playing on not quite by chance: of a few options drawn by chance, the one that has done best so far.

A taste remembers, for each seat and action, what games in which the seat took it were worth to the seat (move averages,
Finnsson and Björnsson, AAAI 2008). At each decision `tries` options are drawn, each as likely, and the one of the highest
average is taken; what has never been taken counts as the best. So good moves are frequent without other moves ever
getting lost, lists of any length cost the same, and nothing but whole numbers is needed: C (`c_taste.py`) and Python play
the same games.

What a game is worth to a seat is as in `bots/rollouts.py`, half the share of the win and half the lead, but with a
straight line in place of the curve. Averages lie in `CELLS` cells found by a hash; two that meet in a cell are mixed up,
which costs a little strength.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import program as ir
from .chance import GOLDEN, MASK, mix
from .playout import Keys, endless, settle_chance
from .positions import evaluate
from .python_backend import Position, PythonMachine, Stop

CELLS = 1 << 12
LOGGED = 1 << 9
"""How many choices of a game, from its beginning, are learnt from."""
FULL = 1 << 16
"""What the best result is worth."""


def cell_of(seat: int, action: int, players: int) -> int:
    """Gets the cell of an action of a seat."""
    return mix((action * (players + 1) + seat + 1) * GOLDEN & MASK) % CELLS


class Taste:
    """What has done well, in Python."""

    def __init__(self, program: ir.Program, tries: int, spread: int, middle: int = 0) -> None:
        """`tries`: how many options are drawn; `spread`: how much leads vary; `middle`: a usual score in a game for one."""
        self.players = program.players
        self.actions = program.actions
        self.tries, self.spread, self.middle = tries, spread, middle
        self.total = [0] * CELLS
        self.count = [0] * CELLS
        self.value = [FULL] * CELLS
        self.log: list[tuple[int, int]] = []

    def pick(self, options: Sequence[int], who: int, x: int) -> tuple[int, int]:
        """Picks an option; `who` acts where the action does not tell. Gets it and where the generator stands then."""
        best, actor, where, promise = -1, -1, 0, -1
        n = len(options)
        for _ in range(self.tries):
            x = (x * 6364136223846793005 + 1442695040888963407) & MASK
            a = options[(x >> 32) * n >> 32]
            seat = a // self.actions - 1 if a >= self.actions else who
            cell = cell_of(seat, a % self.actions, self.players)
            if self.value[cell] > promise:
                best, actor, where, promise = a, seat, cell, self.value[cell]
        if actor >= 0 and len(self.log) < LOGGED:
            self.log.append((where, actor))
        return best, x

    def value_of(self, seat: int, action: int) -> float:
        """Gets what an action of a seat has been worth, from 0 to 1; 1 if it has never been taken."""
        return self.value[cell_of(seat, action % self.actions, self.players)] / FULL

    def learn(self, result: Sequence[int]) -> None:
        """Learns from a game that is over: the winners as a set, then each seat's score."""
        worth = [self._worth(result, p) for p in range(self.players)]
        for cell, seat in self.log:
            self.total[cell] += worth[seat]
            self.count[cell] += 1
            self.value[cell] = (self.total[cell] + FULL) // (self.count[cell] + 1)

    def _worth(self, result: Sequence[int], p: int) -> int:
        others = [s for q, s in enumerate(result[1:]) if q != p]
        lead = result[1 + p] - (max(others) if others else self.middle)
        lead = max(0, min(4 * self.spread, lead + 2 * self.spread))
        if not others:
            return lead * FULL // (4 * self.spread)
        win = FULL // 2 // result[0].bit_count() if result[0] >> p & 1 else 0
        return lead * (FULL // 2) // (4 * self.spread) + win


Player = Callable[[Position, "int | Stop", Keys, int, Taste], None]
"""Plays a position on to the end: (position, block or stop it stands at, keys, x, taste)."""


def tasting_player_of(machine: PythonMachine) -> Player:
    """Makes the function that plays positions of a machine to their end by taste, like `playout.player_of`."""
    program = machine.program
    decisions_at: dict[int, ir.Decision] = {
        b.number: program.decisions[b.end.decision] for b in program.blocks if isinstance(b.end, ir.Decide)
    }
    limit = program.decision_budget

    def play(position: Position, place: int | Stop, keys: Keys, x: int, taste: Taste) -> None:
        taste.log = []
        stop = settle_chance(machine, position, machine.run(position, place), keys)
        made = 0
        while isinstance(stop, list):
            made += 1
            if made > limit:
                raise endless(limit)
            decision = decisions_at[position[0]]
            action, x = taste.pick(stop, _who(decision, position, program), x)
            stop = settle_chance(machine, position, machine.apply(position, action), keys)

    return play


def _who(decision: ir.Decision, position: Position, program: ir.Program) -> int:
    """Gets who acts where an action does not tell; -1 for nobody."""
    if decision.mode == "one":
        return evaluate(decision.actor, position, program)
    if decision.mode == "each":
        return next(p for p in range(program.players) if position[decision.pending + p] == 0)
    return -1
