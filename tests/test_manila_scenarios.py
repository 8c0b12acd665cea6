"""Manila's scenarios are many, show for each reading where it matters and where not, and reach every rule line.

That each of them passes, `test_scenarios.py` tests. What no scenario can tell, because it is about what a
player sees, is tested here.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from harbourmaster.interpreter.coverage import Coverage
from harbourmaster.interpreter.game import State, load_game
from harbourmaster.interpreter.scenario_files import load_scenarios, scenario_files
from harbourmaster.interpreter.scenarios import run_scenarios

MANILA = Path(__file__).parents[1] / "rules" / "manila"
QUESTIONS: dict[str, Any] = yaml.safe_load((MANILA / "questions.yaml").read_text("utf-8"))
VARIANTS = sorted(path.stem for path in (MANILA / "variants").glob("*.yaml"))

UNSEEN = {
    "shares_held": "only invariants look at it, and these are tested by the machine that has no marks",
    "placed": "only invariants look at it",
    "moorings": "only invariants look at it",
    "ceiling": "what bids there are is worked out without marks; readings-auction.yaml counts them",
}
"""The defines that have lines which coverage never sees carried out, and why."""

SEEN_ONLY = {"pledged-share-lies=face-down", "pledged-share-lies=face-up"}
"""Readings that change nothing but what others see."""


@cache
def _scenarios() -> list[dict[str, Any]]:
    return [s for path in scenario_files("manila") for s in yaml.safe_load(path.read_text("utf-8"))]


@cache
def _comparisons() -> tuple[dict[str, int], dict[str, int]]:
    """Counts for each `question=reading` the scenarios in which another one changes the outcome, or does not."""
    matters: dict[str, int] = defaultdict(int)
    same: dict[str, int] = defaultdict(int)
    for scenario in _scenarios():
        for key, told in scenario.get("under", {}).items():
            question, equals, reading = key.partition("=")
            if not equals or "+" in key:
                continue
            base = next(iter(QUESTIONS[question]["readings"]))
            alike = told == "same" or ("then" not in told and told.get("expect") == scenario.get("expect"))
            counts = same if alike else matters
            counts[f"{question}={reading}"] += 1
            counts[f"{question}={base}"] += 1
    return matters, same


def _readings() -> list[str]:
    return [f"{question}={reading}" for question, told in QUESTIONS.items() for reading in told["readings"]]


def test_there_are_at_least_150_scenarios() -> None:
    names = [s.name for path in scenario_files("manila") for s in load_scenarios(path)]
    assert len(names) >= 150
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("reading", _readings())
def test_a_scenario_shows_where_a_reading_matters_and_one_where_not(reading: str) -> None:
    matters, same = _comparisons()
    assert same[reading] >= 1
    assert matters[reading] >= 1 or reading in SEEN_ONLY


def test_each_scenario_cites_places_that_exist() -> None:
    documents = yaml.safe_load((MANILA / "sources.yaml").read_text("utf-8"))
    for scenario in _scenarios():
        cited = scenario.get("source", [])
        for place in [cited] if isinstance(cited, str) else cited:
            key, _, part = place.partition(" ")
            if key in documents:
                assert part in documents[key]["parts"], f"{scenario['name']}: {place}"
            else:
                assert key in ("the", "order"), f"{scenario['name']}: {place}"


@pytest.mark.slow
def test_every_rule_line_reading_and_variant_is_reached() -> None:
    coverage = Coverage()
    for result in run_scenarios("manila", load=coverage.load):
        assert result.passed, result.report()
        coverage.note(result)
    assert {item.owner for item in coverage.unreached()} <= set(UNSEEN), coverage.render()
    assert len(coverage.unreached()) <= len(UNSEEN)
    assert coverage.untried(2) == []
    assert {name: coverage.variants[name] for name in VARIANTS if not coverage.variants[name]} == {}


# ------------------------------------------------------------------------------------------ what a player sees

ANN, BO = 0, 1


def _after(rules: str, *moves: str) -> State:
    """Gets where a game of three stands after some of Ann's moves; she holds a share that can be pledged."""
    state = load_game(rules, players=3).new_initial_state(seed=1)
    ware = next(i for i in range(4) if state.get("hand", ANN, i))
    for move in moves:
        state.apply_action(state.parse_action(move.format(["ginseng", "nutmeg", "silk", "jade"][ware])))
    return state


def _pledged_seen(state: State, player: int) -> int:
    """Counts the pledged shares of Ann's whose ware a player sees."""
    slots = {state.game.slot_of("pledged", ANN, w) for w in range(4)}
    return sum(value for v, slot, value in state.visible(player) if v.name == "pledged" and slot in slots)


@pytest.mark.parametrize(
    ("reading", "bo_sees"), [("face-down", 0), ("face-up", 1)], ids=["face-down", "face-up"]
)
def test_whether_others_see_a_pledged_share(reading: str, bo_sees: int) -> None:
    state = _after(f"manila+pledged-share-lies={reading}", "pledge {}")
    assert _pledged_seen(state, ANN) == 1
    assert _pledged_seen(state, BO) == bo_sees


@pytest.mark.parametrize(("reading", "bo_sees"), [("face-up", 1), ("in-hand", 0)], ids=["face-up", "in-hand"])
def test_whether_others_see_a_redeemed_share(reading: str, bo_sees: int) -> None:
    state = _after(f"manila+redeemed-share-lies={reading}", "pledge {}", "redeem {}")
    seen = sum(value for v, _, value in state.visible(BO) if v.name in ("shown", "hand"))
    own = sum(state.get("hand", BO, w) for w in range(4))
    assert seen - own == bo_sees
