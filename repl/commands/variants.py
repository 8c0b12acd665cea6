"""`harbourmaster variants`: lists a game's variants, or tells all about one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import in_language, paint, say, table, wrap
from . import UsageError
from .common import add_language, add_ruleset, language_of

if TYPE_CHECKING:
    from ...interpreter.overlay import Overlay

DESCRIPTION = """
Lists the variants of a game; with a name, tells what that variant changes, what it requires and what it
cannot be played with. A variant is chosen by adding its name to the game's: GAME+VARIANT.
"""
EXAMPLES = """
  harbourmaster variants GAME
  harbourmaster variants GAME VARIANT
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser, help="a game")
    parser.add_argument("variant", nargs="?", metavar="VARIANT", help="tell all about this one")
    add_language(parser)


def run(options: Namespace) -> int:
    """Lists the variants, or tells about one."""
    from ...grammar.diagnostics import suggestion
    from ...interpreter.load import available_variants

    language = language_of(options)
    game = options.ruleset.split("+")[0]
    names = available_variants(game)
    if options.variant is None:
        overlays = [_overlay(game, name) for name in names]
        rows = [[o.name, _said(o, "title", language), _said(o, "says", language)] for o in overlays]
        table(["variant", "title", "what it does"], rows)
        return 0
    if options.variant not in names:
        help = suggestion(options.variant, names, what="its variants are")
        help = help or f"harbourmaster variants {game} lists them"
        raise UsageError(f"{game} has no variant '{options.variant}'", help)
    _tell(game, _overlay(game, options.variant), language)
    return 0


def _overlay(game: str, name: str) -> Overlay:
    """Reads a variant's file, and those it requires. Raises `RulesError`."""
    from ...grammar.diagnostics import Report
    from ...interpreter.gamefiles import GAME_FILE, Files, find_game
    from ...interpreter.naming import RuleSetName
    from ...interpreter.overlay import read_stack

    report = Report()
    named = RuleSetName.parse(f"{game}+{name}")
    folder = find_game(named.game.path, named.game.span, report)
    assert folder is not None
    files = Files(report)
    root = files.yaml(folder, GAME_FILE, "game")
    overlays = read_stack(named, root, folder, files, report) if root is not None else []
    report.raise_errors()
    return next(o for o in overlays if o.name == name)


def _said(overlay: Overlay, key: str, language: str) -> str:
    from ...interpreter.gamefiles import entry, words_of

    return in_language(words_of(entry(overlay.root, key)), language)


def _tell(game: str, overlay: Overlay, language: str) -> None:
    from ...interpreter.gamefiles import entry, text_of, texts_of
    from ...interpreter.yamlfile import plain

    say(paint(f"{game}+{overlay.name}", "bold") + f"  {_said(overlay, 'title', language)}")
    for key in ("says", "note"):
        text = _said(overlay, key, language)
        if text:
            say(wrap(text, indent="  "))
    least, most = overlay.player_range(0, 99)
    if (least, most) != (0, 99):
        say(f"  for {least or 'any'} to {most if most < 99 else 'any'} players")
    for mention in overlay.requires:
        say(f"  requires {mention.name}")
    for mention in overlay.conflicts:
        say(f"  cannot be played with {mention.name}" + (f": {mention.reason}" if mention.reason else ""))
    for key in ("set", "patch"):
        for item in overlay.entries(key):
            say(f"  {key} {item.key} to {_written(plain(item.value))}   {paint(str(item.key_span), 'dim')}")
    for text, _ in texts_of(entry(overlay.root, "rules")):
        say(f"  rules in {overlay.folder.shown}/{text}")
    questions = entry(overlay.root, "questions")
    if questions is not None:
        say(f"  questions of its own in {overlay.folder.shown}/{text_of(questions)}")
    cited = [text for text, _ in texts_of(entry(overlay.root, "sources"))]
    if cited:
        say(f"  told by {', '.join(cited)}")


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)
