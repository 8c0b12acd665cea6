"""A new game is playable at once, and the guide shows it as it is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.scenarios import run_scenarios
from harbourmaster.repl.cli import main
from harbourmaster.repl.commands.new_game import files

GUIDE = (Path(__file__).parent.parent / "rules" / "README.md").read_text("utf-8")


def test_it_is_made_checked_tested_and_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "game", "my-game"]) == 0
    assert "harbourmaster play ./my-game" in capsys.readouterr().out
    assert main(["check", "./my-game"]) == 0
    assert main(["fmt", "--check", "my-game"]) == 0
    assert all(result.passed for result in run_scenarios(["my-game"]))
    game = load_game("./my-game")
    state = game.new_initial_state(seed=1)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert sorted(state.returns()) == [0.0, 1.0]
    assert sum(len(text.splitlines()) for text in files("my-game").values()) < 60


def test_a_folder_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "game", "mine"]) == 0
    assert main(["new", "game", "mine"]) == 2
    assert main(["new", "game", "Mine!"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_the_guide_shows_it() -> None:
    for text in files("stones").values():
        assert text in GUIDE
