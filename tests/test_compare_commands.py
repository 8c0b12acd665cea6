"""The commands `compare` and `balance`, and the pages they write."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.interpreter import simulate
from harbourmaster.interpreter.comparing import balance as judging
from harbourmaster.interpreter.comparing import howmuch
from harbourmaster.interpreter.comparing.balance import group_names
from harbourmaster.interpreter.comparing.spaces import spaces_of
from harbourmaster.interpreter.game import load_game
from harbourmaster.repl.cli import main

from .ferry import write_ferry


@pytest.fixture
def ferry(tmp_path: Path) -> str:
    return write_ferry(tmp_path)


class Page(HTMLParser):
    """Notes what a page fetches, and tags that are not closed."""

    VOID = ("meta", "link", "br", "line", "circle", "rect", "hr", "img", "path")

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href") and not (value or "").startswith("data:"):
                self.fetched.append(value or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_page(path: Path) -> str:
    text = path.read_text("utf-8")
    page = Page()
    page.feed(text)
    assert not page.open and not page.fetched
    assert "http" not in text and "@import" not in text and "url(" not in text
    assert "prefers-color-scheme: dark" in text and "viewport" in text
    return text


def test_exit_status_and_words(ferry: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", ferry, f"{ferry}+wind=less"]) == 0
    assert "one and the same program" in capsys.readouterr().out
    assert main(["compare", ferry, f"{ferry}+bench.front.price=2", "--games", "100"]) == 1
    out = capsys.readouterr().out
    assert "cash[Ann]: 4 → 3" in out and "cash[Ann]: 4 → 2" in out and "100 pairs of games" in out
    assert max(map(len, out.split("\nHow much")[0].split("The smallest story")[1].splitlines())) <= 110


def test_a_story_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "manila", "manila+plunder-paid=at-once", "--games", "0"]) == 1
    story = capsys.readouterr().out.split("The smallest story")[1]
    assert len(story.splitlines()) <= 24
    # the table, the choice, both columns with the rules' lines, who gains what, and the sources
    for part in ("pirates 5 Ann", "Ann refrain  placing.rules:", "│ cash[Ann]: 0 → 18  loans.rules:"):
        assert part in story
    assert "Ann -30 | -12 (+18)" in story
    assert "because of plunder-paid: with-profits (S0 S1 S2 S4) | at-once (S3)" in story


OVERLAYS = {
    "a move more": ("add to choice embark: sing\n\nmove sing:\n    says \"sing\"\n    increase marker[actor] by 2\n",
                    "rule embark: – | add to choice embark: sing; move sing: only in B"),
    "a move less": ("remove from choice embark: stand\n", "rule embark: choose p: sit, stand | "),
    "another rule": ("replace rule arrive:\n    increase landed by 1\n", "rule arrive: for s in bench"),
    "another score": ("replace score p: cash[p] * 2\n", "score: score p: cash[p] | replace score p: cash[p] * 2"),
}  # fmt: skip


@pytest.mark.parametrize("what", OVERLAYS)
def test_causes_can_be_read(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, because = OVERLAYS[what]
    asked = "    for p in clockwise from first of player:\n        choose p: sit, stand\n"
    ferry = write_ferry(tmp_path, changes={"play.rules": (asked, "    embark\n")})
    path = Path(ferry) / "play.rules"
    path.write_text(f"{path.read_text('utf-8')}\nrule embark:\n{asked}", "utf-8")
    (tmp_path / "mine.rules").write_text(rules, "utf-8")
    (tmp_path / "mine.yaml").write_text("variant: mine\nfor: ferry\nrules: [mine.rules]\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["compare", ferry, f"{ferry}+./mine.yaml", "--games", "0"]) == 1
    assert f"because of {because}" in " ".join(capsys.readouterr().out.split())


def test_json_and_the_scenario(ferry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "story.yaml"
    main(["compare", ferry, f"{ferry}+bank=drifts", "--games", "100", "--json", "--save", str(saved)])
    data = json.loads(capsys.readouterr().out)
    assert data["differs"] and data["story"]["parts"] and data["story"]["decisions"] == 4
    assert data["differences"][0]["a"]["sources"] == ["S1 bank"]
    assert data["measured"][0]["pairs"] == 100
    assert {f["name"] for f in data["measured"][0]["figures"]} >= {"points", "share of wins", "landings"}
    assert saved.read_text("utf-8") == data["story"]["scenario"]
    assert main(["test", str(saved)]) == 0


def test_bad_use(ferry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert main(["compare", ferry]) == 2
    assert main(["compare", ferry, "manila"]) == 2
    assert main(["compare", ferry, ferry, "--each-reading"]) == 2
    assert main(["compare", ferry, ferry, "--policy", "genius"]) == 2
    assert main(["compare", ferry, f"{ferry}+bank=sinks"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_page_of_a_comparison(ferry: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    main(["compare", "manila", "manila+harbour-c-pays-20", "--games", "100", "--html", str(path)])
    text = check_page(path)
    assert "harbour.C.pays" in text and "<svg" in text and text.count('role="img"') >= 3
    light, dark = re.findall(r'<div class="board (light|dark)"><svg role="img"', text)
    assert (light, dark) == ("light", "dark")


def test_every_reading_is_ranked(ferry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ranking.html"
    arguments = ["compare", ferry, "--each-reading", "--pairs", "--games", "100", "--html", str(path)]
    assert main([*arguments, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    names = [i["name"] for i in data["ranking"]]
    assert set(names) == {"tie=later-seat", "bank=drifts", "wind=less"}
    assert names[-1] == "wind=less" or data["ranking"][-1]["same"]
    assert next(i for i in data["ranking"] if i["name"] == "wind=less")["same"]
    weights = [i["measured"]["winner_changed"][0] for i in data["ranking"] if i["measured"]]
    assert weights == sorted(weights, reverse=True)
    assert main(arguments) == 1
    assert "Makes no difference here" in capsys.readouterr().out
    check_page(path)


def test_tables_that_follow_one_source_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "manila", "--sources", "--games", "20", "--json"]) == 1
    names = [i["name"] for i in json.loads(capsys.readouterr().out)["ranking"]]
    assert "as-S3 – as-S4" in names and len(names) == 15


def test_a_story_says_that_a_pack_is_shuffled_and_its_scenario_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, saved = tmp_path / "page.html", tmp_path / "story.yaml"
    files = ["--save", str(saved), "--html", str(page)]
    assert main(["compare", "klondike", "klondike+runs=whole", "--games", "0", *files]) == 1
    out = capsys.readouterr().out
    assert "[stock shuffled]" in out and "stock: shuffled" in page.read_text("utf-8")
    assert not re.search(r"0 0 0 0", out)
    assert re.search(r"stock: \[\[?\d+, \d+", saved.read_text("utf-8"))
    assert main(["test", str(saved)]) == 0


@pytest.mark.parametrize("pair", ["manila klondike", "klondike manila", "klondike draughts+kings=flying"])
def test_rule_sets_of_two_games_are_told_apart_before_players_are_counted(
    pair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = pair.split()
    for command in (["compare", one, other], ["balance", one, "--before", other]):
        assert main(command) == 2
        err = capsys.readouterr().err
        assert "name two rule sets of one game" in err and "is for" not in err


def test_a_rule_set_held_against_itself(ferry: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", ferry, ferry]) == 0
    out = capsys.readouterr().out
    assert "one and the same rule set" in out and "overlaid" not in out


def test_options_may_stand_between_two_rule_sets(ferry: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", ferry, "--games", "20", "--no-story", f"{ferry}+wind=less"]) == 0
    assert main(["compare", "--games", "20", ferry, "--no-story", f"{ferry}+bench.back.pays=2"]) == 1
    capsys.readouterr()
    assert main(["compare", ferry, "--games", "20", ferry, "--no-story", ferry]) == 2
    assert "unrecognized arguments" in capsys.readouterr().err


def test_balance(ferry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "balance.html"
    main(["balance", ferry, "--games", "400", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["games"] == 400 and data["decisions"][0] == pytest.approx(12, abs=0.5)
    moves = {m["name"]: m for m in data["moves"]}
    assert {"sit front", "sit back", "stand", "bet on 4"} <= moves.keys()
    assert moves["sit back"]["by_measure"].keys() == {"cash left"}
    main(["balance", f"{ferry}+bench.front.pays=9", "--before", ferry, "--games", "200", "--html", str(path)])
    assert "before" in capsys.readouterr().out
    assert "sit front" in check_page(path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_balance_interrupted_judges_by_what_was_played(tmp_path: Path, jobs: int) -> None:
    plan = judging.Plan(write_sold_ferry(tmp_path), 2, 200)

    def stop_at(part: int) -> judging.Progress:
        def stop(done: int, of: int) -> None:
            if done == part:
                raise KeyboardInterrupt

        return stop

    found = judging.judge(plan, jobs=jobs, progress=stop_at(5))
    assert found.interrupted and found.games == 50 and "50 games" in found.method()
    assert "interrupted" in found.method() and "over 5 parts" in found.method()
    with pytest.raises(KeyboardInterrupt):  # one part has no spread
        judging.judge(plan, jobs=jobs, progress=stop_at(1))
    whole = judging.judge(plan, jobs=jobs)
    assert not whole.interrupted and "interrupted" not in whole.method()


def test_balance_interrupted_does_not_begin_with_the_other_rule_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ferry = write_sold_ferry(tmp_path)
    play, played = judging.play_part, []

    def stop(plan: judging.Plan, number: int) -> judging.Part:
        played.append(plan.name)
        if number == 3:
            raise KeyboardInterrupt
        return play(plan, number)

    monkeypatch.setattr(judging, "play_part", stop)
    main(["balance", ferry, "--before", f"{ferry}+bench.back.pays=2", "--games", "100"])
    out = capsys.readouterr().out
    assert "15 games" in out and "then interrupted" in out and "before" not in out and len(played) == 4


@pytest.mark.parametrize("pairs", [0, 2])
def test_a_ranking_interrupted_names_what_was_not_played(
    ferry: str, pairs: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play = howmuch.play_block
    blocks: list[object] = []

    def stop(*arguments: Any) -> howmuch.Sums:
        if len(blocks) == pairs:
            raise KeyboardInterrupt
        blocks.append(arguments)
        return play(*arguments)

    monkeypatch.setattr(howmuch, "play_block", stop)
    main(["compare", ferry, "--each-reading", "--pairs", "--games", "500"])
    out = capsys.readouterr().out
    assert "Interrupted; not played:" in out and "nan" not in out and "together" not in out
    main(["compare", ferry, "--each-reading", "--json"])
    assert "NaN" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags",
    ["--save a.yaml", "--from a.yaml", "--checkpoint a", "--parquet a.parquet", "--pairs --policy greedy"],
)
def test_a_ranking_takes_no_flag_that_it_would_not_heed(
    ferry: str, flags: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", ferry, "--each-reading", *flags.split()]) == 2
    assert flags.split()[0] in capsys.readouterr().err


@pytest.mark.parametrize("what", ["--each-reading", "B"])
def test_a_cluster_is_told_what_plays(ferry: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def blocks_on(address: str, backend: str = "auto") -> Any:
        asked.append((address, backend))
        return lambda plan, first: (howmuch.play_block(plan, n) for n in range(1))

    monkeypatch.setattr("harbourmaster.interpreter.comparing.clusters.blocks_on", blocks_on)
    other = f"{ferry}+bench.back.pays=2" if what == "B" else what
    main(
        [
            "compare",
            ferry,
            other,
            "--no-story",
            "--games",
            "5",
            "--scheduler",
            "tcp://x:1",
            "--backend",
            "python",
        ]
    )
    assert asked == [("tcp://x:1", "python")]


def test_what_a_move_is_worth_against_what_it_must_be(tmp_path: Path) -> None:
    # the bet pays 3 with one face of seven, and nothing else hangs on it
    ferry = write_ferry(tmp_path)
    found = judging.judge(judging.Plan(ferry, 2, 4000))
    bet = next(w for w in found.moves if w.name == "bet on 4")
    none = next(w for w in found.moves if w.name == "bet on 0")
    # above the table's mean of two, a gain of 3 counts half; a bet of another face pays as well, none pays nothing
    assert bet.points.low <= (3 / 7) / 2 / 3 <= bet.points.high
    assert none.points.low <= -(3 / 7) / 2 <= none.points.high
    assert bet.taken.low <= 0.25 <= bet.taken.high


def test_balance_is_the_same_whatever_shares_the_work(tmp_path: Path) -> None:
    plan = judging.Plan(write_ferry(tmp_path), 2, 200)
    assert judging.judge(plan) == judging.judge(plan, jobs=2)
    plan = judging.Plan(write_ferry(tmp_path), 2, 40, policies=("greedy:1", "random"))
    assert judging.judge(plan) == judging.judge(plan, jobs=2)


def test_a_move_that_never_pays_is_named(tmp_path: Path) -> None:
    wasted = {
        "play.rules": (
            "    increase marker[actor] by 1\n",
            "    decrease cash[actor] by min(3, cash[actor])\n",
        )
    }
    found = judging.judge(judging.Plan(write_ferry(tmp_path, "a", wasted), 2, 1500))
    assert "stand" in [w.name for w in found.never_worth()]


WORTH = """\
panels:
  - {panel: piles, name: {en: landed}, count: landed}
worth:
  until: crossing
  round: crossing
  bought:
    - {move: sit, price: s.price, income: "brought[s]"}
"""


def write_sold_ferry(folder: Path, name: str = "a", worth: str = WORTH) -> str:
    """Writes the ferry with a view that tells what its seats cost and bring."""
    ferry = write_ferry(
        folder,
        name,
        {
            "game.yaml": ("questions: questions.yaml\n", "questions: questions.yaml\nview: view.yaml\n"),
            "play.rules": (
                "        increase cash[sits[s]] by s.pays\n",
                "        increase cash[sits[s]] by s.pays\n        increase brought[s] by s.pays\n",
            ),
        },
    )
    rules = Path(ferry) / "play.rules"
    text = rules.read_text("utf-8").replace("tally:\n", "tally:\n    brought[bench]: 0 to 999\n")
    rules.write_text(text, "utf-8")
    (Path(ferry) / "view.yaml").write_text(worth, "utf-8")
    return ferry


def test_what_spaces_bring_in_against_what_they_must(tmp_path: Path) -> None:
    # a seat pays when one of four faces of seven is rolled, in whatever crossing
    found = judging.judge(judging.Plan(write_sold_ferry(tmp_path), 2, 3000))
    spaces = {s.name: s for s in found.spaces}
    assert spaces.keys() == {"sit front", "sit back"} and found.rounds == [1, 2, 3]
    for name, price, pays in (("sit front", 1, 4), ("sit back", 2, 6)):
        space = spaces[name]
        for there in (space.whole, *space.rounds.values()):
            assert there.price == price
            assert there.net.value == pytest.approx(there.chance.value * pays - price)
            assert abs(there.chance.value - 4 / 7) < 0.07
        assert space.sure.low <= pays * 4 / 7 - price <= space.sure.high
        assert space.whole.per_game == pytest.approx(sum(r.per_game for r in space.rounds.values()))
    assert not found.losing()


def test_a_seat_nobody_should_buy_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ferry = write_sold_ferry(tmp_path)
    path = tmp_path / "balance.html"
    arguments = ["balance", f"{ferry}+bench.back.pays=2", "--before", ferry, "--games", "400"]
    main([*arguments, "--html", str(path)])
    out = " ".join(capsys.readouterr().out.split())
    assert "in every round: sit back" in out and "bought in round 1 2 3" in out
    assert "What spaces bring in" in check_page(path) and "round 3" in path.read_text("utf-8")
    main([*arguments, "--json"])
    after, before = json.loads(capsys.readouterr().out)
    lost = {s["name"]: s["certainly_loses"] for s in after["spaces"]}
    assert lost == {"sit front": False, "sit back": True}
    assert not any(s["certainly_loses"] for s in before["spaces"])
    assert after["spaces"][0]["rounds"].keys() == {"1", "2", "3"}


def test_balance_among_policies_plays_the_games_that_simulate_plays(tmp_path: Path) -> None:
    ferry = write_sold_ferry(tmp_path)
    found = judging.judge(judging.Plan(ferry, 2, 60, seed=3, policies=("greedy:1", "random")))
    played = simulate.simulate(simulate.Plan(ferry, 2, 60, seed=3, policies=("greedy:1", "random")))
    assert [i.value for i in found.points] == pytest.approx(played.returns())
    assert found.length.value == pytest.approx(played.totals.decisions / 60)


def test_only_a_seat_that_chance_plays_tells_what_a_move_is_worth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ferry = write_sold_ferry(tmp_path)
    arguments = ["balance", ferry, "--games", "60", "--json", "--policy"]

    def judged(policy: str) -> dict[str, dict[str, list[float | None]]]:
        assert main([*arguments, policy]) in (0, 1)
        data = json.loads(capsys.readouterr().out)
        assert any(s["bought_per_game"] > 0 for s in data["spaces"])  # the books are kept whoever plays
        return {m["name"]: m for m in data["moves"]}

    assert all(m["worth"][0] is None and m["taken"][0] is not None for m in judged("greedy:1").values())
    mixed = judged("1=greedy:1")
    assert mixed["stand"]["worth"][0] is not None
    # what the policy at the other seat is offered is counted, and none of it is taken for a lot
    assert judged("random,greedy:1") != mixed != judged("random")


def test_seats_that_play_differently_are_not_called_unequal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ferry = write_sold_ferry(tmp_path)
    main(["balance", ferry, "--games", "40", "--policy", "Ann=greedy:1"])
    out = capsys.readouterr().out
    assert "greedy:1, random play" in out and "not equal" not in out
    assert "those whom chance plays" in " ".join(out.split())
    main(["balance", ferry, "--games", "20", "--policy", "Ann=greedy:1", "--json"])
    assert json.loads(capsys.readouterr().out)["fair"] is None
    for policy, complaint in (
        ("gredy", "greedy"),
        ("a,b,c", ""),
        ("exec:true", "simulate"),
        ("9=greedy", "1 to 2"),
    ):
        assert main(["balance", ferry, "--policy", policy]) == 2
        assert complaint in capsys.readouterr().err


def test_two_bought_alike_share_what_came_in(tmp_path: Path) -> None:
    game = load_game(write_sold_ferry(tmp_path), players=2)
    spaces = spaces_of(game, group_names(game))
    assert spaces is not None
    keeper = spaces.keeper()
    state = game.new_initial_state(seed=1)
    front = state.parse_action("sit front")
    keeper.choose(state.position, front, 0)
    keeper.choose(state.position, front, 0)
    after = list(state.position)
    after[game.slot_of("brought", 0)] = 5
    keeper.settle(after)
    assert not keeper.books
    keeper.settle(after, over=True)
    book = keeper.books["sit front"][1]
    assert (book.bought, book.price, book.income, book.paid) == (2, 2, 5, 2)


@pytest.mark.parametrize(
    ("old", "new", "code", "there"),
    [
        ("s.price", "s.prize", "unknown-attribute", "prize"),
        ("move: sit", "move: site", "unknown-move", "site"),
        ("until: crossing", "until: crosing", "unknown-name", "crosing"),
        ("income:", "incomes:", "schema-unknown-key", "incomes"),
    ],
)
def test_what_the_view_gets_wrong_about_spaces_is_told_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, code: str, there: str
) -> None:
    ferry = write_sold_ferry(tmp_path, worth=WORTH.replace(old, new, 1))
    assert main(["check", ferry]) == 2
    out, err = capsys.readouterr()
    line = next(
        n for n, text in enumerate((Path(ferry) / "view.yaml").read_text().split("\n"), 1) if there in text
    )
    column = (Path(ferry) / "view.yaml").read_text().split("\n")[line - 1].index(there) + 1
    assert f"view.yaml:{line}:{column}: error[{code}]" in out + err


def test_several_policies_have_a_row_each(ferry: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", ferry, f"{ferry}+bank=drifts", "--no-story", "--players", "3", "--games", "4"]
    assert main([*arguments, "--policy", "random,greedy"]) == 1
    out = capsys.readouterr().out
    assert "(policy random)" in out and "(policy greedy)" in out
    rows = [line.split()[:2] for line in out.split("By policy")[1].splitlines()[2:]]
    assert rows == [["random", "4"], ["greedy", "4"]]
    # as many as there are seats: one a seat, in their order
    assert main([*arguments, "--policy", "random,greedy,random", "--json"]) == 1
    (measured,) = json.loads(capsys.readouterr().out)["measured"]
    assert measured["policies"] == ["random", "greedy", "random"]
    assert main([*arguments, "--policy", "random,greedy,random", "--policy", "greedy"]) == 1
    out = capsys.readouterr().out
    assert "By policy" in out and "(policy random, greedy, random)" in out
    assert main([*arguments, "--policy", "random,geedy"]) == 2
    assert "did you mean 'greedy'?" in capsys.readouterr().err


def test_what_never_stood_beside_another_choice_has_no_worth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "balance.html"
    main(["balance", "draughts", "--games", "20", "--html", str(page)])
    text = capsys.readouterr().out
    assert re.search(r"jump .* –", text)
    for written in (text, page.read_text("utf-8")):
        assert "nan" not in written and "inf" not in written.split("<script>")[0].replace("info", "")


def test_who_plays_alone_is_not_held_against_a_table() -> None:
    found = judging.judge(judging.Plan("klondike", 1, 20))
    assert any(w.points.value != 0 for w in found.moves)
