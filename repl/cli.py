"""The command `harbourmaster`: finds the command asked for, runs it, and turns what goes wrong into plain
words.

Nothing is imported before it is needed: the list of commands, a command's help and a misspelt name come at
once. What a user did wrong is told in a line or two, never as a traceback; exit status 0 is fine, 1 a
finding, 2 bad use or bad input, 70 a fault of ours, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from .commands import BAD, COMMANDS, GROUPS, OK, Command, UsageError

_NAMING = """
A rule set is named GAME+VARIANT+QUESTION=READING+TABLE.ENTRY.ATTRIBUTE=VALUE: the game first, then in any
order variants, readings of open questions, and figures to change. Your own files go by path: ./mine.yaml."""

VERSION = "0.1.0"  # as in pyproject.toml: to ask for what is installed takes longer than all the rest

FAULT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line; gives the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        _forget_standard_output()
        return PIPE_CLOSED
    except Exception as error:
        if os.environ.get("HARBOURMASTER_DEBUG"):
            raise
        return _explain(error)


def _forget_standard_output() -> None:
    """Keeps Python from complaining, when it exits, that nobody reads its output any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


# -------------------------------------------------------------------------------------------------- arguments


class _Parser(ArgumentParser):
    """A parser that raises what `argparse` would print, so that all mistakes are told in one way."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"'{self.prog} --help' shows how it is used")


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _help(arguments[1:])
    if arguments[0] in ("-V", "--version", "version"):
        from .output import say

        say(f"harbourmaster {VERSION}")
        return OK
    command = _find(arguments[0])
    module = command.load()
    options = _options(command, arguments[1:])
    return OK if options is None else module.run(options)


def _options(command: Command, arguments: list[str]) -> Namespace | None:
    """Parses a command's arguments; None when the help was asked for and given."""
    try:
        # intermixed: A and B of 'compare A [B]' are taken as such with options between them, too
        return parser_of(command).parse_intermixed_args(arguments)
    except SystemExit as end:  # argparse leaves so after it has printed the help
        if end.code:
            raise UsageError(f"{end}") from None
        return None


def parser_of(command: Command) -> ArgumentParser:
    """Makes the parser of a command."""
    module = command.load()
    parser = _Parser(
        prog=f"harbourmaster {command.name}",
        description=module.DESCRIPTION.strip(),
        epilog=_examples(module.EXAMPLES),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    return parser


def _examples(text: str) -> str:
    """Writes examples with the name of a real game: the one whose folder holds most."""
    rules = Path(__file__).parent.parent / "rules"
    games = sorted((-len(list(p.parent.rglob("*.*"))), p.parent.name) for p in rules.glob("*/game.yaml"))
    filled = text.strip("\n").replace("GAME", games[0][1]) if games else text.strip("\n")
    return f"examples:\n{filled}"


def _find(name: str) -> Command:
    command = COMMANDS.get(name)
    if command is not None:
        return command
    from ..grammar.diagnostics import nearest

    near = nearest(name, COMMANDS)
    if name.startswith("-"):
        raise UsageError(f"unknown option {name}", "the command comes first: harbourmaster COMMAND …")
    help = f"did you mean '{near}'?" if near else "'harbourmaster --help' lists the commands"
    raise UsageError(f"no command '{name}'", help)


def _help(arguments: list[str]) -> int:
    from .output import paint, say

    if arguments:
        say(parser_of(_find(arguments[0])).format_help().rstrip())
        return OK
    say("usage: harbourmaster COMMAND …      (harbourmaster COMMAND --help tells more, with examples)")
    for title, commands in GROUPS:
        say(f"\n{paint(title, 'bold')}")
        for command in commands:
            say(f"  {command.name:<10} {command.summary}")
    say(_NAMING)
    return OK


# ----------------------------------------------------------------------------------------------------- errors


def _explain(error: Exception) -> int:
    """Tells what went wrong; gives the exit status."""
    from ..grammar.diagnostics import Diagnostic, RulesError
    from ..interpreter.errors import PlayError
    from .output import fail, show_diagnostics

    match error:
        case UsageError():
            fail(str(error), error.help)
        case RulesError():
            show_diagnostics(error.diagnostics)
        case PlayError(span=None):
            fail(error.message)
        case PlayError():
            assert error.span is not None
            show_diagnostics([Diagnostic(error.code, error.message, error.span)])
        case OSError():
            what = f"{error.filename}: " if error.filename else ""
            fail(f"{what}{(error.strerror or str(error)).lower()}")
        case _:
            return _admit(error)
    return BAD


def _admit(error: Exception) -> int:
    """Tells of a fault of ours, with what is needed to find it."""
    from .output import fail

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f", {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    fail(
        f"this is a fault of ours, not of yours: {type(error).__name__}: {error}{where}",
        "please report it; with HARBOURMASTER_DEBUG=1 in the environment the whole traceback is shown",
    )
    return FAULT


if __name__ == "__main__":
    sys.exit(main())
