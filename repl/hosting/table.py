"""The table that several people share: one game, a chair for each who is there, and what they ask of one another.

Knows nothing of lines and terminals; whoever runs it makes one call at a time. Where anybody may act, nobody acts
once all people have said that they keep silent. What changes the whole game is done when all who have ever come
to the table agree.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from msgspec import Struct, field

from ...interpreter.game import Game
from ..bots import Bot
from ..desk import Reply
from ..session import Session
from ..terminal import Line
from .chair import Chair

_MOST_SAID, _WITHIN = 8, 10.0
"""How many things a client may say within so many seconds."""
_LONGEST_SAID = 300
AWAY = 60.0
"""How many seconds somebody must be away before a bot may stand in."""


class Proposal(Struct):
    """What somebody asks of the table, and who has agreed."""

    by: int
    key: str
    about: dict[str, str]
    act: Callable[[], None]
    needs: set[int] = field(default_factory=set)
    """Who has yet to agree."""


class Table:
    """A game that people play from afar."""

    def __init__(
        self,
        session: Session,
        again: Callable[[], Game],
        *,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Takes how to make another instance of the same game, to look ahead in; `report` tells the host."""
        self.session = session
        self._again = again
        self.report = report
        self.chairs: list[Chair] = []
        self.members: set[int] = set()
        """The seats whose players have been here."""
        self.silent: set[int] = set()
        self.proposal: Proposal | None = None
        self._said: dict[Chair, deque[float]] = {}
        self._left: dict[int, float] = {}
        """When each seat was left."""

    def study(self) -> Game:
        """Makes another instance of the game: what is tried there is seen by nobody else."""
        session, study = self.session, self._again()
        study.compiled.player_names = tuple(session.names())
        for language, labels in study.compiled.labels.items():
            labels.players = tuple(session.names())
            labels.texts = session.game.labels(language).texts  # what players wrote
        return study

    # ------------------------------------------------------------------------------------------- coming, going

    def sit(self, chair: Chair) -> Chair | None:
        """Lets somebody in; gets the chair of the same seat that he takes over, if there is one."""
        before = next((c for c in self.chairs if c.seat is not None and c.seat == chair.seat), None)
        if before is not None:
            self._remove(before)
        if chair.seat is not None:
            self.members.add(chair.seat)
            self.session.seats[chair.seat].bot = None
            if before is None:
                self.tell("came-in", chair, name=self.session.seats[chair.seat].name)
        self.chairs.append(chair)
        return before

    def leave(self, chair: Chair) -> None:
        """Lets somebody go; his seat is kept for him."""
        if chair not in self.chairs:
            return
        self._remove(chair)
        if chair.seat is not None:
            self._left[chair.seat] = time.monotonic()
            self.tell("went-away", name=self.session.seats[chair.seat].name)

    def _remove(self, chair: Chair) -> None:
        self.chairs.remove(chair)
        self._said.pop(chair, None)
        chair.forget()

    def is_here(self, seat: int) -> bool:
        """Tests if somebody sits there."""
        return any(c.seat == seat for c in self.chairs)

    def still_awaited(self, seat: int) -> int:
        """Gets how many seconds a seat is to be kept free for who left it."""
        return max(0, round(AWAY - time.monotonic() + self._left.get(seat, -AWAY)))

    def who(self, chair: Chair) -> list[Line]:
        """Tells who plays and who is there."""
        lines: list[Line] = []
        for n, seat in enumerate(self.session.seats):
            if not seat.is_human:
                state = (
                    chair.t("who-bot", kind=seat.kind) if seat.kind != "human" else chair.t("who-stand-in")
                )
            else:
                state = chair.t("who-here" if self.is_here(n) else "who-away")
            you = chair.t("who-you") if n == chair.seat else ""
            lines.append([(f"player{n}", seat.name), ("", f"  {state}{you}")])
        looking = sum(c.seat is None for c in self.chairs)
        if looking:
            lines.append(chair.line("who-look-on", "dim", count=looking))
        return lines

    # --------------------------------------------------------------------------------------------------- telling

    def tell(self, key: str, but: Chair | None = None, /, **about: str) -> None:
        """Tells everybody something, each in his language."""
        for chair in self.chairs:
            if chair is not but:
                chair.inbox.append(lambda c: c.line(key, "note", **about))
        self._wake(but)

    def say(self, chair: Chair, text: str) -> bool:
        """Passes on what somebody says; False if he has said too much lately."""
        said = self._said.setdefault(chair, deque(maxlen=_MOST_SAID))
        now = time.monotonic()
        if len(said) == _MOST_SAID and now - said[0] < _WITHIN:
            return False
        said.append(now)
        text = text[:_LONGEST_SAID]
        seat = chair.seat

        def line(to: Chair) -> Line:
            if seat is None:
                return [("dim", to.t("looker-on")), ("", f": {text}")]
            return [(f"player{seat}", self.session.seats[seat].name), ("", f": {text}")]

        for other in self.chairs:
            other.inbox.append(line)
        self._wake(chair)
        return True

    def _wake(self, but: Chair | None = None) -> None:
        for chair in list(self.chairs):
            if chair is not but:
                chair.wake()

    # --------------------------------------------------------------------------------------------------- playing

    def moved(self, by: Chair | None = None) -> None:
        """Takes in that somebody has chosen: others hear of it, and what was asked before is void."""
        self.silent.clear()
        if self.proposal is not None:
            self.proposal = None
            self.tell("proposal-void", by)
        self._wake(by)

    def keep_silent(self, seat: int) -> list[int]:
        """Notes that a seat keeps silent; gets the people who have yet to say so or act."""
        state = self.session.state
        self.silent.add(seat)
        may = [p for p in state.players_to_act() if self.session.seats[p].is_human]
        waiting = [p for p in may if p not in self.silent]
        if waiting:
            self.tell("keeps-silent", name=self.session.seats[seat].name)
        return waiting

    def bots_turn(self) -> bool:
        """Lets the next bot choose, or ends a silence that all keep; False if people are to act."""
        session = self.session
        if session.is_over:
            return False
        decision = session.state.decision
        if decision is not None and decision.mode == "any" and self.silent:
            if not self.silent.issuperset(session.waiting_for()):
                return False
            return session.break_silence()
        return session.bots_turn()

    # -------------------------------------------------------------------------------------------------- asking

    def propose_undo(self, chair: Chair, steps: int) -> Reply:
        """Asks to take back the last choices of people."""
        session = self.session

        def act() -> None:
            to = session.undo_target(steps)
            if to is not None:
                self.silent.clear()
                session.go_back(to)
                self.tell("taken-back")

        return self._propose(chair, "asks-undo", {"count": str(steps)}, act)

    def propose_stand_in(self, chair: Chair, seat: int, kind: str, bot: Bot) -> Reply:
        """Asks to let a bot play for who is away."""
        session = self.session
        about = {"whose": session.seats[seat].name, "bot": kind}

        def act() -> None:
            if not self.is_here(seat):
                session.seats[seat].bot = bot
                self.tell("stands-in", **about)

        return self._propose(chair, "asks-stand-in", about, act, absent=seat)

    def _propose(
        self, chair: Chair, key: str, about: dict[str, str], act: Callable[[], None], absent: int = -1
    ) -> Reply:
        assert chair.seat is not None
        if self.proposal is not None:
            return chair.fail("asked-already")
        people = {p for p in self.members if self.session.seats[p].is_human}
        about = {"name": self.session.seats[chair.seat].name, **about}
        proposal = Proposal(chair.seat, key, about, act, people - {chair.seat, absent})
        self.proposal = proposal
        if not proposal.needs:
            return self._do(chair)
        self.tell(key, chair, **about)
        return Reply([chair.line("table-is-asked", "dim", names=self._names(proposal.needs))])

    def answer(self, chair: Chair, *, yes: bool) -> Reply:
        """Takes somebody's answer to what is asked; who asked may take it back."""
        proposal = self.proposal
        if proposal is None or chair.seat is None:
            return chair.fail("nothing-asked")
        name = self.session.seats[chair.seat].name
        if not yes:
            self.proposal = None
            self.tell("refused", chair, name=name)
            return Reply([chair.line("not-taken-back", "dim")])
        proposal.needs.discard(chair.seat)
        if not proposal.needs:
            return self._do(chair)
        self.tell("agreed", chair, name=name)
        return Reply([chair.line("table-is-asked", "dim", names=self._names(proposal.needs))])

    def _do(self, chair: Chair) -> Reply:
        proposal, self.proposal = self.proposal, None
        assert proposal is not None
        proposal.act()
        return Reply(chair.news(), board=True)

    def asked(self, chair: Chair) -> list[Line]:
        """Tells who comes in what is asked of him."""
        if self.proposal is None or chair.seat not in self.proposal.needs:
            return []
        return [chair.line(self.proposal.key, "note", **self.proposal.about)]

    def _names(self, seats: set[int]) -> str:
        return ", ".join(self.session.seats[p].name for p in sorted(seats))
