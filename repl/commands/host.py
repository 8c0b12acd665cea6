"""`harbourmaster host`: opens a table that others come to by SSH."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from . import UsageError
from .common import add_language, add_players, language_of, natural, refuse_settled

DESCRIPTION = """
Opens a table that others come to with 'ssh -p PORT HOST'. Each player gets a code, printed here, for his first visit;
the key he came with opens his seat from then on, or another code that he is shown once. Each sees no more than his seat
may see; who comes with the code for looking on sees what everybody sees. The table is kept after every choice; --resume
goes on with it, and who had a seat has it still. Only this machine can reach it unless --address says otherwise.
"""
EXAMPLES = """
  harbourmaster host GAME                                   # people at every seat, from this machine
  harbourmaster host GAME --seats Ann Bo Cy=greedy --port 2022
  harbourmaster host GAME --address 0.0.0.0                 # from everywhere this machine can be reached
  harbourmaster host GAME --keys ./keys                     # ./keys/Ann.pub opens the seat of Ann
  harbourmaster host --resume                               # go on with the last table
  harbourmaster host --resume --new-code Ann                # Ann has lost her way back
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
        help="who sits where: a name for a person, NAME=BOT for a bot",
    )
    parser.add_argument(
        "--port", type=_port, default=2022, metavar="N", help="the port (default: 2022; 0: any)"
    )
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        metavar="A",
        help="where to listen (default: 127.0.0.1, this machine only)",
    )
    parser.add_argument(
        "--keys", default="", metavar="FOLDER", help="public keys of players: NAME.pub, a key a line"
    )
    parser.add_argument(
        "--new-code",
        action="append",
        default=[],
        metavar="NAME",
        help="forget how NAME came in and print a new code",
    )
    parser.add_argument("--seed", type=natural, metavar="S", help="what the game's chance depends on")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="FILE", help="go on with the last table, or this one"
    )
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters alone")
    add_language(parser)


def _port(text: str) -> int:
    number = natural(text)
    if number > 65535:
        raise ArgumentTypeError(f"got {number}, want at most 65535")
    return number


def run(options: Namespace) -> int:
    """Serves the table."""
    if not options.ruleset and options.resume is None:
        from ...interpreter.gamefiles import available_games

        raise UsageError("say which game", f"the games are {', '.join(available_games())}")
    if options.resume is not None:
        refuse_settled(options, "table")
    try:
        from ..hosting.opening import HostProblem, Options, host
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "asyncssh":
            raise
        raise UsageError("hosting needs an extra", "pip install 'harbourmaster[host]'") from None
    try:
        return host(
            Options(
                game=options.ruleset,
                address=options.address,
                port=options.port,
                players=options.players,
                seats=tuple(options.seats),
                seed=options.seed,
                resume=options.resume is not None,
                file=options.resume or "",
                keys=options.keys,
                renew=tuple(options.new_code),
                language=language_of(options) if options.lang else "",
                ascii=options.ascii,
            )
        )
    except HostProblem as problem:
        raise UsageError(str(problem), problem.help) from None
