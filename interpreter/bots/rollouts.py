"""Plays positions on to the end by chance, many times, and tells what came of it.

Native code does it where it is to be had, else the Python loop; both play the very same games for the same seed, so a
choice within a budget of rollouts is the same on either. Rollout `n` of a seed meets the same streams of chance from
wherever it starts: two actions tried with the same seed meet the same dice, and compare so much the better.

What a result is worth to a player is a mix of two things between 0 and 1:

- his share of the win: 1, 1/k when k players share it, or 0;
- his lead over the best of the others, squashed: 1/2 + tanh(lead / (2 · scale)) / 2, the scale being how much leads
  vary among the first results. In a game for one, his score less the mean of the first scores.

The win alone tells little as long as it is far away; the lead alone does not tell 1 point too few from 1 too many.
"""

from __future__ import annotations

import ctypes
import math
import threading
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import BrokenRule
from ..native_totals import Totals
from ..playout import Endless, player_of, policy_start, seed_of_game, stream_keys
from ..python_backend import Position
from ..taste import CELLS, FULL, Taste, cell_of, tasting_player_of

if TYPE_CHECKING:
    from ..game import Game
    from ..native import NativeMachine

WIN = 0.5
"""The weight of the win in what a result is worth; the rest is that of the lead."""

_Numbers = Any  # a ctypes array of 64-bit numbers; its type differs by length
Result = tuple[int, ...]
"""How a game came out: the winners as a set, then each seat's score."""


class NativeTaste:
    """A taste that native code learns."""

    def __init__(self, machine: NativeMachine, tries: int, spread: int, middle: int) -> None:
        library = machine.library
        self.room: _Numbers = (ctypes.c_int64 * (library.hm_taste_bytes() // 8))()
        library.hm_taste_begin(self.room, tries, spread, middle)
        self._players, self._actions = machine.program.players, machine.program.actions
        self._cells: dict[int, int] = {}
        self._values: _Numbers = (ctypes.c_int32 * CELLS).from_buffer(self.room, library.hm_taste_values())

    def value_of(self, seat: int, action: int) -> float:
        """Gets what an action of a seat has been worth, from 0 to 1; 1 if it has never been taken."""
        action %= self._actions
        key = action * self._players + seat
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = cell_of(seat, action, self._players)
        value: int = self._values[cell]
        return value / FULL


class Roller:
    """Plays positions of one game to the end."""

    def __init__(self, game: Game, *, native: bool | None = None, patience: float | None = 0.0) -> None:
        """`native`: None where it is to be had. `patience`: how many seconds to wait for it; None: as long as it takes."""
        self.game = game
        self.players = game.num_players()
        self.machine = game.machine()
        self._player = player_of(self.machine)
        self._tasting_player = tasting_player_of(self.machine)
        self._starts: dict[int, tuple[list[int], int]] = {}
        self._native: _NativeRoller | None = None
        self._loading = None if native is False else _loading(game)
        if self._loading is not None:
            self._loading.join(patience)

    @property
    def backend(self) -> str:
        """What plays: `c` or `python`."""
        return "c" if self._get_native() is not None else "python"

    def _get_native(self) -> _NativeRoller | None:
        if self._native is None and self._loading is not None and not self._loading.is_alive():
            machine = self._loading.machine
            self._loading = None
            if machine is not None:
                self._native = _NativeRoller(machine)
        return self._native

    def play(
        self,
        position: Position,
        action: int,
        seed: int,
        games: int,
        first: int = 0,
        taste: Taste | NativeTaste | None = None,
    ) -> list[Result]:
        """Plays rollouts number `first` … of a seed from a position that has stopped, after `action` there (-1: none).

        By chance, or by `taste`, which learns from them. Games that do not end or go wrong are left out.
        """
        if taste is None or isinstance(taste, NativeTaste):
            native = self._get_native()
            if native is not None:
                return native.play(position, action, seed, games, first, taste)
        own = taste if isinstance(taste, Taste) else None
        return [
            r
            for n in range(first, first + games)
            if (r := self._play_one(position, action, seed, n, own)) is not None
        ]

    def _play_one(
        self, position: Position, action: int, seed: int, number: int, taste: Taste | None
    ) -> Result | None:
        own = position[:]
        game_seed = seed_of_game(seed, number)
        keys, x = stream_keys(self.machine, game_seed), policy_start(game_seed)
        try:
            stop = self.machine.apply(own, action) if action >= 0 else own[0]
            if taste is None:
                self._player(own, stop, keys, x)
            else:
                self._tasting_player(own, stop, keys, x, taste)
        except (Endless, BrokenRule):
            return None
        result = self.result(own)
        if taste is not None:
            taste.learn(result)
        return result

    def taste(self, tries: int, spread: int, middle: int) -> Taste | NativeTaste:
        """Makes a taste by which rollouts may be played."""
        native = self._get_native()
        if native is not None:
            return native.taste(tries, spread, middle)
        return Taste(self.machine.program, tries, spread, middle)

    def result(self, position: Position) -> Result:
        """Gets how a game came out from its last position."""
        program = self.machine.program
        names = self.machine.names
        seats = range(self.players)
        scores = (
            [int(names[program.score](position, p)) for p in seats] if program.score else [0] * self.players
        )
        ties = [names[program.tie_break](position, p) if program.tie_break else 0 for p in seats]
        best = max(zip(scores, ties, strict=True))
        return (sum(1 << p for p in seats if (scores[p], ties[p]) == best), *scores)


class _Loading(threading.Thread):
    """Gets the native machine of a game, compiling it at need, while others go on."""

    def __init__(self, game: Game) -> None:
        super().__init__(daemon=True, name="native machine")
        self.game = game
        self.machine: NativeMachine | None = None

    def run(self) -> None:
        from ..native import NativeUnavailable, native_machine

        try:
            self.machine = native_machine(self.game)
        except NativeUnavailable:
            self.machine = None


_loadings: dict[int, tuple[Game, _Loading]] = {}


def _loading(game: Game) -> _Loading:
    """Gets the thread that gets the native machine of a game, started at first use."""
    found = _loadings.get(id(game))
    if found is None or found[0] is not game:
        thread = _Loading(game)
        found = _loadings[id(game)] = (game, thread)
        thread.start()
    return found[1]


class _NativeRoller:
    """Calls native code with room that is kept from call to call."""

    def __init__(self, machine: NativeMachine) -> None:
        from ..c_backend import row_length

        self.machine = machine
        self.players = machine.program.players
        self.length = row_length(machine.program)
        self._slots: _Numbers = (ctypes.c_int64 * machine.program.size)()
        self._totals: _Numbers = (ctypes.c_int64 * len(Totals.empty(machine.program).numbers))()
        self._error: _Numbers = (ctypes.c_int64 * 6)()
        self._rows: array[int] = array("q")

    def taste(self, tries: int, spread: int, middle: int) -> NativeTaste:
        """Makes a taste."""
        return NativeTaste(self.machine, tries, spread, middle)

    def play(
        self, position: Position, action: int, seed: int, games: int, first: int, taste: NativeTaste | None
    ) -> list[Result]:
        """Plays rollouts; those that go wrong are left out."""
        length, end = self.length, 2 + self.players
        if len(self._rows) < length * games:
            self._rows = array("q", bytes(8 * length * games))
        self._slots[:] = position
        rows = self._rows
        library, room = self.machine.library, (self._totals, rows.buffer_info()[0], self._error)
        found: list[Result] = []
        last = first + games
        while first < last:
            here = (seed, first, last - first, self._slots, position[0], action, *room)
            failed = (
                library.hm_play(*here) if taste is None else library.hm_play_tasted(*here, taste.room)
            ) < 0
            played = max(self._error[5] - first, 0) if failed else last - first
            found += [
                tuple(rows[at + 1 : at + end]) for at in range(0, length * played, length) if rows[at] >= 0
            ]
            if failed and self._error[5] < first:
                break
            first += played + 1
        return found


class Scale:
    """What results are worth, by the scale of the first ones."""

    def __init__(self, players: int) -> None:
        self.players = players
        self.spread = 0.0
        self.middle = 0.0

    def learn(self, results: Sequence[Result]) -> None:
        """Sets the scale by results, once."""
        if self.spread or len(results) < 2:
            return
        leads = [self._lead(r, p) for r in results for p in range(self.players)]
        mean = sum(leads) / len(leads)
        self.middle = mean if self.players == 1 else 0.0
        self.spread = max(1.0, math.sqrt(sum((x - mean) ** 2 for x in leads) / len(leads)))

    def _lead(self, result: Result, player: int) -> float:
        score = result[1 + player]
        if self.players == 1:
            return score - self.middle
        return score - max(s for p, s in enumerate(result[1:]) if p != player)

    def worth(self, result: Result, player: int) -> float:
        """Gets what a result is worth to a player, from 0 to 1."""
        lead = 0.5 + 0.5 * math.tanh(self._lead(result, player) / (2 * (self.spread or 1.0)))
        if self.players == 1:
            return lead
        winners = result[0]
        win = 1 / winners.bit_count() if winners >> player & 1 else 0.0
        return WIN * win + (1 - WIN) * lead
