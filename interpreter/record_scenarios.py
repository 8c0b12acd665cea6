"""Turns a moment of a recorded game into a scenario: from play to test.

Takes a record and how many of its choices are to be made; gives the text of a scenario file: the dice and
draws as they fell, the moves, and what held then: who decides, how many options there are, what the last
choice changed, and the move that came next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from .chance import Streams
from .game import Game, State, elements, load_game
from .plain import element_name, plain_game
from .program import Variable
from .record_files import CHANCE_ACTS, NOBODY, Choice, Record, RecordError
from .records import Follower
from .scripts import stream_types
from .types import EnumType, FlagType, OptionalType, PileType, SetType, TextType, Type

_PLAIN = re.compile(r"[^\W\d_][\w '.+=/-]*")
_NOT_PLAIN = {"true", "false", "null"}
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MOST_EXPECTED = 12


def scenario_from_record(
    record: Record, at: int | None = None, *, game: Game | None = None, name: str = ""
) -> str:
    """Writes a scenario file of where a record stands after `at` of its choices (None: all of them).

    Raises `RecordError` where there are not so many, or the record does not fit its rules.
    """
    choices = record.choices()
    at = len(choices) if at is None else at
    if not 0 <= at <= len(choices):
        raise RecordError("record-moment", f"the record has {len(choices)} choices, got {at}")
    game = game or load_game(record.rules, players=record.players, offers=record.offers)
    named = all(map(_IDENTIFIER.fullmatch, record.names))
    names = record.names if named else game.player_names
    called = dict(zip(record.names, names, strict=True))
    fallen: dict[int, dict[int, dict[int, int]]] = {}
    follower = Follower(record, game, streams=lambda seed: _Heard(seed, game.program.streams, fallen))
    follower.refuse(follower.first())
    state = follower.state
    before = list(game.program.initial)
    moves: list[str] = []
    for item in record.kept():
        if isinstance(item, Choice):
            if item.number > at:
                break
            before = state.position[:]
            if item.player == CHANCE_ACTS and isinstance(state.stop, tuple):
                stream, row, ordinal, *_ = state.machine.chance_info[state.stop[0]](state.position)
                fallen.setdefault(stream, {}).setdefault(row, {})[ordinal] = item.action
            else:
                moves.append(_words(item, called))
        follower.refuse(follower.follow(item))
    lines = [
        "# yaml-language-server: $schema=../../schema/scenario.json",
        f"- name: {quoted(name or f'after choice {at} of a game on record')}",
        f"  rules: {quoted(record.rules)}",
        f"  players: [{', '.join(names)}]" if named else f"  players: {record.players}",
        *([] if record.offers else ["  offers: false"]),
        *_chance(fallen, game),
        *(["  moves:"] if moves else []),
        *(f"    - {quoted(words)}" for words in moves),
        "  expect:",
        *(f"    - {line}" for line in _expected(state, before, plain_game(game, names))),
    ]
    if at < len(choices) and choices[at].player != CHANCE_ACTS:
        lines.append(f"    - offered: {quoted(_words(choices[at], called))}")
    return "\n".join(lines) + "\n"


def _words(choice: Choice, called: dict[str, str]) -> str:
    return choice.words if choice.player == NOBODY else f"{called[choice.player]} {choice.words}"


def quoted(text: str) -> str:
    """Writes a text as YAML: plain where that is sure to be read as the same text."""
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _NOT_PLAIN and text == text.strip()
    return text if plain else json.dumps(text, ensure_ascii=False)


# ----------------------------------------------------------------------------------------------------- chance


class _Heard(Streams):
    """Streams that note what falls: by stream, row and place."""

    __slots__ = ("fallen",)

    def __init__(self, seed: int, names: Sequence[str], fallen: dict[int, dict[int, dict[int, int]]]) -> None:
        super().__init__(seed, names)
        self.fallen = fallen

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        """Draws as the seed says."""
        value = super().outcome(stream, row, ordinal, low, weights)
        self.fallen.setdefault(stream, {}).setdefault(row, {})[ordinal] = value
        return value


def _chance(fallen: dict[int, dict[int, dict[int, int]]], game: Game) -> Iterator[str]:
    if fallen:
        yield "  chance:"
    types = stream_types(game) if fallen else {}
    for number, rows in sorted(fallen.items()):
        name = game.program.streams[number]
        shown = []
        for row in range(max(rows) + 1):
            drawn = rows.get(row, {0: 0})
            row_of = [value_text(drawn.get(i, 0), types[name]) for i in range(max(drawn) + 1)]
            shown.append(row_of[0] if len(row_of) == 1 else f"[{', '.join(row_of)}]")
        yield f"    {name}: [{', '.join(shown)}]"


# ----------------------------------------------------------------------------------------------------- values


def value_text(value: int, type_: Type) -> str:
    """Writes a value as YAML."""
    match type_:
        case OptionalType(base):
            return "none" if value < 0 else value_text(value, base)
        case EnumType():
            return quoted(type_.entries[value])
        case FlagType():
            return "yes" if value else "no"
        case SetType(base):
            count = len(base.entries) if isinstance(base, EnumType) else value.bit_length()
            return f"[{', '.join(value_text(i, base) for i in range(count) if value >> i & 1)}]"
        case _:
            return str(value)


def _expected(state: State, before: Sequence[int], speaker: Game) -> Iterator[str]:
    """Writes what holds: who decides, how many options, and what the last choice changed."""
    names = speaker.player_names
    if state.is_terminal():
        yield "over: true"
        yield f"winners: [{', '.join(names[p] for p in state.winners())}]"
        yield f"returns: [{', '.join(str(int(r)) for r in state.returns())}]"
    elif state.decision is not None:
        deciding = [names[p] for p in state.players_to_act()]
        yield f"decides: {deciding[0] if len(deciding) == 1 else '[' + ', '.join(deciding) + ']'}"
        yield f"options: {len(state.legal_actions())}"
    count = 0
    for v in speaker.program.variables.values():
        for offset, indices in elements(v):
            first = v.slot + offset
            now = state.position[first : first + v.width]
            if v.tally or isinstance(v.type, TextType) or list(before[first : first + v.width]) == now:
                continue
            count += 1
            if count > _MOST_EXPECTED:
                return
            yield f"{_key(element_name(speaker, v.name, (*indices, 0)))}: {_value(v, now, speaker)}"


def _key(name: str) -> str:
    return name.removeprefix("length of ")


def _value(v: Variable, now: Sequence[int], speaker: Game) -> str:
    if isinstance(v.type, PileType):
        return f"[{', '.join(_entry(i, v.type.base, speaker) for i in now[1 : 1 + now[0]])}]"
    if isinstance(v.type, SetType):
        size = len(v.type.base.entries) if isinstance(v.type.base, EnumType) else now[0].bit_length()
        return f"[{', '.join(_entry(i, v.type.base, speaker) for i in range(size) if now[0] >> i & 1)}]"
    return _entry(now[0], v.type, speaker)


def _entry(value: int, type_: Type, speaker: Game) -> str:
    base = type_.base if isinstance(type_, OptionalType) else type_
    if isinstance(base, EnumType) and base.origin == "players" and value >= 0:
        return quoted(speaker.player_names[value])
    return value_text(value, type_)
