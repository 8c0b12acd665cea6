"""What bots advise: the move one would make, and what a move is worth when the game is played on from it.

Neither sees more than the player: what he cannot know is dealt anew each time. The bots live in the interpreter
and are imported when they are asked for.
"""

from __future__ import annotations

import time
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

from .terminal import Line

if TYPE_CHECKING:
    from ..interpreter.game import State
    from .choosing import Option
    from .desk import Desk

_ADVISER = "montecarlo:1000"
_SECONDS = 2.0
_MOST = 2000
_LEAST = 2


class MissingBots(Exception):
    """Says that no bot can think about this game here."""


def advise(desk: Desk, player: int, kind: str) -> list[Line]:
    """Asks a bot what it would choose. Raises `MissingBots`."""
    try:
        from ..interpreter.bots.policy import UnknownPolicy, make_policy
    except ImportError as error:
        raise MissingBots(str(error)) from None
    from ..interpreter import playout

    try:
        policy = make_policy(kind or _ADVISER, patience=0.0)
    except UnknownPolicy as error:
        raise MissingBots(f"{error}; {error.help}" if error.help else str(error)) from None
    session = desk.session
    state = desk.copy()
    seed = Random(f"{player}/{session.at}/hint").getrandbits(48)
    action = policy.choose(state, player, playout.Random(seed))
    silent = next((o.words for o in desk.options() if o.player is None and state.actor(o.action) < 0), "–")
    words = (
        silent
        if action is None
        else state.describe(action % state.game.program.actions, player, desk.language)
    )
    return [desk.line("bot-advises", "", bot=policy.name, words=words)]


def worth(desk: Desk, player: int, option: Option) -> list[Line]:
    """Plays on from a move many times, by chance, for two seconds. Raises `MissingBots`."""
    scores: list[float] = []
    wins = 0.0
    end = time.monotonic() + _SECONDS
    state = desk.copy()
    while len(scores) < _MOST and (len(scores) < _LEAST or time.monotonic() < end):
        last = play_on(state, player, option, len(scores))
        winners = last.winners()
        scores.append(last.scores()[player])
        wins += (player in winners) / len(winners)
    n = len(scores)
    mean = sum(scores) / n
    half = 1.96 * sqrt(sum((s - mean) ** 2 for s in scores) / (n - 1) / n)
    name = desk.session.seats[player].name
    figures = {"mean": f"{mean:.1f}", "low": f"{mean - half:.1f}", "high": f"{mean + half:.1f}"}
    return [
        desk.line("move-value", "", words=option.words, name=name, win=f"{wins:.0f}", games=str(n), **figures)
    ]


def play_on(state: State, player: int, option: Option, number: int) -> State:
    """Plays a game on to its end by chance, from a position that looks the same to the player.

    The same number meets the same chance, so that moves can be compared. Raises `MissingBots`.
    """
    try:
        from ..interpreter.bots.determinise import determinise
    except ImportError as error:
        raise MissingBots(str(error)) from None
    from ..interpreter import playout

    clone = state.clone()
    clone.streams = None
    dealt = determinise(clone, player, playout.Random(number))
    dealt.apply_action(option.action, option.player)
    machine = dealt.machine
    keys = playout.stream_keys(machine, number)
    playout.player_of(machine)(dealt.position, dealt.stop, keys, playout.policy_start(number))
    dealt.stop = None
    return dealt
