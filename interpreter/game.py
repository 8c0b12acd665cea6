"""The game API, in OpenSpiel's vocabulary: games, states, legal actions, chance nodes, returns.

    game = load_game("manila", players=4, readings={"loans": "forced-only"})
    state = game.new_initial_state(seed=7)
    while not state.is_terminal():
        state.apply_action(random.choice(state.legal_actions()))
    state.returns()

With a seed, chance decides by itself from the game's named streams; without one, chance nodes stand open and
`apply_action` takes their outcomes. An action is a number; who takes it is the current player. Where several may act
(`choose any`, or standing offers at everybody's decisions) an action also names its player: `state.actor(action)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..grammar.diagnostics import Report
from ..grammar.span import Span
from . import cache
from . import program as ir
from .chance import Script, Streams
from .errors import BrokenRule
from .labels import Labels
from .positions import decode, elements, encode
from .python_backend import Position, PythonMachine, write_source
from .state import ANYONE, CHANCE, INVALID, SIMULTANEOUS, TERMINAL, Event, Explanation, Refusal, State
from .words import Words

if TYPE_CHECKING:
    from .figures import Figure

__all__ = [
    "ANYONE",
    "CHANCE",
    "INVALID",
    "SIMULTANEOUS",
    "TERMINAL",
    "Compiled",
    "Event",
    "Explanation",
    "Game",
    "Refusal",
    "State",
    "decode",
    "elements",
    "encode",
    "load_game",
]


class Compiled(Struct):
    """A rule set made ready to run: what the cache keeps."""

    program: ir.Program
    canonical: str
    content_hash: str
    title: dict[str, str]
    player_names: tuple[str, ...]
    player_counts: tuple[int, int]
    labels: dict[str, Labels]
    warnings: list[Any]


class Game:
    """A rule set for a number of players, ready to play."""

    def __init__(self, compiled: Compiled, name: str, key: str, *, offers: bool) -> None:
        self.compiled = compiled
        self.program = compiled.program
        self.name = name
        self.offers = offers
        texts = [""]
        for labels in compiled.labels.values():
            labels.texts = texts
        self._key = key
        self._machines: dict[bool, PythonMachine] = {}
        self._events: list[Event] = []
        self._words: dict[str, Words] = {}
        self._checked: Any = None
        self._figures: dict[Any, Any] | None = None
        self._figures_changed = False
        self._owner_of_slot: list[tuple[ir.Variable, tuple[int, ...]] | None] | None = None

    # ----------------------------------------------------------------------------------------------------- figures

    @property
    def canonical(self) -> str:
        """The rule set's name in canonical form."""
        return self.compiled.canonical

    @property
    def content_hash(self) -> str:
        """A hash of everything the rules are made of."""
        return self.compiled.content_hash

    @property
    def player_names(self) -> tuple[str, ...]:
        """The players' default names, by seat."""
        return self.compiled.player_names

    def num_players(self) -> int:
        """Gets how many play."""
        return self.program.players

    def num_distinct_actions(self) -> int:
        """Gets how many actions there are, leaving aside who takes them."""
        return self.program.actions

    def labels(self, language: str = "en") -> Labels:
        """Gets the labels of a language (English where it has none)."""
        return self.compiled.labels.get(language) or self.compiled.labels["en"]

    def view(self) -> Any:
        """Reads the game's view (which panels show what) as plain data; None if it has none. Raises `RulesError`."""
        from .view_files import load_view

        report = Report()
        view = load_view(self.name, report)
        report.raise_errors()
        return view

    def words(self, language: str = "en") -> Words:
        """Gets the reader and writer of move words in a language."""
        if language not in self._words:
            self._words[language] = Words(self.program, self.labels(language))
        return self._words[language]

    def checked(self) -> Any:
        """Gets the checked rule set (definitions, questions, tables), loading it at first use."""
        if self._checked is None:
            found = cache.load(self._key, "checked")
            if found is None:
                from .compile import check_rules

                found = check_rules(self.name, self.num_players(), Report())
            self._checked = found
        return self._checked

    # ------------------------------------------------------------------------------------------------------ running

    def machine(self, *, traced: bool = False) -> PythonMachine:
        """Gets the Python machine, fast or traced, compiling it at first use."""
        machine = self._machines.get(traced)
        if machine is None:
            kind = "traced" if traced else "fast"

            def make() -> Any:
                return compile(write_source(self.program, traced=traced), f"<{self.name}>", "exec")

            code = cache.once(f"{self._key}-{kind}", "code", make) if self._key else make()
            machine = PythonMachine(self.program, code, hooks=self._hooks())
            self._machines[traced] = machine
        return machine

    def _hooks(self) -> dict[str, Callable[..., Any]]:
        sites = self.program.sites
        events = self._events
        words = {
            "none": "this is nobody or nothing, where something is needed",
            "zero": "this divides by 0",
        }

        def bad(site: int, why: str, value: int, low: int, high: int) -> int:
            message = words.get(why, f"got {value}, want {low} to {high}")
            raise BrokenRule(f"runtime-{why}", message, sites[site])

        def circle(site: int) -> None:
            budget = self.program.step_budget
            raise BrokenRule("runtime-loop", f"this loop found no end within {budget} turns", sites[site])

        def stuck(site: int, player: int) -> None:
            who = self.player_names[player] if player >= 0 else "anybody"
            raise BrokenRule("runtime-stuck", f"no move is possible for {who}", sites[site])

        def changed(position: Position, slot: int, value: int, site: int) -> None:
            old = position[slot]
            if old != value:
                position[slot] = value
                where = self.variable_at(slot)
                if where is not None:
                    events.append(Event("change", sites[site], where[0].name, where[1], old, value))

        def told(text: int, values: tuple[int, ...], to: int, site: int) -> None:
            events.append(Event("told", sites[site], text=text, values=values, to=to))

        def taken(action: int, player: int) -> None:
            events.append(Event("taken", None, action=action, player=player))

        return {
            "bad": bad,
            "circle": circle,
            "stuck": stuck,
            "changed": changed,
            "told": told,
            "taken": taken,
        }

    def variable_at(self, slot: int) -> tuple[ir.Variable, tuple[int, ...]] | None:
        """Finds which variable and element a slot belongs to; a pile's slots have their place as last index (0: length)."""
        if self._owner_of_slot is None:
            table: list[tuple[ir.Variable, tuple[int, ...]] | None] = [None] * self.program.size
            for v in self.program.variables.values():
                for offset, indices in elements(v):
                    for k in range(v.width):
                        table[v.slot + offset + k] = (v, (*indices, k) if v.width > 1 else indices)
            self._owner_of_slot = table
        return self._owner_of_slot[slot]

    def new_initial_state(
        self,
        seed: int | None = None,
        *,
        scripts: Mapping[str, Script] | None = None,
        trace: bool = False,
    ) -> State:
        """Starts a game. With a seed (or scripts) chance decides by itself; `trace` notes events."""
        streams = None
        if seed is not None or scripts is not None:
            streams = Streams(seed or 0, self.program.streams, scripts)
        machine = self.machine(traced=trace)
        self._events.clear()
        position, stop = machine.start()
        state = State(self, machine, position, stop, streams)
        state.settle()
        state.events = tuple(self._events)
        return state

    def state_at(
        self,
        position: Position,
        *,
        seed: int | None = None,
        scripts: Mapping[str, Script] | None = None,
        trace: bool = False,
    ) -> State:
        """Makes a state of a position that was kept; it must stand where the game stops."""
        streams = (
            Streams(seed or 0, self.program.streams, scripts)
            if seed is not None or scripts is not None
            else None
        )
        machine = self.machine(traced=trace)
        position = list(position)
        state = State(self, machine, position, machine.stop(position), streams)
        state.settle()
        return state

    # --------------------------------------------------------------------------------------------------- variables

    def slot_of(self, variable: str, *indices: int) -> int:
        """Gets the first slot of an element; indices as values (an entry's number, a number from its lowest)."""
        v = self.program.variables[variable]
        offset = 0
        for (_, low, count), i in zip(v.dims, indices, strict=True):
            if not low <= i < low + count:
                raise IndexError(f"{variable}{list(indices)}")
            offset = offset * count + (i - low)
        return v.slot + offset * v.width

    def expression(
        self, text: str, parameters: Mapping[str, str] | None = None, *, span: Span | None = None
    ) -> Figure:
        """Compiles an expression of the rules language, e.g. `cash[p]` with parameters {"p": "player"}.

        `span` says where the text was read from. Raises `RulesError`.
        """
        from .figure_compiler import compile_figure
        from .figures import Figure, hooks

        return Figure(self, compile_figure(self, text, parameters or {}, span=span), hooks())

    def view_figure(
        self, text: str, parameters: Mapping[str, str] | None = None, *, span: Span | None = None
    ) -> Figure:
        """Compiles an expression as `expression` does, or takes it from those kept by `keep_figures`."""
        from .figures import Figure, hooks

        if self._figures is None:
            self._figures = cache.load(f"{self._key}-figures", "program") or {}
        wanted = (text, tuple((parameters or {}).items()))
        kept = self._figures.get(wanted)
        if kept is None:
            from .figure_compiler import compile_figure

            kept = self._figures[wanted] = compile_figure(self, text, parameters or {}, span=span)
            self._figures_changed = True
        return Figure(self, kept, hooks())

    def keep_figures(self) -> None:
        """Keeps the view's figures in the cache, so that they are not compiled at the next start."""
        if self._figures_changed:
            cache.store(f"{self._key}-figures", "program", self._figures)
            self._figures_changed = False

    def evaluate(self, function: str, state: State, *arguments: int) -> int:
        """Calls a function of the program, e.g. a measure."""
        return state.machine.call(function, state.position, *arguments)


def load_game(
    name: str,
    *,
    players: int | None = None,
    variants: Sequence[str] = (),
    readings: Mapping[str, str] | None = None,
    offers: bool = True,
    report: Report | None = None,
) -> Game:
    """Loads a rule set and makes it ready to play; without `offers`, standing offers are left out.

    Raises `RulesError` with every complaint; warnings go to `report`.
    """
    from .compile import compile_game

    return compile_game(name, players, variants, readings or {}, offers, report or Report())
