"""`harbourmaster games`: lists the games that are at hand."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..output import in_language, table
from .common import add_language, language_of

DESCRIPTION = "Lists the games there are, with the numbers of players each is for."
EXAMPLES = """
  harbourmaster games
  harbourmaster games --lang zh-Hans
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_language(parser)


def run(options: Namespace) -> int:
    """Lists the games."""
    from ...interpreter.gamefiles import available_games
    from ...interpreter.load import available_variants, load_ruleset

    language = language_of(options)
    rows = []
    for name in available_games():
        rules = load_ruleset(name)
        least, most = rules.player_counts
        players = f"{least}" if least == most else f"{least}–{most}"
        title = in_language(rules.title, language)
        rows.append([name, title, players, str(len(available_variants(name))), str(len(rules.questions))])
    table(["game", "title", "players", "variants", "questions"], rows, right=(3, 4))
    return 0
