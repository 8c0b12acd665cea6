"""`harbourmaster explain`: tells the long story of a diagnostic's code."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..output import paint, say
from . import UsageError

DESCRIPTION = """
Tells what a complaint means: why the rules or data are not as they must be, and how to mend it. The code
stands in brackets behind the word error or warning. Without a code, lists all codes.
"""
EXAMPLES = """
  harbourmaster explain missing-case
  harbourmaster explain                         # every code, in a line each
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="a code, such as missing-case")


def run(options: Namespace) -> int:
    """Tells about a code, or lists them."""
    from ...grammar.diagnostics import suggestion

    stories = explanations()
    if options.code is None:
        width = max(map(len, stories))
        for code, story in stories.items():
            say(f"{code:<{width}}  {story.partition(chr(10))[0]}")
        return 0
    code = options.code.strip("[]").removeprefix("error[").removeprefix("warning[")
    if code not in stories:
        raise UsageError(f"no diagnostic has the code '{code}'", suggestion(code, stories) or _LIST)
    say(f"{paint(code, 'bold')}: {stories[code].rstrip()}")
    return 0


_LIST = "'harbourmaster explain' lists the codes"


def explanations() -> dict[str, str]:
    """Gets the story of each code, in the order of the alphabet; the first line of a story is its summary."""
    import yaml

    path = Path(__file__).parent.parent.parent / "grammar" / "explanations.yaml"
    stories: dict[str, str] = yaml.load(
        path.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return dict(sorted(stories.items()))
