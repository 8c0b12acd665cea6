"""Loads rule sets: files and overlays to the model that the checker and the lowering read.

Takes the name of a rule set (`naming.py`) and a number of players; gives a `RuleSet`, or raises
`RulesError` with the complaints about all files. Order: the game's file, overlays, tables, questions,
rules; then the overlays are applied and the names checked. Refuses numbers of players that the game or an
overlay is not for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping as MappingOf
from collections.abc import Sequence as SequenceOf
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Span
from .gamefiles import (
    GAME_FILE,
    Files,
    Folder,
    available_games,
    entry,
    find_game,
    mapping_of,
    number_of,
    text_of,
    texts_of,
    variant_names,
    words_of,
)
from .naming import RuleSetName, quote_path
from .overlay import Overlay, read_stack
from .patches import Data
from .questions import read_questions
from .ruleset import Budget, Change, Layer, Record, RuleSet, Table
from .tables import Seats, fill_products, read_tables
from .yamlfile import Mapping

if TYPE_CHECKING:
    from ..grammar import tree
    from .labels import Labels

__all__ = [
    "available_games",
    "available_variants",
    "compose_name",
    "load_labels",
    "load_ruleset",
    "source_fingerprint",
]


def load_ruleset(
    name: str | RuleSetName,
    *,
    players: int | None = None,
    readings: MappingOf[str, str] | None = None,
    variants: SequenceOf[str] = (),
    report: Report | None = None,
) -> RuleSet:
    """Loads a rule set for `players` players (None: the fewest it allows).

    `variants` and `readings` are added to the name. Warnings go to `report`; errors raise `RulesError`.
    """
    own = Report()
    rules = _load(compose_name(name, variants, readings or {}), players, own)
    own.raise_errors()
    assert rules is not None
    if report is not None:
        report.diagnostics.extend(own.diagnostics)
    return rules


def available_variants(game: str) -> tuple[str, ...]:
    """Gets the names of a game's variants; the game is a bundled name or a path."""
    report = Report()
    name = RuleSetName.parse(game)
    folder = find_game(name.game.path, name.game.span, report)
    report.raise_errors()
    assert folder is not None
    return variant_names(folder)


def compose_name(
    name: str | RuleSetName, variants: SequenceOf[str] = (), readings: MappingOf[str, str] | None = None
) -> RuleSetName:
    """Adds variants and readings to a name; a contradiction is an error."""
    settings = [f"{key}={value}" for key, value in (readings or {}).items()]
    if isinstance(name, RuleSetName) and not variants and not settings:
        return name
    text = name.source.text if isinstance(name, RuleSetName) else name
    return RuleSetName.parse("+".join([text, *variants, *settings]))


def source_fingerprint(name: str | RuleSetName, players: int | None = None) -> str:
    """Makes a key of everything a rule set and its labels are loaded from, without parsing its rules.

    Equal fingerprints mean equal rule sets and labels; the same rules under two names may have two. Raises
    `RulesError` when the game's file or an overlay's cannot be read.
    """
    parsed = compose_name(name)
    report = Report()
    files = Files(report)
    game = _read_game(parsed, players, files, report)
    report.raise_errors()
    assert game is not None
    made = hashlib.sha256(f"{parsed.canonical()}\n{game.seats}\n".encode())
    for key, text in files.used:
        _add_file(made, key, text.encode())
    for folder, root in game.layers():
        for files_of in (_rule_files, _data_files, _label_files):
            for file, _ in files_of(root):
                _add_path(made, folder, file)
    return made.hexdigest()[:16]


def load_labels(name: str | RuleSetName) -> dict[str, Labels]:
    """Loads the labels of a rule set by language, an overlay's over those below it.

    Raises `RulesError`.
    """
    from .labels import Labels

    report = Report()
    files = Files(report)
    game = _read_game(compose_name(name), None, files, report)
    found: dict[str, Labels] = {}
    for folder, root in game.layers() if game is not None else ():
        for language, node in mapping_of(entry(root, "labels")):
            labels = files.yaml(folder, text_of(node), "labels", node.span)
            if labels is None:
                continue
            said = labels.entries["language"].value
            if text_of(said) != language:
                notes = [Label("its file is named here", node.span)]
                message = f"the labels are in '{text_of(said)}', want '{language}'"
                report.error("labels-language", message, said.span, notes=notes)
            made = found.setdefault(language, Labels(language))
            made.names.update((key, text_of(n)) for key, n in mapping_of(entry(labels, "names")))
            made.sentences.update((key, text_of(n)) for key, n in mapping_of(entry(labels, "sentences")))
    report.raise_errors()
    return found


def _add_path(made: hashlib._Hash, folder: Folder, file: str) -> None:
    try:
        data = (folder.path / file).read_bytes()
    except OSError:
        data = b""
    _add_file(made, folder.key + file, data)


def _add_file(made: hashlib._Hash, key: str, data: bytes) -> None:
    made.update(f"{key} {len(data)}\n".encode())
    made.update(data)


# --------------------------------------------------------------------------------------------------- the game


class _Game(Struct):
    """What the game's own file and the overlays' files say, before anything else is read."""

    folder: Folder
    root: Mapping
    overlays: list[Overlay]
    seats: Seats
    counts: tuple[int, int]

    @property
    def name(self) -> str:
        return text_of(entry(self.root, "game"))

    def layers(self) -> list[tuple[Folder, Mapping]]:
        """Gets folder and file of the game and of each overlay, from the lowest to the highest."""
        return [(self.folder, self.root), *((o.folder, o.root) for o in self.overlays)]


def _read_game(name: RuleSetName, players: int | None, files: Files, report: Report) -> _Game | None:
    folder = find_game(name.game.path, name.game.span, report)
    if folder is None:
        return None
    root = files.yaml(folder, GAME_FILE, "game")
    if root is None:
        return None
    game = text_of(entry(root, "game"))
    if folder.bundled and game != folder.bundled:
        at = root.entries["game"].value.span
        message = f"the game is called '{game}', its folder '{folder.bundled}'"
        report.error("game-folder-name", message, at, help="give both one name")
    overlays = read_stack(name, root, folder, files, report)
    counts_node = entry(root, "players")
    assert isinstance(counts_node, Mapping)
    least, most = (number_of(entry(counts_node, key), 1) for key in ("least", "most"))
    if least > most:
        message = f"the game is for at least {least} and at most {most} players"
        report.error("players-range", message, counts_node.span, help="'least' is not more than 'most'")
        return None
    counts = _player_range(game, least, most, overlays, report)
    wanted = _count_players(game, players, counts, (least, most), counts_node.span, overlays, report)
    return _Game(folder, root, overlays, Seats(wanted, least, most), counts)


def _player_range(
    game: str, least: int, most: int, overlays: list[Overlay], report: Report
) -> tuple[int, int]:
    """Narrows the numbers of players to those that every overlay is for."""
    low, high = least, most
    for overlay in overlays:
        narrowed = overlay.player_range(low, high)
        if narrowed[0] > narrowed[1]:
            given, below = _range(*overlay.player_range(1, 99)), _range(low, high)
            report.error(
                "overlay-players",
                f"'{overlay.name}' is for {given}, what lies below it for {below}",
                overlay.root.entries["players"].value.span,
                notes=[Label("it is asked for here", overlay.named_at)],
            )
            continue
        low, high = narrowed
    return low, high


def _range(low: int, high: int) -> str:
    if low == high:
        return f"{low} player{'' if low == 1 else 's'}"
    if high >= 99:
        return f"at least {low} players"
    return f"{low} to {high} players"


def _count_players(
    game: str,
    players: int | None,
    counts: tuple[int, int],
    of_game: tuple[int, int],
    span: Span,
    overlays: list[Overlay],
    report: Report,
) -> int:
    if players is None:
        return counts[0]
    if not of_game[0] <= players <= of_game[1]:
        report.error("players-count", f"{game} is for {_range(*of_game)}, got {players}", span)
        return of_game[0]
    for overlay in overlays:
        least, most = overlay.player_range(*of_game)
        if least <= most and not least <= players <= most:
            report.error(
                "overlay-players",
                f"'{overlay.name}' is for {_range(least, most)}, got {players}",
                overlay.root.entries["players"].value.span,
                notes=[Label("it is asked for here", overlay.named_at)],
            )
    return players


def _rule_files(root: Mapping) -> list[tuple[str, Span]]:
    return list(texts_of(entry(root, "rules")))


def _data_files(root: Mapping) -> list[tuple[str, Span]]:
    """Lists the files of tables and questions."""
    questions = entry(root, "questions")
    named = [] if questions is None else [(text_of(questions), questions.span)]
    return [*texts_of(entry(root, "tables")), *named]


def _label_files(root: Mapping) -> list[tuple[str, Span]]:
    return [(text_of(node), node.span) for _, node in mapping_of(entry(root, "labels"))]


# ---------------------------------------------------------------------------------------------------- loading


def _load(name: RuleSetName, players: int | None, report: Report) -> RuleSet | None:
    from .namespace import check_names
    from .overlay_rules import apply_rules

    files = Files(report)
    game = _read_game(name, players, files, report)
    if game is None:
        return None
    variants = tuple(overlay.name for overlay in game.overlays)
    data = Data(game.name, {}, {}, {}, {}, variants, variant_names(game.folder), game.seats, report)
    game_files = [game.root.span.source.name]
    _read_tables(game, data, files, game_files)
    _read_questions(game.folder, game.root, "", data, files, game_files)
    for overlay in game.overlays:
        overlay.files.append(overlay.root.span.source.name)
        _read_questions(overlay.folder, overlay.root, overlay.name, data, files, overlay.files)
    parsed = _read_rules(game.folder, game.root, files, game_files)
    for overlay in game.overlays:
        overlay.rules = _read_rules(overlay.folder, overlay.root, files, overlay.files)
    _warn_of_absent_variants(game, data, report)
    for overlay in game.overlays:
        data.apply_overlay(overlay)
    data.apply_settings(name.settings)
    if not report.has_errors:
        fill_products(data.tables, report)
    rules = _make(game, data, game_files)
    rules.definitions = apply_rules(game.name, parsed, game.overlays, report)
    check_names(rules, report)
    rules.content_hash = _content_hash(files, data, rules)
    return rules


def _read_tables(game: _Game, data: Data, files: Files, game_files: list[str]) -> None:
    for file, span in texts_of(entry(game.root, "tables")):
        root = files.yaml(game.folder, file, "tables", span)
        if root is None:
            continue
        game_files.append(root.span.source.name)
        _add_tables(root, Path(file).stem, game, data)
    for overlay in game.overlays:
        own = entry(overlay.root, "tables")
        if isinstance(own, Mapping):
            _add_tables(own, overlay.name, game, data)
    fill_products(data.tables, data.report)


def _add_tables(root: Mapping, stem: str, game: _Game, data: Data) -> None:
    for table in read_tables(root, game.seats, data.report):
        if table.name in data.table_files:
            first = data.tables.get(table.name) or data.records[table.name]
            notes = [Label("the first one is here", first.span)]
            data.report.error("duplicate-name", f"a second table '{table.name}'", table.span, notes=notes)
            continue
        data.table_files[table.name] = stem
        if isinstance(table, Table):
            data.tables[table.name] = table
        elif isinstance(table, Record):
            data.records[table.name] = table


def _read_questions(
    folder: Folder, game: Mapping, layer: str, data: Data, files: Files, names: list[str]
) -> None:
    node = entry(game, "questions")
    root = files.yaml(folder, text_of(node), "questions", node.span) if node is not None else None
    if root is None:
        return
    names.append(root.span.source.name)
    for question in read_questions(root, layer, data.report):
        first = data.questions.get(question.name)
        if first is not None:
            notes = [Label("the first one is here", first.span)]
            message = f"a second question '{question.name}'"
            data.report.error("duplicate-name", message, question.span, notes=notes)
            continue
        data.questions[question.name] = question


def _read_rules(folder: Folder, root: Mapping, files: Files, names: list[str]) -> list[tree.File]:
    parsed: list[tree.File] = []
    for file, span in _rule_files(root):
        found = files.rules(folder, file, span)
        if found is not None:
            names.append(found.span.source.name)
            parsed.append(found)
    return parsed


def _warn_of_absent_variants(game: _Game, data: Data, report: Report) -> None:
    known = {*data.known_variants, *data.variants}
    for question in data.questions.values():
        for variant in question.only_with:
            if variant not in known:
                report.warning(
                    "unknown-variant",
                    f"'{question.name}' arises only with '{variant}', which {game.name} does not have",
                    question.span,
                    help=suggestion(variant, known, what="its variants are"),
                )


def _make(game: _Game, data: Data, game_files: list[str]) -> RuleSet:
    root, folder = game.root, game.folder
    start = root.entries["start"].value
    view, sources = entry(root, "view"), entry(root, "sources")
    own = Layer(
        name="",
        span=root.entries["game"].value.span,
        folder=folder.path,
        title=words_of(entry(root, "title")),
        says={},
        labels={key: folder.path / text_of(node) for key, node in mapping_of(entry(root, "labels"))},
        files=tuple(game_files),
    )
    return RuleSet(
        game=game.name,
        canonical="+".join([_game_as_named(game), *(o.written for o in game.overlays), *data.kept]),
        title=words_of(entry(root, "title")),
        players=game.seats.players,
        player_counts=game.counts,
        player_names=_player_names(game),
        start=text_of(start),
        start_span=start.span,
        definitions=[],
        tables=data.tables,
        records=data.records,
        questions=data.questions,
        variants=data.variants,
        budget=_budget(root),
        layers=(own, *(overlay.layer() for overlay in game.overlays)),
        table_files=data.table_files,
        view=folder.path / text_of(view) if view is not None else None,
        sources=folder.path / text_of(sources) if sources is not None else None,
        changes=[Change(c.path, c.value, c.span) for c in data.changes],
    )


def _game_as_named(game: _Game) -> str:
    return game.folder.bundled or quote_path(game.folder.shown)


def _player_names(game: _Game) -> tuple[str, ...]:
    names = [text for text, _ in texts_of(entry(game.root, "names"))]
    spare = (f"P{n}" for n in range(1, 99) if f"P{n}" not in names)
    while len(names) < game.seats.players:
        names.append(next(spare))
    return tuple(names[: game.seats.players])


def _budget(root: Mapping) -> Budget:
    node = entry(root, "budget")
    budget = Budget()
    if isinstance(node, Mapping):
        budget.decisions = number_of(entry(node, "decisions"), budget.decisions)
        budget.steps = number_of(entry(node, "steps"), budget.steps)
    return budget


def _content_hash(files: Files, data: Data, rules: RuleSet) -> str:
    made = hashlib.sha256("\n".join([rules.game, str(rules.players), *rules.variants, ""]).encode())
    for key, text in sorted(set(files.used)):
        _add_file(made, key, text.encode())
    made.update("\n".join(data.kept).encode())
    return made.hexdigest()[:16]
