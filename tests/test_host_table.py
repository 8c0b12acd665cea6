"""What people at one table ask of one another: silence, taking back, standing in, talk; and what opens a seat."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.repl.desk import run_line
from harbourmaster.repl.hosting import table as tables
from harbourmaster.repl.hosting.admission import LOOKING_ON, Admission
from harbourmaster.repl.hosting.chair import Chair
from harbourmaster.repl.hosting.server import keys_of
from harbourmaster.repl.hosting.table import Table
from harbourmaster.repl.knowing import Hidden, alike
from harbourmaster.repl.seats import make_seats
from harbourmaster.repl.session import Session
from harbourmaster.repl.taking_up import keep
from harbourmaster.repl.terminal import Look, plain
from harbourmaster.repl.view import View

PEOPLE = ("Ann", "Bo", "Cy")


def sit_down(name: str = "manila", seats: tuple[str, ...] = PEOPLE) -> tuple[Table, list[Chair]]:
    game = load_game(name, players=3)
    session = Session(game, View(game, game.view()), make_seats(seats, game.player_names), 2)
    keep(session, "en", on_disk=False)
    table = Table(session, partial(load_game, name, players=3))
    chairs = [Chair(table, seat, Look()) for seat in session.humans]
    for chair in chairs:
        table.sit(chair)
    for chair in chairs:
        chair.news()
    return table, chairs


def typed(chair: Chair, line: str) -> str:
    return plain(run_line(chair, line).lines)


def heard(chair: Chair) -> str:
    return plain(chair.news())


def test_each_makes_his_own_moves_and_no_others() -> None:
    table, (ann, bo, _) = sit_down()
    assert "Bo" not in typed(bo, "moves") or "nothing to choose" in typed(bo, "moves")
    assert "not allowed" in typed(bo, "bid 3")
    assert "only Ann makes the moves" in typed(bo, "Ann bid 3")
    assert table.session.at == 0
    typed(ann, "Ann bid 3")
    assert "Ann: bid 3" in heard(bo)
    assert typed(bo, "bid 4") == "Bo: bid 4"
    assert "only Ann may see that hand" in typed(bo, "hand Ann")


def test_nobody_acts_once_all_keep_silent() -> None:
    table, (ann, bo, cy) = sit_down("manila+open-outcry")
    typed(bo, "bid 3")
    assert "not yet: Bo, Cy" in typed(ann, "silence")
    assert "Ann keeps silent" in heard(cy)
    assert not table.bots_turn()
    typed(cy, "bid 5")
    for chair in (ann, bo):
        typed(chair, "silence")
        assert not table.bots_turn()
    assert table.session.state.get("high") == 5
    typed(cy, "silence")
    assert table.bots_turn() and table.session.state.decision is not None
    assert table.session.state.current_player() == 2, "Cy has the office"


def test_the_table_is_asked_before_anything_is_taken_back() -> None:
    table, (ann, bo, _) = sit_down()
    typed(ann, "bid 3")
    assert "yet to agree: Bo, Cy" in typed(ann, "undo")
    assert "Ann asks to take back" in heard(bo)
    assert "something is asked" in typed(bo, "undo")
    assert "yet to agree: Cy" in typed(bo, "agree")
    assert table.session.at == 1
    late = Chair(table, 2, Look())
    table.sit(late)
    assert "Ann asks" in plain(table.asked(late)), "who comes back is asked, too"
    typed(late, "agree")
    assert table.session.at == 0 and "taken back" in heard(ann)
    typed(ann, "bid 4")
    typed(ann, "undo")
    assert "stays as it is" in typed(late, "refuse") and "Cy does not want that" in heard(ann)
    typed(ann, "undo")
    typed(bo, "bid 9")
    assert table.session.at == 2 and "void" in heard(ann)
    assert "nothing is asked" in typed(late, "agree")


def test_a_bot_stands_in_for_who_is_long_away_until_he_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    table, (ann, bo, cy) = sit_down()
    typed(ann, "bid 3")
    assert "Bo is here" in typed(ann, "stand in Bo random")
    table.leave(bo)
    assert "Bo has gone" in heard(cy)
    assert "only just gone" in typed(ann, "stand in Bo random")
    monkeypatch.setattr(tables, "AWAY", 0.0)
    assert "no bot is called 'nobody'" in typed(ann, "stand in Bo nobody")
    typed(ann, "stand in Bo random")
    typed(cy, "agree")
    assert "a bot stands in" in typed(ann, "who")
    assert table.bots_turn() and table.session.at == 2
    table.sit(Chair(table, 1, Look()))
    assert table.session.seats[1].is_human and "Bo  is here" in typed(ann, "who")


def test_a_newcomer_reads_the_end_of_the_log_and_others_only_what_is_new() -> None:
    table, (ann, bo, _) = sit_down()
    typed(ann, "bid 3")
    typed(bo, "bid 5")
    late = Chair(table, None, Look(language="zh-Hans"))
    table.sit(late)
    assert plain(late.last_lines(2)) == "Ann：出价 3\nBo：出价 5"
    assert heard(late) == "" and heard(ann) == "Bo: bid 5"


def test_the_host_alone_reads_what_went_wrong_in_the_rules() -> None:
    from harbourmaster.interpreter.errors import BrokenRule

    told: list[str] = []
    table, (ann, *_) = sit_down()
    table.report = told.append
    reply = ann.broken(BrokenRule("runtime-range", "got 7, want 0 to 6", None))
    assert "7" not in plain(reply.lines) and "got 7" in told[0]


def test_looking_ahead_is_silent_where_it_hangs_on_what_is_hidden() -> None:
    _, (ann, *_) = sit_down()
    positions = ann.positions()
    assert alike(positions, lambda state: state.get("cash", 0)) == 30
    with pytest.raises(Hidden):
        alike(positions, lambda state: state.position)


# ---------------------------------------------------------------------------------------------------- admission


def test_a_code_is_used_up_and_another_leads_back(tmp_path: Path) -> None:
    path = tmp_path / "x.seats"
    admission = Admission.open(path, [0, 1], {})
    code = admission.code_of(0)
    assert code is not None and admission.by_code(f" {code[:5].upper()}-{code[5:]}\n") == 0
    back = admission.admit(0, code, None)
    assert back is not None and admission.by_code(code) is None
    again = Admission.open(path, [0, 1], {})
    assert again.by_code(back) == 0 and again.came == {0}
    assert again.admit(0, back, None) is None, "it leads back as often as he likes"
    assert again.code_of(1) == admission.code_of(1) and again.code_of(LOOKING_ON) is not None
    assert back.replace("-", "") not in path.read_text("utf-8"), "nobody who reads the file comes in with it"
    fresh = again.renew(0)
    assert again.by_code(back) is None and again.by_code(fresh) == 0


def test_a_key_that_came_with_a_code_opens_the_seat(tmp_path: Path) -> None:
    admission = Admission.open(tmp_path / "x.seats", [0], {"ssh-ed25519 given": 3})
    code = admission.code_of(0)
    assert admission.admit(0, code, "ssh-ed25519 AAAA") is None
    again = Admission.open(tmp_path / "x.seats", [0], {})
    assert again.by_key("ssh-ed25519 AAAA") == 0 and again.by_key("ssh-ed25519 BBBB") is None
    assert admission.by_key("ssh-ed25519 given") == 3
    assert admission.by_code("") is None and admission.by_code("-") is None


def test_a_spoilt_file_of_seats_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "x.seats"
    path.write_text('{"codes": [1, 2', "utf-8")
    assert Admission.open(path, [0], {}).code_of(0) is not None


def test_keys_are_read_from_a_folder(tmp_path: Path) -> None:
    import asyncssh

    key = asyncssh.generate_private_key("ssh-ed25519", "a comment")
    line = key.export_public_key("openssh").decode()
    (tmp_path / "Ann.pub").write_text(f"# hers\n\n{line}", "utf-8")
    (tmp_path / "notes.txt").write_text("not a key", "utf-8")
    assert list(keys_of(tmp_path, {"ann": 0}).values()) == [0]
    (tmp_path / "Bo").write_text("ssh-rsa zzz", "utf-8")
    with pytest.raises(ValueError, match="Bo:1"):
        keys_of(tmp_path, {"ann": 0, "bo": 1})
