"""The command line: what each command prints, its exit status, and that no mistake of a user gives a
traceback."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.records import Recorder
from harbourmaster.repl.cli import main
from harbourmaster.repl.commands import COMMANDS
from harbourmaster.repl.commands.explain import explanations

from .toygame import write_game

ROOT = Path(__file__).parent.parent
Run = Callable[..., tuple[int, str, str]]

DAMP = {
    "variants/damp.yaml": (
        "variant: damp\nfor: toy\ntitle: {en: Damp}\nsays: {en: It rains more.}\nset: {tie: later-seat}\n"
        "patch: {ware.rum.price: 9}\nrules: [damp.rules]\nconflicts: {weather: too wet}\n"
    ),
    "variants/damp.rules": """\
before rule office:
    # first
    tell "rain"

remove from choice take_turn: sell
""",
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in this process; gives exit status, output and errors."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "HARBOURMASTER_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert "a fault of ours" not in err, err
        return status, out, err

    return call


@pytest.fixture
def toy(tmp_path: Path) -> str:
    """Writes the toy game with a variant; gives its path."""
    return write_game(tmp_path, DAMP)


def _shell(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harbourmaster.repl.cli", *arguments]
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        **more,  # type: ignore[call-overload]
    )
    return done


# ------------------------------------------------------------------------------------------------------- help


def test_help_lists_every_command(run: Run) -> None:
    for arguments in ((), ("--help",), ("help",), ("-h",)):
        status, out, err = run(*arguments)
        assert (status, err) == (0, "")
        assert all(re.search(rf"^  {name} ", out, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_of_a_command_teaches(run: Run, name: str) -> None:
    status, out, _ = run(name, "--help")
    assert status == 0
    assert out.startswith(f"usage: harbourmaster {name} ")
    examples = out.partition("examples:\n")[2]
    assert examples.count("harbourmaster") >= 2
    assert "GAME" not in examples
    assert run("help", name)[1].split() == out.split()


def test_examples_in_the_help_are_read(run: Run) -> None:
    """Every example parses, whatever its files are."""
    from harbourmaster.repl.cli import parser_of

    for command in COMMANDS.values():
        _, out, _ = run(command.name, "--help")
        for line in out.partition("examples:\n")[2].splitlines():
            words = re.findall(r"'[^']*'|[^ ']+", line.partition("#")[0].partition("<")[0])
            if words[:2] == ["harbourmaster", command.name]:
                parser_of(command).parse_args([w.strip("'") for w in words[2:]])


def test_version(run: Run) -> None:
    status, out, _ = run("--version")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    written = re.search(r'^version = "(.*)"$', project, re.MULTILINE)
    assert written is not None
    assert (status, out) == (0, f"harbourmaster {written[1]}\n")


# ---------------------------------------------------------------------------------------------------- bad use


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("plya", "did you mean 'play'?"),
        ("--games", "the command comes first"),
        ("simulate", "the following arguments are required: GAME"),
        ("simulate nogame", "error[unknown-game]: no game 'nogame'"),
        ("simulate manlia", "did you mean 'manila'?"),
        ("simulate manila --games none", "got 'none', want a whole number"),
        ("simulate manila --games 0", "got 0, want at least 1"),
        ("simulate manila --players 9", "manila is for 3 to 5 players, got 9"),
        ("simulate klondike --players 3", "klondike is for 1 player, got 3"),
        ("simulate manila --policy best", "no policy 'best'"),
        ("simulate manila --policy random,random", "got 2 policies, want 1 or 3"),
        ("simulate manila+nothing", "manila has no variant 'nothing'"),
        ("simulate manila+loans=nothing", "'loans' has no reading 'nothing'"),
        ("simulate manila --bakend c", "unrecognized arguments: --bakend c"),
        ("check nofile.yaml", "error[unknown-game]"),
        ("fmt nofile.rules", "no file, folder or game 'nofile.rules'"),
        (f"fmt {ROOT / 'rules/manila/board.yaml'}", "holds data, no rules"),
        ("replay nofile", "nofile"),
        ("scenario nofile", "nofile"),
        ("perft manila", "the following arguments are required: --depth"),
        ("perft manila --depth -1", "got -1, want at least 0"),
        ("perft manila --depth 1 --scenario nofile.yaml", "no file 'nofile.yaml'"),
        ("perft manila --depth 1 --name x", "--name chooses scenarios"),
        ("perft manila --depth 1 --memory 5", "no --exact is given"),
        ("positions manila", "the following arguments are required: --within"),
        ("positions manila --within 1 --seed 1 --record game", "--seed and --record exclude each other"),
        ("solve draughts --at 3", "no --record is given"),
        ("solve manila --seed 1", "'hand' is not seen by all"),
        ("solve draughts --memory 1", "that is more than the memory allows"),
        ("explain no-such-code", "no diagnostic has the code 'no-such-code'"),
        ("explain unknown-nam", "did you mean 'unknown-name'?"),
        ("questions manila nothing", "manila has no question 'nothing'"),
        ("variants manila nothing", "manila has no variant 'nothing'"),
        ("sources manila nothing", "manila has no document 'nothing'"),
        ("show manila nothing", "manila has nothing called 'nothing'"),
        ("show manila loans", "harbourmaster questions manila loans"),
        ("diff manila", "the following arguments are required: B"),
        ("test nogame", "no game, file or folder 'nogame'"),
        ("new variant Bad_Name --for manila", "cannot be the name of a variant"),
        ("new variant short-lane --for manila", "manila has a variant 'short-lane' already"),
        ("new thing x --for manila", "invalid choice: 'thing'"),
        ("new variant x", "a variant is for a game"),
        ("games --lang klingon", "the language 'klingon' is not known"),
        ("play", "say which game"),
        ("play nogame", "no game 'nogame'"),
        ("play manila --seats a b c d e f", ""),
        ("play --resume nofile", "nofile"),
        ("play --resume --seed 4", "--seed is settled already for a game that goes on"),
        ("play manila --resume --seats Ann", "--seats is settled already"),
    ],
)
def test_bad_use_is_told_in_words(
    run: Run, arguments: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*arguments.split())
    assert status == 2
    assert said in err + out
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_ours_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from harbourmaster.repl.commands import games

    def broken(options: object) -> int:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(games, "run", broken)
    monkeypatch.delenv("HARBOURMASTER_DEBUG", raising=False)
    assert main(["games"]) == 70
    assert "ZeroDivisionError: oh" in capsys.readouterr().err
    monkeypatch.setenv("HARBOURMASTER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["games"])


# ------------------------------------------------------------------------------------------------- looking up


def test_games_variants_questions_sources(run: Run, toy: str) -> None:
    assert re.search(r"^manila +Manila +3–5 ", run("games")[1], re.MULTILINE)
    assert "马尼拉" in run("games", "--lang", "zh")[1]
    status, out, _ = run("variants", toy)
    assert status == 0 and re.search(r"damp +Damp +It rains more\.", out)
    out = run("variants", toy, "damp")[1]
    assert "patch ware.rum.price to 9" in out and "cannot be played with weather: too wet" in out
    assert "set tie to later-seat" in out
    out = run("questions", toy)[1]
    assert re.search(r"^tie +\*shared later-seat +Who wins a tie\?$", out, re.MULTILINE)
    assert re.search(r"^tie +shared \*later-seat", run("questions", f"{toy}+damp")[1], re.MULTILINE)
    out = run("questions", toy, "tie")[1]
    assert "* shared   (holds, base)" in out and "told by S0 end" in out and "told by no document" in out
    status, _, err = run("sources", toy)
    assert status == 2 and "names no documents" in err


def test_sources_of_a_real_game(run: Run) -> None:
    out = run("sources", "manila")[1]
    head = out.splitlines()[0].split()
    assert head[:3] == ["question", "holds", "here"] and head[3:] == ["S0", "S1", "S2", "S3", "S4", "EN"]
    assert "where it contradicts itself" in run("sources", "manila", "S0")[1]


def test_show(run: Run, toy: str) -> None:
    status, out, _ = run("show", f"{toy}+damp", "office")
    assert status == 0
    assert out.splitlines() == [
        f"# {toy}+damp: is changed by damp",
        "  play.rules:10  rule office:",
        "+ damp.rules:2       # first",
        '+ damp.rules:3       tell "rain"',
        "  play.rules:11      choose first of player: sell, pass",
        "  play.rules:12      choose first of player: pass",
    ]
    out = run("show", f"{toy}+damp", "take_turn")[1]
    assert out.splitlines()[-1] == "+ play.rules:8          choose p: pass   (damp)"
    assert "9*" in run("show", f"{toy}+damp", "ware")[1]
    assert "play.rules:15      cash[player]: money = setup.cash" in run("show", toy, "cash")[1]
    assert "score p: cash[p]" in run("show", toy, "score")[1]
    assert re.search(r"^lane +value", run("show", toy, "lane")[1])
    listed = run("show", f"{toy}+damp")[1]
    assert re.search(r"^rule +office +\S+play.rules:10 +damp$", listed, re.MULTILINE)


def test_diff(run: Run, toy: str) -> None:
    status, out, _ = run("diff", toy, f"{toy}+damp")
    assert status == 1
    assert "tie: shared → later-seat" in out and "ware.rum.price: 4 → 9" in out and "rule office" in out
    assert len(run("diff", toy, f"{toy}+damp", "--brief")[1]) < len(out)
    assert run("diff", toy, toy)[0] == 0
    status, _, err = run("diff", toy, "manila")
    assert status == 2 and "manila" in err


def test_explain(run: Run) -> None:
    status, out, _ = run("explain", "rounding")
    assert status == 0 and out.startswith("rounding: a division does not say how it rounds\n")
    assert run("explain", "error[rounding]")[1] == out
    listed = run("explain")[1].splitlines()
    assert len(listed) == len(explanations())


# --------------------------------------------------------------------------------------------- checking rules


def test_check(run: Run, toy: str, tmp_path: Path) -> None:
    status, out, _ = run("check", toy)
    assert status == 0 and "fine for 2, 3 and 4 players" in out
    status, out, _ = run("check", toy, "--variants")
    assert f"{toy}+damp: fine for 2, 3 and 4 players" in out
    assert run("check", f"{toy}/variants/damp.yaml")[1].splitlines()[-2].startswith(f"{toy}+damp: fine")
    for file in ("play.rules", "game.yaml", "questions.yaml"):
        assert "fine for" in run("check", f"{toy}/{file}")[1]
    assert run("check", tmp_path)[0] == 0  # a folder of games
    alone = tmp_path / "alone.rules"
    alone.write_text("rule a:\n    b\n", "utf-8")
    assert run("check", alone)[0] == 0
    alone.write_text("rule a\n", "utf-8")
    assert "alone.rules:1:7: error[syntax]" in run("check", alone)[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variant: x\nfor: manlia\n", ["x.yaml:2:6: error[unknown-game]", "did you mean 'manila'?"]),
        ("variant: x\nset: {loans: no-loans}\n", ["x.yaml:1:1: error[schema-missing-key]", "key 'for'"]),
        (
            "for: manila\npatch:\n  harbour.C.pays: 20\n",
            ["x.yaml:1:1: error[schema-missing-key]", "'variant'"],
        ),
        (
            "for: manlia\npatch: {}\nsett: {}\n",
            ["x.yaml:1:6: error[unknown-game]", "key 'variant'", "x.yaml:3:1: error[schema-unknown-key]"],
        ),
        (
            "variant: x\nfor: manila\nsett: {}\npatch:\n  harbor.C.pays: 20\n  harbour.C.pay: 20\n",
            ["x.yaml:3:1: error[schema-", "x.yaml:5:3: error[overlay-unk", "x.yaml:6:3: error[overlay-unk"],
        ),
    ],
)
def test_check_of_a_variant_that_is_not_whole(run: Run, tmp_path: Path, text: str, said: list[str]) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text, "utf-8")
    status, out, _ = run("check", file)
    assert status == 2
    for words in said:
        assert words in out


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("lane.length=-3", "table.rules:5:18: error[range]: the range 0 to -3 is empty"),
        ("lane.start_sum=99", "error[runtime-stuck]"),
    ],
)
def test_a_senseless_number_is_named_beside_the_rule_that_it_breaks(
    run: Run, tmp_path: Path, setting: str, error: str
) -> None:
    key, _, value = setting.partition("=")
    status, out, _ = run("check", f"manila+{setting}")
    assert status == 2 and error in out
    assert f"note: '{key}' is set to {value} here\n  <rule set>:1:8  manila+{setting}" in out
    overlay = tmp_path / "tonight.yaml"
    overlay.write_text(f"variant: tonight\nfor: manila\nset:\n  {key}: {value}\n", "utf-8")
    status, out, _ = run("check", overlay)
    assert status == 2 and f"tonight.yaml:4:3  {key}: {value}" in out


def test_check_tells_everything_sorted(run: Run, toy: str) -> None:
    path = Path(toy)
    (path / "play.rules").write_text(
        "rule play:\n    nothing\n    nowhere(3)\n\nrule spare:\n    end the game\n", "utf-8"
    )
    status, out, _ = run("check", toy)
    places = [tuple(map(int, p)) for p in re.findall(r"play\.rules:(\d+):(\d+): (?:error|warning)", out)]
    assert status == 2
    assert len(places) > 1 and places == sorted(places)
    assert re.search(r"\d+ errors", out.splitlines()[-1])


def test_check_all_bundled_games(run: Run) -> None:
    status, out, _ = run("check")
    assert status == 0 and "manila: fine for 3, 4 and 5 players" in out


def test_warnings_count_when_strict(run: Run, toy: str) -> None:
    path = Path(toy) / "play.rules"
    path.write_text(path.read_text("utf-8") + "\nrule spare:\n    end the game\n", "utf-8")
    assert run("check", toy)[0] == 0
    status, out, _ = run("check", toy, "--strict")
    assert status == 1 and "warning[unused]" in out


def test_fmt(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.rules"
    path.write_text("rule  play:\n  end   the game\n", "utf-8")
    path.chmod(0o640)
    status, out, err = run("fmt", "--check", path)
    assert status == 1 and "a.rules is not laid out" in out and "1 file of 1 would change" in err
    status, out, _ = run("fmt", "--diff", path)
    assert status == 1 and "+rule play:" in out and "-rule  play:" in out
    assert path.read_text("utf-8").startswith("rule  play")
    assert run("fmt", path)[0] == 0
    assert path.read_text("utf-8") == "rule play:\n    end the game\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert run("fmt", "--check", tmp_path)[0] == 0
    path.write_text("rule play\n", "utf-8")
    status, _, err = run("fmt", path)
    assert status == 2 and "error[syntax]" in err and path.read_text("utf-8") == "rule play\n"


def test_fmt_reads_standard_input() -> None:
    done = _shell("fmt", "-", input="rule  play:\n  end the game\n")
    assert (done.returncode, done.stdout) == (0, "rule play:\n    end the game\n")
    assert _shell("fmt", "--check", "-", input="rule  play:\n  end the game\n").returncode == 1


def test_a_new_variant_is_fine_as_it_is(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("new", "variant", "mine", "--for", "manila", "--rules", "--folder", tmp_path / "new")
    assert status == 0
    named = f"manila+{tmp_path}/new/mine.yaml"
    assert f"harbourmaster play {named}" in out
    assert run("check", named)[0] == 0
    assert run("check", tmp_path / "new" / "mine.yaml")[0] == 0
    assert run("diff", "manila", named)[0] == 0
    status, _, err = run("new", "variant", "mine", "--for", "manila", "--folder", tmp_path / "new")
    assert status == 2 and "is there already" in err


# -------------------------------------------------------------------------------------------------- scenarios


def _scenario(path: Path, moves: str, expect: str) -> Path:
    head = "- name: a small story\n  rules: manila\n  players: 3\n  seed: 1\n"
    path.write_text(f"{head}  moves: {moves}\n  expect: {expect}\n", "utf-8")
    return path


def test_scenarios(run: Run, tmp_path: Path) -> None:
    good = _scenario(tmp_path / "good.yaml", "[Ann bid 3]", "[{decides: Bo}]")
    status, out, _ = run("test", good)
    assert status == 0 and out.startswith("1 passed in ")
    assert "a small story" in run("test", good, "--verbose")[1]
    assert run("test", good, "--name", "other")[1].startswith("no scenarios")
    bad = _scenario(tmp_path / "bad.yaml", "[Ann bid 3]", "[{decides: Cy}]")
    status, out, _ = run("test", tmp_path)
    assert status == 1 and "1 passed, 1 failed" in out and "Cy" in out
    bad.write_text(bad.read_text("utf-8").replace("decides", "decidez"), "utf-8")
    assert run("test", bad)[0] == 2


def test_coverage(run: Run, tmp_path: Path) -> None:
    good = _scenario(tmp_path / "good.yaml", "[Ann bid 3]", "[{decides: Bo}]")
    status, out, _ = run("test", good, "--coverage")
    assert status == 0 and "statements, values and guards are reached" in out


def test_exact_tools(run: Run, tmp_path: Path) -> None:
    """The counts themselves are tested in test_exact.py."""
    asked = ("draughts", "--within", "3", "--backend", "python", "--json")
    (found,) = json.loads(run("positions", *asked)[1])
    assert [level["positions"] for level in found["levels"]] == [1, 5, 25, 106]
    assert found["exact"] is True
    (found,) = json.loads(run("positions", *asked[:1], "--within", "9", "--memory", "1", *asked[3:])[1])
    assert (found["exact"], found["stopped"]) == (False, "memory")
    (found,) = json.loads(run("perft", "draughts", "--depth", "2", "--exact", "--divide", "--json")[1])
    assert (found["count"], found["mean"], found["reached"], found["over"]) == (25, "25", "1", "0")
    assert sum(found["moves"].values()) == 25
    numbers = random.Random(4)
    state = load_game("draughts").new_initial_state(4)
    recorder = Recorder.start(state, 4)
    while not state.is_terminal():
        recorder.choose(state, numbers.choice(state.legal_actions()))
    recorder.save(tmp_path / "game.record")
    recorder.close()
    total = len(recorder.record.choices())
    solve = ("solve", "draughts", "--record", tmp_path / "game.record", "--json")
    (found,) = json.loads(run(*solve)[1])
    assert found["value"] == [str(n) for n in state.scores()]
    (found,) = json.loads(run(*solve, "--at", str(total - 1))[1])
    assert max(Fraction(v) for o in found["options"] for v in o["value"]) >= max(state.scores())
    assert run("positions", "klondike", "--within", "1", "--memory", "1", *asked[3:5])[1].count("≥") == 3


def test_perft(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("perft", "manila", "--depth", "1", "--no-offers", "--json")
    start = json.loads(out)[0]
    assert status == 0 and start["depth"] == 1 and start["count"] > 1
    out = run("perft", "manila", "--depth", "2", "--no-offers", "--divide", "--json")[1]
    deeper = json.loads(out)[0]
    assert sum(deeper["moves"].values()) == deeper["count"] and len(deeper["moves"]) == start["count"]
    scenario = _scenario(tmp_path / "s.yaml", "[Ann bid 3]", "[{decides: Bo}]")
    out = run("perft", "manila", "--scenario", scenario, "--depth", "1")[1]
    assert out.strip().partition("  ")[2].startswith("a small story (depth 1")
    assert run("perft", "manila+loans=none", "--scenario", scenario, "--depth", "1")[1] != out
    status, _, err = run("perft", "manila", "--scenario", scenario, "--depth", "1", "--name", "great")
    assert status == 2 and "no scenario of" in err


# ---------------------------------------------------------------------------------------------------- records


def _record(path: Path, choices: int = 8) -> Path:
    state = load_game("manila", players=3).new_initial_state(5)
    recorder = Recorder.start(state, 5)
    for _ in range(choices):
        recorder.choose(state, state.legal_actions()[0])
    recorder.save(path)
    recorder.close()
    return path


def test_records(run: Run, tmp_path: Path) -> None:
    record = _record(tmp_path / "game.record")
    status, out, _ = run("replay", record)
    assert status == 0 and out.splitlines()[-1].endswith("8 choices of 8 checked")
    assert len(out.splitlines()) == 10
    assert "3 choices of 8 checked" in run("replay", record, "--at", "3", "--quiet")[1]
    assert run("replay", record, "--lang", "zh-Hans")[0] == 0
    assert len(run("replay", record, "--quiet", "--board")[1].splitlines()) > 5
    assert run("replay", record, "--at", "9")[0] == 2
    text = record.read_text("utf-8")
    record.write_text(text.replace("\thash", "\thasch").replace("of ", "of 1", 1), "utf-8")
    assert run("replay", record)[0] == 2
    record.write_text("nonsense\n", "utf-8")
    assert run("replay", record)[0] == 2


def test_a_moment_of_a_record_becomes_a_scenario_that_passes(run: Run, tmp_path: Path) -> None:
    record = _record(tmp_path / "game.record")
    scenario = tmp_path / "moment.yaml"
    status, out, _ = run("scenario", record, "--at", "4", "--name", "the fourth choice")
    assert status == 0 and "name: the fourth choice" in out
    assert run("scenario", record, "--at", "4", "--output", scenario)[0] == 0
    assert run("scenario", record, "--at", "4", "--output", scenario)[0] == 2
    assert run("test", scenario)[0] == 0
    assert run("check", scenario)[0] == 0
    assert run("scenario", record, "--at", "99")[0] == 2


# ---------------------------------------------------------------------------------------- simulating, playing


def test_simulate(run: Run) -> None:
    status, out, err = run("simulate", "manila", "--players", "4", "--games", "20", "--no-offers", "--json")
    assert (status, err) == (0, "")
    data = json.loads(out)
    for key in (
        "games", "seconds", "games_per_second", "decisions_per_second", "decisions_per_game", "mean_returns",
        "win_share", "measures", "ruleset", "hash", "backend", "seed", "players",
    ):  # fmt: skip
        assert key in data
    assert (data["games"], data["players"], data["ruleset"]) == (20, 4, "manila")
    assert len(data["mean_returns"]) == len(data["win_share"]) == 4
    out = run("simulate", "manila", "--games", "20")[1]
    assert "share of wins" in out and "\x1b" not in out


def test_play_reads_a_script() -> None:
    done = _shell("play", "manila", "--seed", "1", "--no-save", "--players", "3", input="pass\nhelp\nquit\n")
    assert done.returncode == 0 and done.stderr == ""
    assert "Ann: pass" in done.stdout


# ---------------------------------------------------------------------------------------------- the terminal


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m harbourmaster.repl.cli explain | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1


def test_ctrl_c_ends_quietly() -> None:
    command = [sys.executable, "-m", "harbourmaster.repl.cli", "simulate", "manila", "--games", "1000000"]
    command += ["--backend", "python", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # whoever started the tests may have it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "")


def test_colour_is_for_terminals_alone(toy: str) -> None:
    import pexpect

    (Path(toy) / "play.rules").write_text("rule play\n", "utf-8")
    command = [sys.executable, "-m", "harbourmaster.repl.cli", "check", toy]
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color"}
    for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        shown = str(pexpect.run(" ".join(command), env={**environment, **more}, encoding="utf-8"))
        assert "error[syntax]" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
        assert ("\x1b[" in shown) == coloured
    assert "\x1b" not in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_an_output_without_unicode_is_no_error() -> None:
    done = _shell(
        "games", "--lang", "zh-Hans", env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )
    assert done.returncode == 0 and "\\u9a6c" in done.stdout


def test_help_and_errors_come_at_once() -> None:
    """Nothing heavy is imported for them."""
    heavy = "'lark', 'rich', 'prompt_toolkit', 'jsonschema', 'yaml', 'msgspec', 'pygments'"
    code = (
        "import sys; from harbourmaster.repl.cli import main; main(sys.argv[1:]); "
        f"print([m for m in ({heavy}) if m in sys.modules])"
    )
    for arguments in ([], ["simulate", "--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stdout.endswith("[]\n"), (arguments, done.stdout[-100:])


# ----------------------------------------------------------------------------------------------- explanations


_CALL = re.compile(
    r"(?:\berror|warning|Diagnostic|Explained|Problem|[A-Z][A-Za-z]*(?:Rule|Move|Error)|__init__|_fail|_refuse)"
    r'\(\s*f?"([a-z][a-z0-9-]*)(\{)?[^" ]*"'
)
_PREFIXES = "yaml|schema|overlay|runtime|table|question|labels|scenario|record|name|file|unknown|duplicate"
_PLAIN = re.compile(rf'"((?:{_PREFIXES})-[a-z][a-z-]*)"')


def _codes(*folders: str) -> tuple[set[str], set[str]]:
    """Finds the codes in use, and the beginnings of those that are made up of parts."""
    codes: set[str] = set()
    beginnings: set[str] = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            for code, part in _CALL.findall(text):
                (beginnings if part else codes).add(code)
            codes.update(_PLAIN.findall(text))
    return codes, beginnings


def test_every_code_has_its_story() -> None:
    codes, beginnings = _codes("grammar", "interpreter")
    stories = explanations()
    assert len(codes) > 100
    assert sorted(codes - stories.keys()) == []
    codes |= _codes("repl")[0]  # few of which need a story
    unused = [c for c in stories.keys() - codes if not any(c.startswith(b) for b in beginnings)]
    assert unused == []


def test_stories_are_well_told() -> None:
    for code, story in explanations().items():
        summary, _, rest = story.partition("\n")
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", code)
        assert len(summary) < 100 and not summary.endswith("."), code
        assert len(rest.strip()) > 25, code


def test_the_bundled_game_survives_a_copy(run: Run, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "rules" / "manila", tmp_path / "mine")
    game = (tmp_path / "mine" / "game.yaml").read_text("utf-8").replace("game: manila", "game: mine")
    (tmp_path / "mine" / "game.yaml").write_text(game, "utf-8")
    assert run("check", tmp_path / "mine")[0] == 0
