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

from collections.abc import Callable, Iterator, Mapping, Sequence
from msgspec import Struct
from typing import TYPE_CHECKING, Any

from ..grammar.diagnostics import Report, nearest
from ..grammar.span import Span
from . import cache
from . import program as ir
from .chance import Script, Streams
from .errors import BrokenRule, IllegalMove, UnclearMove
from .labels import Labels
from .python_backend import Position, PythonMachine, Stop, write_source
from .types import TextType
from .words import Words

if TYPE_CHECKING:
    from .figures import Figure

CHANCE = -1
SIMULTANEOUS = -2
INVALID = -3
TERMINAL = -4
ANYONE = -5
"""`current_player()` where whoever acts first acts."""


class Event(Struct, frozen=True):
    """Something that happened while the game ran on: a change, a sentence told, or a move taken by itself.

    `change`: `variable` and `indices` (as numbers), `old` and `new` value. `told`: `text` number and `values`, `to` one
    player or -1 for all. `taken`: `action` by `player`. `span` is the rule's line.
    """

    kind: str
    span: Span | None
    variable: str = ""
    indices: tuple[int, ...] = ()
    old: int = 0
    new: int = 0
    text: int = -1
    values: tuple[int, ...] = ()
    to: int = -1
    action: int = -1
    player: int = -1


class Refusal(Struct, frozen=True):
    """Why a move may not be made: the guard that fails first, its reason, and where it stands."""

    move: str
    reason: str
    span: Span | None


class Explanation(Struct, frozen=True):
    """What an action is: its words, what it is for, and the move's place in the rules."""

    words: str
    meaning: str
    move: str
    arguments: tuple[int, ...]
    span: Span


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
        from .figures import Figure, compile_figure, hooks

        return Figure(self, compile_figure(self, text, parameters or {}, span=span), hooks())

    def view_figure(
        self, text: str, parameters: Mapping[str, str] | None = None, *, span: Span | None = None
    ) -> Figure:
        """Compiles an expression as `expression` does, or takes it from those kept by `keep_figures`."""
        from .figures import Figure, compile_figure, hooks

        if self._figures is None:
            self._figures = cache.load(f"{self._key}-figures", "program") or {}
        wanted = (text, tuple((parameters or {}).items()))
        kept = self._figures.get(wanted)
        if kept is None:
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


def elements(v: ir.Variable) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Gets each element of a variable: its offset in slots and its indices."""
    count = 1
    for _, _, n in v.dims:
        count *= n
    for i in range(count):
        rest = i
        indices: list[int] = []
        for _, low, n in reversed(v.dims):
            indices.insert(0, low + rest % n)
            rest //= n
        yield i * v.width, tuple(indices)


class State:
    """A position of a game with where it stands; changed in place by `apply_action`."""

    __slots__ = ("events", "game", "history", "machine", "position", "stop", "streams")

    def __init__(
        self, game: Game, machine: PythonMachine, position: Position, stop: Stop, streams: Streams | None
    ) -> None:
        self.game = game
        self.machine = machine
        self.position = position
        self.stop = stop
        self.streams = streams
        self.history: Any = None
        """The actions so far, newest first, as nested pairs (earlier, action)."""
        self.events: tuple[Event, ...] = ()

    # ------------------------------------------------------------------------------------------------------- where

    @property
    def decision(self) -> ir.Decision | None:
        """The decision it stands at, if it does."""
        if self.stop.__class__ is not list:
            return None
        end = self.game.program.blocks[self.position[0]].end
        assert isinstance(end, ir.Decide)
        return self.game.program.decisions[end.decision]

    def current_player(self) -> int:
        """Gets who decides: a seat from 0, CHANCE, ANYONE, or TERMINAL.

        Where several choose at once in secret, the first seat that has yet to choose.
        """
        if self.stop is None:
            return TERMINAL
        decision = self.decision
        if decision is None:
            return CHANCE
        if decision.mode == "any":
            return ANYONE
        if decision.mode == "each":
            return self.players_to_act()[0]
        return self._value(decision.actor)

    def players_to_act(self) -> list[int]:
        """Gets the seats that may act now."""
        decision = self.decision
        if decision is None:
            return []
        players = range(self.game.program.players)
        if decision.mode == "each":
            return [p for p in players if self.position[decision.pending + p] == 0]
        if decision.mode == "any" or decision.everyone:
            return sorted({self.actor(a) for a in self.stop or () if self.actor(a) >= 0})
        return [self._value(decision.actor)]

    def _value(self, e: ir.Expr) -> int:
        match e:
            case ir.Const(_, _, value):
                return value
            case ir.Load(_, _, slot):
                return self.position[slot]
            case _:
                return evaluate(e, self.position, self.game.program)

    def is_terminal(self) -> bool:
        """Tests if the game is over."""
        return self.stop is None

    def is_chance_node(self) -> bool:
        """Tests if chance decides next."""
        return self.stop.__class__ is tuple

    def is_simultaneous_node(self) -> bool:
        """Tests if several choose at once, in secret."""
        decision = self.decision
        return decision is not None and decision.mode == "each"

    # ----------------------------------------------------------------------------------------------------- actions

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Gets the actions offered, in the order of the rules; of one player, if named."""
        if self.stop.__class__ is tuple:
            return [o for o, _ in self.chance_outcomes()]
        if self.stop is None:
            return []
        actions: list[int] = self.stop  # type: ignore[assignment]
        if player is None:
            return list(actions)
        decision = self.decision
        assert decision is not None
        if decision.mode == "each" and player in self.players_to_act():
            names = self.machine.names
            own: list[int] = names[decision.own](self.position, player)
            return own + (names[decision.offers](self.position, player) if decision.offers else [])
        return [a for a in actions if self.actor(a) == player]

    def actor(self, action: int) -> int:
        """Gets who would take an action: a seat, or -1 for nobody."""
        decision = self.decision
        assert decision is not None
        n = self.game.program.actions
        if action >= n:
            return action // n - 1
        if decision.mode == "any":
            return -1
        return self.current_player()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Gets the outcomes of a chance node with their probabilities."""
        assert self.stop.__class__ is tuple
        _, _, _, low, count, weigh = self.machine.chance_info[self.stop[0]](self.position)
        if weigh is None:
            return [(low + i, 1 / count) for i in range(count)]
        weights = [weigh(self.position, low + i) for i in range(count)]
        total = sum(weights)
        return [(low + i, w / total) for i, w in enumerate(weights) if w]

    def apply_action(self, action: int, player: int | None = None) -> None:
        """Takes an action (or an outcome at a chance node) and runs on to the next stop.

        `player` says who, where several choose at once. Raises `IllegalMove`; the state is then unchanged.
        """
        if self.stop is None:
            raise IllegalMove("game-over", "the game is over")
        self.game._events.clear()
        if self.stop.__class__ is tuple:
            if action not in [o for o, _ in self.chance_outcomes()]:
                raise IllegalMove("outcome", f"{action} is no outcome here")
            self.stop = self.machine.decide(self.position, self.stop[0], action)
        else:
            coded = action
            if player is not None and self.decision is not None and self.decision.mode == "each":
                coded = action + self.game.program.actions * (player + 1)
            if action not in self.stop and not self._legal(coded):  # type: ignore[operator]
                refusal = self.why_not(action, player)
                raise IllegalMove("illegal", refusal.reason if refusal else "that is not offered here")
            self.stop = self.machine.apply(self.position, coded)
        self.history = (self.history, (action, player))
        self.settle()
        self.events = tuple(self.game._events)

    def _legal(self, action: int) -> bool:
        """Tests a move that is not listed: another of several equal ones, or another player's at once."""
        decision = self.decision
        assert decision is not None
        n = self.game.program.actions
        player = self.current_player() if action < n else action // n - 1
        if decision.mode == "each" and player not in self.players_to_act():
            return False
        if player < 0:
            return False
        move, arguments = self.decode(action)
        if move.index not in decision.moves and move.index not in decision.standing:
            return False
        if decision.mode == "one" and action >= n:
            return False
        return self.machine.call(move.why_not, self.position, player, *arguments) == 0

    def settle(self) -> None:
        """Lets chance decide for as long as it stands at chance nodes and has streams to draw from."""
        if self.streams is None:
            return
        while self.stop.__class__ is tuple:
            node: int = self.stop[0]
            self.stop = self.machine.decide(self.position, node, self.sample())

    def sample(self) -> int:
        """Draws the outcome of the chance node from the streams."""
        assert self.stop.__class__ is tuple and self.streams is not None
        stream, row, ordinal, low, count, weigh = self.machine.chance_info[self.stop[0]](self.position)
        if weigh is None:
            return self.streams.outcome(stream, row, ordinal, low, count)
        weights = [weigh(self.position, low + i) for i in range(count)]
        return self.streams.outcome(stream, row, ordinal, low, weights)

    # ------------------------------------------------------------------------------------------------------ results

    def scores(self) -> list[int]:
        """Gets each player's score as the rules count it."""
        score = self.game.program.score
        n = self.game.program.players
        return [self.machine.call(score, self.position, p) if score else 0 for p in range(n)]

    def winners(self) -> list[int]:
        """Gets the seats with the best score, the tie break considered."""
        tie = self.game.program.tie_break
        keys = [
            (s, self.machine.call(tie, self.position, p) if tie else 0) for p, s in enumerate(self.scores())
        ]
        best = max(keys)
        return [p for p, k in enumerate(keys) if k == best]

    def returns(self) -> list[float]:
        """Gets each player's score at the end, zeros before."""
        return [float(s) for s in self.scores()] if self.stop is None else [0.0] * self.game.program.players

    def measures(self) -> dict[str, int | list[int]]:
        """Gets the figures the rules declare worth comparing; a list by seat where they are per player."""
        out: dict[str, int | list[int]] = {}
        for m in self.game.program.measures:
            if m.per:
                out[m.text] = [
                    self.machine.call(m.function, self.position, p) for p in range(self.game.program.players)
                ]
            else:
                out[m.text] = self.machine.call(m.function, self.position)
        return out

    def broken_invariants(self) -> list[str]:
        """Lists the declared invariants that do not hold."""
        return [
            text
            for text, name, _ in self.game.program.invariants
            if not self.machine.call(name, self.position)
        ]

    # -------------------------------------------------------------------------------------------------------- words

    def decode(self, action: int) -> tuple[ir.MoveInfo, tuple[int, ...]]:
        """Gets the move and arguments of an action."""
        return decode(self.game.program, action)

    def action_to_string(self, action: int, language: str = "en", *, viewer: int | None = None) -> str:
        """Gets the words of an action; a `viewer` who does not make it sees its public words."""
        if self.stop.__class__ is tuple:
            return str(action)
        actor = self.actor(action)
        return self.describe(action, actor, language, viewer=viewer)

    def describe(self, action: int, actor: int, language: str = "en", *, viewer: int | None = None) -> str:
        """Gets the words of an action of `actor`, whatever is decided now."""
        move, arguments = self.decode(action)
        public = viewer is not None and viewer != actor and move.shows is not None
        return self._text(move.shows if public else move.says, actor, arguments, language)

    def _text(self, use: ir.TextUse | None, actor: int, arguments: tuple[int, ...], language: str) -> str:
        if use is None:
            return ""
        values = []
        machine = self.game.machine(traced=True)
        for f in use.functions:
            try:
                values.append(machine.call(f, self.position, max(actor, 0), *arguments))
            except BrokenRule:
                values.append(-1)
        return self.game.labels(language).render(self.game.program.texts[use.text], values)

    def explain(self, action: int, language: str = "en") -> Explanation:
        """Tells what an action is."""
        move, arguments = self.decode(action)
        actor = self.actor(action)
        return Explanation(
            self._text(move.says, actor, arguments, language),
            self._text(move.means, actor, arguments, language),
            move.name,
            arguments,
            move.span,
        )

    def parse_action(self, words: str, language: str = "en", player: int | None = None) -> int:
        """Finds the action that words name: one that is offered, or an equal one that is legal.

        Raises `UnclearMove` when no move has such words, `IllegalMove` with the reason when it is not allowed here.
        """
        wanted = " ".join(words.split()).casefold()
        actions = self.legal_actions(player)
        if player is not None and self.decision is not None and self.decision.mode != "each":
            actions = [a for a in self.legal_actions() if self.actor(a) == player]
        for lang in dict.fromkeys((language, "en")):
            for a in actions:
                actor = self.actor(a) if player is None else player
                if self.describe(a, actor, lang).casefold() == wanted:
                    return a
        if player is None and wanted.split(" ", 1)[0] in (
            names := [n.casefold() for n in self.game.player_names]
        ):
            who, _, rest = " ".join(words.split()).partition(" ")
            return self.parse_action(rest, language, names.index(who.casefold()))
        who_acts = self.current_player() if player is None else player
        n = self.game.program.actions
        for lang in dict.fromkeys((language, "en")):
            for a in self.game.words(lang).read(" ".join(words.split())):
                coded = a if player is None or player == self.current_player() else a + n * (player + 1)
                if self._legal(coded):
                    return coded if self.decision and self.decision.mode == "any" else a
                refusal = self.why_not(a, who_acts if who_acts >= 0 else None, language)
                if refusal is not None:
                    raise IllegalMove("illegal", refusal.reason, refusal.span)
        known = [self.describe(a, self.actor(a), language) for a in self.legal_actions()]
        near = nearest(wanted, known)
        raise UnclearMove(
            "unclear", f"no move is called '{words}'" + (f"; did you mean '{near}'?" if near else "")
        )

    def why_not(self, action: int, player: int | None = None, language: str = "en") -> Refusal | None:
        """Tells why an action may not be taken now; None if it may."""
        decision = self.decision
        move, arguments = self.decode(action)
        if decision is None:
            return Refusal(move.name, "nobody decides now", None)
        actor = player if player is not None else self.current_player()
        if actor < 0:
            actor = 0
        if move.index not in (*decision.moves, *decision.standing, decision.nobody):
            return Refusal(move.name, "this is not the time for it", self.game.program.sites[decision.site])
        failing = self.machine.call(move.why_not, self.position, actor, *arguments)
        if failing == 0:
            if action in self.legal_actions() or self._legal(action):
                return None
            return Refusal(move.name, "it is not offered now", move.span)
        if failing < 0:
            name = move.parameters[-1 - failing]
            return Refusal(move.name, f"'{name}' is out of its range", move.span)
        use = move.reasons[failing - 1]
        span = move.guards[failing - 1]
        reason = self._text(use, actor, arguments, language) if use else "a condition does not hold"
        return Refusal(move.name, reason, span)

    # -------------------------------------------------------------------------------------------------- information

    def visible(self, player: int | None) -> Iterator[tuple[ir.Variable, int, int]]:
        """Gets what a player (None: a spectator) sees: variable, slot, value."""
        for v in self.game.program.variables.values():
            if v.visibility == "none" or v.tally:
                continue
            if v.visibility == "player" and (
                player is None or self.machine.call(v.owner, self.position) != player
            ):
                continue
            for offset, indices in elements(v):
                if v.visibility == "index" and indices[0] != player:
                    continue
                for k in range(v.width):
                    yield v, v.slot + offset + k, self.position[v.slot + offset + k]

    def observation_string(self, player: int | None) -> str:
        """Writes all that a player sees of the position now."""
        parts: dict[str, list[str]] = {}
        for v, _, value in self.visible(player):
            shown = repr(self.game.labels().value(value, v.type)) if isinstance(v.type, TextType) else str(value)
            parts.setdefault(v.name, []).append(shown)
        decision = self.decision
        where = "chance" if self.is_chance_node() else "over" if decision is None else f"d{decision.number}"
        lines = [f"at {where} players {','.join(map(str, self.players_to_act()))}"]
        if decision is not None and decision.mode == "each" and player is not None:
            lines.append(f"chosen {self.position[decision.pending + player]}")
        lines += [f"{name} {' '.join(values)}" for name, values in parts.items()]
        return "\n".join(lines)

    def information_state_string(self, player: int) -> str:
        """Writes all that a player has seen: the choices as shown to him, and the position as he sees it."""
        return f"{self.observation_string(player)}"

    # -------------------------------------------------------------------------------------------------------- copies

    def clone(self) -> State:
        """Copies the state."""
        new = State.__new__(State)
        new.game = self.game
        new.machine = self.machine
        new.position = self.position[:]
        new.stop = self.stop
        new.streams = self.streams
        new.history = self.history
        new.events = self.events
        return new

    def actions_taken(self) -> list[tuple[int, int | None]]:
        """Gets the actions so far, oldest first, each with the player if one was named."""
        out = []
        at = self.history
        while at is not None:
            at, pair = at
            out.append(pair)
        return out[::-1]

    def key(self) -> tuple[int, ...]:
        """Gets what makes two positions the same: everything but tallies and the streams' rows."""
        return tuple(self.position[: self.game.program.compared])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.game is other.game and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def get(self, variable: str, *indices: int) -> int:
        """Gets the value of a variable's element."""
        return self.position[self.game.slot_of(variable, *indices)]

    def __str__(self) -> str:
        return self.observation_string(None)


def decode(program: ir.Program, action: int) -> tuple[ir.MoveInfo, tuple[int, ...]]:
    """Gets the move and arguments of an action number, whoever takes it."""
    action %= program.actions
    for move in reversed(program.moves):
        if action >= move.first:
            break
    rest = action - move.first
    arguments: list[int] = []
    for low, count in zip(reversed(move.lows), reversed(move.counts), strict=True):
        arguments.insert(0, low + rest % count)
        rest //= count
    return move, tuple(arguments)


def encode(move: ir.MoveInfo, arguments: Sequence[int]) -> int:
    """Gets the action number of a move with arguments (values, each within its parameter's bounds)."""
    number = 0
    for value, low, count in zip(arguments, move.lows, move.counts, strict=True):
        if not low <= value < low + count:
            raise ValueError(f"{value} is not a value of {move.name}")
        number = number * count + (value - low)
    return move.first + number


def evaluate(e: ir.Expr, position: Position, program: ir.Program) -> int:
    """Works out an expression without locals, e.g. who decides."""
    match e:
        case ir.Const(_, _, value):
            return value
        case ir.Load(_, _, slot):
            return position[slot]
        case ir.LoadAt(_, _, base, _, index):
            return position[base + evaluate(index, position, program)]
        case ir.Checked(_, _, value):
            return evaluate(value, position, program)
        case ir.Cond(_, _, c, t, o):
            return evaluate(t if evaluate(c, position, program) else o, position, program)
        case ir.Op(_, _, operator, arguments):
            values = [evaluate(a, position, program) for a in arguments]
            if operator in ("and", "or"):
                return int(all(values) if operator == "and" else any(values))
            if operator == "not":
                return int(not values[0])
            return ir.fold(operator, values)
        case ir.Lookup(_, _, table, index):
            return program.tables[table][evaluate(index, position, program)]
        case _:
            raise AssertionError(e)


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
