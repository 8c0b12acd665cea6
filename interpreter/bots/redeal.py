"""Deals what a player cannot see anew, from a position alone: where the game's history is not known.

What is hidden is first put into an order that tells nothing. Hidden items of a type are sorted and dealt again to the
hidden places of that type; piles keep their lengths. Of counts (`hand[player, fruit]`) what each holder has in all and
what there is of each are taken as known, and units are dealt again within them. Other hidden numbers take any value of
their range. Then small changes (`changes.py`) are made until the rules' invariants hold and he sees what he saw, and
some more that keep it so.

What he has seen before and can no longer see is not remembered here; with a history, `particles.py` does that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import BrokenRule
from ..playout import Random
from ..python_backend import Position, Stop
from .changes import Contents, Place
from .sight import HIDDEN, Sight, decision_at

if TYPE_CHECKING:
    from ..game import Game

_TRIES = 200
_HOPELESS, _BAD = 40, 10
_STIR = 8
_VALUES = 8


class Redealer:
    """Deals positions anew for one player."""

    def __init__(self, game: Game, sight: Sight, contents: Contents) -> None:
        self.game = game
        self.machine = game.machine()
        self.sight = sight
        self.contents = contents

    def deal(
        self, position: Position, stop: Stop, numbers: Random, expired: Callable[[], bool] = lambda: False
    ) -> tuple[Position, Stop]:
        """Makes a position that looks the same to the player; the best that was found if none looks quite the same."""
        kinds = self.sight.kinds(position)
        wanted = self.sight.observe(position, stop)
        best, now, badness = self._deal(position, stop, kinds, wanted, numbers, expired, keep=False)
        if badness:
            other = self._deal(position, stop, kinds, wanted, numbers, expired, keep=True)
            if other[2] < badness:
                best, now, badness = other
        return self._choose_again(best, now, stop, position, numbers)

    def _deal(
        self,
        position: Position,
        stop: Stop,
        kinds: list[int],
        wanted: object,
        numbers: Random,
        expired: Callable[[], bool],
        *,
        keep: bool,
    ) -> tuple[Position, Stop, int]:
        """Deals once, and mends; with `keep`, what lies in several places lies in as many again."""
        fresh = position[:]
        if keep:
            self._rename_items(fresh, kinds, numbers)
        else:
            self._deal_items(fresh, kinds, numbers)
        self._deal_counts(fresh, kinds, numbers)
        self._deal_numbers(fresh, kinds, numbers)
        self._forget_choices(fresh, stop)
        best, now, badness = fresh, *self._judge(fresh, wanted)
        stirred = 0
        for n in range(_TRIES):
            if badness == 0 and stirred >= _STIR:
                break
            if n >= _HOPELESS and (badness >= _BAD or expired()):
                break
            changed = best[:]
            if not self.contents.change(changed, kinds, numbers):
                continue
            after, worse = self._judge(changed, wanted)
            if worse <= badness:
                best, now, badness = changed, after, worse
            stirred += badness == 0
        return best, now, badness

    def _judge(self, position: Position, wanted: object) -> tuple[Stop, int]:
        """Gets what a position stands at, and how bad it is: 0 when all holds and it looks as it should."""
        badness = 5 * self.contents.broken(position)
        probe = position[:]
        try:
            stop = self.machine.stop(probe)
        except BrokenRule:
            return None, badness + 100
        if probe != position or self.sight.observe(position, stop) != wanted:
            badness += 1
        return stop, badness

    # ----------------------------------------------------------------------------------------------------- dealing

    def _deal_items(self, position: Position, kinds: list[int], numbers: Random) -> None:
        for places in self.contents.hidden_places(position, kinds).values():
            single = [p for p in places if p.member < 0]
            items = sorted(p.item(position) for p in single)
            shuffle(items, numbers)
            for place, item in zip(single, items, strict=True):
                position[place.slot] = item
            self._deal_sets(position, [p.slot for p in places if p.member >= 0], numbers)

    def _rename_items(self, position: Position, kinds: list[int], numbers: Random) -> None:
        """Deals hidden items so that what lies in several piles does so again: for rules that keep it in two places.

        Those that the player sees elsewhere, too, change names among themselves.
        """
        for group, places in self.contents.hidden_places(position, kinds).items():
            seen = self.contents.shown(position, group, frozenset(), kinds)
            cells: dict[int, list[Place]] = {}
            lies_in: dict[int, list[int]] = {}
            for place in places:
                if place.member < 0:
                    cells.setdefault(place.cell, []).append(place)
                    lies_in.setdefault(place.item(position), []).append(place.cell)
            like = sorted((item in seen, sorted(where)) for item, where in lies_in.items())
            names = [[i for i in sorted(lies_in) if (i in seen) == shown] for shown in (False, True)]
            for known in names:
                shuffle(known, numbers)
            fill: dict[int, list[int]] = {}
            for shown, where in like:
                item = names[shown].pop()
                for cell in where:
                    fill.setdefault(cell, []).append(item)
            for cell, own in cells.items():
                shuffle(fill[cell], numbers)
                for place, item in zip(own, fill[cell], strict=True):
                    position[place.slot] = item

    def _deal_sets(self, position: Position, slots: list[int], numbers: Random) -> None:
        """Deals the members of hidden sets anew; their sizes are kept."""
        sizes = {slot: position[slot].bit_count() for slot in slots}
        items = sorted(
            m for slot in sizes for m in range(position[slot].bit_length()) if position[slot] >> m & 1
        )
        shuffle(items, numbers)
        for slot in sizes:
            position[slot] = 0
        for slot, size in sizes.items():
            for item in items[:]:
                if position[slot].bit_count() < size and not position[slot] >> item & 1:
                    position[slot] |= 1 << item
                    items.remove(item)

    def _deal_counts(self, position: Position, kinds: list[int], numbers: Random) -> None:
        for rows in self.contents.hidden_rows(kinds):
            low = min(0, *(row.low for row in rows))
            totals = [sum(position[s] - low for s in row.slots) for row in rows]
            units = [
                c
                for c in range(len(rows[0].slots))
                for row in rows
                for _ in range(position[row.slots[c]] - low)
            ]
            shuffle(units, numbers)
            for row, total in zip(rows, totals, strict=True):
                for s in row.slots:
                    position[s] = low
                for _ in range(total):
                    position[row.slots[units.pop()]] += 1

    def _deal_numbers(self, position: Position, kinds: list[int], numbers: Random) -> None:
        free = [scalar for scalar in self.contents.scalars if kinds[scalar[0]] == HIDDEN]
        for places in self.contents.hidden_places(position, kinds).values():
            if len(places) == 1 and places[0].member < 0:  # there is none to change places with
                slot = places[0].slot
                low, high = self.game.program.bounds[slot]
                free.append((slot, max(low, 0), high))
        for slot, _, _ in free:
            position[slot] = 0
        for slot, low, high in free:
            values = [low + numbers.below(high - low + 1) for _ in range(_VALUES)]
            broken = []
            for value in values:
                position[slot] = value
                broken.append(self.contents.broken(position))
            position[slot] = values[broken.index(min(broken))]

    # ------------------------------------------------------------------------------------------- choices at once

    def _forget_choices(self, position: Position, stop: Stop) -> None:
        """Puts a mark in place of what others have chosen in secret."""
        if stop.__class__ is list:
            decision = decision_at(self.game.program, position)
            if decision.mode == "each":
                for p in self._others(position):
                    position[decision.pending + p] = 1

    def _others(self, position: Position) -> list[int]:
        pending = decision_at(self.game.program, position).pending
        players = range(self.game.program.players)
        return [p for p in players if p != self.sight.player and position[pending + p] > 0]

    def _choose_again(
        self, position: Position, stop: Stop, before: Stop, original: Position, numbers: Random
    ) -> tuple[Position, Stop]:
        if before.__class__ is not list or decision_at(self.game.program, original).mode != "each":
            return position, stop
        decision = decision_at(self.game.program, original)
        for p in self._others(original):
            options: list[int] = self.machine.names[decision.own](position, p)
            if options:
                position[decision.pending + p] = 1 + options[numbers.below(len(options))]
        return position, stop


def shuffle(items: list[int], numbers: Random) -> None:
    """Puts items into an order by chance, each as likely."""
    for i in range(len(items) - 1, 0, -1):
        j = numbers.below(i + 1)
        items[i], items[j] = items[j], items[i]
