"""Copies of a bundled game with pieces of text replaced, for tests that plant differences."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

RULES = Path(__file__).resolve().parent.parent / "rules"


def copy_game(folder: Path, name: str, changes: Mapping[str, tuple[str, str]], game: str = "manila") -> str:
    """Copies a game to `folder`/`name` with a piece of each named file replaced, and gets the path."""
    target = folder / name / game
    shutil.copytree(RULES / game, target, ignore=shutil.ignore_patterns("scenarios"))
    for file, (old, new) in changes.items():
        path = target / file
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), "utf-8")
    return str(target)
