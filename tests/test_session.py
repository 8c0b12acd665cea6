"""The session and the desk: moves by number and words, back and forth, keeping, and secrets kept."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.record_files import RecordError, read_record
from harbourmaster.interpreter.records import replay
from harbourmaster.repl.bots import make_bot
from harbourmaster.repl.choosing import Option, Unclear, heads, read_option, suggest_options
from harbourmaster.repl.desk import Desk, is_complete, run_line, suggest
from harbourmaster.repl.plain_shell import PlainShell
from harbourmaster.repl.play import Options, PlayProblem, play
from harbourmaster.repl.prompt_commands import COMMANDS
from harbourmaster.repl.seats import SeatError, make_seats
from harbourmaster.repl.taking_up import keep, last_game, take_up
from harbourmaster.repl.terminal import Look, plain
from harbourmaster.repl.texts import LANGUAGES, find_language, say

from .table import answer, open_desk, open_session, play_on, type_in

PEOPLE = ("Ann", "Bo", "Cy")


@pytest.fixture(autouse=True)
def _data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path / "data"))


# ----------------------------------------------------------------------------------------------- choosing


def test_a_move_by_words_in_part_and_by_number() -> None:
    desk = open_desk(seats=PEOPLE)
    assert type_in(desk, "bid 3") == "Ann: bid 3"
    assert type_in(desk, "PA") == "Bo: pass"
    assert "bid …" in type_in(desk, "moves")
    assert [i.words for i in desk.menu()][:2] == ["bid ", "pass"]
    assert "Cy: pass" in type_in(desk, "2")
    assert "1: buy" not in type_in(desk, "1")
    assert desk.session.state.decision is not None


def test_a_head_opens_step_by_step() -> None:
    desk = open_desk(seats=PEOPLE)
    reply = run_line(desk, "1")
    assert reply.fill == "bid " and "1 … 54" in plain(reply.lines)
    assert "Ann: bid 7" in type_in(desk, "7")
    assert "Bo: bid 12" in type_in(desk, "1", "bid 12")
    type_in(desk, "1", "undo")
    assert desk.session.state.get("high") == 7
    desk = open_desk(seats=PEOPLE)
    type_in(desk, "bid 1", "pass", "pass", "no share")
    reply = run_line(desk, "load")
    assert reply.failed and "several" in plain(reply.lines)
    assert "Ann: load ginseng nutmeg jade" in type_in(desk, "load g n j")
    reply = run_line(desk, "start 0")
    assert "start 0 4 5" in plain(reply.lines) and reply.fill == "start 0 "
    assert "start 4 0 5" in type_in(desk, "start 4 0 5")


def test_digits_count_whole() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "Ann: bid 1" in type_in(desk, "bid 1")
    assert desk.session.state.get("high") == 1


def test_any_order_of_equal_moves_is_understood() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, "bid 1", "pass", "pass", "no share")
    assert "Ann: load jade silk nutmeg" in type_in(desk, "load jade silk nutmeg")


def test_mistyped_moves_are_answered_with_the_nearest() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "did you mean 'pass'" in type_in(desk, "pas s")
    assert "did you mean 'undo'" in type_in(desk, "unod")
    assert "is no move and no command" in type_in(desk, "xyzzy " * 50)
    assert desk.session.at == 0


def test_words_from_the_middle_only_suggest() -> None:
    desk = open_desk(seats=("Ann", "random", "random"), seed=4)
    wares = [o.words.removeprefix("pledge ") for o in desk.options() if o.words.startswith("pledge")]
    assert f"did you mean 'pledge {wares[0]}'" in type_in(desk, wares[0])


def test_other_languages_and_english() -> None:
    desk = open_desk(seats=PEOPLE, look=Look(language="zh-Hans"))
    assert "Ann：" in type_in(desk, "bid 3")
    assert "语言" not in type_in(desk, "lang english")
    assert desk.language == "en"


def test_reading() -> None:
    def option(words: str, n: int) -> Option:
        return Option(n, None, words, words, "", words, False)

    listed = [
        option(w, n) for n, w in enumerate(("jade berth", "jade forward 1", "silk berth", "bid 1", "bid 12"))
    ]
    assert read_option("j b", listed) == listed[0]
    assert read_option("bid 1", listed) == listed[3]
    assert read_option("bid 12", listed) == listed[4]
    assert isinstance(read_option("jade", listed), Unclear)
    assert read_option("bid", listed) == Unclear((listed[3], listed[4]))
    assert [i.words for i in heads(listed)] == [
        "jade berth",
        "jade forward 1",
        "silk berth",
        "bid 1",
        "bid 12",
    ]
    many = [option(f"bid {n}", n) for n in range(40)] + [option("pass", 99)]
    assert [i.words for i in heads(many)] == ["bid ", "pass"]
    assert [s.text for s in suggest_options("ps", many, concealed=False)] == ["pass"]


def test_suggestions() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "pass" in [s.text for s in suggest(desk, "")]
    assert suggest(desk, "pa")[0].text == "pass"
    assert "bid 54" not in [s.text for s in suggest(desk, "bid ")]
    assert "bid 54" in [s.text for s in suggest(desk, "bid 5")]
    assert [(s.text, s.replaces) for s in suggest(desk, "/und")] == [("undo", 3)]
    assert "placing_round" in [s.text for s in suggest(desk, "rules pla")]
    assert "zh-Hant" in [s.text for s in suggest(desk, "lang ")]
    assert [s.text for s in suggest(desk, "why not pa")] == ["pass"]
    assert suggest(desk, "pass\nbid") == []
    assert is_complete("bid 3") and not is_complete("bid \\")


def test_every_option_can_be_typed_in_every_language() -> None:
    for language in LANGUAGES:
        desk = open_desk(seats=PEOPLE, seed=9, look=Look(language=language))
        numbers = random.Random(2)
        for _ in range(60):
            options = desk.options()
            option = numbers.choice(options)
            before = desk.session.at
            reply = answer(desk, option.words)
            assert desk.session.at == before + 1, (option.words, plain(reply.lines))


# ------------------------------------------------------------------------------------------------ commands


def test_help_tells_every_command() -> None:
    for language in LANGUAGES:
        shown = type_in(open_desk(look=Look(language=language)), "?")
        assert all(name in shown for name in COMMANDS)


def test_slash_is_always_the_command() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, "bid 1", "pass", "pass", "no share")
    assert "load what" in type_in(desk, "/load")
    assert "cannot read" in type_in(desk, "load nowhere.record")
    assert "is no move" in type_in(desk, "/nonsense")


def test_why_not() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, "bid 9")
    shown = type_in(desk, "why not bid 3")
    assert "not allowed" in shown and "auction.rules" in shown
    assert "not the time" in type_in(desk, "why not harbour A")
    assert "is allowed" in type_in(desk, "why not pass")
    assert "is allowed" in type_in(desk, "why pa")
    assert "why not what" in type_in(desk, "why not")
    assert desk.session.at == 1


def test_rules_show_their_own_text_with_comments() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "rule auction" in type_in(desk, "rules")
    shown = type_in(desk, "rules vacant_berth")
    assert "# the cheapest one" in shown and "placing.rules" in shown
    assert "ginseng:" in type_in(desk, "rules ware")
    assert "S0 §5" in type_in(desk, "rules start-spaces")
    assert "move bid" in type_in(desk, "rules bid 7")
    assert "did you mean 'placing_round'" in type_in(desk, "rules placing-rond")


def test_log_and_board_and_hand() -> None:
    desk = open_desk(seats=("Ann", "random", "random"))
    pledge = next(o.words for o in desk.options() if o.words.startswith("pledge"))
    type_in(desk, pledge)
    log = type_in(desk, "log")
    assert log == f"— voyage 1 —\nAnn: {pledge}\n  cash  Ann 30 → 42 (+12)"
    assert type_in(desk, "log 1") == log.splitlines()[-1]
    assert "harbour   A 4→6" in type_in(desk, "board")
    assert "Only Ann" in type_in(desk, "hand")
    assert not run_line(desk, "hand").private
    assert "only Bo may see that hand" in type_in(desk, "hand bo")
    assert "no person at this table is called 'Eve'" in type_in(desk, "hand Eve")


def test_a_game_to_its_end() -> None:
    desk = open_desk(seats=("Ann", "random", "random"), seed=2)
    numbers = random.Random(1)
    while not desk.session.is_over:
        answer(desk, numbers.choice(desk.options()).words)
    assert "★" in plain(desk.results())
    assert "is over" in type_in(desk, "moves")
    assert "is over" in type_in(desk, "bid 3")
    assert "is over" in type_in(desk, "1")
    assert "is over" in type_in(desk, "why not bid 3")
    assert "taken back" in plain(answer(desk, "undo").lines) or desk.pending is not None


# ------------------------------------------------------------------------------------------- back and forth


def test_undo_and_redo() -> None:
    desk = open_desk(seats=("Ann", "random", "random"))
    session = desk.session
    start = session.state
    type_in(desk, "bid 54")
    after = session.state
    type_in(desk, "undo")
    assert session.at == 0 and session.state == start
    assert "Ann: bid 54" in type_in(desk, "redo")
    assert session.state == after
    assert "nothing to do again" in type_in(desk, "redo")
    type_in(desk, "undo", "pass")
    assert "nothing to do again" in type_in(desk, "redo")
    assert "no move of a person" in type_in(open_desk(seats=PEOPLE), "undo")


def _to_the_dice(desk: Desk) -> None:
    type_in(desk, "bid 1", "pass", "pass", "no share", "load g n s", "start 4 0 5")
    for _ in range(6):
        type_in(desk, "refrain")


def test_undo_past_the_dice_asks_and_rolls_anew() -> None:
    desk = open_desk(seats=PEOPLE)
    session = desk.session
    type_in(desk, "bid 1", "pass", "pass", "no share", "load g n s", "start 4 0 5")
    for ware in ("ginseng", "nutmeg", "silk", "ginseng", "nutmeg"):
        type_in(desk, f"{ware} berth")
    before = session.at
    type_in(desk, "silk berth")
    rolled = tuple(session.state.get("die_shows", w) for w in range(3))
    assert session.draws_since(before)
    assert "whole table agree" in plain(run_line(desk, "undo").lines) + desk.question
    assert "stays as it is" in type_in(desk, "no")
    assert session.at == before + 1
    outcomes = set()
    for _ in range(5):
        type_in(desk, "undo", "yes")
        assert session.at == before
        type_in(desk, "silk berth")
        outcomes.add(tuple(session.state.get("die_shows", w) for w in range(3)))
    assert len(outcomes - {rolled}) > 1
    assert "chance decides anew" in type_in(desk, "log")


def test_undo_of_several() -> None:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, "bid 1", "bid 2", "bid 3", "undo 2")
    assert desk.session.at == 1
    type_in(desk, "redo", "redo")
    assert desk.session.at == 3


def test_bots_do_not_see_what_chance_will_bring() -> None:
    desk = open_desk(seats=("Ann", "random", "random"))
    seen = []

    class Curious:
        def choose(self, state, player, actions, numbers, *, may_pass):  # type: ignore[no-untyped-def]
            seen.append(state.streams)
            return actions[0]

    desk.session.seats[1].bot = Curious()
    type_in(desk, "bid 3")
    assert seen and set(seen) == {None}


# ------------------------------------------------------------------------------------------------- keeping


def _kept(seats: tuple[str, ...] = ("Ann", "random", "random"), seed: int = 1) -> tuple[Desk, Path]:
    session = open_session(load_game("manila", players=3), seats, seed)
    path = keep(session, "zh-Hans")
    assert path is not None
    return Desk(session, Look(), kept=path), path


def test_a_kept_game_goes_on_where_it_stood() -> None:
    desk, path = _kept(PEOPLE)
    type_in(desk, "bid 1", "pass", "pass", "no share", "undo", "buy jade", "load g n s", "start 4 0 5")
    for ware in ("ginseng", "nutmeg", "silk", "ginseng", "nutmeg", "silk"):
        type_in(desk, f"{ware} berth")
    type_in(desk, "undo", "yes", "pirate boat")
    assert last_game() == path
    session, language = take_up(path, go_on=True)
    assert language == "zh-Hans"
    assert session.state.key() == desk.session.state.key()
    assert session.names() == list(PEOPLE) and [s.kind for s in session.seats] == ["human"] * 3
    assert [m.action for m in session.moments] == [m.action for m in desk.session.moments]
    again = Desk(session, Look(), kept=path)
    type_in(again, "refrain")
    third, _ = take_up(path, go_on=False)
    assert third.state.key() == session.state.key()


def test_at_most_the_last_choice_is_lost() -> None:
    desk, path = _kept(PEOPLE)
    type_in(desk, "bid 1", "bid 2", "bid 3")
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    session, _ = take_up(path, go_on=True)
    assert session.at in (2, 3)
    session.choose(session.state.parse_action("bid 9"))
    again, _ = take_up(path, go_on=True)
    assert again.state.key() == session.state.key()


def test_a_kept_game_can_be_replayed_by_the_interpreter() -> None:
    desk, path = _kept(seed=5)
    numbers = random.Random(3)
    for _ in range(30):
        answer(desk, numbers.choice(desk.options()).words)
    type_in(desk, "undo")
    if desk.pending is not None:
        type_in(desk, "yes")
    last = None
    for state in replay(read_record(path)):
        last = state
    assert last is not None and last.key() == desk.session.state.key()


def test_bots_go_on_as_they_would_have() -> None:
    desk, path = _kept()
    type_in(desk, "bid 3")
    session, _ = take_up(path, go_on=False)
    other = Desk(session, Look())
    for text in ("pass", "1", "1"):
        answer(desk, text)
        answer(other, text)
    assert session.state.key() == desk.session.state.key()


def test_only_one_program_goes_on_with_a_game(tmp_path: Path) -> None:
    """Two would write into each other's lines; whoever leaves the game, or is killed, leaves it to others."""
    session = open_session(load_game("manila", players=3), ("Ann", "random", "random"), 4)
    path = keep(session, "en")
    assert path is not None
    code = (
        "import sys; from pathlib import Path; from harbourmaster.repl.taking_up import take_up\n"
        "try: take_up(Path(sys.argv[1]), go_on=True); print('taken')\n"
        "except Exception as error: print(error.code)"
    )

    def other() -> str:
        run = [sys.executable, "-c", code, str(path)]
        return subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout.strip()

    assert other() == "record-in-use"
    take_up(path, go_on=True)  # the same program may
    desk = Desk(session, Look(80, 24, "en"), kept=path)
    type_in(desk, "branch")
    assert desk.kept != path
    assert other() == "taken"
    take_up(path, go_on=True)  # and that program has ended


def test_save_and_load(tmp_path: Path) -> None:
    desk, _ = _kept()
    type_in(desk, "bid 3")
    saved = desk.session.state
    file = tmp_path / "x.record"
    assert "saved" in type_in(desk, f"save {file}")
    type_in(desk, "pass", "1")
    assert "going on" in type_in(desk, f"load {file}")
    assert desk.session.state.key() == saved.key()
    type_in(desk, "pass")
    assert desk.kept is not None
    session, _ = take_up(desk.kept, go_on=False)
    assert session.state.key() == desk.session.state.key()
    assert "cannot write" in type_in(desk, f"save {tmp_path}/none/x")
    assert "cannot read" in type_in(desk, f"load {tmp_path}/none")
    file.write_text("something else\n")
    assert "no record" in type_in(desk, f"load {file}")


def test_an_altered_record_is_refused(tmp_path: Path) -> None:
    desk, path = _kept(PEOPLE)
    type_in(desk, "bid 3", "pass")
    path.write_text(path.read_text("utf-8").replace("bid 3", "bid 4"), "utf-8")
    with pytest.raises(RecordError):
        take_up(path, go_on=True)


# ------------------------------------------------------------------------------------------------- secrets


def _shown_to_all(desk: Desk, wares: list[str]) -> str:
    """Gets everything that is shown without anybody asking for secrets."""
    out = [plain(desk.board()), plain([desk.status()])]
    for line in ("moves", "log", "?", "board"):
        reply = run_line(desk, line)
        assert not reply.private
        out.append(plain(reply.lines))
    for typed in ("", "p", "pledge", "pledge ", "r", "redeem "):
        out += [f"{s.text} {s.meaning}" for s in suggest(desk, typed)]
    for line in ("xyz", "pledge x", *(f"why not pledge {w}" for w in wares), *(f"redeem {w}" for w in wares)):
        before = desk.session.at
        reply = run_line(desk, line)
        if not reply.private:
            out.append(plain(reply.lines))
        if desk.session.at != before:
            desk.session.go_back(before)
        desk.pending = None
    return "\n".join(out)


def test_at_one_screen_nothing_shows_a_hand() -> None:
    wares = ["ginseng", "nutmeg", "silk", "jade"]
    numbers = random.Random(4)
    desk = open_desk(seats=PEOPLE, seed=6)
    for _ in range(60):
        session = desk.session
        shown = _shown_to_all(desk, wares)
        # The same position, but with other hands: what is shown to all must not differ.
        player = desk.turn
        assert player is not None
        state = session.state
        others = state.clone()
        for variable in ("hand", "pledged"):
            slots = [session.game.slot_of(variable, player, w) for w in range(4)]
            values = [others.position[s] for s in slots]
            for slot, value in zip(slots, values[1:] + values[:1], strict=True):
                others.position[slot] = value
        others.stop = others.machine.stop(others.position)
        session.moments[session.at].state = others
        assert _shown_to_all(desk, wares) == shown
        session.moments[session.at].state = state
        public = [o for o in desk.options() if not o.secret]
        answer(desk, numbers.choice(public or desk.options()).words)


def test_secret_moves_are_chosen_where_the_others_do_not_see() -> None:
    desk = open_desk(seats=PEOPLE, seed=6)
    item = next(n for n, i in enumerate(desk.menu(), 1) if i.hidden)
    reply = run_line(desk, str(item))
    assert reply.private and desk.pending is not None and "pledge" in plain(reply.lines)
    assert "Ann: pledge a share" in plain(run_line(desk, "1").lines)
    reply = run_line(desk, "pledge")
    assert desk.session.at == 2 or reply.private
    for line in ("log", "board", "moves"):
        assert not any(
            w in plain(run_line(desk, line).lines).replace("price", "")
            for w in ("pledge jade", "pledge silk")
        )


def test_a_refusal_that_would_show_a_hand_is_private() -> None:
    desk = open_desk(seats=PEOPLE, seed=6)
    held = {o.words for o in desk.options() if o.words.startswith("pledge")}
    missing = next(w for w in ("ginseng", "nutmeg", "silk", "jade") if f"pledge {w}" not in held)
    for line in (
        f"pledge {missing}",
        f"why not pledge {missing}",
        f"why not {next(iter(held))}",
        f"redeem {missing}",
    ):
        assert run_line(desk, line).private, line


def test_bots_secret_choices_stay_secret() -> None:
    session = open_session(load_game("manila", players=4), ("Ann", "random", "random", "random"), seed=8)
    desk = Desk(session, Look())
    play_on(session, 200, seed=2)
    for language in LANGUAGES:
        desk.speak(language)
        log = plain(run_line(desk, "log").lines)
        for line in log.splitlines():
            if line.startswith(("Bo", "Cy", "Di")) and "pledge" in line:
                assert (
                    line.rstrip().endswith(("pledge a share", "redeem a share", "抵押", "赎回"))
                    or "share" in line
                ), line


def test_sealed_bids_are_not_shown() -> None:
    desk = open_desk("manila+sealed-bids", seats=PEOPLE)
    assert [i.words for i in desk.menu() if i.hidden] == ["choose in secret"]
    reply = run_line(desk, "1")
    assert reply.private
    assert "Ann has chosen" in plain(run_line(desk, "bid 17").lines)
    assert "17" not in type_in(desk, "log", "board")
    run_line(desk, "1")
    run_line(desk, "bid 9")
    assert "Cy" in plain([desk.status()])
    run_line(desk, "1")
    assert "Ann has bid 17" in plain(run_line(desk, "pass").lines)


def test_standing_offers_of_others_are_taken_by_name() -> None:
    desk = open_desk("manila+loans=any-time", seats=PEOPLE)
    wares = ("ginseng", "nutmeg", "silk", "jade")
    replies = {w: run_line(desk, f"Bo pledge {w}") for w in wares}
    assert {r.private for r in replies.values()} == {True, False}
    taken = [plain(r.lines) for r in replies.values() if not r.private]
    assert all(t.startswith("Bo: pledge a share\n") for t in taken) and desk.turn == 0
    assert not any(w in type_in(desk, "log") for w in wares)


def test_nobody_moves_a_bot_or_asks_what_it_holds() -> None:
    desk = open_desk("manila+loans=any-time", seats=("Ann", "random", "random"), seed=3)
    held = {o.words for o in desk.options()}
    for ware in ("ginseng", "nutmeg", "silk", "jade"):
        assert "only people" in type_in(desk, f"Bo pledge {ware}", f"why not Bo pledge {ware}")
        if f"pledge {ware}" not in held:
            assert "you have no share" in type_in(desk, f"pledge {ware}")
    assert desk.session.at == 0


def test_open_outcry() -> None:
    desk = open_desk("manila+open-outcry", seats=PEOPLE)
    assert "who? Write the name first, as in: Ann bid 4" in type_in(desk, "bid 4")
    assert "Bo: bid 4" in type_in(desk, "Bo bid 4")
    assert "Bo is harbour master for 4" in type_in(desk, "silence")


# --------------------------------------------------------------------------------------- seats, plain text


def test_seats() -> None:
    names = ("Ann", "Bo", "Cy")
    assert [s.kind for s in make_seats((), names)] == ["human", "random", "random"]
    seats = make_seats(("Eve", "Bot = random", "random"), names)
    assert [(s.name, s.kind) for s in seats] == [("Eve", "human"), ("Bot", "random"), ("Cy", "random")]
    for asked in (("a", "b", "c", "d"), ("Eve", "eve"), ("x=nobot",)):
        with pytest.raises(SeatError):
            make_seats(asked, names)
    assert make_bot("nothing") is None


def test_a_script_is_answered_in_plain_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("moves\nbid 3\n# a remark\n\nnonsense\nundo"))
    assert play(Options(game="manila", seed=4, lang="en")) == 0
    shown = capsys.readouterr().out
    assert "Ann> bid 3\nAnn: bid 3\n" in shown
    assert "\x1b" not in shown
    assert last_game() is None  # what a script plays is kept only if asked for
    monkeypatch.setattr("sys.stdin", io.StringIO("bid 3"))
    assert play(Options(game="manila", seed=4, lang="en", autosave=True)) == 0
    assert last_game() is not None


def test_quit_leaves() -> None:
    desk = open_desk()
    target = io.StringIO()
    assert PlainShell(desk, io.StringIO("quit\nbid 3\n"), target).run() == 0
    assert "bid 3" not in target.getvalue()


def test_problems_are_told_in_a_sentence() -> None:
    with pytest.raises(PlayProblem, match="no game to go on with"):
        play(Options(resume=True, lang="en"))
    with pytest.raises(PlayProblem, match="which language"):
        play(Options(lang="klingon"))
    with pytest.raises(PlayProblem, match="no bot"):
        play(Options(game="manila", seats=("Ann=nobot",), lang="en"))
    with pytest.raises(PlayProblem, match="cannot read"):
        play(Options(resume=True, file="/nowhere", lang="en"))


def test_languages_by_their_names() -> None:
    names = ("zh_TW.UTF-8", "zh-CN", "中文", "English", "C", "fr_FR", "繁體中文")
    codes = ["zh-Hant", "zh-Hans", "zh-Hans", "en", "en", None, "zh-Hant"]
    assert [find_language(n) for n in names] == codes
    assert say("en", "saved", file="x") == "saved as 'x'"
