"""`harbourmaster play`: plays a game at this terminal."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from . import UsageError
from .common import add_language, add_players, natural, refuse_settled, seconds

DESCRIPTION = """
Plays a game at this terminal: you sit at the first seat and bots at the others, unless --seats says
otherwise; several people may share the terminal. The game is kept after every choice; --resume goes on with
it. A standard input that is not a terminal is read as a script of moves and commands, and answered in plain
text; such a game is kept only with --save.
"""
EXAMPLES = """
  harbourmaster play GAME                                   # you against bots
  harbourmaster play GAME+VARIANT --players 4 --lang zh-Hant
  harbourmaster play GAME --seats Ann Eve Bo=random         # two people and a bot
  harbourmaster play GAME --seats random random random --pace 1   # watch bots; space pauses
  harbourmaster play GAME --seats Ann 'Bo=exec:python3 bot.py'    # a bot of your own: interpreter/PROTOCOL.md
  harbourmaster play --resume                               # go on with the last game
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("ruleset", nargs="?", default="", metavar="GAME", help="a rule set")
    add_players(parser)
    parser.add_argument(
        "--seats",
        nargs="+",
        default=[],
        metavar="NAME=KIND",
        help="who sits where: for each seat a name, 'human', a bot, exec:COMMAND, or NAME=BOT",
    )
    parser.add_argument("--seed", type=natural, metavar="S", help="what the game's chance depends on")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="FILE", help="go on with the last game, or this one"
    )
    parser.add_argument(
        "--save",
        action=BooleanOptionalAction,
        help="keep the game while it is played, or not; kept unless its moves come from a script",
    )
    parser.add_argument(
        "--pace", type=seconds, default=0.0, metavar="S", help="wait S seconds after each move of a bot"
    )
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters alone")
    add_language(parser)


def run(options: Namespace) -> int:
    """Plays."""
    if not options.ruleset and options.resume is None:
        from ...interpreter.gamefiles import available_games

        games = available_games()
        if len(games) != 1:
            raise UsageError("say which game", f"the games are {', '.join(games)}")
    if options.resume is not None:
        refuse_settled(options, "game")
    from ..play import Options, PlayProblem, play

    try:
        return play(
            Options(
                game=options.ruleset,
                players=options.players,
                seats=tuple(options.seats),
                seed=options.seed,
                lang=options.lang,
                resume=options.resume is not None,
                file=options.resume or "",
                ascii=options.ascii,
                autosave=options.save,
                pace=options.pace,
            )
        )
    except PlayProblem as problem:
        raise UsageError(str(problem)) from None
