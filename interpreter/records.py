"""Records of games: written while a game is played, read again, replayed with every step checked.

A `Recorder` makes the choices on a state and writes each down at once. `load_record` reads a record and
refuses one that was made under other rules, telling at which choice it parts from today's and by which
rule; `replay` plays it again and tests at each step who decides, how many options there are, the move, its
words, and all that it changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ..grammar import tree
from ..grammar.diagnostics import Label
from ..grammar.span import Source, Span
from . import cache
from . import program as ir
from .chance import Streams
from .errors import IllegalMove, PlayError, UnclearMove
from .game import Game, State, load_game
from .plain import element_name, element_value, find_move, plain_game
from .positions import elements
from .python_backend import Position
from .record_files import (
    CHANCE_ACTS,
    NOBODY,
    Changes,
    Choice,
    End,
    Item,
    Record,
    RecordError,
    Reseed,
    Undo,
    check_names,
    parse_record,
    read_record,
    whole_lines,
)
from .types import TextType

_MOST_TOLD = 3
_NOWHERE = Span(Source("<record>", ""), 1, 1, 1, 1)


def _speaker(game: Game, names: Sequence[str]) -> Game:
    """Makes the game that speaks in the rules' own words, on the same machines."""
    made = plain_game(game, names)
    made._machines = game._machines
    made._events = game._events
    return made


def _words(state: State, speaker: Game, action: int, actor: int) -> str:
    own = state.game
    state.game = speaker
    try:
        return state.describe(action, actor)
    finally:
        state.game = own


def changes_between(speaker: Game, before: Position, after: Position) -> Changes:
    """Gets what changed in the state variables, tallies aside."""
    found: dict[str, str] = {}
    for v in speaker.program.variables.values():
        end = v.slot + v.width * _count(v)
        if v.tally or before[v.slot : end] == after[v.slot : end]:
            continue
        for offset, indices in elements(v):
            for k in range(v.width):
                slot = v.slot + offset + k
                if before[slot] != after[slot]:
                    name = element_name(speaker, v.name, (*indices, k) if v.width > 1 else indices)
                    value = element_value(speaker, v, after[slot], k)
                    found[name] = " ".join(value.split()) if isinstance(v.type, TextType) else value
    return Changes(found)


def _count(v: ir.Variable) -> int:
    n = 1
    for _, _, count in v.dims:
        n *= count
    return n


# ---------------------------------------------------------------------------------------------------- writing


class Recorder:
    """Makes choices on a state and writes them down, to a file if there is one."""

    def __init__(self, record: Record, speaker: Game, path: Path | None) -> None:
        self.record = record
        self.path = path
        self._speaker = speaker
        self._count = len(record.choices())
        self._handle: int | None = None
        if path is not None:
            self._handle = os.open(path, os.O_WRONLY | os.O_APPEND)

    @classmethod
    def start(
        cls,
        state: State,
        seed: int | None,
        *,
        path: str | Path | None = None,
        names: Sequence[str] | None = None,
    ) -> Recorder:
        """Begins a record of a game just dealt from `seed` (None: chance is told how to come out).

        Raises `RecordError` for names that cannot stand in a record, `OSError` where the file cannot be
        written.
        """
        game = state.game
        called = tuple(names or game.player_names)
        check_names(called)
        speaker = _speaker(game, called)
        variables = tuple(v.name for v in game.program.variables.values() if not v.tally)
        start = changes_between(speaker, game.program.initial, state.position)
        record = Record(game.canonical, game.content_hash, called, seed, game.offers, variables, start)
        target = None if path is None else Path(path)
        if target is not None:
            record.path = str(target)
            cache.write(target, record.header().encode())
        return cls(record, speaker, target)

    @classmethod
    def resume(
        cls, path: str | Path, *, game: Game | None = None, trace: bool = True
    ) -> tuple[Recorder, State]:
        """Goes on with a record: gets the state its choices lead to. Raises as `load_record` does."""
        path = Path(path)
        record = load_record(path)
        follower = Follower(record, game or _game_of(record), trace=trace)
        follower.refuse(follower.first())
        for item in record.kept():
            follower.refuse(follower.follow(item))
        whole = whole_lines(path.read_bytes().decode("utf-8", "ignore")).encode()
        if len(whole) < path.stat().st_size:
            os.truncate(path, len(whole))
        return cls(record, follower.speaker, path), follower.state

    @classmethod
    def onward(cls, record: Record, game: Game) -> Recorder:
        """Goes on with a record in memory, from its last choice."""
        return cls(record, _speaker(game, record.names), None)

    def choose(self, state: State, action: int, player: int | None = None) -> None:
        """Makes a choice on the state and writes it down. Raises `IllegalMove`; then nothing was written."""
        options = len(state.legal_actions())
        if state.is_chance_node():
            who, words = CHANCE_ACTS, str(action)
        else:
            actor = state.actor(action) if player is None else player
            if not -1 <= actor < len(self.record.names):
                raise IllegalMove("illegal", "that is not offered here")
            who = self.record.names[actor] if actor >= 0 else NOBODY
            words = " ".join(_words(state, self._speaker, action, actor).split())
        before = state.position[:]
        state.apply_action(action, player)
        self._count += 1
        changes = changes_between(self._speaker, before, state.position)
        self._add(Choice(self._count, who, words, action, options, changes, _NOWHERE))
        if state.is_terminal():
            self._add(End(tuple(state.scores()), _NOWHERE))

    def undo(self, count: int = 1) -> None:
        """Writes down that the last choices are taken back; the state before them is the caller's to keep."""
        if not 0 <= count <= self._count:
            raise ValueError(f"{count} choices cannot be taken back of {self._count}")
        if count:
            self._count -= count
            self._add(Undo(count, _NOWHERE))

    def reseed(self, state: State, seed: int) -> None:
        """Has chance drawn from another seed from here on, and writes that down."""
        state.streams = Streams(seed, state.game.program.streams)
        self._add(Reseed(seed, _NOWHERE))

    def _add(self, item: Item) -> None:
        self.record.items.append(item)
        if self._handle is not None:
            os.write(self._handle, item.line().encode())
            os.fsync(self._handle)

    def save(self, path: str | Path) -> None:
        """Writes the whole record to another file, in one step."""
        cache.write(Path(path), self.record.text().encode())

    def close(self) -> None:
        """Lets go of the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


# -------------------------------------------------------------------------------------------------- following


class Difference(Struct, frozen=True):
    """Where today's rules and a record part: at choice `number` (0: the deal), in what, by which rule."""

    number: int
    message: str
    span: Span
    """The record's line."""
    rule: str = ""
    rule_span: Span | None = None

    def text(self) -> str:
        """Writes it in a line."""
        place = (
            f" (rule {self.rule}, {self.rule_span})"
            if self.rule
            else f" ({self.rule_span})"
            if self.rule_span
            else ""
        )
        return f"{self.message}{place}"


class Follower:
    """Plays a record under a game's rules and tells where they part."""

    def __init__(
        self,
        record: Record,
        game: Game,
        *,
        trace: bool = True,
        strict: bool = True,
        streams: Callable[[int], Streams] | None = None,
    ) -> None:
        self.record = record
        self.game = game
        self.speaker = _speaker(game, record.names)
        self.strict = strict
        """Whether the rules are those the record was made under, so that actions have the same numbers."""
        self.streams = streams or (lambda seed: Streams(seed, game.program.streams))
        self.state = game.new_initial_state(trace=trace)
        if record.seed is not None:
            self.state.streams = self.streams(record.seed)
            self.state.settle()
            self.state.events = tuple(game._events)
        self.number = 0
        self.asked_at: Span | None = None
        """Where in the rules the choice being followed is asked."""
        today = [v.name for v in game.program.variables.values() if not v.tally]
        self.shared = set(today) & set(record.variables)

    def first(self) -> Difference | None:
        """Compares the deal."""
        span = Span(Source(self.record.path, self.record.header()), 1, 1, 1, 1)
        return self._compared(self.record.start, self.game.program.initial, span)

    def follow(self, item: Item) -> Difference | None:
        """Makes one step of the record."""
        match item:
            case Choice():
                self.number = item.number
                return self._choice(item)
            case Reseed(seed):
                self.state.streams = self.streams(seed)
            case End(scores, span):
                if not self.state.is_terminal():
                    return self._difference("the game goes on here, the record ends", span)
                if tuple(self.state.scores()) != scores:
                    names = self.record.names
                    now = ", ".join(f"{n} {s}" for n, s in zip(names, self.state.scores(), strict=True))
                    then = ", ".join(f"{n} {s}" for n, s in zip(names, scores, strict=False))
                    return self._difference(f"the scores are {now}, the record has {then}", span)
            case _:
                pass
        return None

    def refuse(self, difference: Difference | None) -> None:
        """Raises `RecordError` for a difference, if there is one."""
        if difference is not None:
            where = f"choice {difference.number}" if difference.number else "the deal"
            message = f"the record does not fit its rules at {where}: {difference.text()}"
            raise RecordError("record-altered", message, difference.span)

    def _difference(self, message: str, span: Span, rule_span: Span | None = None) -> Difference:
        rule_span = rule_span or self.asked_at
        return Difference(self.number, message, span, rule_at(self.game, rule_span), rule_span)

    def _choice(self, choice: Choice) -> Difference | None:
        state, span = self.state, choice.span
        decision = state.decision
        self.asked_at = self.game.program.sites[decision.site] if decision is not None else None
        if state.is_terminal():
            return self._difference(f"the game is over, the record goes on with '{choice.words}'", span)
        if state.is_chance_node() != (choice.player == CHANCE_ACTS):
            return self._difference("chance decides in one and a player in the other", span)
        player: int | None = None
        if choice.player == CHANCE_ACTS:
            action = choice.action
        else:
            try:
                action, player = self._move(choice)
            except (IllegalMove, UnclearMove) as error:
                return self._difference(f"{choice.player}: {choice.words}: {error.message}", span, error.span)
        options = len(state.legal_actions())
        if options != choice.options:
            return self._difference(f"there are {options} options, the record had {choice.options}", span)
        if self.strict and action != choice.action and not self._is_free_text(action):
            return self._difference(
                f"'{choice.words}' is action {action}, the record has {choice.action}", span
            )
        before = state.position[:]
        try:
            state.apply_action(action, player)
        except PlayError as error:
            return self._difference(f"{choice.player}: {choice.words}: {error.message}", span, error.span)
        return self._compared(choice.changes, before, span)

    def _is_free_text(self, action: int) -> bool:
        return any(isinstance(t, TextType) for t in self.state.decode(action)[0].types)

    def _move(self, choice: Choice) -> tuple[int, int | None]:
        """Finds the move of a choice by its words, first where its number says."""
        state = self.state
        names = self.record.names
        if self.strict and choice.action in state.legal_actions() and not self._is_free_text(choice.action):
            actor = state.actor(choice.action)
            words = " ".join(_words(state, self.speaker, choice.action, actor).split())
            if words == choice.words and choice.player == (names[actor] if actor >= 0 else NOBODY):
                return choice.action, actor if state.is_simultaneous_node() else None
        who = "" if choice.player == NOBODY else f"{choice.player} "
        own = state.game
        state.game = self.speaker
        try:
            return find_move(state, f"{who}{choice.words}")
        finally:
            state.game = own

    def _compared(self, recorded: Changes, before: Position, span: Span) -> Difference | None:
        """Compares what a step changed; the rule told is that of the element that changed least often."""
        found = changes_between(self.speaker, before, self.state.position).values
        wanted = recorded.values
        parted = [
            name
            for name in dict.fromkeys((*wanted, *found))
            if found.get(name) != wanted.get(name) and _variable(name) in self.shared
        ]
        if not parted:
            return None
        lines = {name: self._lines_that_changed(name) for name in parted}
        parted.sort(key=lambda name: len(lines[name]) or len(self.state.events) + 1)
        told = []
        for name in parted[:_MOST_TOLD]:
            now = f"{name} becomes {found[name]}" if name in found else f"{name} does not change"
            then = f"the record has {wanted[name]}" if name in wanted else "the record has it unchanged"
            told.append(f"{now}, {then}")
        told += [f"and {len(parted) - _MOST_TOLD} more"] if len(parted) > _MOST_TOLD else []
        changed_by = lines[parted[0]]
        return self._difference("; ".join(told), span, changed_by[-1] if changed_by else None)

    def _lines_that_changed(self, name: str) -> list[Span]:
        return [
            event.span
            for event in self.state.events
            if event.kind == "change"
            and event.span is not None
            and element_name(self.speaker, event.variable, event.indices) == name
        ]


def _variable(element: str) -> str:
    return element.rpartition(" of ")[2].partition("[")[0]


def rule_at(game: Game, span: Span | None) -> str:
    """Gets the name of the rule, move or define in which a place stands, or ""."""
    if span is None:
        return ""
    for definition in game.checked().rules.definitions:
        node = definition.node
        inside = (
            node.span.source.name == span.source.name and node.span.line <= span.line <= node.span.end_line
        )
        if inside and isinstance(node, tree.Rule | tree.Move | tree.Define):
            return node.name.text
    return ""


# ---------------------------------------------------------------------------------------------------- loading


def _game_of(record: Record) -> Game:
    return load_game(record.rules, players=record.players, offers=record.offers)


def parting(record: Record, game: Game) -> Difference | None:
    """Finds where a record parts from a game's rules, perhaps not those it was made under; None if never."""
    follower = Follower(record, game, strict=record.content_hash == game.content_hash)
    found = follower.first()
    for item in record.kept():
        if found is not None:
            return found
        found = follower.follow(item)
    return found


def load_record(path: str | Path, *, any_rules: bool = False) -> Record:
    """Reads a record and makes sure that it was made under the rules of today.

    One made under others is refused, unless `any_rules`, with the choice at which it parts from today's and
    the rule. Raises `RecordError`, `RulesError` where its rules cannot be loaded at all, or `OSError`.
    """
    record = read_record(path)
    if any_rules:
        return record
    game = _game_of(record)
    if record.content_hash == game.content_hash:
        return record
    found = parting(record, game)
    changed = f"{record.rules} has changed since this record was made"
    if found is None:
        count = len(record.choices())
        message = f"{changed}, though its {count} choices lead to the same today"
        raise RecordError("record-rules", message, Span(Source(str(path), record.text()), 3, 1, 3, 2))
    where = f"from choice {found.number} on" if found.number else "from the deal on"
    notes = (Label("by this rule of today", found.rule_span),) if found.rule_span is not None else ()
    raise RecordError(
        "record-rules", f"{changed}, and parts from today's {where}: {found.text()}", found.span, notes
    )


def replay(record: Record, *, game: Game | None = None, trace: bool = True) -> Iterator[State]:
    """Plays a record again, without what was taken back; yields where it stands, first dealt.

    It is one state that moves on; `clone` it to keep it. Raises `RecordError` at the first step that does
    not fit.
    """
    follower = Follower(record, game or _game_of(record), trace=trace)
    follower.refuse(follower.first())
    yield follower.state
    for item in record.kept():
        follower.refuse(follower.follow(item))
        if isinstance(item, Choice):
            yield follower.state


__all__ = [
    "Choice",
    "Difference",
    "Follower",
    "Record",
    "RecordError",
    "Recorder",
    "load_record",
    "parse_record",
    "parting",
    "read_record",
    "replay",
    "rule_at",
]
