"""Changes the rules in the middle of a game: keeps the position where it fits, else plays the choices again.

A position that is kept stands under rules under which it did not come about, so no record can lead to it: such
a game goes on without one. Choices that are played again meet the same chance, and the record is a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..interpreter.comparing.matching import Match
from ..interpreter.errors import PlayError
from ..interpreter.game import Game, State, load_game
from .carrying import Misfit, carry
from .session import Moment, Session
from .taking_up import copy_record, keep
from .view import View

if TYPE_CHECKING:
    from .desk import Desk


class Change(Struct):
    """How a game goes on under other rules: "same", "kept", "again" (played again to the same position) or
    "again-otherwise".
    """

    how: str
    session: Session


def change_rules(session: Session, game: Game) -> Change:
    """Goes on under other rules. Raises `Misfit` where neither the position nor the choices fit."""
    why: Misfit | None = None
    again: Session | None = None
    try:
        again = play_again(session, game)
        if _alike(session.state, again.state):
            return Change("again", again)
    except Misfit as misfit:
        why = misfit
    try:
        kept = carry(session.state, game)
    except Misfit as misfit:
        if again is None:
            raise (why if why is not None and session.state.decision is None else misfit) from None
        return Change("again-otherwise", again)
    return Change("kept", _stand_at(session, game, kept.position))


def _alike(a: State, b: State) -> bool:
    """Tests if two positions under different rules are the same in all that has a name, and ask alike."""
    if a.is_terminal() or b.is_terminal():
        return a.is_terminal() and b.is_terminal()
    assert a.decision is not None and b.decision is not None
    if (a.decision.rule, a.current_player()) != (b.decision.rule, b.current_player()):
        return False
    return not any(Match(a.game, b.game).differing(a.position, b.position, hidden=True))


def _begin(session: Session, game: Game, seed: int) -> Session:
    return Session(game, View(game, game.view(), strict=False), session.seats, seed)


def play_again(session: Session, game: Game) -> Session:
    """Plays the choices so far under other rules, with the same chance. Raises `Misfit` at the first that fails."""
    match = Match(session.game, game)
    new = _begin(session, game, session.seed)
    keep(new, "en", on_disk=False)
    for before, moment in zip(session.moments, session.moments[1 : session.at + 1], strict=False):
        streams = moment.state.streams
        if streams is not None and streams.seed != new.chance_seed:
            new.reseed(streams.seed)
        said = before.state.describe(
            moment.action % session.game.program.actions, moment.player or 0, viewer=-1
        )
        action = match.to_b(moment.action)
        if action < 0 or new.is_over:
            raise Misfit("again-fails", words=said, why="-")
        try:
            new.choose(action, moment.passed_on)
        except PlayError as error:
            raise Misfit("again-fails", words=said, why=error.message) from None
    new.fresh()
    return new


def _stand_at(session: Session, game: Game, position: list[int]) -> Session:
    new = _begin(session, game, session.seed)
    state = game.state_at(position, trace=True)
    new.moments = [Moment(state)]
    new.at = 0
    new.earlier = session
    new.reseed(session.chance_seed)
    new.fresh()
    return new


def take_over(desk: Desk, change: Change) -> None:
    """Has the desk go on with the changed game, kept in a record of its own where that can be."""
    desk.session = change.session
    if change.session.recorder is None:
        desk.kept = None
        return
    if desk.kept is not None:
        try:
            desk.kept = copy_record(change.session, desk.language)
        except OSError:
            desk.kept = None


def load_with(session: Session, question: str, reading: str) -> Game:
    """Loads the game's rules with another reading. Raises `RulesError`."""
    from ..interpreter.naming import RuleSetName

    name = RuleSetName.parse(session.game.name).with_setting(question, reading)
    return load_game(str(name), players=session.game.num_players(), offers=session.game.offers)


def load_anew(session: Session) -> Game:
    """Loads the game's rules from their files as they are now. Raises `RulesError`."""
    game = session.game
    return load_game(game.name, players=game.num_players(), offers=game.offers)
