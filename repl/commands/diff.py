"""`harbourmaster diff`: tells what differs between two rule sets."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import paint, say, wrap
from . import FINDING, OK, UsageError
from .common import add_players, add_ruleset

if TYPE_CHECKING:
    from ...grammar.span import Span
    from ...interpreter.comparing.differences import Difference, Given

DESCRIPTION = """
Tells what differs between two rule sets of a game: which questions they read differently, which figures they
print differently, and which rules, moves and defines are built differently, with both places and the lines
that turn on it. Comments and layout make no difference; sentences are told apart. The exit status is 0 when
nothing differs that could matter, 1 when something does.
"""
EXAMPLES = """
  harbourmaster diff GAME GAME+VARIANT
  harbourmaster diff GAME GAME+QUESTION=READING
  harbourmaster diff GAME GAME+./mine.yaml --brief      # without lines and sayings
"""

_TITLES = {
    "players": "numbers of players",
    "reading": "readings",
    "value": "figures",
    "entry": "tables",
    "definition": "rules",
}


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser, "a", metavar="A")
    add_ruleset(parser, "b", metavar="B")
    add_players(parser, help="how many play (default: the fewest that both allow)")
    parser.add_argument("--brief", action="store_true", help="tell names, values and places, nothing else")


def run(options: Namespace) -> int:
    """Compares, and tells."""
    from ...interpreter.comparing.differences import compare_names

    try:
        found = compare_names(options.a, options.b, options.players)
    except ValueError as error:
        raise UsageError(str(error)) from None
    told = ""
    for d in found.items:
        title = _TITLES[d.kind]
        if title != told:
            say(("\n" if told else "") + paint(title, "bold"))
            told = title
        _tell(d, brief=options.brief)
    if found.words:
        say(("\n" if told else "") + paint("sentences", "bold"))
        for d in found.words:
            _tell(d, brief=options.brief)
    if found.items or found.words:
        say()
    say(f"{found.a} and {found.b}, {found.players} players: {found.verdict()}")
    return OK if found.none else FINDING


def _tell(d: Difference, *, brief: bool) -> None:
    is_rule = d.kind == "definition"
    if d.a is not None and d.b is not None:
        values = "" if is_rule else f": {d.a.text} → {d.b.text}"
    else:
        given = d.a or d.b
        assert given is not None
        where = "first" if d.a is not None else "second"
        values = f": only in the {where}" + ("" if is_rule else f", {given.text}")
    say(f"  {d.name}{values}")
    for sign, given in (("-", d.a), ("+", d.b)):
        if given is not None:
            _tell_side(sign, given, brief=brief)
    if d.idle:
        say(f"    no effect: {d.idle}")
    if brief:
        return
    for change in d.changes:
        if d.kind != "definition":
            span = change.a or change.b
            assert span is not None
            say(paint(f"    used at {span}  {_line(span)}", "dim"))
            continue
        for sign, span in (("-", change.a), ("+", change.b)):
            if span is not None:
                style = "red" if sign == "-" else "green"
                say(f"      {paint(f'{sign} {_line(span)}', style)}   {paint(str(span), 'dim')}")


def _tell_side(sign: str, given: Given, *, brief: bool) -> None:
    layer = f" ({given.layer})" if given.layer else ""
    if given.span is not None:
        say(paint(f"    {sign} {given.span}{layer}", "dim"))
    if given.says and not brief:
        told = f" ({', '.join(given.sources)})" if given.sources else ""
        say(wrap(given.says + told, indent="        "))


def _line(span: Span) -> str:
    first, *rest = span.text.strip().split("\n")
    return f"{first} …" if rest else first
