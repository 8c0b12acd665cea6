"""The guide for rule authors works: each of its files loads, plays, and its test passes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import Report
from harbourmaster.interpreter.game import load_game

PAGE = (Path(__file__).parent.parent / "rules" / "README.md").read_text("utf-8")
FILES = dict(re.findall(r"^File `([^`]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
STEPS = [name for name, text in FILES.items() if text.startswith("variant:")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_six_steps() -> None:
    assert re.findall(r"^## (\d)\.", PAGE, re.MULTILINE) == list("123456")
    assert len(STEPS) == 5


@pytest.mark.parametrize("step", STEPS)
def test_a_step_loads_and_plays(step: str, folder: Path) -> None:
    report = Report()
    game = load_game(f"manila+./{step}", players=3, report=report)
    assert not report.has_errors
    state = game.new_initial_state(seed=3)
    turns = 0
    while not state.is_terminal():
        actions = state.legal_actions()
        state.apply_action(actions[(turns * 7) % len(actions)])
        assert state.broken_invariants() == []
        turns += 1
    assert turns > 30


def test_the_scenario_of_step_six_passes(folder: Path) -> None:
    from harbourmaster.interpreter.scenarios import run_scenarios

    results = list(run_scenarios(["alms-test.yaml"]))
    assert results
    for result in results:
        assert result.passed, str(result)
