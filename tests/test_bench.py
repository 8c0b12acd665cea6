"""The benchmarks measure the same game: those who play the small placement game agree on every game."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.interpreter import native

from tests.bench.__main__ import check, options_offered
from tests.bench.contestants import SEED, Contestant, plain_python, small
from tests.bench.placement import plain

needs_c = pytest.mark.skipif(not native.compilers(), reason="no C compiler here")


def quick() -> list[Contestant]:
    """Those who are ready within a second."""
    return [c for c in small() if c.name not in ("numba", "Rulebook (rlc --O2)")]


@needs_c
def test_they_play_the_same_game(tmp_path: Path) -> None:
    assert check(quick(), 20, tmp_path).startswith("5 play the same 20 games: 60 decisions a game")


@needs_c
@pytest.mark.slow
def test_all_of_them_play_the_same_game(tmp_path: Path) -> None:
    assert "play the same 20 games" in check(small(), 20, tmp_path)


@needs_c
def test_another_game_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "PAYS", (6, 8, 16))
    with pytest.raises(SystemExit, match="plain Python plays another game"):
        check(quick(), 20, tmp_path)


def test_the_api_offers_what_plain_python_counts(tmp_path: Path) -> None:
    assert plain_python(tmp_path)(10).offered == options_offered(10)
    assert plain.play_many(10, SEED)[0] == 600
