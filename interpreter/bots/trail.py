"""What has happened in a game, as one player may know it: steps, each with what he saw after it.

A trail is made of a state's history. It plays the history again on the side and notes for each step

- of a choice: whether it is plain to him (his own, or an open one), or how it looked to him;
- of chance: the outcome where he saw it; where he did not, only that chance decided;
- his observation at the next decision.

Which outcomes he sees is found out by letting the same chance node come out otherwise and looking for what changes on
the table. An outcome is *seen* when it is stored where he sees it, when another would have changed what he alone sees
(his own hand), or when another would have changed nothing but what he sees. Otherwise it is free: a draw into another's
hand, a shuffle. It is free too when what it shows depends on what is hidden: what comes to lie on top. Where the
table stands between two draws of one deal is no part of what he sees; with a single draw it is the same as the end of
the step, and then it counts.

Particles (`particles.py`) follow a trail; they never look at anything of it but what is written here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import program as ir
from ..chance import Streams
from ..errors import BrokenRule
from ..positions import decode, evaluate
from ..python_backend import Position, PythonMachine, Stop
from .changes import Contents
from .sight import HIDDEN, OPEN, PRIVATE, Observation, Sight, decision_at, owner_of_action

if TYPE_CHECKING:
    from ..game import Game, State

_CHANCE = -1
Address = tuple[int, int, int]
"""Where a stream draws: the stream, the row counted from where the step began, the place in the row."""


class NoTrail(Exception):
    """Says that a state's history does not tell how it came about."""


@dataclass(slots=True)
class Look:
    """How another player's choice looked: the words shown, or the move with its open arguments."""

    words: str
    """The sentence shown to others; empty where the move has none."""
    move: int
    arguments: tuple[int | None, ...]
    """None for a secret one."""

    def fits(self, program: ir.Program, action: int) -> bool:
        """Tests if another action would have looked the same."""
        move, arguments = decode(program, action)
        if move.index != self.move:
            shows = move.shows
            return (
                bool(self.words)
                and shows is not None
                and not shows.functions
                and _words(program, move) == self.words
            )
        return all(seen is None or seen == is_ for seen, is_ in zip(self.arguments, arguments, strict=True))


def _words(program: ir.Program, move: ir.MoveInfo) -> str:
    return "" if move.shows is None else program.texts[move.shows.text].sentence


def look_of(program: ir.Program, action: int) -> Look:
    """Tells how an action of another player looks."""
    move, arguments = decode(program, action)
    open_ = tuple(None if secret else a for a, secret in zip(arguments, move.secret, strict=True))
    words = _words(program, move) if move.shows is not None and not move.shows.functions else ""
    return Look(words, move.index, open_)


@dataclass(slots=True)
class Step:
    """A choice (none for the first step) and what followed up to the next decision."""

    action: int = -1
    """The choice, where it is plain to the player; -1 where it is not."""
    actor: int = -1
    look: Look | None = None
    """How a choice looked that is not plain; None as long as nothing was shown of it."""
    at_once: bool = False
    """Whether it was made in secret, while others chose too."""
    first: int = 0
    """The first step of the round in which all choose at once, or this one."""
    seen: dict[tuple[int, Address], int] = field(default_factory=dict)
    """Outcomes that the player saw, by chance node and address."""
    free: int = 0
    """How many outcomes he did not see."""
    observation: Observation = ((), ())

    @property
    def is_open(self) -> bool:
        """Whether nothing of it was hidden from the player."""
        return self.action >= 0 and not self.free


class Trail:
    """One player's trail of a game; it grows with the game."""

    def __init__(self, game: Game, sight: Sight, contents: Contents) -> None:
        self.game = game
        self.sight = sight
        self.contents = contents
        self.machine: PythonMachine = game.machine()
        self.steps: list[Step] = []
        self.sealed = 0
        """How many steps from the start will never look different: all but a round of choices at once not yet over."""
        self._nodes: list[Any] = []
        """The nodes of the history that have been played again; kept, so that they can be told by their identity."""
        self._position: Position = []
        self._stop: Stop = None
        self._streams: Streams | None = None
        self._single: tuple[int, Address, int] | None = None
        self._rows: Position = []
        self._begun = False

    # ------------------------------------------------------------------------------------------------- growing

    def follow(self, state: State) -> bool:
        """Grows with a state's history; tells if it only grew, or began anew. Raises `NoTrail`."""
        fresh: list[Any] = []
        at = state.history
        known = {id(node): n for n, node in enumerate(self._nodes)}
        while at is not None and id(at) not in known:
            fresh.append(at)
            at = at[0]
        reached = known[id(at)] + 1 if at is not None else 0
        grew = self._begun and reached == len(self._nodes)
        if not grew:
            fresh, at = [], state.history
            while at is not None:
                fresh.append(at)
                at = at[0]
            self._restart(state)
        try:
            for node in reversed(fresh):
                self._play(node)
        except (BrokenRule, IndexError, TypeError, ValueError) as error:
            self._begun = False
            raise NoTrail(str(error)) from None
        if self.sight.observe(self._position, self._stop) != self.sight.observe(state.position, state.stop):
            self._begun = False
            raise NoTrail("the history leads elsewhere")
        return grew

    def _restart(self, state: State) -> None:
        self.steps = [Step()]
        self.sealed = 0
        self._nodes = []
        self._position, self._stop = self.machine.start()
        self._rows = self._position[:]
        self._single = None
        streams = state.streams
        self._streams = streams if streams is not None and type(streams) is Streams else None
        self._begun = True
        self._settle()
        self._end_step()

    def _play(self, node: Any) -> None:
        _, action, player, actor = node
        self._nodes.append(node)
        if self._stop.__class__ is tuple:
            if actor != _CHANCE:
                raise NoTrail("chance is missing from the history")
            self._chance(action)
        else:
            if self._stop is None:
                raise NoTrail("the history does not fit")
            self._choice(action, player)
        self._settle()
        self._end_step()

    def _settle(self) -> None:
        """Draws from the streams that the state draws from, if it has any: nothing but what has been drawn."""
        while self._stop.__class__ is tuple and self._streams is not None:
            node = self._stop[0]
            stream, row, ordinal, low, count, weigh = self.machine.chance_info[node](self._position)
            weights = count if weigh is None else [weigh(self._position, low + i) for i in range(count)]
            self._chance(self._streams.outcome(stream, row, ordinal, low, weights))

    # ----------------------------------------------------------------------------------------------- one step

    def _choice(self, action: int, player: int | None) -> None:
        program = self.game.program
        decision = decision_at(program, self._position)
        coded = action
        if player is not None and decision.mode == "each":
            coded = action % program.actions + program.actions * (player + 1)
        actor = owner_of_action(decision, self._position, coded, program)
        if not is_offered(self.machine, self._position, self._stop, decision, coded, actor):
            raise NoTrail("a choice of the history is not legal")
        if decision.mode == "each" and coded < program.actions:
            coded += program.actions * (actor + 1)
        move, _ = decode(program, coded)
        at_once = decision.mode == "each" and move.index in decision.moves
        step = Step(coded, actor, at_once=at_once, first=self.sealed)
        if actor not in (self.sight.player, -1) and (at_once or any(move.secret) or move.shows is not None):
            step.action = -1
            step.look = look_of(program, coded)
        self.steps.append(step)
        self._rows = self._position[:]
        self._single = None
        self._stop = self.machine.apply(self._position, coded)

    def _chance(self, outcome: int) -> None:
        assert self._stop.__class__ is tuple
        node: int = self._stop[0]
        step = self.steps[-1]
        position = self._position
        stream, row, ordinal, low, count, weigh = self.machine.chance_info[node](position)
        if not low <= outcome < low + count:
            raise NoTrail("an outcome of the history cannot be")
        address = (stream, row - self._rows[self.game.program.chances[node].row], ordinal)
        others = [
            v for v in range(low, low + count) if v != outcome and (weigh is None or weigh(position, v) > 0)
        ]
        before = position[:]
        self._stop = self.machine.decide(position, node, outcome)
        if not others or self._is_seen(node, before, outcome, others[0]):
            step.seen[node, address] = outcome
        else:
            step.free += 1
            alone = step.free == 1 and self._stop.__class__ is not tuple
            if (
                alone
                and self._is_plain(node, before, outcome)
                and all(self._shows(node, before, v) for v in others)
            ):
                self._single = (node, address, outcome)

    def _is_seen(self, node: int, before: Position, outcome: int, other: int) -> bool:
        """Tests if the player saw how chance came out, the position being changed already."""
        chance = self.game.program.chances[node]
        probe = before[:]
        try:
            self.machine.decide(probe, node, other)
        except BrokenRule:
            return False
        kinds = self.sight.kinds(self._position)
        if kinds[chance.base + evaluate(chance.index, before, self.game.program)] in (OPEN, PRIVATE):
            return True
        changed = {kinds[slot] for slot, value in enumerate(probe) if value != self._position[slot]}
        if PRIVATE not in changed and (OPEN not in changed or HIDDEN in changed):
            return False
        return self._is_plain(node, before, outcome)

    def _is_plain(self, node: int, before: Position, outcome: int) -> bool:
        """Tests if what an outcome shows does not depend on what is hidden, as the turn of a hidden item does."""
        probe = before[:]
        self.contents.rotate(probe, self.sight.kinds(probe))
        try:
            self.machine.decide(probe, node, outcome)
        except BrokenRule:
            return False
        return self.sight.values(probe) == self.sight.values(self._position)

    def _shows(self, node: int, before: Position, other: int) -> bool:
        probe = before[:]
        try:
            stop = self.machine.decide(probe, node, other)
        except BrokenRule:
            return True
        return stop.__class__ is tuple or self.sight.observe(probe, stop) != self.sight.observe(
            self._position, self._stop
        )

    def _end_step(self) -> None:
        """Notes what the player sees where somebody decides again, or the game is over."""
        if self._stop.__class__ is tuple:
            return
        step = self.steps[-1]
        step.observation = self.sight.observe(self._position, self._stop)
        if self._single is not None and step.free == 1:
            node, address, outcome = self._single
            step.seen[node, address] = outcome
            step.free = 0
        if self._is_within_round():
            return
        self.sealed = len(self.steps)

    def _is_within_round(self) -> bool:
        """Tests if some have chosen and others have yet to, all at once."""
        if self._stop.__class__ is not list:
            return False
        decision = decision_at(self.game.program, self._position)
        if decision.mode != "each" or not self.steps[-1].at_once:
            return False
        return any(self._position[decision.pending + p] > 0 for p in range(self.game.program.players))

    def look(self, step: int) -> Look | None:
        """Gets how a choice looked that is not plain; None while the round it was made in is not over."""
        made = self.steps[step]
        return made.look if step < self.sealed or not made.at_once else None


def is_offered(
    machine: PythonMachine, position: Position, stop: Stop, decision: ir.Decision, coded: int, actor: int
) -> bool:
    """Tests if an action may be taken: it is listed, or an equal one of several that are."""
    if stop.__class__ is list and coded in stop:
        return True
    program = machine.program
    if actor < 0:
        return False
    if decision.mode == "each" and position[decision.pending + actor] != 0:
        return False
    if decision.mode == "one" and coded >= program.actions:
        return False
    move, arguments = decode(program, coded)
    if move.index not in decision.moves and move.index not in decision.standing:
        return False
    return machine.call(move.why_not, position, actor, *arguments) == 0
