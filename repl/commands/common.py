"""Arguments that several commands take, read in one way."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from ..output import LANGUAGES
from . import UsageError


def add_ruleset(
    parser: ArgumentParser, name: str = "ruleset", *, metavar: str = "GAME", help: str = ""
) -> None:
    """Adds the name of a rule set."""
    parser.add_argument(name, metavar=metavar, help=help or "a rule set: GAME+VARIANT+QUESTION=READING …")


def add_language(parser: ArgumentParser) -> None:
    """Adds the language to speak."""
    parser.add_argument(
        "--lang", metavar="LANG", help="en, zh-Hans or zh-Hant (default: that of the terminal)"
    )


def language_of(options: Namespace) -> str:
    """Gets the language to speak."""
    from ..texts import find_language, language_of_surroundings

    if not options.lang:
        return language_of_surroundings()
    found = find_language(options.lang)
    if found is None:
        raise UsageError(
            f"the language '{options.lang}' is not known", f"the languages are {', '.join(LANGUAGES)}"
        )
    return found


def add_players(
    parser: ArgumentParser, *, help: str = "how many play (default: the fewest the rules allow)"
) -> None:
    """Adds the number of players."""
    parser.add_argument("--players", type=whole, metavar="N", help=help)


def refuse_settled(options: Namespace, what: str) -> None:
    """Refuses what is settled already where something kept goes on. Raises `UsageError`."""
    for name in ("seats", "players", "seed"):
        if getattr(options, name) not in (None, []):
            raise UsageError(f"--{name} is settled already for a {what} that goes on")


def whole(text: str) -> int:
    """Reads a number from 1."""
    return _number(text, 1)


def natural(text: str) -> int:
    """Reads a number from 0."""
    return _number(text, 0)


def _number(text: str, least: int) -> int:
    try:
        number = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise ArgumentTypeError(f"got '{text}', want a whole number") from None
    if number < least:
        raise ArgumentTypeError(f"got {number}, want at least {least}")
    return number


def seconds(text: str) -> float:
    """Reads a time in seconds, up to a minute."""
    try:
        number = float(text)
    except ValueError:
        raise ArgumentTypeError(f"got '{text}', want a number of seconds") from None
    if not 0 <= number <= 60:
        raise ArgumentTypeError(f"got {text}, want 0 to 60")
    return number
