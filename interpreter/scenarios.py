"""Plays scenarios and tells what did not come out as expected.

Takes cases of scenario files (`scenario_files.py`); gives a `Result` for each: what failed, with expected
and found side by side, the values involved and what happened last; or, where the case itself cannot be used
(an unknown rule set, a misspelt name in an expression), diagnostics at its place in the file. After every
move the rules' invariants are tested, all but those that the set-up itself breaks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from ..grammar.diagnostics import Diagnostic, Label, Report, RulesError, render_all, suggestion
from ..grammar.span import Span
from .errors import BrokenRule, IllegalMove, PlayError, UnclearMove
from .game import Event, Game, State, load_game
from .gamefiles import items_of
from .literals import Literals, NoLiteral
from .naming import SOURCE_NAME
from .plain import event_text, find_move, labelled_game, plain_game
from .scenario_checks import Failure, Table, check
from .scenario_files import Case, Move, Scenario, Step, load_scenarios, scenario_files
from .scripts import ScriptedStreams, read_scripts
from .types import PileType
from .yamlfile import Entry

Loader = Callable[[str, int | None, bool], Game]
"""Loads a rule set by name, number of players, and whether standing offers are made. Raises `RulesError`."""

_MOST_EVENTS = 12
_TARGET = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[(.*)\])?\s*")


class Result(Struct):
    """What came of one case."""

    case: Case
    failures: list[Failure] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    state: State | None = None
    """Where the case stood at the end, or at the first failure."""
    last_move: str = ""
    events: tuple[Event, ...] = ()
    """What happened with the last move before the state."""
    refused: list[Span] = field(default_factory=list)
    """The guards that refused a move as the case expects."""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether all came out as expected."""
        return not self.failures and not self.diagnostics

    @property
    def usable(self) -> bool:
        """Whether the case could be played at all."""
        return not self.diagnostics

    def report(self) -> str:
        """Writes what failed, for people."""
        lines = [f"{self.case.span}: {self.case.title}: {'passed' if self.passed else 'failed'}"]
        if self.diagnostics:
            lines.append(render_all(self.diagnostics))
        for failure in self.failures:
            lines += failure.lines()
        if self.failures and self.state is not None and self.last_move:
            lines.append(f"  last move: {self.last_move}")
            told = [e for e in self.events if e.kind != "taken" or e.player >= 0]
            for event in told[-_MOST_EVENTS:]:
                place = f"   {event.span}" if event.span is not None else ""
                lines.append(f"    {event_text(self.state.game, event)}{place}")
        return "\n".join(lines)


def run_scenarios(
    what: str | Path | Iterable[str | Path],
    *,
    load: Loader | None = None,
    only: Callable[[Case], bool] | None = None,
) -> Iterator[Result]:
    """Plays the scenarios of a game, a folder, a file, or several of them, and yields what came of each case.

    Raises `RulesError` where a file cannot be read, before anything is played.
    """
    named = [what] if isinstance(what, str | Path) else list(what)
    report = Report()
    scenarios = [s for w in named for path in scenario_files(w) for s in load_scenarios(path, report)]
    report.raise_errors()
    for case in (c for s in scenarios for c in s.cases):
        if only is None or only(case):
            yield run_case(case, load=load)


def run_case(case: Case, *, load: Loader | None = None) -> Result:
    """Plays one case."""
    started = time.perf_counter()
    result = Result(case)
    try:
        table = open_case(case, load=load)
    except RulesError as error:
        result.diagnostics = error.diagnostics
    except PlayError as error:
        result.failures.append(_broken(error, case.span, "the game begins"))
    else:
        _Run(case, table, result).play()
    result.seconds = time.perf_counter() - started
    return result


def state_of(case: Case, *, load: Loader | None = None, game: Game | None = None) -> State:
    """Plays the set-up and moves of a case's first stretch and gets where it stands then, expectations aside.

    `game` is played instead of the one that the case names. Raises `RulesError` or `PlayError`.
    """
    table = open_case(case, load=load, game=game)
    first = case.steps[0]
    report = Report()
    for entry in first.changes:
        change(table.state, entry, table.literals, report)
    report.raise_errors()
    _restart(table.state)
    for move in first.moves:
        table.state.apply_action(*find_move(table.state, move.words, table.others))
    return table.state


# -------------------------------------------------------------------------------------------------- the table


def open_case(case: Case, *, load: Loader | None = None, game: Game | None = None) -> Table:
    """Loads the rules of a case and deals. Raises `RulesError`, all places in the file; or `PlayError`."""
    report = Report()
    if game is None:
        try:
            game = (load or _load)(case.rules, case.players, case.offers)
        except RulesError as error:
            errors = [_placed(d, case) for d in error.diagnostics if d.severity == "error"]
            raise RulesError(errors) from error
    if len(case.names) > game.num_players():
        message = f"got {len(case.names)} names for {game.num_players()} players"
        report.error("scenario-players", message, case.players_span)
        report.raise_errors()
    names = case.names or game.player_names
    literals = Literals(names)
    scripts = read_scripts(case.chance, game, literals, report)
    report.raise_errors()
    plain = _plain(game, names)
    state = plain.new_initial_state(trace=True)
    state.streams = ScriptedStreams(case.seed, plain.program.streams, scripts)
    state.settle()
    state.events = tuple(plain._events)
    return Table(state, literals, (_labelled(game, names),))


def _placed(d: Diagnostic, case: Case) -> Diagnostic:
    """Gets a complaint about the rules of a case with its place in the scenario file."""
    if d.code in ("players-count", "overlay-players"):
        notes = () if d.span.source.name == SOURCE_NAME else (Label("this says for how many", d.span),)
        return replace(d, span=case.players_span, notes=notes)
    if d.span.source.name == SOURCE_NAME:
        return replace(d, span=case.rules_span, notes=())
    return replace(d, notes=(*d.notes, Label(f"the rules of '{case.title}' are named here", case.rules_span)))


@lru_cache(maxsize=256)
def _load(name: str, players: int | None, offers: bool) -> Game:
    game = load_game(name, players=players, offers=offers)
    game.checked()
    return game


@lru_cache(maxsize=256)
def _plain(game: Game, names: tuple[str, ...]) -> Game:
    return plain_game(game, names)


@lru_cache(maxsize=256)
def _labelled(game: Game, names: tuple[str, ...]) -> Game:
    made = labelled_game(game, names)
    made._machines = _plain(game, names)._machines
    return made


# ------------------------------------------------------------------------------------------------- the set-up


def change(state: State, entry: Entry, literals: Literals, report: Report) -> None:
    """Sets a state variable as an entry of `set:` says; complaints go to `report`."""
    game = state.game
    found = _TARGET.fullmatch(entry.key)
    variables = game.program.variables
    if found is None:
        report.error(
            "scenario-set", f"'{entry.key}' names no variable", entry.key_span, help="write cash[Ann]"
        )
        return
    v = variables.get(found[1])
    if v is None:
        help = suggestion(found[1], variables, what="the state variables are")
        report.error("scenario-set", f"no state variable '{found[1]}'", entry.key_span, help=help)
        return
    try:
        slot = game.slot_of(v.name, *literals.element(found[2] or "", v.dims, entry.key_span))
        if isinstance(v.type, PileType):
            values = literals.members(entry.value, v.type.base)
            if len(values) >= v.width:
                message = f"got {len(values)} items, '{v.name}' holds up to {v.width - 1}"
                raise NoLiteral(message, entry.value.span)
            spans = [item.span for item in items_of(entry.value)]
        else:
            values, spans = [literals.read(entry.value, v.type)], [entry.value.span]
        for value, span in zip(values, spans, strict=True):
            if not v.low <= value <= v.high:
                raise NoLiteral(f"got {value}, '{v.name}' is {v.low} to {v.high}", span)
    except NoLiteral as error:
        error.tell(report)
        return
    if isinstance(v.type, PileType):
        state.position[slot : slot + v.width] = [
            len(values),
            *values,
            *[max(0, v.low)] * (v.width - 1 - len(values)),
        ]
    else:
        state.position[slot] = values[0]


def _restart(state: State) -> None:
    """Finds what is offered anew after the position was changed by hand."""
    if state.stop is not None:
        state.game._events.clear()
        state.machine.budget[0] = 0
        state.stop = state.machine.stop(state.position)
        state.settle()
        state.events = tuple(state.game._events)


# ------------------------------------------------------------------------------------------------ the playing


class _Run:
    """Plays the stretches of a case to the first that fails."""

    def __init__(self, case: Case, table: Table, result: Result) -> None:
        self.case = case
        self.table = table
        self.result = result
        result.state = table.state
        result.events = table.state.events
        table.events = list(table.state.events)
        self.excused = set(table.state.broken_invariants())

    def play(self) -> None:
        """Plays on while all is as expected."""
        for step in self.case.steps:
            try:
                self._step(step)
            except RulesError as error:
                self.result.diagnostics += error.diagnostics
            if not self.result.passed:
                return

    def _step(self, step: Step) -> None:
        state = self.table.state
        if step.changes:
            report = Report()
            for entry in step.changes:
                change(state, entry, self.table.literals, report)
            report.raise_errors()
            try:
                _restart(state)
            except PlayError as error:
                self.result.failures.append(
                    _broken(error, step.changes[0].key_span, "the set-up can be played on")
                )
                return
            self.table.events += state.events
            self.excused = set(state.broken_invariants())
        for move in step.moves:
            failure = self._move(move)
            if failure is not None:
                self.result.failures.append(failure)
                return
        report = Report()
        for expected in step.checks:
            try:
                self.result.failures += check(expected, self.table, self.result.refused)
            except RulesError as error:
                report.diagnostics += error.diagnostics
            except PlayError as error:
                self.result.failures.append(_broken(error, expected.span, "this can be worked out"))
        self.table.events.clear()
        report.raise_errors()

    def _move(self, move: Move) -> Failure | None:
        state = self.table.state
        wanted = f"{move.words}"
        try:
            state.apply_action(*find_move(state, move.words, self.table.others))
        except UnclearMove as error:
            return Failure(move.span, wanted, error.message)
        except IllegalMove as error:
            notes = (f"the rule: {error.span}",) if error.span is not None else ()
            return Failure(move.span, wanted, f"it may not be made: {error.message}", notes)
        except PlayError as error:
            return _broken(error, move.span, wanted)
        self.result.last_move = move.words
        self.result.events = state.events
        self.table.events += state.events
        broken = [text for text in state.broken_invariants() if text not in self.excused]
        if broken:
            return Failure(move.span, "all invariants hold", f"broken: {', '.join(broken)}")
        return None


def _broken(error: PlayError, span: Span, expected: str) -> Failure:
    if error.code == "scenario-chance" and error.span is not None:
        return Failure(error.span, "chance comes out as the script says", error.message)
    kind = "a rule breaks: " if isinstance(error, BrokenRule) else ""
    notes = (f"the place: {error.span}",) if error.span is not None else ()
    return Failure(span, expected, f"{kind}{error.message}", notes)


__all__ = [
    "Case",
    "Failure",
    "Loader",
    "Result",
    "Scenario",
    "Sequence",
    "load_scenarios",
    "open_case",
    "run_case",
    "run_scenarios",
    "scenario_files",
    "state_of",
]
