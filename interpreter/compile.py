"""The way from a rule set's name to a game that runs: load, check, lower, keep.

What was made is kept in the user's cache under a fingerprint of the files, so that the second time nothing is parsed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..grammar.diagnostics import Report
from . import cache
from .blame import blame_changes
from .check import check
from .game import Compiled, Game
from .labels import LANGUAGES, Labels
from .load import compose_name, load_labels, load_ruleset, source_fingerprint
from .lower import lower
from .symbols import Checked


def check_rules(name: str, players: int | None, report: Report) -> Checked:
    """Loads and checks a rule set. Raises `RulesError`."""
    rules = load_ruleset(name, players=players, report=report)
    own = Report()
    checked = check(rules, own)
    report.diagnostics += blame_changes(own.diagnostics, rules)
    report.raise_errors()
    return checked


def compile_game(
    name: str,
    players: int | None,
    variants: Sequence[str],
    readings: Mapping[str, str],
    offers: bool,
    report: Report,
) -> Game:
    """Makes a game, from the cache if it is there. Raises `RulesError`."""
    full = str(compose_name(name, variants, readings))
    fingerprint = source_fingerprint(full, players)
    key = cache.key(fingerprint, "offers" if offers else "no offers")
    compiled = cache.load(key, "program")
    if isinstance(compiled, Compiled):
        report.diagnostics += compiled.warnings
        return Game(compiled, full, key, offers=offers)
    checked = check_rules(full, players, report)
    rules = checked.rules
    lowering = Report()
    program = lower(checked, lowering, offers=offers)
    report.diagnostics += blame_changes(lowering.diagnostics, rules)
    report.raise_errors()
    labels = load_labels(full)
    for language in LANGUAGES:
        labels.setdefault(language, Labels(language)).players = checked.player.entries
    compiled = Compiled(
        program,
        rules.canonical,
        rules.content_hash,
        rules.title,
        checked.player.entries,
        rules.player_counts,
        labels,
        report.sorted(),
    )
    cache.store(key, "program", compiled)
    cache.store(key, "checked", checked)
    game = Game(compiled, full, key, offers=offers)
    game._checked = checked
    return game
