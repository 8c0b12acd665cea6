"""Small changes of what is hidden from a player, which leave what he sees as it is.

Two kinds of things are hidden in games. *Items*: things in piles, in sets, one by one (`role[player]`); an item type is
an enumeration, and any two hidden items of a type may change places. *Counts*: `hand[player, fruit]`, how many of each a
player holds; two holders may exchange a unit of one thing for a unit of another, which keeps what each holds in all and
what there is of each.

`relabel` mends a position whose open items are not those that were seen: the items of a shuffled pile are as good as
each other until they show, so what shows is renamed to what was seen, wherever it is. It is how a pile is dealt only as
far as it has been looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from .. import program as ir
from ..playout import Random
from ..positions import elements
from ..python_backend import Position
from ..types import EnumType, IntType, OptionalType, PileType, SetType, Type
from .sight import ABSENT, HIDDEN

if TYPE_CHECKING:
    from ..game import Game


Wrong = tuple[int, int, int]
"""An open item that is not what was seen: the slot, the item there, the one that was seen."""


class Place(Struct, frozen=True):
    """Where an item lies: the slot, or a member of the set in the slot; `cell` is the pile, set or variable's element."""

    slot: int
    cell: int
    member: int = -1

    def item(self, position: Position) -> int:
        """Gets the item that lies there."""
        return self.member if self.member >= 0 else position[self.slot]


class Cell(Struct, frozen=True):
    """A pile, a set or a single place for items of one group: `first` slot and, of a pile, its capacity."""

    number: int
    group: str
    kind: str
    slot: int
    capacity: int = 0

    def filled(self, position: Position) -> range:
        """Gets the slots in which items lie."""
        if self.kind == "pile":
            return range(self.slot + 1, self.slot + 1 + position[self.slot])
        return range(self.slot, self.slot + 1)


class Row(Struct, frozen=True):
    """How many of each thing a holder has: an element of a count variable of two dimensions or more."""

    things: tuple[str, ...]
    """What is counted: rows that count the same may exchange units, also between variables."""
    slots: tuple[int, ...]
    low: int
    high: int


class Contents:
    """What a game's state holds, arranged by what may change places."""

    def __init__(self, game: Game) -> None:
        self.program = game.program
        self.machine = game.machine()
        self.cells: list[Cell] = []
        self.rows: list[Row] = []
        self.scalars: list[tuple[int, int, int]] = []
        """Numbers and flags for which there is no rule of exchange: slot, low, high."""
        self.group_of = [""] * game.program.size
        self.length_of: dict[int, int] = {}
        """For each place of a pile, the slot of the pile's length."""
        for v in game.program.variables.values():
            if not v.tally:
                self._arrange(v)

    def _arrange(self, v: ir.Variable) -> None:
        kind, group = _kind(v)
        for offset, _ in elements(v):
            slot = v.slot + offset
            if group:
                self.cells.append(Cell(len(self.cells), group, kind, slot, v.width - 1))
                for k in range(1 if kind == "pile" else 0, v.width):
                    self.group_of[slot + k] = group if kind != "set" else ""
                    if kind == "pile":
                        self.length_of[slot + k] = slot
            elif len(v.dims) < 2 or v.width > 1:
                self.scalars.append((slot, v.low, v.high))
        if not group and v.width == 1 and len(v.dims) >= 2:
            width = 1
            for _, _, n in v.dims[1:]:
                width *= n
            things = tuple(f"{t} {low} {n}" for t, low, n in v.dims[1:])
            for first in range(v.slot, v.slot + v.dims[0][2] * width, width):
                self.rows.append(Row(things, tuple(range(first, first + width)), v.low, v.high))

    # ------------------------------------------------------------------------------------------------------- items

    def hidden_places(self, position: Position, kinds: list[int]) -> dict[str, list[Place]]:
        """Gets where items lie that the player does not see, by group, in a fixed order."""
        found: dict[str, list[Place]] = {}
        for cell in self.cells:
            if kinds[cell.slot] != HIDDEN:
                continue
            places = found.setdefault(cell.group, [])
            if cell.kind == "pile":
                places += [Place(slot, cell.number) for slot in cell.filled(position)]
            elif cell.kind == "set":
                members = position[cell.slot]
                places += [
                    Place(cell.slot, cell.number, m) for m in range(members.bit_length()) if members >> m & 1
                ]
            elif position[cell.slot] >= 0:
                places.append(Place(cell.slot, cell.number))
        return found

    def swap(self, position: Position, a: Place, b: Place) -> bool:
        """Lets two items change places; False if that changes nothing."""
        x, y = a.item(position), b.item(position)
        if x == y or (a.cell == b.cell and a.member >= 0):
            return False
        for place, gone, come in ((a, x, y), (b, y, x)):
            if place.member < 0:
                position[place.slot] = come
            elif position[place.slot] >> come & 1:
                return False
            else:
                position[place.slot] = position[place.slot] & ~(1 << gone) | 1 << come
        return True

    def hidden_rows(self, kinds: list[int]) -> list[list[Row]]:
        """Gets the counts that the player does not see, those together that may exchange units."""
        found: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            if kinds[row.slots[0]] == HIDDEN:
                found.setdefault(row.things, []).append(row)
        return list(found.values())

    # ------------------------------------------------------------------------------------------------ small changes

    def change(self, position: Position, kinds: list[int], numbers: Random) -> bool:
        """Makes one small change of what is hidden, by chance; False if it came to nothing."""
        groups = [g for g in self.hidden_places(position, kinds).values() if len(g) > 1]
        rows = [r for r in self.hidden_rows(kinds) if len(r) > 1]
        if not groups and not rows:
            return False
        which = numbers.below(len(groups) + len(rows))
        if which < len(groups):
            return self._change_places(position, groups[which], numbers)
        return _exchange(position, rows[which - len(groups)], numbers)

    def rotate(self, position: Position, kinds: list[int]) -> None:
        """Makes all that is hidden different, if it can be, in one go: to see what depends on it."""
        for places in self.hidden_places(position, kinds).values():
            slots = [p.slot for p in places if p.member < 0]
            items = [position[s] for s in slots]
            for slot, item in zip(slots, items[1:] + items[:1], strict=True):
                position[slot] = item
        for rows in self.hidden_rows(kinds):
            for row in rows:
                counts = [position[s] for s in row.slots]
                for slot, count in zip(row.slots, counts[1:] + counts[:1], strict=True):
                    position[slot] = count

    def _change_places(self, position: Position, places: list[Place], numbers: Random) -> bool:
        cells: dict[int, list[Place]] = {}
        for place in places:
            cells.setdefault(place.cell, []).append(place)
        piles = list(cells.values())
        a, b = piles[numbers.below(len(piles))], piles[numbers.below(len(piles))]
        return self.swap(position, a[numbers.below(len(a))], b[numbers.below(len(b))])

    # ---------------------------------------------------------------------------------------------------- relabel

    def wrong(self, position: Position, slots: list[int], wanted: tuple[int, ...]) -> dict[str, list[Wrong]]:
        """Finds the open items that are not those that were seen, by group."""
        found: dict[str, list[Wrong]] = {}
        should = dict(zip(slots, wanted, strict=True))
        for slot, want in should.items():
            have = position[slot]
            group = self.group_of[slot]
            if have == want or not group or have < 0 or want < 0:
                continue
            length = self.length_of.get(slot)
            if length is None or slot - length <= min(position[length], should[length]):
                found.setdefault(group, []).append((slot, have, want))
        return found

    def relabel(self, position: Position, wrong: dict[str, list[Wrong]], kinds: list[int]) -> None:
        """Renames items so that what shows is what was seen, but for those that are seen elsewhere too."""
        for group, items in wrong.items():
            shown = frozenset(slot for slot, _, _ in items)
            seen = self.shown(position, group, shown, kinds)
            fitting = [w for w in items if w[1] not in seen and w[2] not in seen]
            names = _permutation(fitting)
            if names is None or not seen.isdisjoint(names):
                continue
            for slot, _, want in fitting:
                position[slot] = want
            self._rename(position, group, names, kinds)

    def fetch(
        self, position: Position, wrong: dict[str, list[Wrong]], kinds: list[int], numbers: Random
    ) -> bool:
        """Lets wrong items change places with hidden ones that are right, where items have equals; else False."""
        places = self.hidden_places(position, kinds)
        for group, items in wrong.items():
            names = [p.item(position) for p in places.get(group, ())]
            if len(set(names)) == len(names) and len({want for _, _, want in items}) == len(items):
                return False
            self._fetch(position, group, items, kinds, numbers)
        return True

    def rename_hidden(self, position: Position, wrong: dict[str, list[Wrong]], kinds: list[int]) -> bool:
        """Renames hidden items by which other items showed later than were seen; False if that changes nothing."""
        before = position[:]
        for group, places in self.hidden_places(position, kinds).items():
            hidden = {p.item(position) for p in places}
            names = _permutation([w for w in wrong.get(group, ()) if w[1] in hidden and w[2] in hidden])
            if names and self.shown(position, group, frozenset(), kinds).isdisjoint(names):
                self._rename(position, group, names, kinds)
        return position != before

    def shown(self, position: Position, group: str, but: frozenset[int], kinds: list[int]) -> set[int]:
        """Gets the items that are seen in slots other than those named."""
        found: set[int] = set()
        for cell in self.cells:
            if cell.group != group or kinds[cell.slot] == HIDDEN:
                continue
            if cell.kind == "set":
                found.update(
                    m for m in range(position[cell.slot].bit_length()) if position[cell.slot] >> m & 1
                )
            else:
                found.update(position[slot] for slot in cell.filled(position) if slot not in but)
        return found

    def _rename(self, position: Position, group: str, names: dict[int, int], kinds: list[int]) -> None:
        """Renames items wherever they are hidden."""
        for cell in self.cells:
            if cell.group != group or kinds[cell.slot] != HIDDEN:
                continue
            if cell.kind == "set":
                members = position[cell.slot]
                kept = {names.get(m, m) for m in range(members.bit_length()) if members >> m & 1}
                position[cell.slot] = sum(1 << m for m in kept)
                continue
            for slot in cell.filled(position):
                position[slot] = names.get(position[slot], position[slot])

    def _fetch(
        self, position: Position, group: str, wrong: list[Wrong], kinds: list[int], numbers: Random
    ) -> None:
        """Lets each wrong item change places with a hidden one that is right, where there is one."""
        for slot, _, want in wrong:
            places = self.hidden_places(position, kinds).get(group, [])
            right = [p for p in places if p.item(position) == want]
            if right:
                self.swap(position, Place(slot, -1), right[numbers.below(len(right))])

    def broken(self, position: Position) -> int:
        """Counts the invariants that do not hold."""
        return sum(not self.machine.call(name, position) for _, name, _ in self.program.invariants)


_FAR = 3


def distance(position: Position, slots: list[int], wanted: tuple[int, ...]) -> int:
    """Tells how far slots are from what they should hold: 0 when they do."""
    return sum(
        min(abs(position[slot] - want), _FAR)
        for slot, want in zip(slots, wanted, strict=True)
        if position[slot] != want
    )


def hides_anything(game: Game) -> bool:
    """Tests if anything is ever hidden from anybody in a game."""
    program = game.program
    if any(v.visibility != "all" and not v.tally for v in program.variables.values()):
        return True
    if any(d.mode == "each" for d in program.decisions):
        return True
    declared = [ABSENT] * program.size
    for v in program.variables.values():
        for offset, _ in elements(v):
            declared[v.slot + offset] = HIDDEN
    return any(declared[c.base] == ABSENT for c in program.chances)


def _kind(v: ir.Variable) -> tuple[str, str]:
    """Tells how a variable holds items, and of which group; no group if it holds none."""
    match v.type:
        case PileType(base):
            return "pile", _group(base) or f"of {v.name}"
        case SetType(base):
            return "set", _group(base)
        case EnumType() | OptionalType():
            return "one", _group(v.type)
        case _:
            return "number", ""


def _group(t: Type) -> str:
    match t:
        case EnumType():
            return f"{t.origin} {t.name}"
        case OptionalType(base):
            return _group(base)
        case IntType():
            return ""
        case _:
            return ""


def _permutation(pairs: list[tuple[int, int, int]]) -> dict[int, int] | None:
    """Makes a renaming of items of pairs (slot, item, new name); None if they are at odds."""
    names: dict[int, int] = {}
    for _, have, want in pairs:
        if names.setdefault(have, want) != want:
            return None
    if len(set(names.values())) < len(names):
        return None
    for start in [n for n in names if n not in set(names.values())]:
        end = start
        while end in names:
            end = names[end]
        names[end] = start
    return names


def _exchange(position: Position, rows: list[Row], numbers: Random) -> bool:
    """Lets two holders exchange a unit of one thing for a unit of another, each unit as likely."""
    units = [
        (row, thing)
        for row in rows
        for thing, s in enumerate(row.slots)
        for _ in range(position[s] - row.low)
    ]
    if len(units) < 2:
        return False
    a, goes = units[numbers.below(len(units))]
    b, comes = units[numbers.below(len(units))]
    if a is b or goes == comes or position[a.slots[comes]] >= a.high or position[b.slots[goes]] >= b.high:
        return False
    for row, thing, by in ((a, comes, 1), (b, goes, 1), (a, goes, -1), (b, comes, -1)):
        position[row.slots[thing]] += by
    return True
