"""`harbourmaster check`: finds mistakes in rules and data."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ..output import count, paint, say, show_diagnostics
from . import BAD, FINDING, OK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...grammar.diagnostics import Diagnostic, Report
    from ...interpreter.game import Game
    from ...interpreter.yamlfile import Mapping

DESCRIPTION = """
Reads rules and data, checks names, types, ranges, choices, readings and secrets, and prints every complaint
with its place, the line, and how to mend it. Games are checked for every number of players they are for.
Takes names of rule sets, folders of games, files of variants, rules, tables, scenarios; without any, checks
all games that come along. The exit status is 0 when there are no errors, 2 when there are.
"""
EXAMPLES = """
  harbourmaster check                           # all games that come along
  harbourmaster check GAME+VARIANT
  harbourmaster check ./mygame                  # the folder of a game
  harbourmaster check ./mine.yaml               # a variant of your own
  harbourmaster check GAME --variants           # the game, and each of its variants
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument("what", nargs="*", metavar="WHAT", help="a rule set, a folder or a file")
    parser.add_argument("--variants", action="store_true", help="also with each variant of the game")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when there are warnings")


def run(options: Namespace) -> int:
    """Checks, and prints what was found."""
    from ...grammar.diagnostics import Report
    from ...interpreter.gamefiles import available_games

    report = Report()
    notes: list[str] = []
    for what in options.what or available_games():
        for name in _targets(what, report):
            notes += check_ruleset(name, report)
            if options.variants and "+" not in name:
                for variant in _variants(name):
                    notes += check_ruleset(f"{name}+{variant}", report)
    found = _each_once(report.sorted())
    show_diagnostics(found, sys.stdout)
    for note in notes:
        say(note)
    errors, warnings = _count(found)
    said = [count(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    style = "red" if errors else "yellow" if warnings else "green"
    say(paint(", ".join(said) or "no complaints", style))
    if errors:
        return BAD
    return FINDING if warnings and options.strict else OK


def _each_once(found: list[Diagnostic]) -> list[Diagnostic]:
    """Leaves out what is told already: of a file read twice the places are not the same object."""
    once: dict[tuple[str, ...], Diagnostic] = {}
    for d in found:
        once.setdefault((str(d), *(f"{n.text} {n.span}" for n in d.notes)), d)
    return list(once.values())


def _count(found: list[Diagnostic]) -> tuple[int, int]:
    errors = sum(d.severity == "error" for d in found)
    return errors, len(found) - errors


# -------------------------------------------------------------------------------------------------- rule sets


def check_ruleset(name: str, report: Report) -> list[str]:
    """Checks a rule set for every number of players; gives a line that says for which it is fine."""
    from ...grammar.diagnostics import Report, RulesError
    from ...interpreter.compile import compile_game
    from ...interpreter.load import load_ruleset

    own = Report()
    try:
        rules = load_ruleset(name, report=own)
    except RulesError as error:
        report.diagnostics += error.diagnostics
        return []
    least, most = rules.player_counts
    fine: list[int] = []
    for players in range(least, most + 1):
        part = Report()
        try:
            game = compile_game(name, players, (), {}, True, part)
            if _try_out(game, part):
                fine.append(players)
        except RulesError as error:
            part.diagnostics += error.diagnostics
        own.diagnostics += part.diagnostics
    try:
        if fine:
            _check_view(name, fine[0], own)
        _check_rest(name, own)
    except RulesError as error:
        own.diagnostics += error.diagnostics
    report.diagnostics += own.diagnostics
    if not fine:
        return []
    numbers = f"{', '.join(map(str, fine[:-1]))} and {fine[-1]}" if len(fine) > 1 else f"{fine[0]}"
    return [f"{rules.canonical}: fine for {numbers} player{'' if fine == [1] else 's'}"]


_TRIED_CHOICES = 200


def _try_out(game: Game, report: Report) -> bool:
    """Plays the beginning of a game by chance, for what only shows when rules run, such as a loop without end."""
    import random

    from ...grammar.diagnostics import Report
    from ...interpreter.blame import blame_changes
    from ...interpreter.errors import BrokenRule

    rng = random.Random(1)
    try:
        state = game.new_initial_state(seed=1)
        for _ in range(_TRIED_CHOICES):
            if state.is_terminal():
                break
            state.apply_action(rng.choice(state.legal_actions()))
    except BrokenRule as error:
        if error.span is None:
            raise
        own = Report()
        own.error(error.code, f"played at random, {error.message}", error.span)
        report.diagnostics += blame_changes(own.diagnostics, game.checked().rules)
        return False
    return True


def _check_view(name: str, players: int, report: Report) -> None:
    """Checks the view against the rules."""
    from ...interpreter.game import load_game
    from ..view_check import check_view

    check_view(load_game(name, players=players), report)


def _check_rest(name: str, report: Report) -> None:
    """Checks what the rules do not depend on: the view and the sources."""
    from ...interpreter.gamefiles import Files, Folder
    from ...interpreter.load import load_ruleset
    from ...interpreter.view_files import load_view

    load_view(name, report)
    rules = load_ruleset(name)
    if rules.sources is not None:
        shown = rules.layers[0].span.source.name.rpartition("/")[0]
        Files(report).yaml(Folder(rules.sources.parent, shown), rules.sources.name, "sources")


def _variants(name: str) -> tuple[str, ...]:
    from ...grammar.diagnostics import RulesError
    from ...interpreter.load import available_variants

    try:
        return available_variants(name)
    except RulesError:
        return ()


# ------------------------------------------------------------------------------------------------------ files


def _targets(what: str, report: Report) -> Iterator[str]:
    """Finds the rule sets to check for an argument; a file that is no rule set is checked here."""
    path = Path(what)
    if "+" in what or not (path.is_file() or path.is_dir()):
        yield what
    elif path.is_dir():
        yield from _targets_of_folder(path)
    elif path.name == "game.yaml":
        yield _named(path.parent)
    elif path.suffix == ".rules":
        yield from _target_of_rules(path, report)
    else:
        yield from _target_of_data(path, report)


def _named(folder: Path) -> str:
    from ...interpreter.naming import quote_path

    return quote_path(str(folder))


def _targets_of_folder(folder: Path) -> Iterator[str]:
    """Finds the games in a folder, or, where there are none, the variants."""
    if (folder / "game.yaml").is_file():
        yield _named(folder)
        return
    games = sorted(folder.glob("*/game.yaml"))
    if games:
        yield from (_named(game.parent) for game in games)
        return
    variants = [name for path in sorted(folder.glob("*.yaml")) if (name := _variant(path))]
    if variants:
        yield from variants
    else:
        yield _named(folder)  # which says that no game is there


def _variant(path: Path) -> str | None:
    """Gets the rule set that a file of a variant makes with the game it is for; None for other files."""
    from ...grammar.diagnostics import Report
    from ...interpreter.gamefiles import available_games, entry, text_of
    from ...interpreter.naming import quote_path

    root = _mapping(path, Report())
    if root is None or not _is_variant(root):
        return None
    game = text_of(entry(root, "for"))
    if game not in available_games() or path.resolve().parent.name == "variants":
        above = path.resolve().parent.parent
        if (above / "game.yaml").is_file():
            return f"{_named(above)}+{quote_path(str(path))}"
    return f"{game}+{quote_path(str(path))}" if game in available_games() else None


def _mapping(path: Path, report: Report) -> Mapping | None:
    from ...interpreter.sources import read_source
    from ...interpreter.yamlfile import Mapping, read_yaml

    source = read_source(path, str(path), report)
    root = read_yaml(source, report) if source is not None else None
    return root if isinstance(root, Mapping) else None


def _is_variant(root: Mapping) -> bool:
    """Tests if a file is, or is meant to be, a variant: no other sort of file has these keys at its top."""
    return not {"variant", "for", "patch", "set"}.isdisjoint(root.entries) and "game" not in root.entries


def _target_of_rules(path: Path, report: Report) -> Iterator[str]:
    """Checks a rule file: with the game or the variant it belongs to, or, without one, its grammar alone."""
    folder = path.resolve().parent
    if (folder / "game.yaml").is_file():
        yield _named(folder if path.is_absolute() else path.parent)
        return
    for other in sorted(path.parent.glob("*.yaml")):
        if path.name in other.read_text("utf-8", "replace"):
            name = _variant(other)
            if name is not None:
                yield name
                return
    from ...grammar.parser import parse_rules
    from ...interpreter.sources import read_source

    source = read_source(path, str(path), report)
    if source is not None:
        parse_rules(source, report)


def _check_lost_variant(root: Mapping, report: Report) -> None:
    """Checks a variant whose game is not said, or not to be found."""
    from ...grammar.diagnostics import suggestion
    from ...interpreter.gamefiles import available_games, entry, text_of
    from ...interpreter.schema import validate

    validate(root, "variant", report)
    game = entry(root, "for")
    if game is not None and text_of(game):
        help = suggestion(text_of(game), available_games(), what="the games that come along are")
        report.error("unknown-game", f"no game '{text_of(game)}'", game.span, help=help)


_MODELINE = "yaml-language-server: $schema="


def _target_of_data(path: Path, report: Report) -> Iterator[str]:
    """Checks a YAML file: a variant with its game, a file of a game with that, any other against its
    schema."""
    name = _variant(path)
    if name is not None:
        yield name
        return
    for folder in (path.resolve().parent, path.resolve().parent.parent):
        if (folder / "game.yaml").is_file():
            if folder.name != "scenarios" and path.resolve().parent.name != "scenarios":
                yield _named(folder)
                return
            break
    from ...interpreter.schema import validate
    from ...interpreter.sources import read_source
    from ...interpreter.yamlfile import Mapping, read_yaml

    source = read_source(path, str(path), report)
    root = read_yaml(source, report) if source is not None else None
    if source is None or root is None:
        return
    schema = _schema(source.text, path)
    if isinstance(root, Mapping) and _is_variant(root):
        _check_lost_variant(root, report)
        return
    if schema == "scenario":
        from ...interpreter.scenario_files import load_scenarios

        load_scenarios(path, report)
    elif schema:
        validate(root, schema, report)
    elif not report.has_errors:
        from . import UsageError

        raise UsageError(
            f"{path} does not say what sort of file it is",
            f"write as its first line: # {_MODELINE}…/variant.json",
        )


def _schema(text: str, path: Path) -> str:
    head = text.partition(_MODELINE)
    if head[1]:
        return Path(head[2].split("\n")[0].strip()).stem
    return "scenario" if path.resolve().parent.name == "scenarios" else ""
