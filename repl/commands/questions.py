"""`harbourmaster questions`: lists a game's open questions, or tells all about one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import in_language, paint, say, table, wrap
from . import UsageError
from .common import add_language, add_ruleset, language_of

if TYPE_CHECKING:
    from ...interpreter.ruleset import Question

DESCRIPTION = """
Lists the points that a game's rules leave open, with the readings of each; the one that holds in the rule set
named is marked. With the name of a question, tells what each reading says and which document says so. A
reading is chosen by adding it to the game's name: GAME+QUESTION=READING.
"""
EXAMPLES = """
  harbourmaster questions GAME
  harbourmaster questions GAME+VARIANT          # as they stand under a variant
  harbourmaster questions GAME NAME             # all about one
  harbourmaster questions GAME --lang zh-Hant
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument("name", nargs="?", metavar="NAME", help="tell all about this question")
    add_language(parser)


def run(options: Namespace) -> int:
    """Lists the questions, or tells about one."""
    from ...grammar.diagnostics import suggestion
    from ...interpreter.load import load_ruleset

    language = language_of(options)
    rules = load_ruleset(options.ruleset)
    if options.name is None:
        arising = rules.arising()
        rows = [[q.name, _marked(q), in_language(q.asks, language)] for q in arising]
        table(["question", "readings (* holds)", "asks"], rows)
        others = [q.name for q in rules.questions.values() if q not in arising]
        if others:
            say()
            say(wrap(f"these do not arise here: {', '.join(others)}"))
        return 0
    name = options.name.replace("_", "-")
    question = rules.questions.get(name)
    if question is None:
        help = suggestion(name, rules.questions, what="its questions are")
        help = help or f"harbourmaster questions {options.ruleset} lists them"
        raise UsageError(f"{rules.game} has no question '{options.name}'", help)
    _tell(question, language)
    return 0


def _marked(question: Question) -> str:
    return " ".join(("*" if r == question.chosen else "") + r for r in question.readings)


def _tell(question: Question, language: str) -> None:
    say(f"{paint(question.name, 'bold')}   {paint(str(question.span), 'dim')}")
    say(wrap(in_language(question.asks, language)))
    for reading in question.readings.values():
        holds = reading.name == question.chosen
        words = [w for w, yes in (("holds", holds), ("base", reading.name == question.base)) if yes]
        mark = "*" if holds else " "
        say()
        say(f"{mark} {paint(reading.name, 'bold')}" + (f"   ({', '.join(words)})" if words else ""))
        say(wrap(in_language(reading.says, language), indent="    "))
        if reading.sources:
            say(wrap(f"told by {', '.join(reading.sources)}", indent="    "))
        else:
            say("    told by no document")
    if question.only_with or question.players:
        say()
    if question.only_with:
        say(f"arises only with {' or '.join(question.only_with)}")
    if question.players:
        say(f"arises only with {', '.join(map(str, question.players))} players")
    for key, reason in question.not_with.items():
        say(f"does not arise with {key}: {reason}")
    if question.note:
        say()
        say(wrap(question.note))
