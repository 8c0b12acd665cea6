"""Plays the scenarios of every game, and tests how scenarios are read, played and covered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import Report, RulesError, render_all
from harbourmaster.interpreter.coverage import Coverage
from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.interpreter.scenario_files import Case, load_scenarios, scenario_files
from harbourmaster.interpreter.scenarios import Result, run_case, run_scenarios, state_of

from .smallgame import make

RULES = Path(__file__).parent.parent / "rules"


# --------------------------------------------------------------------------------------- the games' scenarios


def cases() -> list[object]:
    """Lists every case of every game's scenarios; a file that cannot be read is a case that fails."""
    found: list[object] = []
    for path in sorted(RULES.glob("*/scenarios/**/*.yaml")):
        file = path.relative_to(RULES).with_suffix("").as_posix().replace("/scenarios/", "/")
        report = Report()
        for scenario in load_scenarios(path, report):
            found += [pytest.param(case, id=f"{file}: {case.title}") for case in scenario.cases]
        if report.has_errors:
            found.append(pytest.param(render_all(report.sorted()), id=file))
    return found


@pytest.mark.parametrize("case", cases())
def test_scenario(case: Case | str) -> None:
    assert not isinstance(case, str), "\n" + case
    result = run_case(case)
    assert result.passed, "\n" + result.report()


# ----------------------------------------------------------------------------------------------- a small game

SMALL = """
rule play:
    roll die
    draw f in fruit by 1 + f.price named bag
    drawn := f
    repeat:
        choose turn: grab, leave
        stop when turn is first of player and taken = 0
        turn := left_of(turn)
        stop when taken >= 9

state:
    die: 1 to 6
    drawn: fruit
    turn: player
    taken: 0 to 99
    got[player]: 0 to 99
    basket: pile of fruit, up to 3
    seen: set of player
    last: player or none

define most -> 0 to 9:
    match colour:
        red: die
        green: 2

move grab(n: 1 to 6):
    says "grab {n}"
    needs n <= most          else "you may grab up to {most}"
    needs n + taken <= 99    else "there is no more"
    increase taken by n
    increase got[actor] by n
    last := actor
    add actor to seen
    if length of basket < 3:
        put drawn on top of basket
    tell "{actor} has {got[actor]}"

move leave:
    says "leave"
    means "leave it"

move steal:
    says "steal"

standing at own decisions: steal

invariant "all is somebody's": taken = (sum of got[p] for p in player)
score p: got[p]
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Writes the small game; gets its path."""
    folder = tmp_path_factory.mktemp("small") / "small"
    make(folder, SMALL)
    return str(folder)


def run(text: str, rules: str, tmp_path: Path) -> list[Result]:
    """Plays a file of scenarios about the small game."""
    path = tmp_path / "a.yaml"
    body = "".join(f"  {line}\n" if line else "\n" for line in text.strip("\n").splitlines())
    path.write_text(f"- name: it\n  rules: {rules}\n{body}")
    return list(run_scenarios(path))


def told(text: str, rules: str, tmp_path: Path) -> list[str]:
    """Plays one case; gets a line for each failure, with its place: expected | found."""
    (result,) = run(text, rules, tmp_path)
    lines = [f"{f.span.line}:{f.span.column} {f.expected} | {f.found}" for f in result.failures]
    return lines + [f"{d.span.line}:{d.span.column} {d.code}" for d in result.diagnostics]


PASSES = """
players: [Xi, Yu, Zo]
chance: {die: [4], bag: [plum]}
moves: [grab 4, Yu grab 3]
expect:
- decides: Zo
- options: 6
- options: [grab 1, grab 2, grab 3, grab 4, leave, Zo steal]
- offered: [grab 1, leave]
- not offered: grab 5
  because: up to 4
- not offered: [grab 6, Xi leave]
- over: false
- taken = 7 and got[Xi] > got[Yu]
- that: every p in player has got[p] <= most
- taken: 7
- taken: got[Xi] + 3
- {drawn: plum, last: Yu, die: 4, "got[Zo]": 0, "got[Yu] = 3": yes, last is none: no}
- seen: [Yu, Xi]
- basket: [plum, plum]
- told: Yu has 3
- perft: {1: 6, 2: 18}
then:
- set: {taken: 8, last: none, basket: [apple], seen: [], drawn: pear}
  expect:
  - {last: none, basket: [apple], seen: empty, drawn: pear, taken: 8}
- moves: [Zo grab 2]
  expect:
  - {over: true, winner: Xi, returns: [4, 3, 2], basket: [apple, pear]}
  - returns: {Xi: 4}
  - options: 0
"""


def test_everything_that_can_be_expected(small: str, tmp_path: Path) -> None:
    (result,) = run(PASSES, small, tmp_path)
    assert result.passed, result.report()
    assert [span.source.line(span.line).split()[0] for span in result.refused] == ["needs", "needs"]


FAILS = """
players: 2
chance: {die: [2], bag: [pear]}
moves: [grab 2]
expect:
- taken = 3
- taken: 3
- that: every p in player has got[p] = 1
- offered: grab 3
- offered: grub 1
- not offered: grab 1
- not offered: grab 3
  because: it is late
- not offered: grub 3
- options: 7
- options: [grab 1, leave, grab 3]
- decides: Ann
- over: true
- winner: Ann
- returns: [2, 0]
- told: Bo has
- perft: {1: 3, 2: 9}
- basket: [pear, pear]
- drawn: plum
"""


def test_everything_that_can_fail(small: str, tmp_path: Path) -> None:
    assert told(FAILS, small, tmp_path) == [
        "7:5 taken = 3 | it does not hold",
        "8:5 taken = 3 | taken = 2",
        "9:11 every p in player has got[p] = 1 | it does not hold",
        "10:14 offered: grab 3 | not offered: you may grab up to 2",
        "11:14 offered: grub 1 | no move is called 'grub 1'; did you mean 'grab 1'?",
        "12:18 not offered: grab 1 | it is offered",
        "13:18 not offered: grab 3, because it is late | not offered because you may grab up to 2",
        "15:18 not offered: grub 3 | no move is called 'grub 3'; did you mean 'grab 2'?",
        "16:5 7 options | 4 options",
        "17:5 options: grab 1, leave, grab 3 | options: grab 1, grab 2, leave, steal",
        "18:5 Ann decides | Bo decides",
        "19:5 the game is over | the game goes on",
        "20:5 winner: Ann | the game goes on",
        "21:5 returns: Ann 2, Bo 0 | the game goes on",
        "22:11 told: Bo has | Ann has 2",
        "23:16 3 sequences of 1 | 4 sequences of 1",
        "24:5 basket = [pear, pear] | basket = [pear]",
        "25:5 drawn = plum | drawn = pear",
    ]


def test_a_failure_shows_values_and_what_happened(small: str, tmp_path: Path) -> None:
    text = "chance: {die: [2], bag: [pear]}\nmoves: [grab 2]\nexpect: ['got[Ann] > taken + most']"
    (result,) = run(text, small, tmp_path)
    lines = result.report().splitlines()
    assert lines[0].endswith("a.yaml:1:9: it: failed")
    assert "    expected  got[Ann] > taken + most" in lines
    assert "      got[Ann] = 2" in lines
    assert "      taken + most = 4" in lines
    assert "  last move: grab 2" in lines
    assert any(line.startswith("    taken: 0 → 2") and "play.rules" in line for line in lines)
    assert any(line.startswith("    “Ann has 2”") for line in lines)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("expect: ['x]", ""),
        ("moves: [grab 1, Ann grab 1]",
         "4:19 Ann grab 1 | it may not be made: it is not Ann who decides but Bo"),
        ("moves: [grab 7]", "4:11 grab 7 | it may not be made: it goes from 1 to 2 here"),
        ("moves: [grab 6]", "4:11 grab 6 | it may not be made: you may grab up to 2"),
        ("expect: ['gott[Ann] = 3']", "4:13 unknown-name"),
        ('expect: [{"got[Anne]": 3}]', "4:18 unknown-name"),
        ("expect: [{taken: many}]", "4:20 scenario-value"),
        ("expect: [{drawn: aple}]", "4:20 scenario-value"),
        ("expect: [{drawn: [apple]}]", "4:20 scenario-value"),
        ("expect: [taken]", "4:12 scenario-condition"),
        ("expect: [{decides: Anne}]", "4:22 scenario-value"),
        ("set: {taken: 100}", "4:16 scenario-value"),
        ("set: {takn: 1}", "4:9 scenario-set"),
        ("set: {got: 1}", "4:9 scenario-value"),
        ("set: {last: 7}", "4:15 scenario-value"),
        ("set: {basket: [apple, apple, pear, plum]}", "4:17 scenario-value"),
        ("set: {taken + 1: 1}", "4:9 scenario-set"),
        ("set: {taken: 3}\nmoves: [grab 1]", ""),
        ("players: 7", "4:12 players-count"),
        ("players: [Ann, Bo, Cy, Di, Ed]", "4:12 players-count"),
        ("under: {colour=blue: same}", "4:11 unknown-reading"),
    ],
)  # fmt: skip
def test_mistakes_are_told_at_their_place(text: str, wanted: str, small: str, tmp_path: Path) -> None:
    text = f"chance: {{die: [2], bag: [pear]}}\n{text}"
    if "'x]" in text:
        with pytest.raises(RulesError, match="yaml"):
            run(text, small, tmp_path)
        return
    result = run(text, small, tmp_path)[-1]
    found = [f"{f.span.line}:{f.span.column} {f.expected} | {f.found}" for f in result.failures]
    found += [f"{d.span.line}:{d.span.column} {d.code}" for d in result.diagnostics]
    assert found == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("chance", "wanted"),
    [
        ("{dye: [1]}", "3:12 scenario-stream"),
        ("{die: [x]}", "3:18 scenario-value"),
        ("{bag: [aple]}", "3:18 scenario-value"),
        ("{die: [7]}", "3:18 chance comes out as the script says | this cannot come out of 'die' here"),
    ],
)
def test_scripts_of_chance(chance: str, wanted: str, small: str, tmp_path: Path) -> None:
    assert told(f"chance: {chance}", small, tmp_path) == [wanted]


def test_a_broken_invariant_is_told_unless_the_set_up_breaks_it(tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    make(folder, SMALL.replace("increase got[actor] by n", "increase got[actor] by n + 1"))
    text = "moves: [grab 1]\nchance: {die: [2]}"
    assert told(text, str(folder), tmp_path) == ["3:11 all invariants hold | broken: all is somebody's"]
    assert told(f"{text}\nset: {{taken: 1}}", str(folder), tmp_path) == []


def test_under_changes_the_rules_and_what_is_given(small: str, tmp_path: Path) -> None:
    results = run(
        """
chance: {die: [5], bag: [pear]}
moves: [grab 2]
expect: [offered: grab 5, options: 7]
then: [{moves: [grab 5], expect: {taken: 7}}]
under:
  colour=green: {expect: [not offered: grab 5, options: 4]}
  +colour=green+strict=yes:
    moves: [grab 1]
    expect: {taken: 1}
    then: [{moves: [grab 1], expect: {taken: 2}}]
  strict=yes: same
""",
        small,
        tmp_path,
    )
    assert [r.report() for r in results if not r.passed] == []
    assert [(r.case.under, len(r.case.steps)) for r in results] == [
        ("", 2),
        ("colour=green", 1),
        ("+colour=green+strict=yes", 2),
        ("strict=yes", 2),
    ]
    assert results[2].case.rules == f"{small}+colour=green+strict=yes"


def test_without_offers(small: str, tmp_path: Path) -> None:
    text = "offers: false\nchance: {die: [2]}\nexpect: [options: [grab 1, grab 2, leave]]"
    assert told(text, small, tmp_path) == []


def test_scenarios_without_rules_are_about_the_game_they_lie_in(small: str) -> None:
    folder = Path(small) / "scenarios"
    folder.mkdir()
    (folder / "b.yaml").write_text("- name: b\n  chance: {die: [1]}\n  expect: {die: 1}\n")
    (folder / "a.yaml").write_text("- name: a\n  seed: 4\n  expect: {decides: Ann}\n")
    assert [p.name for p in scenario_files(small)] == ["a.yaml", "b.yaml"]
    results = list(run_scenarios(small))
    assert [(r.case.name, r.passed) for r in results] == [("a", True), ("b", True)]
    assert [r.case.name for r in run_scenarios(small, only=lambda c: c.name == "b")] == ["b"]


def test_two_of_one_name_and_a_reason_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("- {name: a, rules: x}\n- {name: a, rules: x, expect: [{because: y}]}\n- name: b\n")
    report = Report()
    assert load_scenarios(path, report) == []
    assert [f"{d.span.line}:{d.span.column} {d.code}" for d in report.sorted()] == [
        "2:10 scenario-twice",
        "2:33 scenario-because",
        "3:9 scenario-rules",
    ]


def test_state_of_a_case(small: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        f"- name: a\n  rules: {small}\n  chance: {{die: [3]}}\n  set: {{taken: 5}}\n  moves: [grab 3]\n"
    )
    (scenario,) = load_scenarios(path)
    state = state_of(scenario.cases[0])
    assert (state.get("taken"), state.current_player()) == (8, 1)
    green = load_game(f"{small}+colour=green")
    with pytest.raises(Exception, match="up to 2"):
        state_of(scenario.cases[0], game=green)


# --------------------------------------------------------------------------------------------------- coverage


def test_coverage_names_what_no_scenario_reaches(small: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        f"- name: a\n  rules: {small}\n  chance: {{die: [2]}}\n  moves: [grab 1]\n"
        "  expect: [not offered: grab 3]\n  under: {colour=green: same}\n"
    )
    coverage = Coverage()
    for result in run_scenarios(path, load=coverage.load):
        assert result.passed, result.report()
        coverage.note(result)
    left = [(i.kind, i.owner, i.span.source.line(i.span.line).strip()) for i in coverage.unreached()]
    assert left == [
        ("guard", "grab", 'needs n + taken <= 99    else "there is no more"'),
        ("value", "score", "score p: got[p]"),
    ]
    assert coverage.untried() == [("strict", "no"), ("strict", "yes")]
    assert (coverage.readings["colour", "red"], coverage.readings["colour", "green"]) == (1, 1)
    reached, total = coverage.share()
    assert (total - reached, total > 10) == (2, True)
    assert 'never refuses (grab): needs n + taken <= 99    else "there is no more"' in coverage.render()


def same_play(marked: Game, plain: Game, seed: int) -> None:
    """Plays one game on both at random, comparing what is offered and the variables."""
    a = marked.new_initial_state(seed=seed, trace=True)
    b = plain.new_initial_state(seed=seed)
    rng = random.Random(seed)
    names = [v.name for v in plain.program.variables.values()]
    for _ in range(150):
        assert a.legal_actions() == b.legal_actions()
        for name in names:
            v, w = marked.program.variables[name], plain.program.variables[name]
            assert a.position[v.slot] == b.position[w.slot]
        if b.is_terminal():
            return
        action = rng.choice(b.legal_actions())
        a.apply_action(action)
        b.apply_action(action)


@pytest.mark.parametrize("rules", ["manila", "manila+plunder-paid=at-once+tie=most-cash"])
def test_marked_rules_play_as_those_without_marks(rules: str) -> None:
    marked, plain = Coverage().load(rules, 3, True), load_game(rules, players=3)
    for seed in range(4):
        same_play(marked, plain, seed)
