"""A chair at the table: a desk over the line, for one seat or for somebody who only looks on.

It shows what this seat may see, makes this seat's moves alone, and knows only such commands as neither read nor
write the host's files. What needs time to think about is put off (`Reply.work`), for others are at the table too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...interpreter.errors import PlayError
from ...interpreter.state import State
from ..choosing import Option
from ..desk import Desk, Reply
from ..knowing import NOBODY, possible
from ..prompt_commands import Command
from ..telling import Entry, write_entry
from ..terminal import Line, Look
from .chair_commands import CHAIR_COMMANDS

if TYPE_CHECKING:
    from ...interpreter.game import Game
    from .table import Table


class Chair(Desk):
    """What one client works on."""

    commands: Mapping[str, Command] = CHAIR_COMMANDS

    def __init__(self, table: Table, seat: int | None, look: Look) -> None:
        super().__init__(table.session, look)
        self.table = table
        self.seat = seat
        self.inbox: list[Callable[[Chair], Line]] = []
        """What others said and did at the table beside the game, yet to be read."""
        self.wake: Callable[[], None] = lambda: None
        """Called when there is something new to read."""
        self._read = table.session.bookmark()
        self._study: Game | None = None

    # ----------------------------------------------------------------------------------------------- whose eyes

    @property
    def viewer(self) -> int | None:
        """The seat for whose eyes everything is written; None where it is for everybody's."""
        return self.seat

    @property
    def people(self) -> list[int]:
        """The seats of the people at this screen."""
        return [] if self.seat is None else [self.seat]

    @property
    def concealed(self) -> bool:
        """Whether several people look at this screen: never."""
        return False

    def waiting(self) -> list[int]:
        """Gets this seat, if it may act now."""
        state = self.session.state
        may = self.seat is not None and not self.session.is_over and self.seat in state.players_to_act()
        return self.people if may else []

    def copy(self) -> State:
        """Copies the position to think about, into a game that nobody plays on: what moves there is seen by none."""
        if self._study is None:
            self._study = self.table.study()
        state, study = self.session.state, self._study
        copied = State(study, study.machine(traced=True), state.position[:], state.stop, None)
        copied.history = state.history
        return copied

    def positions(self) -> list[State]:
        """Gets positions to look ahead from, as they may be for all that this seat knows."""
        return possible(self.copy(), NOBODY if self.seat is None else self.seat)

    # ---------------------------------------------------------------------------------------------------- news

    def fresh(self) -> list[Entry]:
        """Gets what happened since it was last asked for."""
        return self.session.fresh(self._read)

    def news(self) -> list[Line]:
        """Writes what happened since it was last asked for, and what was said."""
        said, self.inbox = self.inbox, []
        return [*super().news(), *(write(self) for write in said)]

    def last_lines(self, count: int) -> list[Line]:
        """Writes the end of the log, for who comes in; what is in it is read then."""
        written = (
            write_entry(self.session.view, e, self.language, self.viewer, ascii=self.look.ascii)
            for e in self.session.log()
        )
        self.fresh()
        return [line for line in written if line is not None][-count:]

    def forget(self) -> None:
        """Leaves the log to others."""
        self.session.forget(self._read)

    # --------------------------------------------------------------------------------------------------- moves

    def take(self, option: Option) -> Reply:
        """Makes a move of this seat; silence counts once all keep it."""
        state = self.session.state
        decision = state.decision
        silent = decision is not None and decision.mode == "any" and state.actor(option.action) < 0
        if self.seat is None or option.open:
            return super().take(option)
        if silent:
            waiting = self.table.keep_silent(self.seat)
            names = ", ".join(self.session.seats[p].name for p in waiting)
            lines = [self.line("silent-others", "dim", names=names)] if waiting else []
            return Reply([*self.news(), *lines], board=True)
        reply = super().take(option)
        if not reply.failed:
            self.table.moved(by=self)
        return reply

    def parse(self, text: str) -> Option | Reply | None:
        """Reads the words of a move of this seat; a reply tells what forbids it."""
        if self.seat is None:
            return (
                self.fail("only-looking-on") if self.is_wording(text) or self.names_somebody(text) else None
            )
        player, words = self._speaker(text)
        if player is None:
            player, words = self.seat, text
        if player != self.seat:
            return self.fail("not-your-seat", name=self.session.seats[player].name)
        return self.read_move(player, words, text)

    def broken(self, error: PlayError) -> Reply:
        """Tells that the rules themselves went wrong; what was wrong could be a secret, so the host alone reads it."""
        self.table.report(f"the rules went wrong: {error.message} ({error.span})")
        return self.fail("rules-broke")

    # ------------------------------------------------------------------------------------------------ thinking

    def later(self, work: Callable[[], Reply]) -> Reply:
        """Puts work off, to be done where it does not keep others waiting."""
        return Reply(work=lambda: self._worked(work))

    def _worked(self, work: Callable[[], Reply]) -> Reply:
        before = self.session.state
        try:
            return work()
        except PlayError:
            if self.session.state is before:
                raise
            return self.fail("moved-on")
