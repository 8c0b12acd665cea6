"""Finds what two programs of one game share: which action, variable, decision and stream of one is which of
the other.

Things go by their names: variables and elements by name and the names of their indices, values by the names
of entries, moves by name and the types of what they take (or, where a move was renamed, by its words),
streams and decisions by the name of the rule they stand in. What has no counterpart has none: it is told,
never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from msgspec import Struct

from .. import program as ir
from ..game import Game, elements
from ..positions import decode, encode
from ..types import EnumType, FlagType, IntType, ListType, OptionalType, PileType, SetType, TextType, Type

Translate = Callable[[int], int]

_STRANGE = 1_000_000_000
"""Values without a counterpart become this and more, so that they equal nothing."""


class Element(Struct, frozen=True):
    """An element of a variable that both programs have: where it lies in each, and what it is called."""

    variable: str
    indices: tuple[int, ...]
    """As the first program numbers them; of a pile with the place last, 0 for its length."""
    slot_a: int
    slot_b: int
    to_a: Translate | None
    """Turns the second program's value into the first one's; None where they are the same numbers."""
    open: bool
    """Whether any player sees it, be it one alone; what nobody sees and tallies are not."""


class Match:
    """Two games held against each other."""

    def __init__(self, a: Game, b: Game, unheeded: frozenset[str] = frozenset()) -> None:
        if a.num_players() != b.num_players():
            raise ValueError("the two games are for different numbers of players")
        self.a, self.b = a, b
        self.players = a.num_players()
        self.unheeded = unheeded
        """Variables that may differ and are not told."""
        self._match_moves()
        self._match_variables()
        self.streams_b = _numbers_of(b.program.streams, a.program.streams)
        """For each stream of the second program its number in the first, or one of its own."""
        self.decisions_a = _decision_names(a.program)
        self.decisions_b = _decision_names(b.program)

    # -------------------------------------------------------------------------------------------------- moves

    def _match_moves(self) -> None:
        a, b = self.a.program, self.b.program
        by_name = {m.name: m for m in b.moves}
        pairs: dict[int, ir.MoveInfo] = {}
        for m in a.moves:
            other = by_name.get(m.name)
            if other is not None and _same_shape(m, other):
                pairs[m.index] = other
        taken = {m.index for m in pairs.values()}
        by_words: dict[str, ir.MoveInfo] = {}
        for m in b.moves:
            if m.index not in taken and m.says is not None:
                by_words.setdefault(b.texts[m.says.text].sentence, m)
        for m in a.moves:
            if m.index in pairs or m.says is None:
                continue
            other = by_words.get(a.texts[m.says.text].sentence)
            if other is not None and _same_shape(m, other) and other.index not in taken:
                pairs[m.index] = other
                taken.add(other.index)
        self.moves = pairs
        """For each move of the first program that has one, its counterpart."""
        self.back = {other.index: a.moves[index] for index, other in pairs.items()}
        self.same_actions = a.actions == b.actions and all(
            m.index in pairs
            and pairs[m.index].first == m.first
            and pairs[m.index].lows == m.lows
            and pairs[m.index].counts == m.counts
            and all(map(_same_numbers, m.types, pairs[m.index].types))
            for m in a.moves
        )
        self._to_a: dict[int, int] = {}
        self._to_b: dict[int, int] = {}

    def to_b(self, action: int) -> int:
        """Gets the second program's number of an action of the first, -1 if it has none."""
        if self.same_actions:
            return action
        found = self._to_b.get(action)
        if found is None:
            found = _carry(action, self.a.program, self.b.program, self.moves)
            self._to_b[action] = found
        return found

    def to_a(self, action: int) -> int:
        """Gets the first program's number of an action of the second, -1 if it has none."""
        if self.same_actions:
            return action
        found = self._to_a.get(action)
        if found is None:
            found = _carry(action, self.b.program, self.a.program, self.back)
            self._to_a[action] = found
        return found

    # ---------------------------------------------------------------------------------------------- variables

    def _match_variables(self) -> None:
        shared: list[Element] = []
        a, b = self.a.program.variables, self.b.program.variables
        for name, v in a.items():
            other = b.get(name)
            if other is not None:
                shared += _shared_elements(v, other)
        self.elements = shared
        self.only_a = [name for name in a if name not in b]
        self.only_b = [name for name in b if name not in a]
        heeded = [e for e in shared if e.open and e.variable not in self.unheeded]
        plain = [e for e in heeded if e.to_a is None]
        self.translated = [e for e in heeded if e.to_a is not None]
        self.sights = [(e, self.a.program.initial[e.slot_a]) for e in shared if self._seen_otherwise(e)]
        """What others see in one of the two than in the other, with the value at the start."""
        self.secret_moves = {
            index for index, other in self.moves.items() if self.a.program.moves[index].secret != other.secret
        }
        """The moves that are kept secret in other parts in one of the two than in the other."""
        self.get_a = _getter([e.slot_a for e in plain])
        self.get_b = _getter([e.slot_b for e in plain])

    def _seen_otherwise(self, e: Element) -> bool:
        a, b = self.a.program.variables[e.variable], self.b.program.variables[e.variable]
        return e.open and (a.visibility, bool(a.owner)) != (b.visibility, bool(b.owner))

    def same_state(self, a: list[int], b: list[int]) -> bool:
        """Tests if all that any player sees is the same in both positions, as far as both have it."""
        if self.get_a(a) == self.get_b(b):
            if not self.translated:
                return True
            if all(e.to_a(b[e.slot_b]) == a[e.slot_a] for e in self.translated if e.to_a is not None):
                return True
        return not any(self.differing(a, b))

    def differing(self, a: list[int], b: list[int], *, hidden: bool = False) -> Iterator[Element]:
        """Gets the elements that differ; with `hidden`, those that nobody sees."""
        lengths: dict[tuple[str, tuple[int, ...]], int] = {}
        for e in self.elements:
            if e.open == hidden or e.variable in self.unheeded:
                continue
            x, y = a[e.slot_a], b[e.slot_b]
            if e.to_a is not None:
                y = e.to_a(y)
            if self.a.program.variables[e.variable].width > 1:
                pile = (e.variable, e.indices[:-1])
                if e.indices[-1] == 0:
                    lengths[pile] = max(x, y)
                elif e.indices[-1] > lengths[pile]:
                    continue  # what lies behind the end of a pile means nothing
            if x != y:
                yield e

    def carried(self, a: list[int]) -> list[int]:
        """Makes a position of the second program with the values of the first one's; the rest is as at the
        start.
        """
        position = list(self.b.program.initial)
        for e in self.elements:
            value = a[e.slot_a]
            if e.to_a is None:
                position[e.slot_b] = value
            else:
                v = self.b.program.variables[e.variable]
                low, high = (0, v.width - 1) if v.width > 1 and e.indices[-1] == 0 else (v.low, v.high)
                found = next((x for x in range(low, min(high, low + 4096) + 1) if e.to_a(x) == value), None)
                if found is not None:
                    position[e.slot_b] = found
        return position


def _getter(slots: list[int]) -> Callable[[list[int]], Any]:
    if not slots:
        return lambda position: ()
    return itemgetter(*slots)


def _same_shape(a: ir.MoveInfo, b: ir.MoveInfo) -> bool:
    return len(a.types) == len(b.types) and all(map(_alike, a.types, b.types))


def _alike(a: Type, b: Type) -> bool:
    """Tests if values of two types can be told apart by the same names."""
    match a, b:
        case EnumType(), EnumType():
            return a.name == b.name and a.origin == b.origin
        case (
            (OptionalType(x), OptionalType(y))
            | (SetType(x), SetType(y))
            | (PileType(x), PileType(y))
            | (ListType(x), ListType(y))
        ):
            return _alike(x, y)
        case _:
            return type(a) is type(b)


def _same_numbers(a: Type, b: Type) -> bool:
    """Tests if equal numbers of two types mean the same."""
    match a, b:
        case EnumType(), EnumType():
            return a.name == b.name and a.origin == b.origin and a.entries == b.entries
        case (
            (OptionalType(x), OptionalType(y))
            | (SetType(x), SetType(y))
            | (PileType(x), PileType(y))
            | (ListType(x), ListType(y))
        ):
            return _same_numbers(x, y)
        case _:
            return type(a) is type(b) and not isinstance(a, TextType)


def translation(frm: Type, to: Type) -> Translate:
    """Makes what turns a value of one type into that of another by the names of entries."""
    match frm, to:
        case EnumType(), EnumType():
            places = {name: i for i, name in enumerate(to.entries)}
            table = [places.get(name, _STRANGE + i) for i, name in enumerate(frm.entries)]
            return lambda v: table[v] if 0 <= v < len(table) else v
        case (OptionalType(x), OptionalType(y)) | (PileType(x), PileType(y)) | (ListType(x), ListType(y)):
            inner = translation(x, y)
            return lambda v: v if v < 0 else inner(v)
        case SetType(x), SetType(y):
            return _set_translation(x, y)
        case _:
            return lambda v: v


def _set_translation(x: Type, y: Type) -> Translate:
    inner = translation(x, y)

    def turn(v: int) -> int:
        out = 0
        for i in range(v.bit_length()):
            if v >> i & 1:
                at = inner(i)
                out |= 1 << (at if at < _STRANGE else 100 + at - _STRANGE)
        return out

    return turn


def _carry(action: int, frm: ir.Program, to: ir.Program, pairs: dict[int, ir.MoveInfo]) -> int:
    """Gets the number of an action in another program, whoever takes it; -1 if it has none."""
    who = action // frm.actions
    move, arguments = decode(frm, action)
    other = pairs.get(move.index)
    if other is None:
        return -1
    turned = [translation(x, y)(v) for x, y, v in zip(move.types, other.types, arguments, strict=True)]
    try:
        return encode(other, turned) + who * to.actions
    except ValueError:
        return -1


def _shared_elements(a: ir.Variable, b: ir.Variable) -> Iterator[Element]:
    if len(a.dims) != len(b.dims) or not _alike(a.type, b.type) or (a.width > 1) != (b.width > 1):
        return
    if not all(_alike(x, y) for (x, _, _), (y, _, _) in zip(a.dims, b.dims, strict=True)):
        return
    turns = [translation(x, y) for (x, _, _), (y, _, _) in zip(a.dims, b.dims, strict=True)]
    places = {indices: offset for offset, indices in elements(b)}
    same = _same_numbers(a.type, b.type) or isinstance(a.type, TextType)
    to_a = None if same else translation(b.type, a.type)
    open_ = (a.visibility != "none" or b.visibility != "none") and not (a.tally or b.tally)
    for offset, indices in elements(a):
        other = places.get(tuple(turn(i) for turn, i in zip(turns, indices, strict=True)))
        if other is None:
            continue
        if a.width == 1:
            yield Element(a.name, indices, a.slot + offset, b.slot + other, to_a, open_)
            continue
        for k in range(min(a.width, b.width)):
            at = (*indices, k)
            turn = to_a if k else None
            yield Element(a.name, at, a.slot + offset + k, b.slot + other + k, turn, open_)


def _numbers_of(names: list[str], known: list[str]) -> list[int]:
    places = {name: i for i, name in enumerate(known)}
    out = []
    for name in names:
        places.setdefault(name, len(places))
        out.append(places[name])
    return out


def _decision_names(program: ir.Program) -> list[tuple[str, int]]:
    """Names each decision by its rule and its place among the decisions of that rule."""
    seen: dict[str, int] = {}
    names = []
    for d in program.decisions:
        k = seen[d.rule] = seen.get(d.rule, -1) + 1
        names.append((d.rule, k))
    return names


def option_names(program: ir.Program) -> Callable[[int], str]:
    """Makes what names an action by its move and the names of what it takes, whatever the layout of the
    program.
    """
    names: dict[int, str] = {}

    def name(action: int) -> str:
        plain = action % program.actions
        found = names.get(plain)
        if found is None:
            move, arguments = decode(program, plain)
            shown = [_value_name(v, t) for v, t in zip(arguments, move.types, strict=True)]
            found = names[plain] = " ".join([move.name, *shown])
        return found

    return name


def _value_name(value: int, type_: Type) -> str:
    match type_:
        case OptionalType(base):
            return "none" if value < 0 else _value_name(value, base)
        case EnumType() if 0 <= value < len(type_.entries):
            return type_.entries[value]
        case FlagType():
            return "yes" if value else "no"
        case IntType() | _:
            return str(value)


__all__ = ["Element", "Match", "option_names", "translation"]
