"""The smallest story in which two rule sets part, and what is claimed when there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from harbourmaster.interpreter.comparing.exhaustive import Exhauster
from harbourmaster.interpreter.comparing.howmuch import Plan, measure
from harbourmaster.interpreter.comparing.lockstep import Lockstep, Tape, seeded, taped
from harbourmaster.interpreter.comparing.matching import Match
from harbourmaster.interpreter.comparing.playing import Effort, Start
from harbourmaster.interpreter.comparing.scenario import scenario_text
from harbourmaster.interpreter.comparing.starting import start_from
from harbourmaster.interpreter.comparing.story import Story, find_story
from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.interpreter.load import load_ruleset
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.scenarios import run_scenarios
from harbourmaster.repl.compare_story import before, draw, fitted

from .ferry import write_ferry

RULES = Path(__file__).parent.parent / "rules" / "manila"


def tell(a: str, b: str, *, players: int = 2, decisions: int = 30_000, seed: int = 1) -> Story:
    return find_story(
        load_game(a, players=players),
        load_game(b, players=players),
        decisions=decisions,
        seconds=60,
        seed=seed,
    )


def replays(story: Story, folder: Path) -> None:
    """Tests that the story's scenario is accepted and holds under both rule sets."""
    path = folder / "story.yaml"
    path.write_text(scenario_text(story), "utf-8")
    results = list(run_scenarios(path))
    assert len(results) == 2
    assert all(r.passed for r in results), "\n".join(r.report() for r in results)


PLANTED = [
    ("a price", "board.yaml", "back: {price: 2", "back: {price: 3", 1, "state"),
    ("a pay-out", "board.yaml", "pays: 6", "pays: 7", 4, "state"),
    ("a comparison", "play.rules", "cash[actor] >= s.price ", "cash[actor] > s.price ", 4, "options"),
    ("a guard", "play.rules", '    needs sits[s] is none           else "{sits[s]} sits there"\n', "", 1, "options"),
    ("an order", "play.rules", "clockwise from first of player", "clockwise from last of player", 0, "decider"),
    ("an effect forgotten", "play.rules", "    bet[actor] := n", "    bet[actor] := 0", 3, "state"),
    ("a secret", "play.rules", "bet[player]: 0 to 9 secret to its player", "bet[player]: 0 to 9", 3, "sight"),
    ("a move more", "play.rules", "        choose p: bet_on\n", "        choose p: bet_on, stand\n", 2, "options"),
    ("a score", "play.rules", "score p: cash[p]", "score p: cash[p] * 2", 12, "outcome"),
    ("a die", "board.yaml", "die: {faces: 6}", "die: {faces: 8}", 4, "chance"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "file", "old", "new", "most", "kind"), PLANTED)
def test_a_planted_difference_is_found_and_told(
    tmp_path: Path, what: str, file: str, old: str, new: str, most: int, kind: str
) -> None:
    a, b = write_ferry(tmp_path, "a"), write_ferry(tmp_path, "b", {file: (old, new)})
    story = tell(a, b)
    assert story.line is not None and story.told is not None
    assert story.line.parting.kind == kind
    assert story.line.decisions <= most, story.told.steps
    assert story.told.a and story.told.b and story.told.headline
    if kind not in ("sight", "chance"):
        replays(story, tmp_path)


def test_who_may_not_is_told_the_guard(tmp_path: Path) -> None:
    needs = '    needs cash[actor] >= s.price    else "it costs {s.price}"\n'
    a = write_ferry(tmp_path, "a")
    b = write_ferry(tmp_path, "b", {"play.rules": (needs, f'{needs}    needs s is front else "it is wet"\n')})
    story = tell(a, b)
    assert story.told is not None
    assert [p.text for p in story.told.a] == ["Ann may sit back"]
    (refusal,) = story.told.b
    assert refusal.text == "not sit back: it is wet"
    assert refusal.span is not None and "wet" in refusal.span.source.line(refusal.span.line)


def test_a_value_is_told_with_the_line_that_changed_it(tmp_path: Path) -> None:
    ferry = write_ferry(tmp_path)
    story = tell(ferry, f"{ferry}+bench.front.price=2")
    assert story.told is not None and story.line is not None
    assert story.line.decisions == 1
    assert story.told.a[0].text == "cash[Ann]: 4 → 3"
    assert story.told.b[0].text == "cash[Ann]: 4 → 2"
    span = story.told.b[0].span
    assert span is not None and "decrease cash[actor]" in span.source.line(span.line)
    assert next((g.who, g.a, g.b) for g in story.told.gains) == ("Ann", 3, 2)


def test_the_same_seed_finds_the_same_story(tmp_path: Path) -> None:
    ferry = write_ferry(tmp_path)
    first, second = (tell(ferry, f"{ferry}+bank=drifts") for _ in range(2))
    assert first.line is not None and second.line is not None
    assert scenario_text(first) == scenario_text(second)
    assert (first.games, first.lockstep.steps) == (second.games, second.lockstep.steps)


def test_one_program_is_proved_the_same(tmp_path: Path) -> None:
    ferry = write_ferry(tmp_path)
    story = tell(ferry, f"{ferry}+wind=less")
    assert story.proved and not story.parts and story.games == 0
    assert "one and the same" in story.claim()


def test_what_was_searched_is_claimed_and_no_more(tmp_path: Path) -> None:
    a = write_ferry(tmp_path, "a")
    same = "rolled >= 4 or (bank is arrives and rolled = 3)"
    b = write_ferry(tmp_path, "b", {"play.rules": (same, "rolled > 3 or (rolled = 3 and bank is arrives)")})
    story = tell(a, b, decisions=4000)
    assert not story.parts and not story.proved
    assert story.whole is not None and 0 < story.whole.depth < 12 and not story.whole.all_over
    assert f"within {story.whole.depth} decision" in story.claim()
    assert f"{story.whole.positions:,} positions, exhaustive" in story.claim()
    assert f"not found in {story.games:,} games" in story.claim()


def test_everything_can_be_gone_through_to_the_end(tmp_path: Path) -> None:
    short = {"board.yaml": ("width: 7, crossings: 3", "width: 7, crossings: 1")}
    a = write_ferry(tmp_path, "a", short)
    b = write_ferry(tmp_path, "b", short)
    path = Path(b) / "play.rules"
    path.write_text(
        path.read_text("utf-8").replace("rolled >= 4 or (bank is arrives and rolled = 3)", "rolled >= 3"),
        "utf-8",
    )
    lockstep = Lockstep(Match(load_game(a, players=2), load_game(b, players=2)))
    gone = Exhauster(lockstep, Start()).search(Effort(lockstep, 100_000, 60))
    assert gone.all_over and gone.way is None and gone.depth == 4
    assert gone.positions > 100


def test_exhaustive_search_finds_the_nearest_parting(tmp_path: Path) -> None:
    ferry = write_ferry(tmp_path)
    match = Match(load_game(ferry, players=2), load_game(f"{ferry}+bank=drifts", players=2))
    lockstep = Lockstep(match)
    gone = Exhauster(lockstep, Start()).search(Effort(lockstep, 100_000, 60))
    assert gone.way is not None and len(gone.way.actions) == 4
    assert gone.depth == 3


def test_positions_of_two_layouts_are_matched_by_name(tmp_path: Path) -> None:
    more = "state:\n    a_first: 0 to 9\n    cash[player]"
    a = write_ferry(tmp_path, "a")
    b = write_ferry(tmp_path, "b", {"play.rules": ("state:\n    cash[player]", more)})
    table = Path(b) / "board.yaml"
    text = table.read_text("utf-8").replace("{front:", "{side: {price: 99, pays: 9}, front:")
    table.write_text(text, "utf-8")
    match = Match(load_game(a, players=2), load_game(b, players=2))
    assert (
        not match.same_actions and match.only_b == ["a_first"]
    ) or "a_first" not in match.b.program.variables
    for action in range(match.a.program.actions):
        assert match.to_a(match.to_b(action)) == action
    streams = seeded(match, 3)
    lockstep = Lockstep(match)
    numbers = Random(5)
    for seed in range(5):
        streams = seeded(match, seed)
        twin = lockstep.start(streams)
        while not lockstep.is_over(twin):
            assert lockstep.parting(twin) is None
            assert twin.stop_a is not None
            lockstep.apply(twin, twin.stop_a[numbers.below(len(twin.stop_a))], streams)
        assert lockstep.parting(twin) is None


def test_a_tape_gives_both_games_the_same_and_notes_other_odds(tmp_path: Path) -> None:
    ferry = write_ferry(tmp_path)
    match = Match(load_game(ferry, players=2), load_game(f"{ferry}+die.faces=8", players=2))
    tape = Tape(Start().source(match, 7))
    first, second = taped(match, tape)
    assert first.outcome(0, 0, 0, 1, 6) == second.outcome(0, 0, 0, 1, 6)
    assert tape.odds is None
    first.outcome(0, 1, 0, 1, 6)
    second.outcome(0, 1, 0, 1, 8)
    assert tape.odds is not None and len(tape.odds.b) == 8
    assert tape.odds.row == 1


def test_a_comparison_can_start_at_a_scenario(tmp_path: Path) -> None:
    ferry = write_ferry(tmp_path)
    file = tmp_path / "from.yaml"
    file.write_text(
        f"- name: poor Ann\n  rules: {ferry}\n  seed: 4\n  set: {{'cash[Ann]': 1}}\n  moves: [sit front]\n"
        f"- name: rich Bo\n  rules: {ferry}\n  set: {{'cash[Bo]': 99}}\n",
        "utf-8",
    )
    games: tuple[Game, Game] = (
        load_game(ferry, players=2),
        load_game(f"{ferry}+bench.back.price=3", players=2),
    )
    beginning = start_from(f"{file}:poor", *games)
    story = find_story(*games, decisions=5000, beginning=beginning)
    assert story.line is not None and story.line.decisions == 1
    assert "set:" in scenario_text(story) and "sit front" in scenario_text(story)
    replays(story, tmp_path)


# The questions of the first game. Those whose lines are found at once are here; `slow` are whole games.


@pytest.mark.parametrize(
    ("reading", "most", "kinds"),
    [
        ("bid-ceiling=cash", 0, {"options"}),
        pytest.param("start-spaces=any-sum-nine", 2, {"options"}, marks=pytest.mark.slow),
        ("refrain-lasts=round", 6, {"state", "decider"}),
        pytest.param("berth-choice=any", 4, {"options"}, marks=pytest.mark.slow),
        ("stowaway-where=never", 3, {"options", "decider"}),
        ("plunder-paid=at-once", 8, {"state"}),
        pytest.param("thirteen-without-pirates=shipyard", 7, {"state"}, marks=pytest.mark.slow),
        pytest.param("loans=none", 0, {"options"}, marks=pytest.mark.slow),
        pytest.param("redeemed-share-lies=in-hand", 2, {"state"}, marks=pytest.mark.slow),
        ("pledged-share-lies=face-up", 1, {"sight"}),
        ("deal-pool=all-twenty", 0, {"chance"}),
    ],
)
def test_readings_of_manila_part_in_a_small_story(
    reading: str, most: int, kinds: set[str], tmp_path: Path
) -> None:
    story = tell("manila", f"manila+{reading}", players=3, decisions=60_000)
    assert story.line is not None
    assert story.line.decisions <= most
    assert story.line.parting.kind in kinds
    if scenario_text(story):
        replays(story, tmp_path)


def test_the_order_of_arrival_changes_who_is_asked() -> None:
    story = tell("manila", "manila+arrival-order=harbour-master", players=3, decisions=60_000)
    assert story.line is not None and story.told is not None
    assert story.line.parting.kind in ("decider", "options")
    assert story.told.gains == []


def test_a_question_of_a_variant_parts_where_the_variant_is_played() -> None:
    enhanced = "manila+enhanced-pirates"
    story = tell(enhanced, f"{enhanced}+captain-protected=no", players=3, decisions=100_000)
    assert story.line is not None and story.told is not None
    assert story.line.parting.kind == "options" and story.line.decisions <= 14
    assert any(p.text.startswith("not ") and p.span is not None for p in story.told.a)


# ------------------------------------------------------------------------------ every question of the first game

VARIANT_OF = dict.fromkeys(
    ("captain-protected", "who-may-be-evicted", "vacancies-first"), "manila+enhanced-pirates"
)


def every_reading() -> list[tuple[str, str, str]]:
    """Gets each reading that does not hold, with its question and the rule set in which that arises."""
    questions = load_ruleset("manila", players=3).questions
    return [
        (VARIANT_OF.get(name, "manila"), name, reading)
        for name, q in questions.items()
        for reading in q.readings
        if reading != q.chosen
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("base", "question", "reading"), every_reading())
def test_every_question_has_a_story_of_one_screen(
    base: str, question: str, reading: str, tmp_path: Path
) -> None:
    story = tell(base, f"{base}+{question}={reading}", players=3, decisions=120_000)
    assert not story.late
    told = story.told
    assert story.line is not None and told is not None
    assert [d.name for d in told.because] == [question]
    assert told.a and told.b
    assert any(p.span is not None and p.span.source.name.endswith(".rules") for p in (*told.a, *told.b))
    lines = fitted(story, told, draw(before(story), "en", 100), 100, 23)
    assert len(lines) <= 24, lines
    assert all(len(line) <= 100 for line in lines)
    if scenario_text(story):
        replays(story, tmp_path)


def test_a_parting_in_bookkeeping_alone_is_told_as_such() -> None:
    # no punt stands on 13 after the first roll, so whether pirates may board then is asked for nothing
    story = tell("manila", "manila+rolls-that-board=first-and-second", players=3, decisions=30_000)
    assert story.parts and story.aside is not None and not story.aside.parts
    assert "in 'rank' alone" in story.claim() and "otherwise not found in" in story.claim()


def test_bookkeeping_gives_way_to_what_players_meet() -> None:
    # who has boarded is written down at once, and matters when a punt is plundered
    story = tell("manila", "manila+boarder-still-plunders=yes", players=3, decisions=120_000)
    assert story.line is not None and story.unheeded == {"boarders"}
    assert story.line.parting.kind != "state" or story.later is not None
    assert "before in 'boarders' alone" in story.claim()


def test_who_is_not_asked_is_told(tmp_path: Path) -> None:
    story = tell("manila", "manila+loans=any-time", players=3, decisions=30_000)
    assert story.told is not None
    assert story.told.b[0].text.startswith("Bo may pledge")
    assert story.told.a[0].text == "Bo is not asked now" and story.told.a[0].span is not None


def test_the_order_of_arrival_is_no_matter_of_money() -> None:
    # but for the master's one more decision, at which he may pledge
    plan = Plan("manila", "manila+arrival-order=harbour-master", 3, 100, offers=False)
    measured = measure(plan)
    assert measured.sums.differed > 50 and measured.sums.scored == 0


# ------------------------------------------------------------------------- planted in copies of the first game's rules

COPIES = {
    "a price": ("board.yaml", "A: {price: 4, pays: 6}", "A: {price: 3, pays: 6}", "harbour.A.price", "it costs 4"),
    "a comparison": ("auction.rules", "high + 1 to", "high + 2 to", "move bid", "bid"),
    "a swapped order": ("placing.rules", "for p in clockwise from master:", "for p in clockwise after master:",
                        "rule placing_round", "decides"),
    "a forgotten captain": ("pirates.rules", "choose plunderer(1): to_port", "choose plunderer(plunderers): to_port",
                            "rule plunder", "decides: "),
}  # fmt: skip


@pytest.mark.parametrize("what", COPIES)
def test_what_is_planted_in_a_copy_is_found_and_explained(what: str, tmp_path: Path) -> None:
    file, old, new, name, told_of = COPIES[what]
    copy = tmp_path / "manila"
    shutil.copytree(RULES, copy, ignore=shutil.ignore_patterns("scenarios"))
    text = (copy / file).read_text("utf-8")
    assert text.count(old) >= 1
    (copy / file).write_text(text.replace(old, new, 1), "utf-8")
    story = tell("manila", str(copy), players=3, decisions=60_000)
    assert [d.name for d in story.found.meant] == [name]
    assert story.told is not None and story.line is not None and story.line.decisions <= 12
    assert any(told_of in p.text for p in (*story.told.a, *story.told.b)), (story.told.a, story.told.b)
    assert [d.name for d in story.told.because] == [name]


def test_other_words_for_the_same_rules_of_the_first_game(tmp_path: Path) -> None:
    copy = tmp_path / "manila"
    shutil.copytree(RULES, copy, ignore=shutil.ignore_patterns("scenarios"))
    path = copy / "sailing.rules"
    text = path.read_text("utf-8")
    old = "lies[w] is afloat and space[w] = lane.length"
    assert text.count(old) == 1
    path.write_text(text.replace(old, "space[w] >= lane.length and lies[w] is afloat"), "utf-8")
    story = tell("manila", str(copy), players=3, decisions=3000)
    assert not story.parts and not story.proved
    assert "not found in" in story.claim() and "exhaustive" in story.claim()
    # with brackets and another name of a local nothing is left to differ
    path.write_text(text.replace(old, "(lies[w] is afloat) and space[w] = (lane.length)"), "utf-8")
    assert tell("manila", str(copy), players=3).proved


def test_a_shuffle_of_a_pack_spends_the_effort_and_no_memory() -> None:
    # 52! ways to begin: outcomes of chance are counted like decisions
    game = load_game("klondike")
    lockstep = Lockstep(Match(game, game))
    gone = Exhauster(lockstep, Start()).search(Effort(lockstep, 500, 60))
    assert gone.depth == -1 and gone.way is None and not gone.all_over
    assert lockstep.steps <= 500


def test_going_through_everything_is_as_long_as_it_was_asked() -> None:
    game = load_game("manila", players=3)
    lockstep = Lockstep(Match(game, game))
    gone = Exhauster(lockstep, Start()).search(Effort(lockstep, 8_000, 60))
    assert gone.depth >= 0 and gone.positions > 100 and not gone.late
    assert lockstep.steps <= 8_000
