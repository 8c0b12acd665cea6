"""A game at the table: seats, position, everything that happened, and the way back.

Holds no terminal and prints nothing. The session plays chance itself, draw by draw, so that the log can tell the dice
and so that taking moves back past a draw deals anew: the streams go on from where they stood, and nobody learns what
would have come. What it did is kept as a list of operations (`Operation`), which is all that a record needs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from ..interpreter import program as ir
from ..interpreter.chance import Streams
from ..interpreter.game import ANYONE, Game, State
from ..interpreter.positions import evaluate as evaluate_expression
from .seats import Seat
from .telling import EVERYBODY, Entry, Happening, Rolled, choice_entry, tell_events
from .texts import LANGUAGES
from .view import View


class Operation(Struct, frozen=True):
    """Something that was done to the session: `choose` an action, `undo` to a moment (dealing anew or not), `redo`."""

    kind: str
    action: int = -1
    player: int | None = None
    words: str = ""
    to: int = -1
    anew: bool = False


class Moment(Struct):
    """A point in the game at which somebody decides, and how it came about."""

    state: State
    entries: list[Entry] = field(default_factory=list)
    player: int | None = None
    """Who made the choice that led here; None at the start."""
    by_human: bool = False
    drew: bool = False
    """Whether chance decided something on the way."""


class Session:
    """One game, with whoever plays it."""

    def __init__(self, game: Game, view: View, seats: Sequence[Seat], seed: int) -> None:
        self.game = game
        self.view = view
        self.seats = list(seats)
        self.seed = seed
        self.streams = Streams(seed, game.program.streams)
        self.operations: list[Operation] = []
        self.listeners: list[Callable[[Operation], None]] = []
        names = tuple(seat.name for seat in self.seats)
        game.compiled.player_names = names
        for language in LANGUAGES:
            game.labels(language).players = names
        state = game.new_initial_state(trace=True)
        happenings = list(state.events)
        drew = self._settle(state, happenings)
        self.moments = [Moment(state, tell_events(view, state, happenings, LANGUAGES), drew=drew)]
        self.at = 0
        self._shown: tuple[int, int] = (0, 0)

    # ------------------------------------------------------------------------------------------------------ where

    @property
    def state(self) -> State:
        """The position now."""
        return self.moments[self.at].state

    @property
    def humans(self) -> list[int]:
        """The seats that people play."""
        return [n for n, seat in enumerate(self.seats) if seat.is_human]

    @property
    def viewer(self) -> int | None:
        """Who reads what is shown: the only person at the table, or None where several look at one screen."""
        humans = self.humans
        return humans[0] if len(humans) == 1 else None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.is_terminal()

    def waiting_for(self) -> list[int]:
        """Gets the people who may act now, the one whose turn it is first."""
        if self.is_over:
            return []
        state = self.state
        current = state.current_player()
        if current != ANYONE and state.decision is not None and state.decision.mode == "one":
            return [current] if self.seats[current].is_human else []
        return [p for p in state.players_to_act() if self.seats[p].is_human]

    def names(self) -> list[str]:
        """Gets the players' names."""
        return [seat.name for seat in self.seats]

    # ---------------------------------------------------------------------------------------------------- playing

    def choose(self, action: int, player: int | None = None) -> list[Entry]:
        """Makes a choice; gives what happened. Raises `IllegalMove`, and then nothing has changed."""
        state = self.state.clone()
        actor = player if player is not None else state.actor(action)
        operation = Operation("choose", action, player, self._words(state, action, actor))
        entry = choice_entry(state, action, actor, LANGUAGES)
        simultaneous = state.is_simultaneous_node()
        state.apply_action(action, player)
        happenings: list[Happening] = list(state.events)
        drew = self._settle(state, happenings)
        entries = [entry, *tell_events(self.view, state, happenings, LANGUAGES)]
        if simultaneous:
            entries[0] = Entry("note", key="has-chosen", about={"name": self.seats[actor].name})
        del self.moments[self.at + 1 :]
        by_human = actor >= 0 and self.seats[actor].is_human
        self.moments.append(Moment(state, entries, actor, by_human, drew))
        self.at += 1
        self._done(operation)
        return entries

    def _words(self, state: State, action: int, actor: int) -> str:
        return state.describe(action % self.game.program.actions, actor)

    def _done(self, operation: Operation) -> None:
        self.operations.append(operation)
        for listener in self.listeners:
            listener(operation)

    def _settle(self, state: State, happenings: list[Happening]) -> bool:
        """Lets chance decide for as long as it is asked, noting each outcome; tells if it was."""
        drew = False
        while state.is_chance_node():
            drew = True
            node = state.stop[0]  # type: ignore[index]
            state.streams = self.streams
            outcome = state.sample()
            state.streams = None
            where = self._drawn_into(state, self.game.program.chances[node])
            if where is not None:
                happenings.append(Rolled(where[0], where[1], outcome))
            state.apply_action(outcome)
            happenings += state.events
        return drew

    def _drawn_into(self, state: State, node: ir.ChanceNode) -> tuple[str, tuple[int, ...]] | None:
        index = evaluate_expression(node.index, state.position, self.game.program)
        found = self.game.variable_at(node.base + index)
        return None if found is None else (found[0].name, found[1])

    # ------------------------------------------------------------------------------------------------------- bots

    def bots_turn(self) -> bool:
        """Lets the next bot that is to act make its choice; False when a person is to act or the game is over."""
        if self.is_over or self.waiting_for():
            return False
        return self._bot_acts()

    def _bot_acts(self) -> bool:
        state = self.state
        decision = state.decision
        assert decision is not None
        if decision.mode == "any":
            return self.break_silence()
        player = state.current_player()
        actions = state.legal_actions(player) if decision.mode == "each" else self.own_actions(player)
        bot = self.seats[player].bot
        assert bot is not None
        action = bot.choose(state, player, actions, self._numbers(player), may_pass=False)
        assert action is not None
        self.choose(action, player if decision.mode == "each" else None)
        return True

    def break_silence(self) -> bool:
        """Where anybody may act and no person does: lets the bots speak up in turn, else nobody acts."""
        state = self.state
        for player in self._from_the_last_speaker(state.players_to_act()):
            bot = self.seats[player].bot
            if bot is None:
                continue
            action = bot.choose(state, player, self.own_actions(player), self._numbers(player), may_pass=True)
            if action is not None:
                self.choose(action)
                return True
        silent = [a for a in state.legal_actions() if state.actor(a) < 0]
        if not silent:
            return False
        self.choose(silent[0])
        return True

    def _from_the_last_speaker(self, players: Sequence[int]) -> list[int]:
        last = next((m.player for m in reversed(self.moments[: self.at + 1]) if m.player is not None and m.player >= 0), -1)
        return sorted(players, key=lambda p: (p - last - 1) % len(self.seats))

    def own_actions(self, player: int) -> list[int]:
        """Gets what a player may do himself at the decision now."""
        state = self.state
        if state.is_simultaneous_node():
            return state.legal_actions(player)
        return [a for a in state.legal_actions() if state.actor(a) == player]

    def _numbers(self, player: int) -> random.Random:
        return random.Random(f"{self.seed}/{player}/{len(self.operations)}")

    # ------------------------------------------------------------------------------------------------ back and forth

    def undo_target(self, steps: int = 1) -> int | None:
        """Finds the moment to go back to: before a person's last choice, or the last but `steps` - 1."""
        at = self.at
        while at > 0:
            if self.moments[at].by_human or not self.humans:
                steps -= 1
                if steps == 0:
                    return at - 1
            at -= 1
        return None

    def draws_since(self, to: int) -> bool:
        """Tests if chance decided anything after a moment."""
        return any(m.drew for m in self.moments[to + 1 : self.at + 1])

    def go_back(self, to: int) -> None:
        """Goes back to a moment. Past a draw, the streams stay where they are, so that chance deals anew."""
        anew = self.draws_since(to)
        if anew:
            latest = self.state.position
            moment = self.moments[to]
            state = moment.state.clone()
            for slot in self._row_slots():
                state.position[slot] = max(latest[slot], state.position[slot])
            note = Entry("note", key="taken-back-anew", about={"count": str(self._human_choices(to))})
            self.moments[to] = Moment(state, [*moment.entries, note], moment.player, moment.by_human, moment.drew)
            del self.moments[to + 1 :]
        self.at = to
        self._shown = (self.at, len(self.moments[to].entries))
        self._done(Operation("undo", to=to, anew=anew))

    def _human_choices(self, to: int) -> int:
        return sum(m.by_human for m in self.moments[to + 1 : self.at + 1]) or self.at - to

    def _row_slots(self) -> range:
        program = self.game.program
        return range(program.size - len(program.streams), program.size)

    def redo_target(self) -> int | None:
        """Finds the moment to go forward to: the next at which a person decides, or the last."""
        at = self.at + 1
        if at >= len(self.moments):
            return None
        while at < len(self.moments) - 1 and not self.moments[at + 1].by_human:
            at += 1
        return at

    def go_forward(self, to: int) -> None:
        """Takes back an undo, as far as a moment."""
        self._shown = (self.at, len(self.moments[self.at].entries))
        self.at = to
        self._done(Operation("redo", to=to))

    # -------------------------------------------------------------------------------------------------------- the log

    def log(self) -> Iterator[Entry]:
        """Yields everything that happened, oldest first."""
        for moment in self.moments[: self.at + 1]:
            yield from moment.entries

    def fresh(self) -> list[Entry]:
        """Gets what happened since this was last called."""
        moment, entry = self._shown
        found = [e for m in self.moments[moment : self.at + 1] for e in m.entries]
        self._shown = (self.at, len(self.moments[self.at].entries))
        return found[entry:]

    def note(self, key: str, **about: str) -> None:
        """Adds a sentence of our own to the log."""
        self.moments[self.at].entries.append(Entry("note", EVERYBODY, key=key, about=about))
