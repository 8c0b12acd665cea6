"""Mass play: the same games as the game API plays, the same results however they are played."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from harbourmaster.interpreter import cache
from harbourmaster.interpreter import simulate as simulation
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.native import NativeUnavailable
from harbourmaster.interpreter.playout import (
    Random,
    player_of,
    policy_start,
    seed_of_game,
    stream_keys,
    weighted,
)
from harbourmaster.interpreter.simulate import POLICIES, Plan, SimulationError, simulate
from harbourmaster.repl.cli import main
from harbourmaster.repl.commands import UsageError
from harbourmaster.repl.commands.policies import players_for, seated_policies

from .smallgame import make

RULE_SETS = [
    ("manila", 3, True),
    ("manila", 4, False),
    ("manila", 5, True),
    ("manila+open-outcry", 4, True),
    ("manila+sealed-bids", 3, True),
    ("manila+loans=any-time", 3, True),
]

DUEL = """\
rule play:
    repeat while most < 5:
        roll die
        choose each p in player: low, high
        for p in player:
            increase points[p] by 1 if picked[p] and die > 3 else 0
        most := the largest points[p] for p in player otherwise 0
        increase rounds by 1

state:
    die: 1 to 6
    picked[player]: yes or no
    points[player]: 0 to 99
    most: 0 to 99
    rounds: 0 to 999

move low:
    says "low"
    picked[actor] := no

move high:
    says "high"
    picked[actor] := yes

score p: points[p]
measure "rounds": rounds
measure "points" per p: points[p]
"""

AUCTION = """\
rule play:
    repeat while price < 20:
        choose any p in player: raise, or silence

state:
    price: 0 to 99
    last: player or none

move raise(n: 1 to 2):
    says "raise {n}"
    increase price by n
    last := actor

move silence:
    says "silence"

score p: 1 if last is p else 0
"""


def _result(plan: Plan, jobs: int = 1, game: Game | None = None) -> dict[str, object]:
    found = simulate(plan, jobs=jobs, game=game).as_dict()
    for key in ("seconds", "games_per_second", "decisions_per_second", "backend"):
        del found[key]
    return found


# ---------------------------------------------------------------------------------------------- the fast loop


@pytest.mark.parametrize(("name", "players", "offers"), RULE_SETS)
def test_the_fast_loop_plays_what_states_play(name: str, players: int, offers: bool) -> None:
    game = load_game(name, players=players, offers=offers)
    machine = game.machine()
    play = player_of(machine)
    for number in range(3):
        seed = seed_of_game(7, number)
        position = game.program.initial[:]
        decisions, x = play(position, game.program.start, stream_keys(machine, seed), policy_start(seed))
        state, numbers, count = game.new_initial_state(seed), Random(seed), 0
        while not state.is_terminal():
            actions = state.legal_actions()
            state.apply_action(actions[numbers.below(len(actions))])
            count += 1
        assert (position, decisions, x) == (state.position, count, numbers.x)


def test_plays_on_from_the_middle_of_a_game() -> None:
    game = load_game("manila", players=4)
    machine = game.machine()
    play = player_of(machine)
    state = game.new_initial_state(3)
    for _ in range(10):
        state.apply_action(state.legal_actions()[0])
    keys, x = stream_keys(machine, 3), policy_start(3)
    by_stop, by_block = state.position[:], state.position[:]
    assert play(by_stop, state.stop, keys, x) == play(by_block, by_block[0], keys, x)
    assert by_stop == by_block != state.position


def test_picks_are_those_of_the_formulas() -> None:
    """Fixed numbers: what other backends, and runs kept on paper, rely on."""
    assert [seed_of_game(1, n) for n in (0, 1)] == [16294208416658607535, 10451216379200822465]
    numbers = Random(1)
    assert [numbers.below(6) for _ in range(12)] == [0, 4, 3, 0, 5, 4, 5, 0, 0, 1, 1, 4]


def test_weighted_picks() -> None:
    assert [weighted(bits << 60, [1, 0, 3]) for bits in range(0, 16, 3)] == [0, 0, 2, 2, 2, 2]
    with pytest.raises(AssertionError):
        weighted(1, [0, 0])


# ------------------------------------------------------------------------------------------------ simulations


def test_the_same_however_many_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan("manila", 4, 60, 5, offers=False, backend="python")
    alone = _result(plan)
    assert _result(plan, jobs=2) == alone
    monkeypatch.setattr(simulation, "_GUESS", 7)
    assert _result(plan) == alone
    assert _result(Plan("manila", 4, 60, 6, offers=False, backend="python")) != alone


@pytest.mark.parametrize("check", [True, False])
def test_the_same_on_native_code(check: bool) -> None:
    plan = Plan("manila", 3, 200, 5, backend="python", check=check)
    try:
        native = _result(Plan("manila", 3, 200, 5, backend="c", check=check))
    except NativeUnavailable as error:
        pytest.skip(str(error))
    assert native == _result(plan)


def test_the_same_with_policies_that_play_by_chance() -> None:
    random = Plan("manila+open-outcry", 3, 5, 5)
    assert not Plan("manila", 3, 5, 5, policies=("random", "x", "random")).is_uniform
    game = load_game(random.name, players=3)
    slow = simulation._Seated(game, ("random",) * 3)
    fast = simulation._Uniform(game, "python")
    for number in range(4):
        seed = seed_of_game(1, number)
        assert slow.play(seed) == fast.play(seed)


def test_what_comes_out(tmp_path: Path) -> None:
    game = make(tmp_path, DUEL)
    found = simulate(Plan(game.name, 2, 400, 1), game=game)
    data = found.as_dict()
    assert data["games"] == 400 and data["endless"] == 0 and data["players"] == 2
    assert sum(data["win_share"]) == pytest.approx(1)
    assert data["win_share"][0] == pytest.approx(0.5, abs=0.1)
    assert data["measures"]["points"] == data["mean_returns"]
    assert data["decisions_per_game"] == pytest.approx(2 * data["measures"]["rounds"])
    assert max(data["mean_returns"]) <= 5
    assert all(0 < d < 2.5 for d in data["sd_returns"])
    assert data["hash"] == game.content_hash and data["policies"] == ["random", "random"]


def test_who_plays_alone_has_no_share_of_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "klondike", "--games", "2", "--backend", "python"]) == 0
    out = capsys.readouterr().out
    assert "points" in out and "share of wins" not in out


def test_slow_games_are_not_told_as_none_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = simulation.Result.as_dict
    slow = {"games_per_second": 2 / 3600, "decisions_per_second": 43 / 3600}
    monkeypatch.setattr(simulation.Result, "as_dict", lambda result: told(result) | slow)
    assert main(["simulate", "draughts", "--games", "2", "--backend", "python"]) == 0
    assert "\n0.00056 games and 0.012 decisions a second, " in capsys.readouterr().out


def test_a_policy_for_each_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(words: str) -> simulation.Policy:
        def choose(state: State, seat: int, numbers: Random) -> int:
            return next(a for a in state.legal_actions(seat) if state.describe(a, seat) == words)

        return choose

    monkeypatch.setitem(POLICIES, "bold", lambda game, seat: always("high"))
    monkeypatch.setitem(POLICIES, "timid", lambda game, seat: always("low"))
    game = make(tmp_path, DUEL)
    found = simulate(Plan(game.name, 2, 20, 1, policies=("bold", "timid")), game=game).as_dict()
    assert found["mean_returns"] == [5, 0]
    assert found["win_share"] == [1, 0]
    assert found["backend"] == "python"


@pytest.mark.parametrize("policies", [("greedy:2", "mcts:9r"), ("montecarlo:12r", "random")])
@pytest.mark.parametrize("rules", [DUEL, AUCTION])
def test_the_same_with_policies_that_think(tmp_path: Path, rules: str, policies: tuple[str, str]) -> None:
    """With budgets of rollouts nothing depends on the backend, nor on how many share the work."""
    game = make(tmp_path, rules)
    plan = Plan(game.name, 2, 6, 5, backend="python", policies=policies)
    alone = _result(plan, game=game)
    assert alone.pop("rollouts") == "python"
    shared = _result(plan, jobs=2, game=game)
    assert shared.pop("rollouts") == "python" and shared == alone
    try:
        native = _result(replace(plan, backend="c"), jobs=2, game=game)
    except NativeUnavailable as error:
        pytest.skip(str(error))
    assert native.pop("rollouts") == "c" and native == alone
    assert _result(replace(plan, policies=()), game=game)["mean_returns"] != alone["mean_returns"]


def test_where_native_code_is_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(game: Game) -> None:
        raise NativeUnavailable("there is no compiler")

    monkeypatch.setattr(simulation, "_native", unavailable)
    game = load_game("manila", players=3)
    for policies in ((), ("greedy:1", "montecarlo:12r", "mcts:8r")):
        plan = Plan("manila", 3, 4000, 5, policies=policies)
        assert simulation.choose_backend(plan, game) == ("python", "there is no compiler")
        with pytest.raises(NativeUnavailable):
            simulation.choose_backend(replace(plan, backend="c"), game)
    quick = Plan("manila", 3, 4000, 5, policies=("random", "random", "x"))
    assert simulation.choose_backend(quick, game) == ("python", "")


def test_a_policy_may_leave_it_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "silent", lambda game, seat: lambda state, seat, numbers: None)
    game = make(tmp_path, AUCTION)
    found = simulate(Plan(game.name, 2, 20, 1, policies=("random", "silent")), game=game).as_dict()
    assert found["mean_returns"] == [1, 0]


def test_a_broken_invariant_names_the_game(tmp_path: Path) -> None:
    game = make(tmp_path, DUEL + 'invariant "few rounds": rounds < 25\n')
    with pytest.raises(SimulationError, match="few rounds") as caught:
        simulate(Plan(game.name, 2, 4000, 1), game=game)
    error = caught.value
    assert error.code == "runtime-invariant" and error.span is not None
    assert str(error.span).endswith("play.rules:28:1")
    assert error.seed == seed_of_game(1, error.number)
    state, numbers = game.new_initial_state(error.seed), Random(error.seed)
    while not state.is_terminal():
        actions = state.legal_actions()
        state.apply_action(actions[numbers.below(len(actions))])
    assert state.broken_invariants() == ["few rounds"]
    assert simulate(Plan(game.name, 2, 4000, 1, check=False), game=game).totals.games == 4000


def test_a_range_that_is_left_names_the_game(tmp_path: Path) -> None:
    game = make(tmp_path, DUEL.replace("rounds: 0 to 999", "rounds: 0 to 12"))
    with pytest.raises(SimulationError, match="want 0 to 12") as caught:
        simulate(Plan(game.name, 2, 4000, 1), game=game, jobs=2)
    assert caught.value.code == "runtime-range" and "in game" in str(caught.value)


def test_games_without_end_are_counted(tmp_path: Path) -> None:
    longer = DUEL.replace("0 to 99\n", "0 to 999\n").replace("most < 5", "most < 130")
    game = make(tmp_path, longer)  # about as long as its budget of 1000 decisions
    found = simulate(Plan(game.name, 2, 40, 1), game=game)
    assert found.totals.unfinished > 0
    assert found.totals.games + found.totals.unfinished == 40


def test_nothing_depends_on_the_hash_seed() -> None:
    command = [sys.executable, "-m", "harbourmaster.repl.cli", "simulate", "manila", "--games", "5", "--json"]
    outputs = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "HARBOURMASTER_CACHE": "off"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        outputs.append({k: v for k, v in found.items() if "second" not in k})
    assert outputs[0] == outputs[1]


# ------------------------------------------------------------------------------------------ from the command line


def test_who_plays_is_read_from_the_command_line() -> None:
    game = load_game("manila", players=3)
    for texts, seats in [
        ([], ()),
        (["random"], ()),
        (["greedy"], ("greedy",) * 3),
        (["greedy,random,mcts:9r"], ("greedy", "random", "mcts:9r")),
        (["greedy", "random", "mcts:9r"], ("greedy", "random", "mcts:9r")),
        (["2=greedy"], ("random", "greedy", "random")),
        (["bo=greedy,Ann=mcts"], ("mcts", "greedy", "random")),
        (["greedy", "3=random"], ("greedy", "greedy", "random")),
        (["random,3=exec:cat a,b=c"], ("random", "random", "exec:cat a,b=c")),
        (["random,random,exec:cat a,b=c"], ("random", "random", "exec:cat a,b=c")),
    ]:
        assert seated_policies(texts, game) == seats, texts


def test_more_policies_than_the_fewest_players_are_for_more_players() -> None:
    game = load_game("manila", players=3)
    counts = {
        "random": 3,
        "random,random": 3,
        "random,random,greedy:1,random": 4,
        ",".join(["random"] * 6): 3,
    }
    assert {text: players_for([text], game) for text in counts} == counts


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("gredy", "no policy 'gredy'", "did you mean 'greedy'?"),
        ("2=gredy", "no policy 'gredy'", "did you mean 'greedy'?"),
        ("exce:cat", "no policy 'exce:cat'", "did you mean 'exec'?"),
        ("Bob=random", "nobody is called 'Bob'", "did you mean 'Bo'?"),
        ("4=random", "there is no seat 4", "the seats are 1 to 3"),
        ("0=random", "there is no seat 0", "the seats are 1 to 3"),
        ("random,greedy", "got 2 policies, want 1 or 3", "name one for all seats, or one a seat"),
        ("1=random,Ann=greedy", "two policies for Ann: 'random' and 'greedy'", ""),
        (
            "random,greedy,1=random",
            "got 2 policies without a seat beside some with one, want 1 at most",
            "name one for all other seats, as in --policy greedy,1=random",
        ),
    ],
)
def test_who_cannot_play_is_told(text: str, message: str, help: str) -> None:
    with pytest.raises(UsageError) as caught:
        seated_policies([text], load_game("manila", players=3))
    assert (str(caught.value), caught.value.help) == (message, help)


def test_figures_as_parquet_are_those_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "figures.parquet"
    asked = "simulate manila --games 3 --policy 2=greedy:1 --backend python --json --parquet"
    assert main([*asked.split(), str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = parquet.read_table(path).to_pylist()
    by = {(r["figure"], r["seat"]): r for r in rows}
    assert len(by) == len(rows)
    for seat in range(3):
        assert by["points", seat + 1]["mean"] == told["mean_returns"][seat]
        assert by["points", seat + 1]["deviation"] == told["sd_returns"][seat]
        assert by["share of wins", seat + 1]["mean"] == told["win_share"][seat]
    assert by["decisions", None]["mean"] == told["decisions_per_game"]
    for text, mean in told["measures"].items():
        got = [by[text, s]["mean"] for s in (1, 2, 3)] if isinstance(mean, list) else by[text, None]["mean"]
        assert got == mean
    assert [by["points", s]["policy"] for s in (1, 2, 3)] == ["random", "greedy:1", "random"]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("simulate manila", "--parquet"),
        ("compare manila manila+loans=none", "--parquet"),
        ("compare manila manila+loans=none", "--html"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_before_anything_is_played(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    option: str,
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something was played")

    monkeypatch.setattr(simulation, "simulate", never)
    monkeypatch.setattr("harbourmaster.repl.commands.compare.load_pair", never)
    for path, told in [
        (tmp_path / "no" / "f", f"there is no folder '{tmp_path / 'no'}'"),
        (tmp_path, f"'{tmp_path}' is a folder"),
    ]:
        assert main([*command.split(), option, str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"harbourmaster: error: {option}: {told}")
    assert list(tmp_path.iterdir()) == []


def test_the_examples_of_the_guide_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    guide = (Path(__file__).parent.parent / "repl" / "README.md").read_text("utf-8")
    examples = re.findall(r"^harbourmaster (simulate .*)$", guide, re.MULTILINE)
    assert len(examples) >= 2
    monkeypatch.chdir(tmp_path)
    for line in examples:
        assert main(shlex.split(line)) == 0
        assert capsys.readouterr().err == ""
    assert (tmp_path / "figures.parquet").exists()


def test_without_pyarrow_it_is_told_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbourmaster.interpreter.parquet.is_to_be_had", lambda: False)
    assert main(["simulate", "nogame", "--parquet", str(tmp_path / "f")]) == 2
    assert "pip install 'harbourmaster[report]'" in capsys.readouterr().err


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "nowhere"
    link.symlink_to(os.devnull)
    cache.write(link, b"figures")
    assert link.is_symlink() and not Path(os.devnull).is_file()
    (tmp_path / "old").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "old")
    cache.write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "old").read_text() == "new"
    with pytest.raises(OSError):
        cache.write(tmp_path, b"figures")
