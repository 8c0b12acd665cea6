"""Loading games: what the model holds, complaints about each kind of file, hashes, number of players."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from harbourmaster.grammar import tree
from harbourmaster.grammar.diagnostics import Report, RulesError
from harbourmaster.interpreter.load import (
    available_games,
    available_variants,
    load_ruleset,
    source_fingerprint,
)
from harbourmaster.interpreter.ruleset import RuleSet

from .toygame import GAME, complaints, write_game


@pytest.fixture
def toy(tmp_path: Path) -> RuleSet:
    return load_ruleset(write_game(tmp_path), players=3)


def test_the_game(toy: RuleSet, tmp_path: Path) -> None:
    assert (toy.game, toy.title, toy.start, toy.variants) == (
        "toy",
        {"en": "Toy", "zh-Hans": "玩具"},
        "play",
        (),
    )
    assert (toy.players, toy.player_counts, toy.player_names) == (3, (2, 4), ("Ann", "Bo", "P1"))
    assert (toy.budget.decisions, toy.budget.steps) == (50, 100_000)
    assert str(toy.start_span) == f"{tmp_path}/toy/game.yaml:5:8"
    assert load_ruleset(str(tmp_path / "toy" / "game.yaml")).players == 2


def test_tables_and_records(toy: RuleSet) -> None:
    ware = toy.tables["ware"]
    assert ware.enum.entries == ("tea", "rum")
    assert ware.enum.origin == "table"
    assert {a: {e: c.value for e, c in column.items()} for a, column in ware.cells.items()} == {
        "price": {"tea": 3, "rum": 4},
        "berths": {"tea": (1, 2), "rum": (2,)},
        "fresh": {"tea": True, "rum": False},
        "colour": {"tea": "green", "rum": "brown"},
    }
    assert (ware.span.line, ware.entry_spans[1].line, ware.cells["price"]["rum"].span.column) == (1, 3, 9)
    assert toy.tables["season"].enum.entries == ("dry", "wet")
    assert toy.tables["season"].cells == {}
    assert toy.records["lane"].cells["length"].value == 5
    assert toy.records["setup"].cells["cash"].value == 9  # by players
    assert toy.table_files == dict.fromkeys(["ware", "lane", "setup", "season"], "board")


def test_questions(toy: RuleSet) -> None:
    assert {q.name: (q.base, q.chosen) for q in toy.questions.values()} == {
        "tie": ("shared", "shared"),
        "auction": ("once-around", "once-around"),
        "storms": ("no", "no"),
        "fourth": ("plays", "plays"),
    }
    tie, storms = toy.questions["tie"], toy.questions["storms"]
    assert tie.asks == {"en": "Who wins a tie?"}
    assert [r.identifier for r in tie.readings.values()] == ["shared", "later_seat"]
    assert tie.readings["later-seat"].sources == ("S0 end",)
    assert (storms.is_flag, storms.only_with, tie.is_flag) == (True, ("weather",), False)
    assert toy.questions["fourth"].players == (4,)


def test_definitions_in_order(toy: RuleSet) -> None:
    assert [type(d.node).__name__ for d in toy.definitions] == [
        "Rule", "Rule", "Rule", "StateBlock", "TypeDef", "Define", "Standing", "Score", "Move", "Move",
    ]  # fmt: skip
    assert {d.layer for d in toy.definitions} == {""}
    assert [layer.name for layer in toy.layers] == [""]
    assert {Path(name).name for name in toy.layers[0].files} == {
        "game.yaml", "board.yaml", "questions.yaml", "play.rules", "moves.rules",
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- complaints

_BOARD = GAME["board.yaml"]
_QUESTIONS = GAME["questions.yaml"]
_PLAY = GAME["play.rules"]
_FAULTS: dict[str, tuple[dict[str, str], list[str]]] = {
    "attribute missing": (
        {"board.yaml": _BOARD.replace("price: 4, ", "")},
        ["board.yaml:3:3 table-missing-attribute"],
    ),
    "attribute missing in the first entry": (
        {"board.yaml": _BOARD.replace("price: 3, ", "")},
        ["board.yaml:2:3 table-missing-attribute"],
    ),
    "attribute of two kinds": (
        {"board.yaml": _BOARD.replace("price: 4", "price: true").replace("fresh: false", 'fresh: "no"')},
        ["board.yaml:3:9 table-attribute-kind", "board.yaml:3:35 table-attribute-kind"],
    ),
    "by players forgets one": (
        {"board.yaml": _BOARD.replace("3: 9, 4: 8", "3: 9")},
        ["board.yaml:5:16 table-by-players"],
    ),
    "by players of two kinds": (
        {"board.yaml": _BOARD.replace("3: 9", "3: [9]")},
        ["board.yaml:5:36 table-attribute-kind"],
    ),
    "schema and yaml faults of all files": (
        {
            "board.yaml": _BOARD.replace("length: 5", "length: 5.5"),
            "questions.yaml": _QUESTIONS.replace("base: once", "bass: once"),
            "moves.rules": "rule x\n",
        },
        ["board.yaml:4:16 schema-type", "moves.rules:1:7 syntax", "questions.yaml:8:3 schema-unknown-key"],
    ),
    "base is no reading": (
        {"questions.yaml": _QUESTIONS.replace("base: once-around", "base: twice")},
        ["questions.yaml:8:9 question-base"],
    ),
    "a name in two rule files": (
        {"moves.rules": GAME["moves.rules"] + "rule office:\n    stop\n"},
        ["moves.rules:8:6 duplicate-name"],
    ),
    "a name in two namespaces": (
        {"play.rules": _PLAY.replace("rule office:", "rule ware:").replace("    office", "    ware")},
        ["play.rules:10:6 duplicate-name"],
    ),
    "a question with the name of a state variable": (
        {"questions.yaml": _QUESTIONS.replace("fourth:", "cash:")},
        ["play.rules:15:5 duplicate-name"],
    ),
    "a table in two files": (
        {
            "game.yaml": GAME["game.yaml"].replace("[board.yaml]", "[board.yaml, more.yaml]"),
            "more.yaml": "lane: {width: 3}\n",
        },
        ["more.yaml:1:1 duplicate-name"],
    ),
    "a built-in name": (
        {"play.rules": _PLAY.replace("define worth", "define seat")},
        ["play.rules:19:8 builtin-name"],
    ),
    "a table with a built-in name": (
        {"board.yaml": _BOARD + "players: {a: 3}\n"},
        ["board.yaml:7:1 builtin-name"],
    ),
    "words of the language": (
        {"board.yaml": _BOARD.replace("rum:", "empty:").replace("start: 1", "to: 1")},
        ["board.yaml:3:3 reserved-word", "board.yaml:4:19 reserved-word"],
    ),
    "readings may be called yes, no and none": (
        {"questions.yaml": _QUESTIONS.replace("shared:", "none:").replace("later-seat:", "some:")},
        ["questions.yaml:5:5 reserved-word"],
    ),
    "two scores": ({"moves.rules": "score p: 1\ntie break p: 1\n"}, ["moves.rules:1:1 duplicate-score"]),
    "an overlay's word": (
        {
            "moves.rules": GAME["moves.rules"]
            + "replace rule office:\n    stop\nadd to choice take_turn: pass\n"
        },
        ["moves.rules:8:14 overlay-only", "moves.rules:10:15 overlay-only"],
    ),
    "files that are not there": (
        {"game.yaml": GAME["game.yaml"].replace("moves.rules", "move.rules").replace("board.yaml", "b.yaml")},
        ["game.yaml:6:21 file-missing", "game.yaml:7:10 file-missing"],
    ),
    "more players at least than at most": (
        {"game.yaml": GAME["game.yaml"].replace("least: 2", "least: 5")},
        ["game.yaml:3:10 players-range"],
    ),
}


@pytest.mark.parametrize("fault", _FAULTS)
def test_faults(tmp_path: Path, fault: str) -> None:
    files, expected = _FAULTS[fault]
    assert complaints(tmp_path, "toy", files) == sorted(expected)


def _notes(tmp_path: Path, files: Mapping[str, str]) -> list[tuple[int, int]]:
    with pytest.raises(RulesError) as caught:
        load_ruleset(write_game(tmp_path, files))
    return [(n.span.line, n.span.column) for d in caught.value.diagnostics for n in d.notes]


def test_the_other_place_is_shown(tmp_path: Path) -> None:
    for fault, places in {
        "attribute missing": [(2, 9)],
        "attribute of two kinds": [(2, 9), (2, 35)],
        "a name in two rule files": [(10, 6)],
        "a name in two namespaces": [(1, 1)],
        "a table in two files": [(4, 1)],
        "two scores": [(23, 1)],
    }.items():
        assert _notes(tmp_path, _FAULTS[fault][0]) == places, fault


def test_a_move_may_be_called_like_a_record(tmp_path: Path) -> None:
    load_ruleset(write_game(tmp_path, {"board.yaml": _BOARD + "sell: {most: 3}\n"}))


def test_a_question_for_a_variant_that_is_not_there(tmp_path: Path) -> None:
    report = Report()
    path = write_game(tmp_path, {"questions.yaml": _QUESTIONS.replace("[weather]", "[whether]")})
    load_ruleset(path, report=report)
    assert [(d.code, d.severity, d.span.line, d.help) for d in report.diagnostics] == [
        ("unknown-variant", "warning", 12, "did you mean 'weather'?")
    ]


# ---------------------------------------------------------------------------------------------------- players


@pytest.mark.parametrize(("players", "cash"), [(None, 10), (2, 10), (3, 9), (4, 8)])
def test_numbers_of_players(tmp_path: Path, players: int | None, cash: int) -> None:
    rules = load_ruleset(write_game(tmp_path), players=players)
    assert (rules.players, rules.records["setup"].cells["cash"].value) == (players or 2, cash)
    assert len(rules.player_names) == rules.players


@pytest.mark.parametrize("players", [0, 1, 5])
def test_numbers_the_game_is_not_for(tmp_path: Path, players: int) -> None:
    assert complaints(tmp_path, "toy", players=players) == ["game.yaml:3:10 players-count"]


def test_a_question_that_matters_for_other_numbers_of_players(tmp_path: Path) -> None:
    path, report = write_game(tmp_path), Report()
    rules = load_ruleset(path + "+fourth=waits", players=3, report=report)
    assert [(d.code, d.severity) for d in report.diagnostics] == [("question-players", "warning")]
    assert rules.canonical == path + "+fourth=waits"
    assert (
        load_ruleset(path + "+fourth=waits", players=4, report=Report()).questions["fourth"].chosen == "waits"
    )


# ----------------------------------------------------------------------------------------------------- hashes


def test_the_hash_tells_what_counts(tmp_path: Path) -> None:
    path = write_game(tmp_path, {"labels/en.yaml": "language: en\nnames: {}\nsentences: {}\n"})
    first = load_ruleset(path, players=3)
    assert len(first.content_hash) == 16
    assert load_ruleset(path, players=3).content_hash == first.content_hash
    others = {
        load_ruleset(path, players=2).content_hash,
        load_ruleset(path + "+weather", players=3).content_hash,
        load_ruleset(path + "+tie=later-seat", players=3).content_hash,
        load_ruleset(path + "+lane.length=6", players=3).content_hash,
    }
    assert len(others | {first.content_hash}) == 5
    elsewhere = tmp_path / "elsewhere" / "game"
    shutil.copytree(path, elsewhere)
    (elsewhere / "labels" / "en.yaml").write_text("# other words\n")
    (elsewhere / "scenarios").mkdir()
    (elsewhere / "scenarios" / "a.yaml").write_text("# a test\n")
    assert load_ruleset(str(elsewhere), players=3).content_hash == first.content_hash


@pytest.mark.parametrize(
    "file", ["game.yaml", "board.yaml", "questions.yaml", "play.rules", "variants/weather.yaml"]
)
def test_hash_and_fingerprint_follow_each_file(tmp_path: Path, file: str) -> None:
    path = write_game(tmp_path)
    name = path + "+weather"
    before = load_ruleset(name).content_hash, source_fingerprint(name)
    assert before == (load_ruleset(name).content_hash, source_fingerprint(name))
    with (Path(path) / file).open("a") as opened:
        opened.write("# a remark\n")
    after = load_ruleset(name).content_hash, source_fingerprint(name)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_fingerprint_reads_no_rules(tmp_path: Path) -> None:
    path = write_game(tmp_path, {"play.rules": "rule broken\n"})
    keys = {
        source_fingerprint(path),
        source_fingerprint(path, 3),
        source_fingerprint(path + "+weather"),
        source_fingerprint(path + "+tie=later-seat"),
    }
    assert len(keys) == 4
    assert source_fingerprint(path) == source_fingerprint(path, 2)
    with pytest.raises(RulesError):
        source_fingerprint(path + "+wether")
    code = (
        "import sys\n"
        "from harbourmaster.interpreter.load import source_fingerprint\n"
        "source_fingerprint('manila+short-lane', 4)\n"
        "print([m for m in ('lark', 'jsonschema') if m in sys.modules])"
    )
    env = {"HARBOURMASTER_CACHE": str(tmp_path), "HOME": str(tmp_path)}
    for imported in ("['jsonschema']", "[]"):  # the second time the files are known to fit
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
        )
        assert ran.stdout.strip() == imported


def test_hashes_do_not_depend_on_the_seed_of_hash() -> None:
    code = (
        "from harbourmaster.interpreter.load import load_ruleset\n"
        "r = load_ruleset('manila+as-S3+tie=most-cash+lane.length=12', players=4)\n"
        "print(r.canonical, r.content_hash)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "HOME": str(Path.home())},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


# ----------------------------------------------------------------------------------------------------- Manila


def test_a_damaged_or_absent_cache_changes_nothing(tmp_path: Path) -> None:
    code = (
        "from harbourmaster.interpreter.load import load_ruleset; print(load_ruleset('manila').content_hash)"
    )
    (tmp_path / "fits-schema.txt").write_bytes(b"\xff\x00rubbish\n")
    expected = load_ruleset("manila").content_hash
    for cache in ("off", str(tmp_path), str(tmp_path), str(tmp_path / "fits-schema.txt")):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"HARBOURMASTER_CACHE": cache, "HOME": str(tmp_path)},
        )
        assert ran.stdout.strip() == expected


def test_what_there_is() -> None:
    assert "manila" in available_games()
    assert set(available_variants("manila")) >= {
        "as-EN", "as-S0", "as-S1", "as-S2", "as-S3", "as-S4",
        "double-payout", "harbour-c-pays-20", "price-by-fives", "short-lane",
    }  # fmt: skip


def test_manila() -> None:
    rules = load_ruleset("manila", players=4)
    assert rules.tables["ware"].cells["berths"]["jade"].value == (3, 4, 5, 5)
    assert (rules.records["setup"].cells["accomplices"].value, rules.player_counts) == (3, (3, 5))
    assert load_ruleset("manila", players=3).records["setup"].cells["accomplices"].value == 4


@pytest.mark.parametrize("players", [3, 4, 5])
@pytest.mark.parametrize("variant", available_variants("manila"))
def test_every_variant_loads(variant: str, players: int) -> None:
    rules = load_ruleset("manila", players=players, variants=[variant])
    assert rules.variants == (variant,)
    assert load_ruleset(rules.canonical, players=players).content_hash == rules.content_hash


def test_every_reading_loads() -> None:
    base = load_ruleset("manila", players=3)
    hashes = [base.content_hash]
    for question in base.questions.values():
        variants = (
            question.only_with[:1] if set(question.only_with) <= set(available_variants("manila")) else ()
        )
        if question.only_with and not variants:
            continue
        for reading in question.readings:
            if reading != question.base:
                rules = load_ruleset(
                    "manila", players=3, variants=variants, readings={question.name: reading}
                )
                assert rules.questions[question.name].chosen == reading
                assert rules.canonical == "+".join(["manila", *variants, f"{question.name}={reading}"])
                hashes.append(rules.content_hash)
    assert len(set(hashes)) == len(hashes) > 40


def test_trees_are_shared_and_not_changed() -> None:
    one, other = load_ruleset("manila", players=3), load_ruleset("manila", players=5)
    assert [d.node for d in one.definitions] == [d.node for d in other.definitions]
    assert one.tables["ware"] is not other.tables["ware"]
    assert all(isinstance(d.node, tree.Definition) for d in one.definitions)
