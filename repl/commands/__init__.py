"""The commands, one small module each; this registry is what prints the help and finds them.

A module has `DESCRIPTION` and `EXAMPLES` for its help, `configure(parser)` to declare what it takes, and
`run(options) -> int`, which gives the exit status: 0 fine, 1 a finding, 2 bad use or bad input.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import NamedTuple, Protocol

OK, FINDING, BAD = 0, 1, 2


class UsageError(Exception):
    """Says that a command was used wrongly; `help` tells how to do better."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


class Module(Protocol):
    """What the module of a command holds."""

    DESCRIPTION: str
    EXAMPLES: str

    def configure(self, parser: ArgumentParser) -> None:
        """Declares what the command takes."""

    def run(self, options: Namespace) -> int:
        """Does the work; gives the exit status."""


class Command(NamedTuple):
    """A command: its name and what the list of commands says of it."""

    name: str
    summary: str

    def load(self) -> Module:
        """Imports its module."""
        module: Module = import_module(f".{self.name}", __package__)
        return module


GROUPS: tuple[tuple[str, tuple[Command, ...]], ...] = (
    (
        "Play",
        (
            Command("play", "play a game at this terminal, with friends or bots"),
            Command("host", "open a table that others come to by SSH"),
            Command("replay", "play a recorded game again, checking every step"),
        ),
    ),
    (
        "Look things up",
        (
            Command("games", "list the games there are"),
            Command("variants", "list a game's variants"),
            Command("questions", "list a game's open questions and their readings"),
            Command("sources", "show what each document says to each question"),
            Command("show", "print a rule as it stands, each line with where it came from"),
            Command("diff", "tell what differs between two rule sets"),
            Command("explain", "tell the long story of a diagnostic's code"),
        ),
    ),
    (
        "Write rules",
        (
            Command("new", "start a variant of your own"),
            Command("check", "find mistakes in rules and data"),
            Command("fmt", "lay out rule files in the one way we write them"),
            Command("test", "run scenarios"),
            Command("scenario", "turn a moment of a recorded game into a scenario"),
        ),
    ),
    (
        "Measure",
        (
            Command("compare", "hold two rule sets against each other: a story, and how much it matters"),
            Command("balance", "judge a rule set: fair seats, length, what every move is worth"),
            Command("simulate", "play many games by themselves and add up what comes out"),
            Command("tournament", "play policies against each other and rate them"),
            Command("engine", "referee games for another program, in lines of JSON"),
            Command("perft", "count the sequences of choices up to a depth"),
            Command("positions", "count the different positions within reach"),
            Command("solve", "work out what an ending is worth under best play"),
        ),
    ),
)

COMMANDS: dict[str, Command] = {c.name: c for _, commands in GROUPS for c in commands}
