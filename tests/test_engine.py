"""The engine: programs ask it for games in lines of JSON; whatever they send, they get an answer."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.interpreter import engine as engines
from harbourmaster.interpreter.bots import outside
from harbourmaster.interpreter.engine import Engine
from harbourmaster.interpreter.engine_requests import LONGEST, REQUESTS
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.records import parse_record, replay
from harbourmaster.interpreter.simulate import Plan, simulate
from harbourmaster.repl.commands.engine import serve
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent
PROTOCOL = (ROOT / "interpreter" / "PROTOCOL.md").read_text("utf-8")
COMMAND = [sys.executable, "-m", "harbourmaster.repl.cli", "engine"]


class Client:
    """Asks an engine in this process."""

    def __init__(self, name: str, players: int | None = None) -> None:
        self.engine = Engine(name, players)

    def raw(self, line: bytes) -> dict[str, Any]:
        answer = self.engine.answer(line)
        assert answer.endswith(b"\n") and answer.count(b"\n") == 1
        found: dict[str, Any] = json.loads(answer)
        assert found.keys() in ({"id", "result"}, {"id", "error"})
        return found

    def __call__(self, do: str, **fields: object) -> dict[str, Any]:
        answer = self.raw(json.dumps({"do": do, **fields}).encode())
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def error(self, do: str, **fields: object) -> dict[str, Any]:
        answer = self.raw(json.dumps({"do": do, **fields}).encode())
        assert "error" in answer, answer
        error: dict[str, Any] = answer["error"]
        return error


@pytest.fixture(scope="module")
def shared() -> Client:
    return Client("manila")


# -------------------------------------------------------------------------------------------------- whole games


@pytest.mark.parametrize(
    "name", ["manila", "manila+open-outcry", "manila+sealed-bids", "dixit", "klondike", "draughts"]
)
def test_a_game_is_the_same_as_from_python(name: str) -> None:
    client = Client(name)
    state, numbers = client.engine.game.new_initial_state(5), Random(5)
    where = client("new", seed=5)
    for step in range(120):
        assert where["over"] == state.is_terminal()
        assert where["to_act"] == state.players_to_act() and where["choices"] == step
        if where["over"]:
            break
        options = client("legal", state=1)["actions"]
        if not where["simultaneous"]:
            assert [o["action"] for o in options] == state.legal_actions()
        option = options[numbers.below(len(options))]
        at_once = option["player"] if where["simultaneous"] else None
        named = {} if option["player"] is None else {"player": option["player"]}
        by = {"words": option["words"]} if step % 2 else {"action": option["action"]}
        where = client("apply", state=1, **by, **named)
        state.apply_action(option["action"], at_once)
    result = client("returns", state=1)
    assert result["returns"] == state.returns() and result["scores"] == state.scores()
    assert client("view", state=1, player=0)["information_state"] == state.information_state_string(0)


def test_chance_may_be_asked() -> None:
    client = Client("klondike")
    where = client("new", seed=None)
    assert where["chance"] and where["player"] is None and where["seed"] is None
    outcomes = client("legal", state=1)["outcomes"]
    assert sum(o["probability"] for o in outcomes) == pytest.approx(1)
    after = client("apply", state=1, action=outcomes[-1]["action"])
    assert after["choices"] == 1
    assert client.error("apply", state=1, action=10**6)["code"] == "outcome"
    assert client("why_not", state=1, action=10**6)["allowed"] is False
    while client("where", state=1)["chance"]:
        client("apply", state=1, action=client("legal", state=1)["outcomes"][0]["action"])
    record = client("save", state=1)["record"]
    assert client("load", record=record)["choices"] == client("where", state=1)["choices"]


def test_a_seed_that_is_not_given_is_told(shared: Client) -> None:
    first = shared("new")
    assert isinstance(first["seed"], int) and first["seed"] != shared("new")["seed"]
    again = shared("new", seed=first["seed"])["state"]
    assert shared("view", state=again, player=1) == shared("view", state=first["state"], player=1)


def test_players_readings_and_offers_may_be_named(shared: Client) -> None:
    other = shared("new", seed=1, players=5, readings={"loans": "none"})
    game = load_game("manila", players=5, readings={"loans": "none"})
    assert other["hash"] == game.content_hash and len(other["players"]) == 5
    words = [a["words"] for a in shared("legal", state=shared("new", seed=1)["state"])["actions"]]
    without = shared("legal", state=shared("new", seed=1, offers=False)["state"])["actions"]
    assert {a["words"] for a in without} < set(words)


def test_clones_go_their_own_ways_and_back(shared: Client) -> None:
    one = shared("new", seed=2)["state"]
    shared("apply", state=one, words="bid 3")
    two = shared("clone", state=one)["state"]
    shared("apply", state=two, words="bid 9")
    assert shared("where", state=one)["choices"] == 1 and shared("where", state=two)["choices"] == 2
    assert shared("undo", state=two, count=2)["choices"] == 0
    assert shared("where", state=one)["choices"] == 1
    shared("drop", state=two)
    assert shared.error("where", state=two)["code"] == "no-state"
    assert shared.error("undo", state=one, count=2)["message"] == "'count': got 2, want 0 to 1"


def test_records_can_be_gone_on_with_and_taken_back(shared: Client) -> None:
    one = shared("new", seed=2)["state"]
    for words in ("bid 3", "bid 9", "pass"):
        shared("apply", state=one, words=words)
    text = shared("save", state=one)["record"]
    two = shared("load", record=text)["state"]
    assert shared("save", state=two)["record"] == text
    shared("undo", state=two, count=2)
    shared("apply", state=two, words="bid 12")
    record = parse_record(shared("save", state=two)["record"])
    assert [c.words for c in record.choices()] == ["bid 3", "bid 12"]
    *_, last = replay(record)
    assert last.information_state_string(2) == shared("view", state=two, player=2)["information_state"]
    bent = text.replace("bid 9", "bid 8")
    assert shared.error("load", record=bent)["code"] == "record-altered"
    assert shared.error("load", record=text.replace("hash: ", "hash: 0"))["code"] == "record-rules"
    elsewhere = text.replace("rules: manila", "rules: /etc/manila")
    assert "files of rules are not read here" in shared.error("load", record=elsewhere)["message"]
    assert shared.error("load", record="once upon a time")["code"] == "record-syntax"


def test_a_bot_advises_who_sees_no_more_than_the_player(shared: Client) -> None:
    one = shared("new", seed=2)["state"]
    asked = {"state": one, "policy": "montecarlo:40r", "seed": 3}
    first = shared("ask", **asked)
    assert first == shared("ask", **asked) and first["player"] == 0
    assert first["action"] in [a["action"] for a in shared("legal", state=one)["actions"]]
    assert shared.error("ask", state=one, policy="greedie")["help"] == "did you mean 'greedy'?"
    assert shared.error("ask", state=one, policy="greedy", player=2)["code"] == "not-to-act"
    told = shared.error("ask", state=one, policy="exec:cat")
    assert (told["code"], told["message"]) == ("no-policy", "programs of their own are not started from here")


# -------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (b"\xff\xfe", "encoding", "byte 1 of the line is not UTF-8"),
        (b'{"do": "new", "id": "caf\xe9"}', "encoding", "byte 25 of the line is not UTF-8"),
        (b'{"do": "new"', "json", "this is no JSON: Input data was truncated"),
        (b"bid 3", "json", "this is no JSON: "),
        (b"[" * 100_000, "json", "this is nested too deeply"),
        (b"3", "request", "got no object"),
        (b"{}", "no-request", "it is not said what to 'do'"),
        (b'{"do": 3}', "no-request", "it is not said what to 'do'"),
        (b'{"do": "aply"}', "no-request", "nothing is called 'aply'"),
        (b'{"do": "apply"}', "field", "'apply' wants 'state'"),
        (b'{"do": "apply", "state": "1", "action": 0}', "field", "'state': got str, want int"),
        (b'{"do": "apply", "state": true, "action": 0}', "field", "'state': got bool, want int"),
        (b'{"do": "apply", "state": 1}', "field", "want one of 'action' and 'words'"),
        (b'{"do": "apply", "state": 1, "action": 0, "words": "pass"}', "field", "want one of"),
        (b'{"do": "apply", "state": 1, "aktion": 0}', "field", "'apply' takes no 'aktion'"),
        (b'{"do": "apply", "state": 1, "action": -1}', "no-action", "there is no action -1"),
        (b'{"do": "apply", "state": 1, "action": 99999999999999999999999}', "no-action", "no action 9999"),
        (b'{"do": "apply", "state": 1, "action": 1e400}', "json", "this is no JSON"),
        (b'{"do": "apply", "state": 1, "action": 0, "player": 3}', "no-player", "there is no player 3"),
        (b'{"do": "apply", "state": 1, "action": 0, "player": 2}', "illegal", "that is not for player 2"),
        (b'{"do": "apply", "state": 1, "words": "bid 999"}', "illegal", "it goes from 1 to 54 here"),
        (
            b'{"do": "apply", "state": 1, "words": "Bo pass"}',
            "not-his-turn",
            "it is not Bo who decides but Ann",
        ),
        (b'{"do": "apply", "state": 1, "words": "bidd 9"}', "unclear", "no move is called 'bidd 9'"),
        (b'{"do": "apply", "state": 1, "words": "\\ud800"}', "json", "this is no JSON"),
        (b'{"do": "where", "state": 77}', "no-state", "there is no state 77"),
        (b'{"do": "new", "players": 9}', "players-count", "manila is for 3 to 5 players, got 9"),
        (b'{"do": "new", "readings": {"lons": "none"}}', "unknown-question", "manila has no question 'lons'"),
        (b'{"do": "new", "readings": {"loans": 1}}', "field", "got int, want str"),
        (b'{"do": "new", "readings": {"../x.yaml+loans": "none"}}', "field", "is no name of a question"),
    ],
)
def test_mistakes_are_told(line: bytes, code: str, message: str) -> None:
    client = _client_with_a_game()
    error = client.raw(line)["error"]
    assert (error["code"], message in error["message"]) == (code, True), error
    assert client("where", state=1)["choices"] == 0


_kept: list[Client] = []


def _client_with_a_game() -> Client:
    if not _kept:
        _kept.append(Client("manila"))
        _kept[0]("new", seed=3)
    return _kept[0]


def test_what_went_wrong_comes_back_with_its_id() -> None:
    client = _client_with_a_game()
    for number in (4, "x", [1, {"a": None}], None):
        assert client.raw(json.dumps({"do": "where", "state": 99, "id": number}).encode())["id"] == number
        assert client.raw(json.dumps({"do": "what", "id": number}).encode())["id"] == number


def test_an_error_tells_the_rule() -> None:
    client = _client_with_a_game()
    told = client("why_not", state=1, words="bid 999")
    error = client.error("apply", state=1, words="bid 999")
    assert told["allowed"] is False and told["reason"] == error["message"]
    assert told["rule"] == error["rule"] and re.fullmatch(r"rules/manila/\w+\.rules:\d+:\d+", told["rule"])
    for option in client("legal", state=1)["actions"]:
        assert client("why_not", state=1, action=option["action"])["allowed"] is True
        assert client("why_not", state=1, words=option["words"])["allowed"] is True


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_fields = [
    "state",
    "player",
    "action",
    "words",
    "count",
    "policy",
    "seed",
    "record",
    "readings",
    "players",
    "id",
]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*sorted(set(REQUESTS) - {"quit"}), "?"]),
    st.dictionaries(st.sampled_from(_fields), _json),
)
def test_whatever_is_sent_is_answered(do: str, fields: dict[str, object]) -> None:
    client = _client_with_a_game()
    if do in ("new", "load"):
        fields.pop("players", None)
    if do == "drop" and fields.get("state") == 1:
        del fields["state"]
    answer = client.raw(
        json.dumps({"do": do, "state": 1, **fields} if do != "new" else {"do": do, **fields}).encode()
    )
    assert answer.get("error", {}).get("code") != "fault", answer


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_whatever_bytes_are_sent_are_answered(line: bytes) -> None:
    answer = _client_with_a_game().raw(line.replace(b"\n", b" "))
    assert answer.get("error", {}).get("code") not in (None, "fault")


def test_only_so_many_states_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "MOST_STATES", 3)
    client = Client("draughts")
    for _ in range(3):
        client("new", seed=1)
    assert client.error("clone", state=1)["code"] == "too-many"
    client("drop", state=2)
    assert client("clone", state=1)["state"] == 4


# ----------------------------------------------------------------------------------------------------------- lines


def _serve(sent: bytes) -> list[dict[str, Any]]:
    target = io.BytesIO()
    serve(Engine("draughts"), io.BytesIO(sent), target)
    return [json.loads(line) for line in target.getvalue().splitlines()]


def test_the_first_line_says_who_speaks() -> None:
    (hello,) = _serve(b"")
    game = load_game("draughts")
    assert hello["id"] is None
    assert hello["result"]["protocol"] == 1
    assert (hello["result"]["ruleset"], hello["result"]["hash"]) == ("draughts", game.content_hash)


def test_a_line_that_is_too_long_is_skipped_whole() -> None:
    huge = b'{"do": "hello", "id": "' + b"x" * (2 * LONGEST) + b'"}\n'
    _, long, after = _serve(huge + b'{"do": "new", "seed": 1, "id": 2}\n')
    assert long["error"]["code"] == "too-long"
    assert after["id"] == 2 and "result" in after


def test_the_end_may_come_anywhere() -> None:
    assert len(_serve(b'{"do": "hello"}')) == 2
    assert _serve(b'{"do": "hel')[1]["error"]["code"] == "json"
    assert len(_serve(b"\n\r\n   \n")) == 1
    assert len(_serve(b'{"do": "quit"}\n{"do": "hello"}\n')) == 2


# ---------------------------------------------------------------------------- clients without the project's code


def _client_output(*client: str, rules: str) -> dict[str, Any]:
    done = subprocess.run(
        [*client, *COMMAND, rules], capture_output=True, text=True, encoding="utf-8", timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("rules", ["manila+sealed-bids", "draughts"])
def test_a_client_of_its_own_plays(rules: str) -> None:
    found = _client_output(sys.executable, str(ROOT / "tests" / "outside" / "client.py"), rules=rules)
    record = parse_record(found["record"])
    *_, last = replay(record)
    assert last.is_terminal() and last.returns() == found["returns"]["returns"]
    assert [c.words for c in record.choices()] == found["made"]
    assert last.information_state_string(0) == found["seen"] and found["same"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_client_in_another_language_plays_the_same() -> None:
    rules = "manila+sealed-bids"
    folder = ROOT / "tests" / "outside"
    in_python = _client_output(sys.executable, str(folder / "client.py"), rules=rules)
    assert _client_output("node", str(folder / "client.mjs"), rules=rules) == in_python["returns"]


def test_wrong_names_end_it_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    from harbourmaster.repl.cli import main

    assert main(["engine", "manlia"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "did you mean 'manila'?" in err


# ----------------------------------------------------------------------------------------------- what is written


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PROTOCOL, re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_protocol_are_answered() -> None:
    client = Client("manila")
    lines = "".join(_blocks("jsonl")).splitlines()
    assert len(lines) > 10
    for line in lines:
        assert "result" in client.raw(line.encode()), line
    assert client.engine.is_over


def test_the_protocol_tells_of_every_request_and_field() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*)\|", PROTOCOL, re.MULTILINE))
    for do, kind in REQUESTS.items():
        named = set(re.findall(r"`(\w+)`", rows[do]))
        assert set(kind.__struct_fields__) - {"id"} == named, do


def test_the_protocol_tells_of_every_code() -> None:
    folder = Path(__file__).parents[1] / "interpreter"
    for name in ("engine", "engine_requests", "plain", "state", "records"):
        raised = re.findall(
            r'(?:Refused|IllegalMove)\(\s*"([a-z-]+)"', (folder / f"{name}.py").read_text("utf-8")
        )
        assert raised
        assert {f"`{code}`" for code in raised if not code.startswith("record-")} <= {
            *re.findall("`[a-z-]+`", PROTOCOL)
        }


def test_the_whole_bot_of_the_protocol_plays(tmp_path: Path) -> None:
    (text,) = _blocks("python")
    (tmp_path / "bot.py").write_text(text, "utf-8")
    name = f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}"
    game = load_game("draughts")
    found = simulate(Plan(game.name, 2, 2, 1, policies=(name, "random")), game=game)
    outside.end_all()
    assert found.totals.games == 2 and found.faults == ()


@pytest.fixture(autouse=True)
def _end_programs() -> Iterator[None]:
    yield
    outside.end_all()
