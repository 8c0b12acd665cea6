"""A game at the table: seats, position, everything that happened, and the way back.

Holds no terminal and prints nothing. The streams of chance are watched as they are drawn from, so that the
log can tell the dice. Taking moves back past a draw deals anew, from other streams: nobody learns what
would have come. A recorder, if there is one, writes every choice down as it is made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from ..interpreter.chance import Streams, mix
from ..interpreter.game import ANYONE, CHANCE, Game, State
from ..interpreter.positions import evaluate
from ..interpreter.records import Recorder
from .keyboard import held_back
from .seats import Seat
from .telling import EVERYBODY, Entry, Happening, Rolled, choice_entry, tell_events
from .texts import LANGUAGES
from .view import View


class WatchedStreams(Streams):
    """Streams that note what is drawn from them, in order with the events of the game."""

    def __init__(self, game: Game, seed: int) -> None:
        super().__init__(seed, game.program.streams)
        self.game = game
        self.state: State | None = None
        self.draws: list[tuple[int, Rolled]] = []
        """How many events came before each draw, and the draw."""

    def outcome(self, stream: int, row: int, ordinal: int, low: int, weights: Sequence[int] | int) -> int:
        """Draws an outcome and notes where it goes, in the history of the state too: bots follow the game there."""
        value = super().outcome(stream, row, ordinal, low, weights)
        if self.state is not None:
            self.state.history = (self.state.history, value, None, CHANCE)
            node = self.game.program.chances[self.state.stop[0]]  # type: ignore[index]
            index = evaluate(node.index, self.state.position, self.game.program)
            found = self.game.variable_at(node.base + index)
            name, indices = ("", ()) if found is None else (found[0].name, found[1])
            self.draws.append((len(self.game._events), Rolled(name, indices, value)))
        return value

    def watch(self, state: State) -> None:
        """Begins to note the draws of a step of this state."""
        self.state = state
        self.draws = []

    def happenings(self, state: State) -> list[Happening]:
        """Gets the events of the step with the draws among them."""
        out: list[Happening] = []
        draws = iter([*self.draws, (len(state.events), None)])
        at, drawn = next(draws)
        for n, event in enumerate(state.events):
            while drawn is not None and at <= n:
                out.append(drawn)
                at, drawn = next(draws)
            out.append(event)
        while drawn is not None:
            out.append(drawn)
            at, drawn = next(draws)
        return out


class Moment(Struct):
    """A point in the game at which somebody decides, and how it came about."""

    state: State
    entries: list[Entry] = field(default_factory=list)
    action: int = -1
    passed_on: int | None = None
    """The action that led here and the player named with it."""
    player: int | None = None
    """Who made that choice; None at the start."""
    by_human: bool = False
    drew: bool = False
    """Whether chance decided something on the way, or something hidden came to light."""


def _reveals(before: State, after: State) -> bool:
    """Tests if a step showed what nobody could know: choices made at once, or what only the rules knew."""
    if before.is_simultaneous_node():
        chosen = len(before.players_to_act()) == 1  # by the last who had to
        if chosen or not after.is_simultaneous_node():
            return True
    variables = after.game.program.variables
    return any(e.kind == "change" and variables[e.variable].visibility == "none" for e in after.events)


class Bookmark(Struct):
    """How far somebody has read the log: the moment, and how many of its entries."""

    moment: int = 0
    entry: int = 0


class Session:
    """One game, with whoever plays it."""

    def __init__(self, game: Game, view: View, seats: Sequence[Seat], seed: int) -> None:
        self.game = game
        self.view = view
        self.seats = list(seats)
        self.seed = seed
        self.recorder: Recorder | None = None
        self._streams = WatchedStreams(game, seed)
        names = tuple(seat.name for seat in self.seats)
        game.compiled.player_names = names
        for language in LANGUAGES:
            game.labels(language).players = names
        state = game.new_initial_state(trace=True)
        state.streams = self._streams
        self._streams.watch(state)
        state.settle()
        state.events = tuple(game._events)
        entries = tell_events(view, state, self._streams.happenings(state), LANGUAGES)
        self.moments = [Moment(state, entries, drew=bool(self._streams.draws))]
        self.at = 0
        self._read = Bookmark()
        self._bookmarks = [self._read]
        self.earlier: Session | None = None
        """The game as it was under other rules, where its position was taken over from there."""

    # -------------------------------------------------------------------------------------------------- where

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

    @property
    def chance_seed(self) -> int:
        """The seed that chance is drawn from now."""
        return self._streams.seed

    def names(self) -> list[str]:
        """Gets the players' names."""
        return [seat.name for seat in self.seats]

    # ------------------------------------------------------------------------------------------------ playing

    @held_back()
    def choose(self, action: int, player: int | None = None) -> list[Entry]:
        """Makes a choice; gives what happened. Raises `IllegalMove`, and then nothing has changed."""
        state = self.state.clone()
        actor = player if player is not None else state.actor(action)
        entry = choice_entry(state, action, actor, LANGUAGES)
        if state.is_simultaneous_node():
            entry = Entry("note", key="has-chosen", about={"name": self.seats[actor].name})
        self._apply(state, action, player)
        entries = [entry, *tell_events(self.view, state, self._streams.happenings(state), LANGUAGES)]
        del self.moments[self.at + 1 :]
        by_human = actor >= 0 and self.seats[actor].is_human
        drew = bool(self._streams.draws) or _reveals(self.state, state)
        self.moments.append(Moment(state, entries, action, player, actor, by_human, drew))
        self.at += 1
        return entries

    def _apply(self, state: State, action: int, player: int | None) -> None:
        state.streams = self._streams
        self._streams.watch(state)
        if self.recorder is not None:
            self.recorder.choose(state, action, player)
        else:
            state.apply_action(action, player)

    # --------------------------------------------------------------------------------------------------- bots

    def bots_turn(self) -> bool:
        """Lets the next bot make its choice; False when a person is to act or the game is over."""
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
        action = bot.choose(self._for_bot(), player, actions, self._numbers(player), may_pass=False)
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
            action = bot.choose(
                self._for_bot(), player, self.own_actions(player), self._numbers(player), may_pass=True
            )
            if action is not None:
                self.choose(action)
                return True
        silent = [a for a in state.legal_actions() if state.actor(a) < 0]
        if not silent:
            return False
        self.choose(silent[0])
        return True

    def _from_the_last_speaker(self, players: Sequence[int]) -> list[int]:
        last = next(
            (
                m.player
                for m in reversed(self.moments[: self.at + 1])
                if m.player is not None and m.player >= 0
            ),
            -1,
        )
        return sorted(players, key=lambda p: (p - last - 1) % len(self.seats))

    def own_actions(self, player: int) -> list[int]:
        """Gets what a player may do himself at the decision now."""
        state = self.state
        if state.is_simultaneous_node():
            return state.legal_actions(player)
        return [a for a in state.legal_actions() if state.actor(a) == player]

    def _for_bot(self) -> State:
        """Copies the position for a bot, without the streams, in which it could read the future."""
        state = self.state.clone()
        state.streams = None
        return state

    def _numbers(self, player: int) -> random.Random:
        return random.Random(f"{self._streams.seed}/{player}/{self.at}")

    # ----------------------------------------------------------------------------------------- back and forth

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

    def choices_to_undo(self) -> int:
        """Counts the choices that can be taken back: those of people, or all where none plays."""
        return sum(m.by_human or not self.humans for m in self.moments[1 : self.at + 1])

    def draws_since(self, to: int) -> bool:
        """Tests if chance decided anything after a moment."""
        return any(m.drew for m in self.moments[to + 1 : self.at + 1])

    @held_back()
    def go_back(self, to: int, *, reseed: bool = True) -> None:
        """Goes back to a moment. Past a draw, chance is drawn anew (unless `reseed` is called after)."""
        anew = self.draws_since(to)
        count = self.at - to
        taken = sum(m.by_human for m in self.moments[to + 1 : self.at + 1]) or count
        if self.recorder is not None:
            self.recorder.undo(count)
        self.at = to
        self._turn_to(to)
        if anew:
            del self.moments[to + 1 :]
            self.note("taken-back-anew", count=str(taken))
            if reseed:
                self.reseed(mix(self._streams.seed ^ mix(count + 1)) >> 16)

    @held_back()
    def reseed(self, seed: int) -> None:
        """Has chance drawn from another seed from here on."""
        self._streams = WatchedStreams(self.game, seed)
        moment = self.moments[self.at]
        moment.state = moment.state.clone()
        moment.state.streams = self._streams
        if self.recorder is not None:
            self.recorder.reseed(moment.state, seed)
            moment.state.streams = self._streams

    def redo_target(self) -> int | None:
        """Finds the moment to go forward to: the next at which a person decides, or the last."""
        at = self.at + 1
        if at >= len(self.moments):
            return None
        while at < len(self.moments) - 1 and not self.moments[at + 1].by_human:
            at += 1
        return at

    @held_back()
    def go_forward(self, to: int) -> None:
        """Takes back an undo, as far as a moment."""
        self._turn_to(self.at)
        for moment in self.moments[self.at + 1 : to + 1]:
            if self.recorder is not None:
                self._apply(self.state.clone(), moment.action, moment.passed_on)
            self.at += 1

    # ------------------------------------------------------------------------------------------------ the log

    def log(self) -> Iterator[Entry]:
        """Yields everything that happened, oldest first."""
        for moment in self.moments[: self.at + 1]:
            yield from moment.entries

    def fresh(self, read: Bookmark | None = None) -> list[Entry]:
        """Gets what happened since this was last called, with this bookmark where several read."""
        read = read or self._read
        found = [e for m in self.moments[read.moment : self.at + 1] for e in m.entries]
        start = read.entry
        read.moment, read.entry = self.at, len(self.moments[self.at].entries)
        return found[start:]

    def bookmark(self) -> Bookmark:
        """Makes a bookmark for one more reader, who has read all there is so far."""
        read = Bookmark(self.at, len(self.moments[self.at].entries))
        self._bookmarks.append(read)
        return read

    def forget(self, read: Bookmark) -> None:
        """Takes a reader's bookmark away."""
        self._bookmarks = [b for b in self._bookmarks if b is not read]

    def _turn_to(self, moment: int) -> None:
        """Has everybody read on after all that is told at a moment."""
        for read in self._bookmarks:
            read.moment, read.entry = moment, len(self.moments[moment].entries)

    def note(self, key: str, **about: str) -> None:
        """Adds a sentence of our own to the log."""
        self.moments[self.at].entries.append(Entry("note", EVERYBODY, key=key, about=about))
