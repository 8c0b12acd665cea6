"""Reads the label files and the view of a game, which the rules themselves do not depend on.

Overlays may bring labels of their own under `labels:`; theirs stand over the game's.
"""

from __future__ import annotations

import hashlib
from typing import Any

from ..grammar.diagnostics import Report
from .gamefiles import GAME_FILE, Files, Folder, entry, find_game, text_of
from .labels import LANGUAGES, Labels
from .naming import RuleSetName
from .yamlfile import Mapping, Scalar, plain


def _folder(name: str, report: Report) -> Folder | None:
    parsed = RuleSetName.parse(name)
    return find_game(parsed.game.text, parsed.game.span, report)


def _files_of(folder: Folder, files: Files) -> tuple[Mapping | None, dict[str, Scalar], Scalar | None]:
    root = files.yaml(folder, GAME_FILE, "game")
    labels = entry(root, "labels")
    named = {}
    if isinstance(labels, Mapping):
        named = {k: e.value for k, e in labels.entries.items() if isinstance(e.value, Scalar)}
    view = entry(root, "view")
    return root, named, view if isinstance(view, Scalar) else None


def presentation_fingerprint(name: str) -> str:
    """Makes a key of the label files and the view of a game."""
    report = Report()
    folder = _folder(name, report)
    made = hashlib.sha256()
    if folder is not None:
        paths = sorted([*folder.path.glob("labels/*.yaml"), folder.path / "view.yaml"])
        for path in paths:
            try:
                made.update(path.read_bytes())
            except OSError:
                made.update(b"-")
    return made.hexdigest()[:16]


def load_labels(name: str, report: Report) -> dict[str, Labels]:
    """Reads the labels of a game, by language; those it has no file for are empty."""
    folder = _folder(name, report)
    found = {language: Labels(language) for language in LANGUAGES}
    if folder is None:
        return found
    files = Files(report)
    _, named, _ = _files_of(folder, files)
    for language, file in named.items():
        root = files.yaml(folder, str(file.value), "labels", file.span)
        labels = found.setdefault(language, Labels(language))
        labels.names.update(_texts(entry(root, "names")))
        labels.sentences.update(_texts(entry(root, "sentences")))
    return found


def load_view(name: str, report: Report) -> Any:
    """Reads the view of a game as plain data, or None."""
    folder = _folder(name, report)
    if folder is None:
        return None
    files = Files(report)
    _, _, view = _files_of(folder, files)
    if view is None or not (folder.path / text_of(view)).exists():
        return None
    root = files.yaml(folder, text_of(view), "view", view.span)
    return None if root is None else plain(root)


def _texts(node: object) -> dict[str, str]:
    if not isinstance(node, Mapping):
        return {}
    return {k: str(e.value.value) for k, e in node.entries.items() if isinstance(e.value, Scalar)}
