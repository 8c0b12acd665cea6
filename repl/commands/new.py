"""`harbourmaster new`: starts a variant or a game of your own."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ..output import say
from . import UsageError

if TYPE_CHECKING:
    from ...interpreter.ruleset import RuleSet

DESCRIPTION = """
Writes the files of a new variant, with examples in comments that fit the game, so that you only have to
change them; or those of a new game, small and for two. Both can be checked and played at once.
"""
EXAMPLES = """
  harbourmaster new variant my-rules --for GAME
  harbourmaster new variant my-rules --for GAME --rules           # with a file for rules
  harbourmaster new game my-game                                  # a folder with a whole small game
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("kind", choices=("variant", "game"), metavar="variant|game", help="what to start")
    parser.add_argument("name", metavar="NAME", help="its name, small letters with dashes")
    parser.add_argument("--for", dest="ruleset", metavar="GAME", help="for a variant: the game it changes")
    parser.add_argument("--rules", action="store_true", help="also a file for rules")
    parser.add_argument("--folder", default=".", metavar="FOLDER", help="where to (default: here)")


def run(options: Namespace) -> int:
    """Writes the files."""
    from ...interpreter.load import available_variants, load_ruleset
    from ...interpreter.naming import quote_path

    name, folder = options.name, Path(options.folder)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            f"'{name}' cannot be the name of a {options.kind}",
            "write small letters and digits with dashes between",
        )
    if options.kind == "game":
        return _new_game(name, folder)
    if options.ruleset is None:
        raise UsageError("a variant is for a game", "add --for GAME")
    rules = load_ruleset(options.ruleset)
    if name in available_variants(options.ruleset.split("+")[0]):
        raise UsageError(f"{rules.game} has a variant '{name}' already", "choose another name")
    files = {folder / f"{name}.yaml": _data(name, rules, with_rules=options.rules)}
    if options.rules:
        files[folder / f"{name}.rules"] = _rules(name, rules)
    for path in files:
        if path.exists():
            raise UsageError(f"'{path}' is there already", "choose another name or folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, "utf-8")
        say(f"wrote {path}")
    called = f"{options.ruleset}+{quote_path(str(folder / f'{name}.yaml'))}"
    say("\nNow change it, and then:")
    for command in ("check", "diff", "play", "simulate"):
        both = f"{options.ruleset} {called}" if command == "diff" else called
        say(f"  harbourmaster {command} {both}")
    return 0


def _new_game(name: str, folder: Path) -> int:
    from .new_game import files

    home = folder / name
    if home.exists():
        raise UsageError(f"'{home}' is there already", "choose another name or folder")
    for path, text in files(name).items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, "utf-8")
        say(f"wrote {home / path}")
    called = home if home.is_absolute() else f"./{home}"
    say("\nNow change it, and then:")
    for command in ("check", "test", "play", "simulate"):
        say(f"  harbourmaster {command} {called}")
    return 0


def _data(name: str, rules: RuleSet, *, with_rules: bool) -> str:
    from ...interpreter.comparing.differences import shown as as_written
    from ...interpreter.gamefiles import rules_folder

    schema = rules_folder() / "schema" / "variant.json"
    title = name.replace("-", " ").capitalize()
    out = [
        f"# yaml-language-server: $schema={schema}",
        f"# A variant of {rules.game}. Lines that begin with # are comments: without the # they count.",
        f"variant: {name}",
        f"for: {rules.game}",
        f"title: {{en: {title}}}",
        "says:",
        "  en: What this variant changes, in one sentence.",
    ]
    question = next((q for q in rules.questions.values() if len(q.readings) > 1 and not q.only_with), None)
    record = next(((r.name, k, c) for r in rules.records.values() for k, c in r.cells.items()), None)
    if question is not None or record is not None:
        out += ["", "# set:                       # questions to read otherwise, and constants to change"]
    if question is not None:
        other = next(r for r in question.readings if r != question.chosen)
        shown = f'"{other}"' if other in ("yes", "no") else other
        out.append(f"#   {question.name}: {shown}   # now {question.chosen}")
    if record is not None:
        out.append(f"#   {record[0]}.{record[1]}: {as_written(record[2].value)}")
    cell = next(
        (
            (f"{t.name}.{entry}.{attribute}", cells[entry])
            for t in rules.tables.values()
            for attribute, cells in t.cells.items()
            for entry in t.enum.entries
            if isinstance(cells[entry].value, int)
        ),
        None,
    )
    if cell is not None:
        out += [
            "",
            "# patch:                     # entries of tables to change",
            f"#   {cell[0]}: {as_written(cell[1].value)}",
        ]
    out += (
        ["", f"rules: [{name}.rules]"]
        if with_rules
        else ["", f"# rules: [{name}.rules]    # a file for rules of its own"]
    )
    return "\n".join(out) + "\n"


def _rules(name: str, rules: RuleSet) -> str:
    from ...grammar import tree

    nodes = [d.node for d in rules.definitions]
    rule = next((n.name.text for n in nodes if isinstance(n, tree.Rule)), "RULE")
    move = next((n.name.text for n in nodes if isinstance(n, tree.Move)), "MOVE")
    return f"""\
# What '{name}' changes in the rules of {rules.game}; 'harbourmaster show {rules.game}' lists them.
#
# before rule {rule}:
#     tell "a new rule acts"
#
# after move {move}:
#     tell "a move was made"
#
# replace move {move}:
#     says "…"
#     needs …                                    else "why it is not allowed"
"""
