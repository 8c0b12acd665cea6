"""Reads scenario files: stories with what must come of them, in a rule author's hands.

Takes a YAML file that is a list of scenarios; gives each as a `Scenario` with its cases: one as written,
and one for every entry of `under`, in which what that entry gives stands in place of the scenario's own.
Everything keeps its place in the file. Refuses what does not fit the schema; whether names, moves and
expressions mean anything, running finds out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ..grammar.diagnostics import Label, Report
from ..grammar.span import Span
from .gamefiles import _fits, available_games, items_of, number_of, rules_folder, text_of, texts_of
from .naming import RuleSetName, quote_path
from .sources import read_source
from .yamlfile import Entry, Mapping, Node, Scalar, Sequence, read_yaml

SCENARIOS = "scenarios"
"""The folder of a game's scenarios."""

KEYS = (
    "offered",
    "not offered",
    "options",
    "decides",
    "over",
    "winner",
    "winners",
    "returns",
    "told",
    "that",
    "perft",
)
"""What may be expected besides the value of an expression."""


class Move(Struct, frozen=True):
    """A move as written: its words, perhaps with the player in front."""

    words: str
    span: Span


class Check(Struct, frozen=True):
    """One thing expected: `kind` is one of KEYS, or "value" for an expression (`text`) that has a value."""

    kind: str
    text: str
    value: Node
    span: Span
    because: Node | None = None


class Step(Struct, frozen=True):
    """A stretch of a story: changes to the position, then moves, then what must hold."""

    span: Span
    changes: tuple[Entry, ...] = ()
    moves: tuple[Move, ...] = ()
    checks: tuple[Check, ...] = ()


class Case(Struct, frozen=True):
    """A story played under one rule set; `under` is the entry it stands for, "" for the scenario itself."""

    name: str
    under: str
    span: Span
    rules: str
    rules_span: Span
    players: int | None
    names: tuple[str, ...]
    players_span: Span
    seed: int
    offers: bool
    chance: tuple[Entry, ...]
    steps: tuple[Step, ...]
    parts: str = ""
    """What of the rule set's name this case adds or changes."""

    @property
    def title(self) -> str:
        """The scenario's name, with what it is played under."""
        return f"{self.name} [under {self.under}]" if self.under else self.name


class Scenario(Struct, frozen=True):
    """One scenario of a file."""

    name: str
    span: Span
    sources: tuple[str, ...]
    note: Node | None
    cases: tuple[Case, ...] = ()


# ------------------------------------------------------------------------------------------------------ files


def scenario_files(what: str | Path) -> list[Path]:
    """Finds the scenario files meant: those of a bundled game by its name, of a folder, or one file, sorted.

    A folder that holds a game stands for its scenarios.
    """
    path = rules_folder() / str(what) if str(what) in available_games() else Path(what)
    if not path.is_dir():
        return [path]
    inside = path / SCENARIOS
    return sorted((inside if inside.is_dir() else path).rglob("*.yaml"))


def load_scenarios(path: str | Path, report: Report | None = None) -> list[Scenario]:
    """Reads the scenarios of a file. Complaints go to `report`; without one they are raised."""
    own = Report() if report is None else report
    before = len(own.diagnostics)
    path = Path(path)
    source = read_source(path, shown_name(path), own)
    root = read_yaml(source, own) if source is not None else None
    found: list[Scenario] = []
    if root is not None and source is not None and len(own.diagnostics) == before:
        if _fits(source, root, "scenario", own) and isinstance(root, Sequence):
            game = game_of(path)
            found = [_scenario(item, game, own) for item in root.items if isinstance(item, Mapping)]
            _refuse_twins(found, own)
        if any(d.severity == "error" for d in own.diagnostics[before:]):
            found = []
    if report is None:
        own.raise_errors()
    return found


def shown_name(path: Path) -> str:
    """Gets the name a scenario file is shown under: from `rules/` on if it is bundled."""
    try:
        return f"rules/{path.resolve().relative_to(rules_folder().resolve()).as_posix()}"
    except ValueError:
        return str(path)


def game_of(path: Path) -> str:
    """Gets the rule set that a file's scenarios are about if they do not say: the game above it, or ""."""
    for folder in path.resolve().parents:
        if (folder / "game.yaml").is_file():
            bundled = folder.parent == rules_folder().resolve()
            return folder.name if bundled else quote_path(str(folder))
    return ""


def _refuse_twins(scenarios: list[Scenario], report: Report) -> None:
    first: dict[str, Scenario] = {}
    for s in scenarios:
        if s.name in first:
            notes = [Label("the first one is here", first[s.name].span)]
            report.error("scenario-twice", f"a second scenario is called '{s.name}'", s.span, notes=notes)
        first.setdefault(s.name, s)


# -------------------------------------------------------------------------------------------------- scenarios


def _get(body: Mapping, key: str) -> Node | None:
    found = body.entries.get(key)
    return None if found is None else found.value


def _scenario(body: Mapping, game: str, report: Report) -> Scenario:
    name_node = body.entries["name"].value
    rules = _get(body, "rules")
    if rules is None and not game:
        message = "the scenario does not say which rules it is about"
        report.error("scenario-rules", message, name_node.span, help="write 'rules: GAME'")
    given = text_of(rules) if rules is not None else game
    rules_span = rules.span if rules is not None else name_node.span
    source = _get(body, "source")
    sources = tuple(text for text, _ in texts_of(source)) or (
        (text_of(source),) if source is not None else ()
    )
    own = _case(text_of(name_node), "", name_node.span, given, rules_span, body, None, report)
    cases = [own]
    under = _get(body, "under")
    for entry in under.entries.values() if isinstance(under, Mapping) else ():
        named = _combined(given, entry, report)
        if named is not None:
            changed = entry.value if isinstance(entry.value, Mapping) else Mapping({}, entry.value.span)
            cases.append(
                _case(own.name, entry.key, entry.key_span, named, entry.key_span, changed, own, report)
            )
    return Scenario(own.name, name_node.span, sources, _get(body, "note"), tuple(cases))


def _combined(rules: str, entry: Entry, report: Report) -> str | None:
    """Names the rules with the parts that an entry of `under` names, each in place of what it sets anew."""
    if not rules:
        return None
    inner = Report()
    name = RuleSetName.parse(rules, inner)
    if inner.has_errors:
        return rules  # told when it is loaded
    added = RuleSetName.parse(f"game+{entry.key.strip().lstrip('+')}", inner)
    if inner.has_errors:
        for d in inner.diagnostics:
            report.error(d.code, d.message, entry.key_span, help=d.help)
        return None
    for part in added.overlays:
        if part.text not in [p.text for p in name.overlays]:
            name = name.with_overlay(part.text)
    for setting in added.settings:
        name = name.with_setting(setting.key, setting.value)
    return name.canonical()


def _case(
    name: str,
    under: str,
    span: Span,
    rules: str,
    rules_span: Span,
    body: Mapping,
    base: Case | None,
    report: Report,
) -> Case:
    players = _get(body, "players")
    chance, seed, offers = _get(body, "chance"), _get(body, "seed"), _get(body, "offers")
    return Case(
        name,
        under,
        span,
        rules,
        rules_span,
        _count(players) if players is not None or base is None else base.players,
        tuple(t for t, _ in texts_of(players)) if players is not None or base is None else base.names,
        players.span if players is not None else base.players_span if base is not None else span,
        number_of(seed, 0 if base is None else base.seed),
        offers.value is True if isinstance(offers, Scalar) else base.offers if base is not None else True,
        _entries(chance) if chance is not None or base is None else base.chance,
        _steps(body, base, span, report),
        under,
    )


def _count(players: Node | None) -> int | None:
    if isinstance(players, Sequence):
        return len(players.items)
    return number_of(players, 0) or None


def _entries(node: Node | None) -> tuple[Entry, ...]:
    return tuple(node.entries.values()) if isinstance(node, Mapping) else ()


def _steps(body: Mapping, base: Case | None, span: Span, report: Report) -> tuple[Step, ...]:
    """Makes the stretches of a story; what is left out is the base's, expectations only with its moves."""
    first = _step(body, span, report)
    later = tuple(
        _step(item, item.span, report) for item in items_of(_get(body, "then")) if isinstance(item, Mapping)
    )
    if base is None:
        return (first, *later)
    kept, *rest = base.steps
    told = body.entries.keys()
    step = Step(
        span,
        first.changes if "set" in told else kept.changes,
        first.moves if "moves" in told else kept.moves,
        first.checks if told & {"expect", "moves"} else kept.checks,
    )
    return (step, *(later if told & {"expect", "moves", "then"} else rest))


def _step(body: Mapping, span: Span, report: Report) -> Step:
    moves = tuple(_moves(_get(body, "moves")))
    return Step(span, _entries(_get(body, "set")), moves, tuple(_checks(_get(body, "expect"), report)))


def _moves(node: Node | None) -> Iterator[Move]:
    for item in items_of(node):
        if isinstance(item, Sequence):
            yield from _moves(item)
        else:
            yield Move(text_of(item), item.span)


def _checks(node: Node | None, report: Report) -> Iterator[Check]:
    for item in items_of(node) or ((node,) if node is not None else ()):
        if isinstance(item, Scalar):
            yield Check("that", "", item, item.span)
        elif isinstance(item, Mapping):
            because = item.entries.get("because")
            if because is not None and "not offered" not in item.entries:
                help = "it tells why a move is not offered: write 'not offered: MOVE' beside it"
                report.error("scenario-because", "'because' stands alone", because.key_span, help=help)
            for entry in item.entries.values():
                if entry.key in KEYS:
                    reason = because.value if because is not None and entry.key == "not offered" else None
                    yield Check(entry.key, "", entry.value, entry.key_span, reason)
                elif entry.key != "because":
                    yield Check("value", entry.key, entry.value, entry.key_span)
