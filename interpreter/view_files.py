"""Reads the view of a game: which panels show what. The rules themselves do not depend on it."""

from __future__ import annotations

from typing import Any

from ..grammar.diagnostics import Report
from .gamefiles import GAME_FILE, Files, Folder, entry, find_game, text_of
from .naming import RuleSetName
from .yamlfile import Mapping, Node, plain


def _view_of(name: str, report: Report) -> tuple[Folder, Node] | None:
    parsed = RuleSetName.parse(name)
    folder = find_game(parsed.game.path, parsed.game.span, report)
    if folder is None:
        return None
    root = Files(report).yaml(folder, GAME_FILE, "game")
    view = entry(root, "view")
    return None if view is None else (folder, view)


def load_view(name: str, report: Report) -> Any:
    """Reads the view of a game as plain data; None where it names none or the file is missing."""
    found = _view_of(name, report)
    if found is None:
        return None
    folder, view = found
    if not (folder.path / text_of(view)).is_file():
        return None
    root = Files(report).yaml(folder, text_of(view), "view", view.span)
    return plain(root) if isinstance(root, Mapping) else None
