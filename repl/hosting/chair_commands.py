"""The commands of those who sit at a table over the line.

Most are those of the prompt. Commands that need thought are put off; those that would change the whole game ask the
table; those that read or write files, or change the rules, are left to the host and say so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ..prompt_commands import COMMANDS, Command

if TYPE_CHECKING:
    from ..desk import Desk, Reply
    from .chair import Chair

Run = Callable[["Desk", str], "Reply"]

_SAME = (
    "help",
    "moves",
    "hand",
    "log",
    "why not",
    "rules",
    "questions",
    "variants",
    "colour",
    "lang",
    "quit",
)
_THOUGHT = ("what if", "compare here", "odds", "hint", "value")
_OF_THE_HOST = (
    *("save", "load", "story", "games", "resume", "branch"),  # files
    *("goto", "redo", "switch", "reload", "pace"),  # the whole game
)


def _put_off(run: Run) -> Run:
    def later(desk: Desk, argument: str) -> Reply:
        chair = cast("Chair", desk)
        return chair.later(lambda: run(desk, argument))

    return later


def _of_the_host(desk: Desk, argument: str) -> Reply:
    return desk.fail("of-the-host")


def show_board(desk: Desk, argument: str) -> Reply:
    """Shows the board; files are the host's."""
    from ..desk import Reply

    return desk.fail("of-the-host") if argument else Reply([*desk.board(), desk.status()])


def replay(desk: Desk, argument: str) -> Reply:
    """Steps through this game, as everybody may see it."""
    return desk.fail("of-the-host") if argument else COMMANDS["replay"].run(desk, "")


# ---------------------------------------------------------------------------------------------------- the table


def say(desk: Desk, argument: str) -> Reply:
    """Says something to everybody at the table."""
    from ..desk import Reply

    chair = cast("Chair", desk)
    if not argument:
        return desk.fail("say-what")
    if not chair.table.say(chair, argument):
        return desk.fail("said-too-much")
    return Reply(chair.news())


def who(desk: Desk, argument: str) -> Reply:
    """Tells who is at the table."""
    from ..desk import Reply

    chair = cast("Chair", desk)
    return Reply(chair.table.who(chair))


def undo(desk: Desk, argument: str) -> Reply:
    """Asks the table to take back the last N choices of people."""
    chair = cast("Chair", desk)
    if chair.seat is None:
        return desk.fail("only-looking-on")
    steps = int(argument) if argument.isdigit() and 0 < int(argument[:6]) < 10_000 else 1
    if desk.session.undo_target(steps) is None:
        return desk.fail("nothing-to-undo")
    return chair.table.propose_undo(chair, steps)


def stand_in(desk: Desk, argument: str) -> Reply:
    """Asks the table to let a bot play for somebody who is away, until he is back."""
    from ..bots import BOTS, make_bot

    chair = cast("Chair", desk)
    if chair.seat is None:
        return desk.fail("only-looking-on")
    name, _, kind = argument.rpartition(" ")
    names = {seat.name.casefold(): n for n, seat in enumerate(desk.session.seats)}
    if argument.casefold() in names:
        name, kind = argument, "greedy"
    seat = names.get(name.strip().casefold())
    if seat is None or not desk.session.seats[seat].is_human:
        return desk.fail("stand-in-how")
    if chair.table.is_here(seat):
        return desk.fail("is-here", name=desk.session.seats[seat].name)
    awaited = chair.table.still_awaited(seat)
    if awaited:
        return desk.fail("just-gone", name=desk.session.seats[seat].name, seconds=awaited)
    bot = make_bot(kind)
    if bot is None:
        return desk.fail("no-bot", kind=kind, known=", ".join(sorted(BOTS)))
    return chair.table.propose_stand_in(chair, seat, kind, bot)


def agree(desk: Desk, argument: str) -> Reply:
    """Agrees to what was asked of the table."""
    chair = cast("Chair", desk)
    return chair.table.answer(chair, yes=True)


def refuse(desk: Desk, argument: str) -> Reply:
    """Refuses what was asked of the table."""
    chair = cast("Chair", desk)
    return chair.table.answer(chair, yes=False)


def _people(desk: Desk, typed: str) -> list[tuple[str, str]]:
    return [(seat.name, "") for seat in desk.session.seats if seat.is_human]


def _commands() -> dict[str, Command]:
    made = {name: COMMANDS[name] for name in _SAME}
    made["board"] = Command("board", "", (), show_board)
    made["undo"] = Command("undo", "[N]", (), undo)
    for name in _THOUGHT:
        c = COMMANDS[name]
        made[name] = Command(c.name, c.takes, c.aliases, _put_off(c.run), c.complete)
    made["replay"] = Command("replay", "", (), replay)
    made["say"] = Command("say", "TEXT", (), say)
    made["who"] = Command("who", "", (), who)
    made["agree"] = Command("agree", "", (), agree)
    made["refuse"] = Command("refuse", "", (), refuse)
    made["stand in"] = Command("stand in", "NAME [BOT]", (), stand_in, _people)
    for name in _OF_THE_HOST:
        made[name] = Command(name, COMMANDS[name].takes, (), _of_the_host, listed=False)
    return made


CHAIR_COMMANDS = _commands()
