"""States of a game: where it stands, what may be done, what happened, who sees what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..grammar.diagnostics import nearest
from ..grammar.span import Span
from . import program as ir
from .chance import Streams
from .errors import BrokenRule, IllegalMove, UnclearMove
from .phrases import phrase
from .positions import decode, elements, evaluate
from .python_backend import Position, PythonMachine, Stop
from .types import TextType

if TYPE_CHECKING:
    from .game import Game

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
        """The choices so far, newest first: (earlier, action, player named, who acted)."""
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
        actor = CHANCE
        if self.stop.__class__ is tuple:
            if action not in [o for o, _ in self.chance_outcomes()]:
                raise IllegalMove("outcome", f"{action} is no outcome here")
            self.stop = self.machine.decide(self.position, self.stop[0], action)
        else:
            coded = action
            if player is not None and self.decision is not None and self.decision.mode == "each":
                coded = action + self.game.program.actions * (player + 1)
            offered = action in self.legal_actions(player) if coded != action else action in self.stop
            if not offered and not self._legal(coded):
                refusal = self.why_not(action, player)
                raise IllegalMove("illegal", refusal.reason if refusal else "that is not offered here")
            actor = self.actor(coded)
            self.stop = self.machine.apply(self.position, coded)
        self.history = (self.history, action, player, actor)
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
                if refusal is None:
                    who = self.game.labels(language).players[max(who_acts, 0)]
                    raise IllegalMove("illegal", phrase("not-his-decision", language, who=who))
                raise IllegalMove("illegal", refusal.reason, refusal.span)
            outside = self.game.words(lang).outside(" ".join(words.split()))
            if outside is not None:
                move, k = outside
                raise IllegalMove(
                    "illegal", self._range_reason(move, k, max(who_acts, 0), language), move.span
                )
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
            return Refusal(move.name, phrase("nobody-decides", language), None)
        actor = player if player is not None else self.current_player()
        if actor < 0:
            actor = 0
        if move.index not in (*decision.moves, *decision.standing, decision.nobody):
            return Refusal(
                move.name, phrase("not-the-time", language), self.game.program.sites[decision.site]
            )
        failing = self.machine.call(move.why_not, self.position, actor, *arguments)
        if failing == 0:
            coded = action
            if player is not None and decision.mode == "each":
                coded = action % self.game.program.actions + self.game.program.actions * (player + 1)
            if coded in (self.stop or ()) or self._legal(coded):
                return None
            return Refusal(move.name, phrase("not-offered", language), move.span)
        if failing < 0:
            return Refusal(move.name, self._range_reason(move, -1 - failing, actor, language), move.span)
        use = move.reasons[failing - 1]
        span = move.guards[failing - 1]
        reason = self._text(use, actor, arguments, language) if use else phrase("not-allowed", language)
        return Refusal(move.name, reason, span)

    def _range_reason(self, move: ir.MoveInfo, k: int, player: int, language: str) -> str:
        """Says between which values a parameter lies here, judged by what is offered to the player."""
        offered = [self.decode(a) for a in self.stop or () if self.actor(a) in (player, -1)]
        values = [arguments[k] for m, arguments in offered if m is move]
        if not values:
            return phrase("no-range", language)
        key = "one-range" if len(move.parameters) == 1 else "range"
        name = move.parameters[k]
        return phrase(key, language, name=name, place=k + 1, low=min(values), high=max(values))

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
            shown = (
                repr(self.game.labels().value(value, v.type)) if isinstance(v.type, TextType) else str(value)
            )
            parts.setdefault(v.name, []).append(shown)
        decision = self.decision
        where = "chance" if self.is_chance_node() else "over" if decision is None else f"d{decision.number}"
        lines = [f"at {where} players {','.join(map(str, self.players_to_act()))}"]
        if decision is not None and decision.mode == "each" and player is not None:
            lines.append(f"chosen {self.position[decision.pending + player]}")
        lines += [f"{name} {' '.join(values)}" for name, values in parts.items()]
        return "\n".join(lines)

    def information_state_string(self, player: int) -> str:
        """Writes all that a player has seen: the choices as shown to him, and the position as he sees it.

        Of another's move with secret parameters he knows the move alone, and of choices made at once nothing before
        all have chosen.
        """
        decision = self.decision
        waiting: set[int] = set()
        if decision is not None and decision.mode == "each":
            waiting = {p for p in range(self.game.program.players) if self.position[decision.pending + p] > 0}
        seen: list[str] = []
        for action, _, actor in reversed(self.choices()):
            if actor in waiting:
                waiting.discard(actor)
                if actor != player:
                    continue
            if actor == CHANCE:
                continue  # what he sees of it stands in the position
            move, arguments = self.decode(action)
            words = [f"{actor} {move.name}"]
            for value, secret, type_ in zip(arguments, move.secret, move.types, strict=True):
                if secret and actor != player:
                    words.append("?")
                elif isinstance(type_, TextType):
                    words.append(repr(self.game.labels().value(value, type_)))
                else:
                    words.append(str(value))
            seen.append(" ".join(words))
        return "\n".join(["; ".join(reversed(seen)), self.observation_string(player)])

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
        return [(action, player) for action, player, _ in self.choices()]

    def choices(self) -> list[tuple[int, int | None, int]]:
        """Gets the choices so far, oldest first: action, player if one was named, and who acted (CHANCE: no one)."""
        out = []
        at = self.history
        while at is not None:
            at, action, player, actor = at
            out.append((action, player, actor))
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
