"""Tells a line of play as a story: what was rolled and chosen, and what each of the two rule sets does then.

Takes a line as the search found it; gives sentences in a language with the places of the rules they come
from. The last step is played again with its events noted, so that every value that differs is told with the
line that changed it, and every option that only one offers with the guard that refuses it in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from ...grammar import tree
from ...grammar.span import Span
from .. import program as ir
from ..chance import Streams
from ..errors import PlayError
from ..game import Event, Game, State
from ..plain import element_name
from ..positions import decode
from ..scripts import shuffle_streams, stream_types
from ..types import EnumType
from .differences import Difference, Differences
from .lockstep import Drawn, Lockstep, Side, Tape, Who, taped
from .matching import Element
from .playing import Line, Start

MOST_OPTIONS = 6
MOST_VALUES = 8


class Point(Struct, frozen=True):
    """Something that holds in one of the two games, and the rule's line."""

    text: str
    span: Span | None = None


class Step(Struct, frozen=True):
    """A choice of the story."""

    who: str
    words: str
    span: Span | None


class Roll(Struct, frozen=True):
    """What one row of a stream of chance gave, in words, and after how many choices."""

    stream: str
    words: tuple[str, ...]
    after: int
    shuffled: bool = False
    """Whether the words are places that a shuffle put items to: they say nothing to a reader."""


class Gain(Struct, frozen=True):
    """How a player stands in each of the two games."""

    who: str
    a: int
    b: int


class Told(Struct):
    """A story that can be read."""

    steps: list[Step]
    rolls: list[Roll]
    headline: str
    a: list[Point]
    b: list[Point]
    because: list[Difference] = field(default_factory=list)
    """The differences that the last step passed; all, if none can be told apart."""
    gains: list[Gain] = field(default_factory=list)
    then: list[Step] = field(default_factory=list)
    """How it goes on where only values differ, up to where that matters: the choices, and what holds then."""
    then_a: list[Point] = field(default_factory=list)
    then_b: list[Point] = field(default_factory=list)


def tell(
    lockstep: Lockstep,
    start: Start,
    line: Line,
    found: Differences,
    *,
    language: str = "en",
    later: Line | None = None,
) -> Told:
    """Tells a line; `later` is the same line and how it goes on up to where it matters."""
    told = _Teller(lockstep, start, line, language).told(found)
    if later is not None:
        onward = _Teller(lockstep, start, later, language)
        told.then = onward.steps[line.decisions :]
        rest = onward.told(found)
        told.then_a, told.then_b = rest.a, rest.b
    return told


def play_states(
    lockstep: Lockstep,
    start: Start,
    line: Line,
    *,
    games: tuple[Game, Game] | None = None,
    trace: bool = True,
) -> Iterator[tuple[State, State]]:
    """Plays a line on states, in step: yields the two before the first choice and after each (the same
    objects).

    `games` are the two games if they are to speak otherwise.
    """
    match = lockstep.match
    a, b = games or (match.a, match.b)
    tape = Tape(start.source(match, 0), {**line.tape, **start.tape})
    streams = taped(match, tape)
    pair = (
        _begin(a, streams[0], start.a, start.stop_a, trace),
        _begin(b, streams[1], start.b, start.stop_b, trace),
    )
    yield pair
    for choice in line.choices:
        for state, action in zip(pair, (choice.action, match.to_b(choice.action)), strict=True):
            try:
                state.apply_action(action)
            except PlayError:
                state.events = tuple(state.game._events)
        yield pair


def _begin(game: Game, streams: Streams, position: list[int] | None, stop: object, trace: bool) -> State:
    if position is not None:
        state = game.state_at(position, trace=trace)
        state.streams = streams
        return state
    state = game.new_initial_state(trace=trace)
    state.streams = streams
    state.settle()
    state.events = tuple(game._events)
    return state


class _Teller:
    def __init__(
        self,
        lockstep: Lockstep,
        start: Start,
        line: Line,
        language: str,
    ) -> None:
        self.lockstep = lockstep
        self.match = lockstep.match
        self.start = start
        self.line = line
        self.language = language
        self.names = self.match.a.player_names
        self.steps: list[Step] = []
        a: State | None = None
        b: State | None = None
        for n, (x, y) in enumerate(play_states(lockstep, start, line)):
            if n < len(line.choices):
                self.steps.append(self._step(x, n))
            a, b = x, y
        assert a is not None and b is not None
        self.a, self.b = a, b

    def _step(self, state: State, n: int) -> Step:
        action = self.line.choices[n].action
        actor = state.actor(action)
        move, _ = state.decode(action)
        who = self.names[actor] if actor >= 0 else ""
        return Step(who, state.describe(action, actor, self.language), move.span)

    # ------------------------------------------------------------------------------------------------ the end

    def told(self, found: Differences) -> Told:
        parting = self.line.parting
        told = Told(self.steps, self._rolls(), "", [], [])
        match parting.kind:
            case "broken":
                told.headline = "one of the two breaks a rule of the language"
                for points, error in ((told.a, parting.trouble[0]), (told.b, parting.trouble[1])):
                    text = "goes on" if error is None else f"cannot go on: {error.message}"
                    points.append(Point(text, None if error is None else error.span))
            case "options" if self._other_decision():
                told.headline = "not the same is decided"
                told.a += self._standing(self.a, self.lockstep.a, parting.who[0])
                told.b += self._standing(self.b, self.lockstep.b, parting.who[1])
                self._values(told, parting.state)
            case "options":
                told.headline = "what may be chosen is not the same"
                self._options(told)
                self._values(told, parting.state)
            case "decider" | "over":
                told.headline = "one goes on while the other is over"
                if parting.kind == "decider":
                    same = parting.who[0] == parting.who[1]
                    told.headline = "not the same is decided" if same else "not the same player decides"
                told.a += self._standing(self.a, self.lockstep.a, parting.who[0])
                told.b += self._standing(self.b, self.lockstep.b, parting.who[1])
                self._refused(told)
            case "state":
                told.headline = "the table is not the same"
                values_matter = bool(self._gains())
                if values_matter:
                    self._values(told, parting.state)
                if parting.only_a or parting.only_b:
                    told.headline += ", nor what may be chosen"
                    self._options(told, brief=True)
                if not values_matter:
                    self._values(told, parting.state)
            case "sight":
                told.headline = "the table is the same, but who sees it is not"
                self._sight(told)
            case "chance":
                told.headline = "chance is not the same"
                self._chance(told)
            case "outcome":
                same = parting.scores[0] == parting.scores[1] and parting.winners[0] == parting.winners[1]
                told.headline = "at the end the table is not the same" if same else "it comes out differently"
                self._outcome(told)
                self._values(told, parting.state)
        told.gains = self._gains()
        told.because = self._because(found, told)
        return told

    def _other_decision(self) -> bool:
        """Tests if the two stand at decisions of different rules."""
        a, b = self.a.decision, self.b.decision
        return a is not None and b is not None and a.rule != b.rule

    def _who(self, who: Who | None) -> str:
        if who is None:
            return "nobody"
        seats = (who,) if isinstance(who, int) else who[1]
        names = [self.names[p] if p >= 0 else "nobody" for p in seats]
        return " and ".join(names) if isinstance(who, int) or who[0] == "each" else " or ".join(names)

    def _standing(self, state: State, side: Side, who: Who | None) -> list[Point]:
        """Tells where a game stands: who decides what."""
        if state.is_terminal():
            scores = ", ".join(
                f"{n} {s}" for n, s in zip(self.names, side.scores(state.position), strict=True)
            )
            return [Point(f"the game is over: {scores}")]
        decision = state.decision
        site = side.program.sites[decision.site] if decision is not None else None
        return [Point(f"{self._who(who)} decides: {self._offered(state)}", site)]

    def _offered(self, state: State) -> str:
        actions = state.legal_actions() if state.decision is not None else []
        standing = set(state.decision.standing) if state.decision is not None else set()
        own = [a for a in actions if state.decode(a)[0].index not in standing] or actions
        return self._listed([state.describe(a, state.actor(a), self.language) for a in own])

    def _listed(self, words: Sequence[str]) -> str:
        shown = list(words[:MOST_OPTIONS])
        if len(words) > MOST_OPTIONS:
            shown = [*words[: MOST_OPTIONS - 2], "…", words[-1]]
        return ", ".join(shown)

    # ------------------------------------------------------------------------------------------------ options

    def _options(self, told: Told, *, brief: bool = False) -> None:
        """Tells options that only one game offers; `brief`, where values differ that may well be why, without
        reasons.
        """
        parting = self.line.parting
        pairs = (
            (parting.only_a, self.a, self.b, told.a, told.b, self.match.to_b),
            (parting.only_b, self.b, self.a, told.b, told.a, self.match.to_a),
        )
        for actions, mine, other, points, refusing, turn in pairs:
            for group in _grouped(self._really_only(actions, mine, other, turn), mine):
                words = [mine.describe(a, mine.actor(a), self.language) for a in group]
                seat = mine.actor(group[0])
                who = self.names[seat] if seat >= 0 else self._who(self.line.parting.who[0])
                text = (
                    f"{who} may also {self._listed(words)}" if brief else f"{who} may {self._listed(words)}"
                )
                points.append(Point(text, mine.decode(group[0])[0].span))
                if not brief:
                    refusing.append(self._why_not(other, turn(group[0]), words))
        if brief:
            return
        if not told.a:
            told.a.append(Point(f"{self._who(parting.who[0])} may only {self._offered(self.a)}"))
        if not told.b:
            told.b.append(Point(f"{self._who(parting.who[1])} may only {self._offered(self.b)}"))

    def _really_only(
        self, actions: Sequence[int], mine: State, other: State, turn: Callable[[int], int]
    ) -> list[int]:
        """Leaves out what the other offers too, as an action of whoever decides or of one who is named."""
        if other.decision is None:
            return list(actions)
        there = {(x % other.game.program.actions, other.actor(x)) for x in other.legal_actions()}
        n = mine.game.program.actions
        return [x for x in actions if (turn(x % n), mine.actor(x)) not in there]

    def _why_not(self, state: State, action: int, words: list[str]) -> Point:
        what = words[0] if len(words) == 1 else f"{words[0]} and {len(words) - 1} more"
        if action < 0:
            return Point(f"there is no move '{what}'")
        n = state.game.program.actions
        seat = action // n - 1
        decision = state.decision
        if seat >= 0 and decision is not None and decision.mode == "one" and seat != state.current_player():
            return Point(f"{self.names[seat]} is not asked now", state.game.program.sites[decision.site])
        refusal = state.why_not(action % n, action // n - 1 if action >= n else None, self.language)
        if refusal is None:
            return Point(f"'{what}' is legal too, but another of equal moves is listed")
        return Point(f"not {what}: {refusal.reason}", refusal.span)

    def _refused(self, told: Told) -> None:
        """Adds the guards that refuse in one game what the other asks, where that is why they part."""
        sides = (
            (self.a, self.lockstep.b, self.match.to_b, told.b, True),
            (self.b, self.lockstep.a, self.match.to_a, told.a, False),
        )
        for state, other, turn, points, first in sides:
            decision = state.decision
            if decision is None or not first or decision.mode != "one":
                continue
            carried = self.match.carried(state.position)
            actor = state.current_player()
            for action in state.legal_actions():
                move, _ = state.decode(action)
                there = turn(action)
                if move.index not in decision.moves or there < 0 or there >= other.program.actions:
                    continue
                refusal = _guard(other, carried, there, actor, self.language)
                if refusal is not None:
                    words = state.describe(action, actor, self.language)
                    points.append(Point(f"{self.names[actor]} could not {words}: {refusal[0]}", refusal[1]))
                    return

    # ------------------------------------------------------------------------------------------------- values

    def _values(self, told: Told, elements: Sequence[Element]) -> None:
        shown = _most_telling(elements, self.match.a.program)
        for e in shown[:MOST_VALUES]:
            for state, points, first in ((self.a, told.a, True), (self.b, told.b, False)):
                name, value, event = self._element(state, e, first)
                if event is not None:
                    points.append(
                        Point(f"{name}: {self._value(state, e, event.old, first)} → {value}", event.span)
                    )
                else:
                    points.append(Point(f"{name}: {value}"))
        if len(shown) > MOST_VALUES:
            for points in (told.a, told.b):
                points.append(Point(f"… and {len(shown) - MOST_VALUES} more values"))

    def _element(self, state: State, e: Element, first: bool) -> tuple[str, str, Event | None]:
        slot = e.slot_a if first else e.slot_b
        where = state.game.variable_at(slot)
        assert where is not None
        variable, indices = where
        name = element_name(self.match.a, e.variable, e.indices)
        event = next(
            (x for x in reversed(state.events) if x.variable == variable.name and x.indices == indices), None
        )
        if event is not None:
            earlier = next(x for x in state.events if x.variable == variable.name and x.indices == indices)
            event = Event("change", event.span, event.variable, event.indices, earlier.old, event.new)
        return name, self._value(state, e, state.position[slot], first), event

    def _value(self, state: State, e: Element, value: int, first: bool) -> str:
        program = state.game.program
        v = program.variables[e.variable]
        labels = state.game.labels(self.language)
        if v.width > 1:
            return str(value) if e.indices[-1] == 0 else labels.value(value, getattr(v.type, "base", v.type))
        return labels.value(value, v.type)

    # ------------------------------------------------------------------------------------------------ outcome

    def _outcome(self, told: Told) -> None:
        parting = self.line.parting
        for points, scores, winners, game in (
            (told.a, parting.scores[0], parting.winners[0], self.match.a),
            (told.b, parting.scores[1], parting.winners[1], self.match.b),
        ):
            shown = ", ".join(f"{n} {s}" for n, s in zip(self.names, scores, strict=True))
            who = " and ".join(self.names[p] for p in winners)
            verb = "wins" if len(winners) == 1 else "win together"
            points.append(
                Point(f"{who} {verb} ({shown})", _span_of_score(game, parting.scores[0] == parting.scores[1]))
            )

    def _sight(self, told: Told) -> None:
        parting = self.line.parting
        for game, points in ((self.match.a, told.a), (self.match.b, told.b)):
            for e in parting.seen[:MOST_VALUES]:
                v = game.program.variables[e.variable]
                who = "everybody"
                if v.visibility == "index":
                    who = f"only {self.names[e.indices[0]]}"
                elif v.visibility != "all":
                    who = "nobody" if v.visibility == "none" else "one player alone"
                name = element_name(self.match.a, e.variable, e.indices)
                value = self._value(self.a, e, self.a.position[e.slot_a], True)
                points.append(Point(f"{who} sees {name}: {value}", v.span))
        if parting.shown >= 0:
            for state, action, points in (
                (self.a, parting.shown, told.a),
                (self.b, self.match.to_b(parting.shown), told.b),
            ):
                move, _ = state.decode(action)
                hidden = [n for n, s in zip(move.parameters, move.secret, strict=True) if s]
                text = (
                    f"others do not see {', '.join(hidden)} of the move"
                    if hidden
                    else "others see the whole move"
                )
                points.append(Point(text, move.span))

    def _chance(self, told: Told) -> None:
        drawn = self.line.parting.drawn
        assert drawn is not None
        names = list(self.match.a.program.streams)
        name = names[drawn.stream] if drawn.stream < len(names) else "chance"
        type_ = stream_types(self.match.a).get(name)
        labels = self.match.a.labels(self.language)
        for odds, points, side in ((drawn.a, told.a, self.lockstep.a), (drawn.b, told.b, self.lockstep.b)):
            total = sum(w for _, w in odds)
            shown = ", ".join(
                f"{labels.value(v, type_) if type_ is not None else v} {w}"
                for v, w in odds[: 2 * MOST_OPTIONS]
            )
            span = next(
                (side.program.sites[c.site] for c in side.program.chances if c.stream == drawn.stream), None
            )
            points.append(Point(f"{name}, draw {drawn.row + 1}: of {total}, {shown}", span))

    def _gains(self) -> list[Gain]:
        if not self.lockstep.a.program.score or self.line.parting.kind not in ("state", "options", "outcome"):
            return []
        try:
            a, b = self.lockstep.a.scores(self.a.position), self.lockstep.b.scores(self.b.position)
        except PlayError:
            return []
        return [Gain(n, x, y) for n, x, y in zip(self.names, a, b, strict=True)] if a != b else []

    # -------------------------------------------------------------------------------------------- the reasons

    def _because(self, found: Differences, told: Told) -> list[Difference]:
        """Gets the differences whose lines the last step passed; all of them, if it passed none."""
        if len(found.meant) <= 1:
            return found.meant
        lines = {(p.span.source.name, p.span.line) for p in (*told.a, *told.b) if p.span is not None}
        for state in (self.a, self.b):
            lines |= {(e.span.source.name, e.span.line) for e in state.events if e.span is not None}
        near = [
            d
            for d in found.meant
            if any(
                (s.source.name, n) in lines
                for c in d.changes
                for s in (c.a, c.b)
                if s is not None
                for n in range(s.line, s.end_line + 1)
            )
        ]
        return near or found.meant

    # ------------------------------------------------------------------------------------------------- chance

    def _rolls(self) -> list[Roll]:
        return rolls(self.match.a, self.match.b, self.line, self.start, self.language, self.match.streams_b)


def rolls(a: Game, b: Game, line: Line, start: Start, language: str, streams_b: Sequence[int]) -> list[Roll]:
    """Gets what chance gave on a line, in words, in the order in which it was met."""
    names = list(a.program.streams)
    types = stream_types(a)
    types_b = stream_types(b)
    for name, number in zip(b.program.streams, streams_b, strict=True):
        if number == len(names):
            names.append(name)
            types[name] = types_b[name]
    shuffles = shuffle_streams(a) | shuffle_streams(b)
    labels = a.labels(language)
    rows: dict[tuple[int, int], dict[int, int]] = {}
    for (stream, row, ordinal), value in line.tape.items():
        if (stream, row, ordinal) not in start.tape:
            rows.setdefault((stream, row), {})[ordinal] = value
    out = []
    for (stream, row), values in rows.items():
        after = next(
            (n for n, counts in enumerate(line.rows) if counts.get(stream, 0) > row), len(line.choices)
        )
        words = tuple(labels.value(values[k], types[names[stream]]) for k in sorted(values))
        out.append(Roll(names[stream], words, after, names[stream] in shuffles))
    out.sort(key=lambda r: r.after)
    return out


def _grouped(actions: Sequence[int], state: State) -> list[list[int]]:
    """Puts together the actions of one move by one player."""
    groups: dict[tuple[int, int], list[int]] = {}
    for a in actions:
        groups.setdefault((state.decode(a)[0].index, state.actor(a)), []).append(a)
    return list(groups.values())


def _guard(
    side: Side, position: list[int], action: int, actor: int, language: str
) -> tuple[str, Span] | None:
    """Gets the reason and place of the guard that refuses an action on a position, None if none does."""
    move, arguments = decode(side.program, action)
    try:
        failing = side.machine.call(move.why_not, position, actor, *arguments)
    except PlayError:
        return None
    if failing <= 0:
        return None
    use = move.reasons[failing - 1]
    state = State(side.game, side.machine, position, None, None)
    reason = state._text(use, actor, arguments, language) if use else "a condition does not hold"
    return reason, move.guards[failing - 1]


def _span_of_score(game: Game, tie_break: bool) -> Span | None:
    """Gets where the rules say who wins: the score, or what decides between equal ones."""
    definitions = [d.node for d in game.checked().rules.definitions]
    found = [d for d in definitions if isinstance(d, tree.Score) and d.tie_break == tie_break]
    return found[-1].span if found else None


def _most_telling(elements: Sequence[Element], program: ir.Program) -> list[Element]:
    """Sorts elements: what is a player's, then single values, tables of values, the items of piles."""

    def rank(e: Element) -> tuple[bool, bool, int]:
        v = program.variables[e.variable]
        is_players = bool(v.dims) and isinstance(v.dims[0][0], EnumType) and v.dims[0][0].origin == "players"
        return v.width > 1, not is_players, len(e.indices)

    return sorted(elements, key=rank)


__all__ = ["Drawn", "Gain", "Point", "Roll", "Step", "Told", "play_states", "rolls", "tell"]
