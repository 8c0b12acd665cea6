"""What bots advise: the move one would make, and what a move is worth when the game is played on from it.

Neither sees more than the player: what he cannot know is dealt anew each time. The bots live in the interpreter
and are imported when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

from .bots import Thinking
from .terminal import Line, cut, in_ascii, pad, pad_line, width

if TYPE_CHECKING:
    from .choosing import Option
    from .desk import Desk

_ADVISER = "montecarlo:1000"
_MOST_VALUED = 12
_PATIENCE = 0.3
"""How many seconds it waits for native code; if that is not there by then, it comes in when it is compiled."""
_ALSO = 3


class MissingBots(Exception):
    """Says that no bot can think about this game here."""


def advise(desk: Desk, player: int, kind: str) -> list[Line]:
    """Asks a bot what it would choose, and what it likes next best; Ctrl-C has it answer at once. Raises `MissingBots`."""
    from ..interpreter import playout
    from ..interpreter.bots.policy import ThinkingPolicy, UnknownPolicy, make_policy

    try:
        policy = make_policy(kind or _ADVISER, patience=_PATIENCE)
    except UnknownPolicy as error:
        raise MissingBots(f"{error}; {error.help}" if error.help else str(error)) from None
    session = desk.session
    state = desk.copy()
    seed = Random(f"{player}/{session.at}/hint").getrandbits(48)
    with Thinking(policy.name) as thinking:
        policy.stop = thinking.is_over
        action = policy.choose(state, player, playout.Random(seed))
    silent = next((o.words for o in desk.options() if o.player is None and state.actor(o.action) < 0), "–")

    def words(choice: int | None) -> str:
        if choice is None:
            return silent
        return state.describe(choice % state.game.program.actions, player, desk.language)

    lines = [desk.line("bot-advises", "", bot=policy.name, words=words(action))]
    if isinstance(policy, ThinkingPolicy):
        others = sorted((c for c in policy.choices if c.count and c.action != action), key=lambda c: -c.mean)
        if others:
            then = desk.t("comma").join(words(c.action) for c in others[:_ALSO])
            lines.append(desk.line("bot-likes", "dim", count=len(policy.choices), words=then))
    return lines


def worth(desk: Desk, player: int, option: Option | None) -> list[Line]:
    """Tells what a move is worth, or each of the player's moves, the best first; Ctrl-C has it tell what it knows by then.

    Raises `MissingBots`.
    """
    from ..interpreter.bots.value import values

    state = desk.copy()
    with Thinking("" if option is None else option.words) as thinking:
        found = values(state, player, None if option is None else [option.action], stop=thinking.is_over)
    found = [v for v in found if v.rollouts > 1 and v.action is not None]
    if not found:
        raise MissingBots(desk.t("games-go-wrong"))
    name = desk.session.seats[player].name
    known = {o.action: o.words for o in desk.options()}
    rows = []
    for v in found[:_MOST_VALUED]:
        assert v.action is not None
        words = known.get(v.action) or state.describe(
            v.action % state.game.program.actions, player, desk.language
        )
        figures = (v.points.mean, v.points.low, v.points.high)
        rows.append((words, *(f"{x:.1f}" for x in figures), f"{v.wins.mean * 100:.0f}", str(v.rollouts)))
    if len(rows) == 1:
        about = dict(zip(("words", "mean", "low", "high", "win", "games"), rows[0], strict=True))
        return [desk.line("move-value", "", name=name, **about)]
    table = list(_table(desk, rows))
    lines = [desk.line("values-head", "", name=name), *(in_ascii(table) if desk.look.ascii else table)]
    if len(found) > len(rows):
        lines.append(desk.line("and-more", "dim", count=len(found) - len(rows)))
    return lines


def _table(desk: Desk, rows: Sequence[tuple[str, ...]]) -> Iterator[Line]:
    """Draws what moves are worth, a row for each, the figures below one another."""
    heads = ("", desk.t("value-mean"), "95 %", "", desk.t("value-wins"), desk.t("value-games"))
    cells = [(words, mean, low, high, f"{win} %", games) for words, mean, low, high, win, games in rows]
    widths = [max(map(width, column)) for column in zip(heads, *cells, strict=True)]
    widest = max(8, desk.look.width - sum(widths[1:]) - 2 * len(widths))
    for n, row in enumerate((heads, *cells)):
        words = pad_line(cut([("", row[0])], min(widths[0], widest)), min(widths[0], widest))
        rest = "  ".join(
            pad(cell, columns, right=True) for cell, columns in zip(row[1:], widths[1:], strict=True)
        )
        yield [("", "  "), *words, ("" if n else "dim", f"  {rest}")]
