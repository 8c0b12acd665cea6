"""How much it matters: pairs of games, their sums, and the statistics over them."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from pathlib import Path

import pytest
from harbourmaster.interpreter.chance import Streams
from harbourmaster.interpreter.comparing import howmuch
from harbourmaster.interpreter.comparing.howmuch import BLOCK, Plan, Sums, measure, play_block
from harbourmaster.interpreter.comparing.matching import Match
from harbourmaster.interpreter.comparing.pairs import PairedPlayer, names_of, players_of
from harbourmaster.interpreter.comparing.statistics import (
    mean_interval,
    normal_quantile,
    share_interval,
    student_quantile,
)
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.native import NativeUnavailable
from harbourmaster.interpreter.playout import seed_of_game
from harbourmaster.interpreter.python_backend import Stop
from harbourmaster.repl.cli import main

from .ferry import write_ferry


@pytest.fixture
def ferry(tmp_path: Path) -> str:
    return write_ferry(tmp_path)


def plan(ferry: str, other: str, games: int = 300, **more: float) -> Plan:
    return Plan(ferry, f"{ferry}+{other}", 2, games, **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------ statistics


def test_quantiles() -> None:
    assert normal_quantile(0.975) == pytest.approx(1.959963985, abs=1e-9)
    assert normal_quantile(0.5) == pytest.approx(0)
    for freedom, known in ((1, 12.7062), (2, 4.30265), (10, 2.22814), (30, 2.04227), (1000, 1.96234)):
        assert student_quantile(0.975, freedom) == pytest.approx(known, abs=2e-4)


def test_a_mean_and_its_interval_against_a_plain_loop() -> None:
    numbers = random.Random(3)
    values = [numbers.randint(-20, 40) for _ in range(250)]
    got = mean_interval(len(values), sum(values), sum(v * v for v in values))
    error = statistics.stdev(values) / math.sqrt(len(values))
    assert got.value == pytest.approx(statistics.mean(values))
    assert got.half == pytest.approx(student_quantile(0.975, 249) * error)


def test_intervals_of_shares() -> None:
    assert share_interval(0, 0).high == 1
    none = share_interval(1000, 0)
    assert (none.value, none.low) == (0, 0) and none.high == pytest.approx(0.00383, abs=1e-4)
    some = share_interval(50, 10)  # Wilson's interval for 10 of 50
    assert some.low == pytest.approx(0.1124, abs=1e-4) and some.high == pytest.approx(0.3304, abs=1e-4)


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    numbers = random.Random(11)
    covered = 0
    for _ in range(1000):
        values = [numbers.choice((0, 0, 0, 5, -3)) for _ in range(60)]
        interval = mean_interval(len(values), sum(values), sum(v * v for v in values))
        covered += interval.low <= 0.4 <= interval.high
    assert 930 <= covered <= 970


# ----------------------------------------------------------------------------------------------------------- pairs


def test_the_same_rules_play_the_same_games(ferry: str) -> None:
    measured = measure(plan(ferry, "wind=less", 200))
    assert measured.sums.differed == measured.sums.scored == measured.sums.won == 0
    assert all(r.difference.value == 0 for r in measured.rows)
    assert measured.share("differed").low == 0 < measured.share("differed").high


def test_every_option_is_as_likely(ferry: str) -> None:
    game = load_game(ferry, players=2)
    player = players_of(Match(game, game), ())[0]
    assert isinstance(player, PairedPlayer)
    side, taken = player.side, [[]]  # type: ignore[var-annotated]
    original = side.apply

    def note(position: list[int], action: int, streams: Streams) -> Stop:
        taken[-1].append(action)
        return original(position, action, streams)

    side.apply = note  # type: ignore[method-assign]
    for number in range(3000):
        taken.append([])
        player.play(seed_of_game(5, number))
    # first any of three, then a bet: any of four
    for at, options in ((0, 3), (2, 4), (3, 4)):
        counts = Counter(game_taken[at] for game_taken in taken if len(game_taken) > at)
        expected = sum(counts.values()) / options
        assert len(counts) == options
        assert sum((n - expected) ** 2 / expected for n in counts.values()) < 16.3  # 99.9 % at 3 degrees
    both = Counter((t[2], t[3]) for t in taken if len(t) > 3)
    expected = sum(both.values()) / 16
    assert sum((n - expected) ** 2 / expected for n in both.values()) < 37.7  # 99.9 % at 15 degrees


def test_coupled_games_differ_less_than_games_apart(ferry: str) -> None:
    match = Match(load_game(ferry, players=2), load_game(f"{ferry}+bench.back.pays=7", players=2))
    first, second = players_of(match, ())
    pairs = [(first.play(s), second.play(s)) for s in (seed_of_game(1, n) for n in range(300))]
    together = statistics.pvariance([b.scores[0] - a.scores[0] for a, b in pairs])
    apart = sum(statistics.pvariance([o.scores[0] for o in side]) for side in zip(*pairs, strict=True))
    assert together < apart / 4


def test_sums_against_a_plain_loop(ferry: str) -> None:
    p = plan(ferry, "bank=drifts", 250)
    measured = measure(p)
    match = Match(load_game(ferry, players=2), load_game(p.b, players=2))
    first, second = players_of(match, ())
    pairs = [(first.play(s), second.play(s)) for s in (seed_of_game(1, n) for n in range(250))]
    a = [x.scores[0] for x, _ in pairs]
    b = [y.scores[0] for _, y in pairs]
    row = measured.of("points")[0]
    assert row.a.value == pytest.approx(statistics.mean(a)) and row.b.value == pytest.approx(
        statistics.mean(b)
    )
    differences = [y - x for x, y in zip(a, b, strict=True)]
    assert row.difference.value == pytest.approx(statistics.mean(differences))
    error = statistics.stdev(differences) / math.sqrt(250)
    assert row.difference.half == pytest.approx(student_quantile(0.975, 249) * error)
    assert measured.sums.won == sum(x.winners != y.winners for x, y in pairs)
    assert measured.sums.scored == sum(x.scores != y.scores for x, y in pairs)
    wins = [
        [1 / x.winners.bit_count() if x.winners >> 1 & 1 else 0 for x in side]
        for side in zip(*pairs, strict=True)
    ]
    share = measured.of("share of wins")[1]
    assert share.a.value == pytest.approx(statistics.mean(wins[0]))
    assert share.b.value == pytest.approx(statistics.mean(wins[1]))
    landed = measured.of("landings")[0]
    assert landed.a.value == pytest.approx(statistics.mean(x.figures[0] for x, _ in pairs))


def test_known_means_lie_within_the_intervals(ferry: str) -> None:
    # three crossings, each landing with 4 of 7 faces (0 to 6; 3, 4, 5, 6), or 3 of 7
    measured = measure(plan(ferry, "bank=drifts", 1500))
    row = measured.of("landings")[0]
    assert row.a.low - 0.05 <= 3 * 4 / 7 <= row.a.high + 0.05 or row.a.low <= 2 <= row.a.high
    assert row.difference.high < 0


def test_the_same_sums_whatever_shares_the_work(ferry: str) -> None:
    p = plan(ferry, "tie=later-seat", 450)
    alone, shared = measure(p), measure(p, jobs=2)
    assert alone.sums == shared.sums and alone.rows == shared.rows
    blocks = Sums()
    for block in (0, 1, 2, 3, 4):
        blocks.add(play_block(p, block))
    assert blocks == alone.sums


def test_native_code_plays_the_same_games(ferry: str) -> None:
    p = plan(ferry, "bank=drifts", 200)
    try:
        native = measure(p, backend="c")
    except NativeUnavailable as error:
        pytest.skip(str(error))
    assert native.sums == measure(p, backend="python").sums


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["plunder-paid=at-once", "loans=any-time", "deal-pool=all-twenty"])
def test_native_code_plays_the_same_games_of_manila(reading: str) -> None:
    p = Plan("manila", f"manila+{reading}", 3, 100)
    try:
        native = measure(p, backend="c")
    except NativeUnavailable as error:
        pytest.skip(str(error))
    assert native.sums == measure(p, backend="python").sums


def test_it_stops_by_itself(ferry: str) -> None:
    measured = measure(plan(ferry, "bank=drifts", 100_000, precision=1.0))
    assert measured.ended == "precision" and measured.pairs % howmuch.LOOK == 0 and measured.pairs < 20_000
    assert all(r.difference.half <= 1.0 for r in measured.of("points"))


def test_it_goes_on_from_a_checkpoint(ferry: str, tmp_path: Path) -> None:
    p = plan(ferry, "bank=drifts", 500)
    path = str(tmp_path / "checkpoint.json")
    whole = measure(p)
    half = measure(plan(ferry, "bank=drifts", 300))
    howmuch.save_checkpoint(path, p, 3, half.sums)
    done: list[int] = []
    saved = howmuch.load_checkpoint(path, p)
    again = measure(p, saved=saved, progress=lambda n, _: done.append(n))
    assert again.sums == whole.sums and done == [400, 500]
    with pytest.raises(ValueError, match="another measurement"):
        howmuch.load_checkpoint(path, plan(ferry, "tie=later-seat", 500))
    (Path(ferry) / "board.yaml").write_text(
        (Path(ferry) / "board.yaml").read_text().replace("pays: 4", "pays: 5")
    )
    howmuch._table.cache_clear()
    with pytest.raises(ValueError, match="rules have changed"):
        howmuch.load_checkpoint(path, p)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError, match="no checkpoint"):
        howmuch.load_checkpoint(str(tmp_path / "bad.json"), p)
    assert howmuch.load_checkpoint(str(tmp_path / "none.json"), p) is None


def test_it_ends_with_what_it_has_when_interrupted(ferry: str) -> None:
    def stop(done: int, _: float) -> None:
        if done >= 2 * BLOCK:
            raise KeyboardInterrupt

    measured = measure(plan(ferry, "bank=drifts", 5000), progress=stop)
    assert measured.ended == "interrupted" and measured.pairs == 2 * BLOCK


def test_interrupted_at_once_it_tells_of_no_figures(
    ferry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> Sums:
        raise KeyboardInterrupt

    monkeypatch.setattr(howmuch, "play_block", stop)
    page = tmp_path / "page.html"
    main(["compare", ferry, f"{ferry}+bank=drifts", "--no-story", "--html", str(page)])
    out = capsys.readouterr().out
    assert "no pair of games was counted, then interrupted" in out
    assert "nan" not in out and "nan" not in page.read_text("utf-8")


def test_games_that_break_are_left_out_and_told(tmp_path: Path) -> None:
    a = write_ferry(tmp_path, "a")
    b = write_ferry(tmp_path, "b", {"play.rules": ("cash[player]: 0 to 999", "cash[player]: 0 to 9")})
    measured = measure(Plan(a, b, 2, 200))
    assert measured.sums.broken[0] == 0 < measured.sums.broken[1]
    assert measured.pairs + measured.sums.broken[1] == 200
    assert "the second game" in measured.sums.example


def test_policies_get_the_same_numbers_in_both(ferry: str) -> None:
    def lowest(state: State, seat: int, numbers: object) -> int:
        return min(state.legal_actions(seat))

    from harbourmaster.interpreter.simulate import POLICIES

    POLICIES["lowest"] = lambda game, seat: lowest
    try:
        p = Plan(ferry, f"{ferry}+wind=less", 2, 100, policies=("lowest", "random"))
        measured = measure(p)
        assert measured.sums.differed == 0 and measured.pairs == 100
        assert measure(plan(ferry, "wind=less", 100)).rows[0].a != measured.rows[0].a
    finally:
        del POLICIES["lowest"]


def test_names_of_options_do_not_depend_on_the_layout(tmp_path: Path) -> None:
    a, b = write_ferry(tmp_path, "a"), write_ferry(tmp_path, "b")
    path = Path(b) / "board.yaml"
    path.write_text(path.read_text().replace("{front:", "{side: {price: 9, pays: 1}, front:"))
    first: Game = load_game(a, players=2)
    match = Match(first, load_game(b, players=2))
    names_a, names_b = names_of(match)
    for action in range(first.program.actions):
        assert names_a.options(action) == names_b.options(match.to_b(action))
    known = {names_a.options(x) for x in range(first.program.actions)}
    others = [x for x in range(match.b.program.actions) if match.to_a(x) < 0]
    assert others and not known & {names_b.options(x) for x in others}
