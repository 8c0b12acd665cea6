"""Tests the published schemas and the complaints made from them: rules/schema, interpreter/schema.py.

Cases are chunks: the name of a schema and a title after ``===``, the YAML, then a line ``!! line:column
code`` for every complaint. A missing or surplus complaint fails; a chunk without ``!!`` fits its schema.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.grammar.diagnostics import Report, render_all
from harbourmaster.grammar.span import Source
from harbourmaster.interpreter import schema as schemas
from harbourmaster.interpreter.schema import SCHEMAS, resolved_schema, schema_text, validate
from harbourmaster.interpreter.yamlfile import plain, read_yaml

RULES = Path(__file__).parent.parent / "rules"

CASES = """
=== game: the least
game: manila
players: {least: 3, most: 5}
start: play
rules: [auction.rules]
=== game: everything
game: manila
title: {en: Manila, zh-Hans: 马尼拉, zh-Hant: 馬尼拉}
players: {least: 3, most: 5}
names: [Ann, Bo, 小明, no]
start: play
rules: [auction.rules, more/end.rules]
tables: [board.yaml]
questions: questions.yaml
sources: sources.yaml
labels: {en: labels/en.yaml, zh-Hans: labels/zh-Hans.yaml}
view: view.yaml
budget: {decisions: 20000, steps: 100000}
=== game: a list
- game: manila
!! 1:1 schema-type
=== game: a text
manila
!! 1:1 schema-type
=== game: nothing in it
{}
!! 1:1 schema-missing-key
=== game: keys misspelt and missing
gmae: manila
players: {least: 3}
start: play
speed: 3
!! 1:1 schema-missing-key
!! 1:1 schema-unknown-key
!! 2:10 schema-missing-key
!! 4:1 schema-unknown-key
=== game: values
game: Manila
title: 5
players: {least: 0, most: many}
names: [Ann, Bo Bo, Ann, 5]
start: play it
rules: base.rules
tables: []
labels: {english: en.yaml}
budget: {decisions: "20000", steps: 1_000}
!! 1:7 schema-value
!! 2:8 schema-type
!! 3:18 schema-value
!! 3:27 schema-type
!! 4:14 schema-value
!! 4:21 schema-value
!! 4:26 schema-type
!! 5:8 schema-value
!! 6:8 schema-type
!! 7:9 schema-value
!! 8:10 schema-key
!! 9:21 schema-type
!! 9:37 schema-type
=== game: files elsewhere
game: manila
players: {least: 3, most: 5}
start: play
rules: [/etc/x.rules, ../x.rules, a/../../x.rules, 'C:\\x.rules', x.yaml, "x\\n../y.rules", "x.rules\\n"]
!! 4:9 schema-value
!! 4:23 schema-value
!! 4:35 schema-value
!! 4:52 schema-value
!! 4:66 schema-value
!! 4:74 schema-value
!! 4:91 schema-value
=== tables: of every kind
ware:
  ginseng: {berths: [1, 2, 3], profit: 18, colour: yellow, costly: false}
  jade: {berths: [3, 4, 5, 5], profit: {by players: {3: 36, 4: 30}}}
harbour:
  A: {pays: 6}
suit: [spades, hearts]
rank: {ace: {}, king: {}}
lane: {length: 13, track: [0, 5], name: lane, round: true}
setup: {accomplices: {by players: {3: 4, 4: 3}}}
=== tables: nothing
{}
!! 1:1 schema-value
=== tables: no tables
a: 5
b: none
c:
d: []
e: {}
bad-name: [x]
!! 1:4 schema-type
!! 2:4 schema-type
!! 3:3 schema-type
!! 4:4 schema-value
!! 5:4 schema-value
!! 6:1 schema-key
=== tables: entries and constants mixed
ware:
  ginseng: {profit: 18}
  jade: 5
  silk:
!! 3:9 schema-type
!! 4:8 schema-type
=== tables: attributes
ware:
  gin seng: {profit: 1.5, 2x: 3}
  jade: {berths: [1, two, [3]], profit: , more: {a: 1}, text: ''}
!! 2:3 schema-key
!! 2:22 schema-type
!! 2:27 schema-key
!! 3:22 schema-type
!! 3:27 schema-type
!! 3:41 schema-type
!! 3:49 schema-missing-key
!! 3:50 schema-unknown-key
!! 3:63 schema-value
=== tables: by players
setup:
  a: {by players: {3: 4, many: 2, 0: 1}}
  b: {by player: {3: 4}}
  c: {by players: {3: [x], 4: {a: 1}}}
  d: {by players: 3}
  e: {by players: {}}
!! 2:26 schema-key
!! 2:35 schema-key
!! 3:7 schema-unknown-key
!! 4:24 schema-type
!! 4:31 schema-type
!! 5:19 schema-type
!! 6:19 schema-value
=== tables: a name twice
suit: [spades, hearts, spades]
!! 1:24 schema-value
=== questions: sound
starting-shares:
  asks: {en: Which?, zh-Hans: 哪些, zh-Hant: 哪些}
  readings:
    random: {says: {en: Any.}, sources: [S0 §1 loans, EN], note: x}
    two-different: {says: Two., sources: []}
  base: two-different
  only with: [enhanced-pirates, as-EN]
  players: [3]
  note: a note
captain-protected:
  asks: Is he?
  readings: {yes: {says: He is.}, no: {says: He is not.}}
  base: no
=== questions: unsound
starting_shares:
  asks: {en: Which?, chinese: x}
  readings:
    Random: {says: Any., sources: S0}
    two-different: {say: Two., sources: [S0, S0]}
  base: true
  only with: pirates
  players: [3, 0]
one:
  readings: {a: {says: b}}
  only_with: [x]
three: which
!! 1:1 schema-key
!! 2:22 schema-key
!! 4:5 schema-key
!! 4:35 schema-type
!! 5:21 schema-unknown-key
!! 5:46 schema-value
!! 6:9 schema-type
!! 7:14 schema-type
!! 8:16 schema-value
!! 10:3 schema-missing-key
!! 10:13 schema-value
!! 11:3 schema-unknown-key
!! 12:8 schema-type
=== sources: sound
S0: {title: A page, file: 000.txt, language: zh-Hans, parts: {§1: rules, §2.1: {en: x}}, note: x}
EN:
  title: {en: Rule book}
  language: en
  answers: {captain-protected: no, bid-ceiling: credit}
  silent: [tie]
  contradicts: {loans: says both}
=== sources: unsound
s0: {title: '', language: zh-hans}
EN: {title: A, answers: {a-b: true, c: 5, D: x}, silent: tie}
!! 1:1 schema-key
!! 1:13 schema-value
!! 1:27 schema-value
!! 2:5 schema-missing-key
!! 2:31 schema-type
!! 2:40 schema-type
!! 2:43 schema-key
!! 2:58 schema-type
=== labels: sound
language: zh-Hans
names: {ware.ginseng: 人参, player: 玩家, move.bid: 出价, question.bid-ceiling: x}
sentences: {"bid {amount}": "出价{amount}", no: 否}
=== labels: unsound
lang: en
names: {ware ginseng: x, player: [x], a..b: y}
sentences: {yes: yes, a: 1}
!! 1:1 schema-unknown-key
!! 2:9 schema-key
!! 2:34 schema-type
!! 2:39 schema-key
!! 3:26 schema-type
=== view: sound
headline: {en: "round {n}", zh-Hans: "第{n}轮"}
colours: {ware.jade: green, card: {each: c, red: c.suit is hearts}}
panels:
- panel: lane
  each: {w: fleet}
  spaces: lane_space
  at: space[w]
  beyond: [{when: "lies[w] is ashore", shows: ashore}]
  seats: {each: {b: berth_number}, price: 3, who: "aboard[w, b]"}
- panel: table
  rows: {p: player}
  columns: [{title: cash, shows: "cash[p]", blank: 0}]
- {panel: hand, of: p, rows: [{each: {w: ware}, count: "hand[p, w]"}]}
- {panel: piles, each: {c: column}, cards: {k: "face_up[c]"}, top only: true}
stages: {auction: {says: auction, now: {when: high > 0, shows: "{high}"}, next: office}}
tell: [{variable: cash, of: [p], says: "{p} {old} → {new}", unless new: 0}]
=== view: unsound
headline: 3
colours: {ware.jade: greenish}
panels:
- {panel: lane, each: {w: fleet, v: ware}, spaces: lane_space, at: "space[w]"}
- {panel: lame, shows: x}
- {panel: note, shoes: x}
stages: {auction: {now: x}}
tell: [{variable: cash}]
!! 1:11 schema-type
!! 2:22 schema-type
!! 4:23 schema-value
!! 5:11 schema-value
!! 6:17 schema-unknown-key
!! 7:19 schema-missing-key
!! 7:25 schema-type
!! 8:8 schema-missing-key
=== variant: the smallest
variant: harbour-c-pays-20
for: manila
patch: {harbour.C.pays: 20}
=== variant: everything
variant: as-EN
for: manila
title: As EN
says: {en: It is so., zh-Hant: 是}
note: x
require: [enhanced-pirates]
conflicts: {open-outcry: there is no turn}
players: {least: 4}
set: {bid-ceiling: cash, setup.cash: 40, captain-protected: no, lane.wraps: true}
patch: {ware.jade.berths: [1, 2], harbour.D: {pays: 3}, market.track: [0, 5]}
rules: [x.rules]
questions: q.yaml
labels: {en: en.yaml}
sources: [S0 §1]
=== variant: unsound
variant: Short Lane
game: manila
conflicts: [a b, c, c]
require: other
players: {lest: 3}
set: {bid-ceiling: [cash], 'a b': 1, x: }
patch: {harbour C: 20, lane.length: }
set2: {}
!! 1:1 schema-missing-key
!! 1:10 schema-value
!! 2:1 schema-unknown-key
!! 3:13 schema-value
!! 3:21 schema-value
!! 4:10 schema-type
!! 5:11 schema-unknown-key
!! 6:20 schema-type
!! 6:28 schema-key
!! 6:41 schema-type
!! 7:9 schema-key
!! 7:37 schema-type
!! 8:1 schema-unknown-key
=== scenario: sound
- name: the second pirate may not evict the captain
  source: S4 last paragraph
  rules: manila+enhanced-pirates
  players: 3
  seed: 3
  offers: false
  chance: {deal: [nutmeg, silk], die_shows: [[3, 4, 2], [5, 1, 6]]}
  set: {"cash[Ann]": 45, fleet: [silk], "lies[silk]": afloat, master: none}
  moves: [Ann bid 3, [Bo pass, pass]]
  expect:
  - not offered: Bo evict nutmeg 1
    because: x
  - cash[Ann] = 45
  - {options: 3, decides: Bo, over: false, "cash[Bo]": 30, "fleet": [silk]}
  - options: [bid 3, pass]
  - that: [a, b]
  - perft: {1: 57, 2: 1763}
  then:
  - moves: [pass]
    expect: {winner: Ann, returns: {Ann: 3}}
  under:
    captain-protected=no: {expect: [{offered: Bo evict nutmeg 1}]}
    tie=shared: same
=== scenario: unsound
- source: S4
  moves: Ann bid 3
- name: x
  players: 0
  under: {a=b: {moves: [3]}, c=d: other}
- name: y
  position: {}
  chance: {roll: 3, die: [[a, [1]]]}
  expect: [{options: -1}, {perft: {0: 1}}, {over: 1}, 3, {"cash[Ann]": {a: 1}}]
  then: [{say: hello}]
!! 1:3 schema-missing-key
!! 2:10 schema-type
!! 4:12 schema-value
!! 5:25 schema-type
!! 5:35 schema-value
!! 7:3 schema-unknown-key
!! 8:18 schema-type
!! 8:31 schema-type
!! 9:22 schema-value
!! 9:36 schema-key
!! 9:51 schema-type
!! 9:55 schema-type
!! 9:72 schema-type
!! 10:11 schema-unknown-key
"""


def chunks(text: str) -> list[Any]:
    """Makes the cases: schema, YAML, complaints wanted."""
    cases = []
    for chunk in text.split("\n=== ")[1:]:
        title, *lines = chunk.rstrip("\n").split("\n")
        wanted = [line[3:] for line in lines if line.startswith("!! ")]
        body = "\n".join(line for line in lines if not line.startswith("!! "))
        cases.append(pytest.param(title.split(":")[0], body + "\n", wanted, id=title))
    return cases


def check(schema: str, text: str) -> Report:
    report = Report()
    node = read_yaml(Source("x.yaml", text), report)
    assert node is not None
    assert not report.diagnostics
    assert validate(node, schema, report) == (not report.diagnostics)
    return report


@pytest.mark.parametrize(("schema", "text", "wanted"), chunks(CASES))
def test_case(schema: str, text: str, wanted: list[str]) -> None:
    report = check(schema, text)
    assert [f"{d.span.line}:{d.span.column} {d.code}" for d in report.sorted()] == wanted
    assert len(report.sorted()) == len(report.diagnostics)


# What is shown

_GAME = "game: manila\nplayers: {least: 3, most: 5}\nstart: play\nrules: [a.rules]\n"

SHOWN = [
    ("game", _GAME.replace("least: 3", "least: four"),
     "x.yaml:2:18: error[schema-type]: 'players.least' wants a whole number, got the text 'four'\n"
     "      2 | players: {least: four, most: 5}\n"
     "        |                  ^^^^"),
    ("game", _GAME.replace("least", "lest"),
     "x.yaml:2:11: error[schema-unknown-key]: unknown key 'lest' in 'players'\n"
     "      2 | players: {lest: 3, most: 5}\n"
     "        |           ^^^^\n"
     "help: did you mean 'least'?"),
    ("game", "game: manila\nrules: [a.rules]\n",
     "x.yaml:1:1: error[schema-missing-key]: the file lacks the keys 'players', 'start'\n"
     "      1 | game: manila\n"
     "        | ^^^^^^^^^^^^"),
    ("game", _GAME + "budget: {pace: 3}\n",
     "x.yaml:5:10: error[schema-unknown-key]: unknown key 'pace' in 'budget'\n"
     "      5 | budget: {pace: 3}\n"
     "        |          ^^^^\n"
     "help: the keys here are decisions, steps"),
    ("game", _GAME.replace("[a.rules]", "a.rules"),
     "x.yaml:4:8: error[schema-type]: 'rules' wants a list, got the text 'a.rules'\n"
     "      4 | rules: a.rules\n"
     "        |        ^^^^^^^\n"
     "help: write [a.rules] for a list of one"),
    ("tables", "suit: [spades, spades]\n",
     "x.yaml:1:16: error[schema-value]: 'suit' wants each item once, got the text 'spades' twice\n"
     "      1 | suit: [spades, spades]\n"
     "        |                ^^^^^^\n"
     "note: it stands first here\n"
     "  x.yaml:1:8  suit: [spades, spades]"),
    ("questions", "a:\n  asks: b\n  readings: {x: {says: y}}\n",
     "x.yaml:3:13: error[schema-value]: 'a.readings' wants at least 2 entries, got 1\n"
     "      3 |   readings: {x: {says: y}}\n"
     "        |             ^^^^^^^^^^^^^^"),
    ("scenario", "- name: x\n  moves: [a, 3]\n",
     "x.yaml:2:14: error[schema-type]: item 2 of 'moves' of item 1 wants "
     "a move as at the prompt, got the whole number 3\n"
     "      2 |   moves: [a, 3]\n"
     "        |              ^\n"
     'help: write "3" in quotes if the text is meant'),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "text", "wanted"), SHOWN)
def test_shown(schema: str, text: str, wanted: str) -> None:
    assert render_all(check(schema, text).sorted()) == wanted


# A schema of the test's own, for what the published ones do not use yet

_OWN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "flag": {"type": "boolean"},
        "ratio": {"type": "number", "maximum": 1},
        "side": {"enum": ["left", "right", "both"]},
        "mark": {"const": "x"},
        "even": {"type": "integer", "multipleOf": 2},
        "width": {"anyOf": [{"type": "integer"}, {"enum": ["wide", "narrow"]}]},
        "panel": {
            "anyOf": [
                {
                    "type": "object",
                    "required": ["lane"],
                    "properties": {"lane": {"type": "string"}, "length": {"type": "integer"}},
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {
                        "kind": {"const": "track"},
                        "steps": {"type": "array", "items": {"type": "integer"}},
                    },
                    "additionalProperties": False,
                },
                {"type": "string"},
            ]
        },
    },
}

OWN_CASES = [
    ("flag: no", "1:7 'flag' wants true or false, got the text 'no'", "write false"),
    ("flag: On", "1:7 'flag' wants true or false, got the text 'On'", "write true"),
    ("flag: 'true'", "1:7 'flag' wants true or false, got the text 'true'", "write true"),
    ("flag: 1", "1:7 'flag' wants true or false, got the whole number 1", ""),
    ("ratio: 2.5", "1:8 'ratio' wants at most 1, got 2.5", ""),
    ("side: rihgt",
     "1:7 'side' wants one of both, left, right, got the text 'rihgt'", "did you mean 'right'?"),
    ("side: [left]", "1:7 'side' wants one of both, left, right, got a list", ""),
    ("mark: y", "1:7 'mark' wants 'x', got the text 'y'", ""),
    ("even: 3", "1:7 'even' wants a multiple of 2, got the whole number 3", ""),
    ("even: 4.0", "1:7 'even' wants a whole number, got the number 4.0", "write 4"),
    ("width: [1]", "1:8 'width' wants a whole number, wide or narrow, got a list", ""),
    ("panel: 3", "1:8 'panel' wants a mapping or a text, got the whole number 3",
     'write "3" in quotes if the text is meant'),
    ("panel: {lane: l, length: x}", "1:26 'panel.length' wants a whole number, got the text 'x'", ""),
    ("panel: {kind: track, steps: [1, x]}",
     "1:33 item 2 of 'panel.steps' wants a whole number, got the text 'x'", ""),
    ("panel: {kind: track, step: [1]}", "1:22 unknown key 'step' in 'panel'", "did you mean 'steps'?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "help"), OWN_CASES)
def test_own_schema(text: str, message: str, help: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = schemas._validator_class()(_OWN)
    monkeypatch.setattr(schemas, "validator", lambda _name: made)
    [found] = check("own", text + "\n").diagnostics
    assert (f"{found.span.line}:{found.span.column} {found.message}", found.help) == (message, help)


# Bounds

MANY = {
    "unknown keys": ("game", _GAME + "".join(f"key{n}: 1\n" for n in range(9_000))),
    "long unknown keys": ("game", _GAME + "".join(f"{'gamestartrules' * 60}{n}: 1\n" for n in range(500))),
    "wrong values": ("tables", "a: {b: {" + ", ".join(f"c{n}: 1.5" for n in range(9_000)) + "}}\n"),
    "one value by aliases": (
        "tables",
        "x: &x {y: 1.5}\n" + "".join(f"a{n}: *x\n" for n in range(3_000)),
    ),
}


@pytest.mark.parametrize("name", MANY)
def test_many_misfits_are_cut_short(name: str) -> None:
    report = check(*MANY[name])
    assert len(report.diagnostics) == schemas.MOST_COMPLAINTS + 1
    assert report.diagnostics[-1].code == "schema-too-many-errors"
    assert all(len(d.message) < 300 for d in report.diagnostics)


def test_unknown_schema_is_a_bug_of_ours() -> None:
    node = read_yaml(Source("x.yaml", "a: 1"), Report())
    assert node is not None
    with pytest.raises(ValueError, match="no schema 'gmae', want one of game"):
        validate(node, "gmae", Report())


def test_jsonschema_is_imported_on_first_use() -> None:
    program = "import sys, harbourmaster.interpreter.schema; print('jsonschema' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# The published schemas

ANNOTATIONS = {"title", "description", "default", "examples"}


def parts(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every object in a schema with its place."""
    if isinstance(schema, dict):
        yield path, schema
        for key, value in schema.items():
            yield from parts(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for number, item in enumerate(schema):
            yield from parts(item, f"{path}/{number}")


@pytest.mark.parametrize("name", [*SCHEMAS, "common"])
def test_schema_is_sound(name: str) -> None:
    from jsonschema import Draft202012Validator

    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert schema["description"]
    for path, part in parts(schema):
        if "$ref" in part:
            assert set(part) - {"$ref"} <= ANNOTATIONS, path
        for key, value in (
            part.get("properties", {}).items() if isinstance(part.get("properties"), dict) else ()
        ):
            if isinstance(value, dict) and not path.endswith("properties"):
                assert ANNOTATIONS & set(value) or "$ref" in value, f"{path}/{key} tells editors nothing"
        if "pattern" in part and isinstance(part["pattern"], str):
            assert "errorMessage" in part, path


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_reads_the_same_with_references(name: str) -> None:
    """Compares with jsonschema's own reading of references, which is how editors read them."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    common = Resource.from_contents(json.loads(schema_text("common")))
    registry: Registry[Any] = Registry().with_resource("common.json", common)
    as_published = Draft202012Validator(json.loads(schema_text(name)), registry=registry)
    assert '"$ref"' not in json.dumps(resolved_schema(name))
    for case in chunks(CASES):
        schema, text, wanted = case.values
        if schema == name and "\\n" not in text:  # `$` before a last line feed: see _validator_class
            node = read_yaml(Source("x.yaml", text), Report())
            assert node is not None
            assert as_published.is_valid(plain(node)) == (not wanted), case.id


def test_schema_that_refers_to_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = '{"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}'
    monkeypatch.setattr(schemas, "schema_text", lambda _name: loop)
    with pytest.raises(ValueError, match="refers to itself at a"):
        resolved_schema("loop")


def data_files() -> list[Path]:
    """Finds the YAML files of all games."""
    return sorted(p for p in RULES.glob("*/**/*.yaml") if p.parent != RULES / "schema")


@pytest.mark.parametrize("path", data_files(), ids=lambda p: str(p.relative_to(RULES)))
def test_data_file_names_its_schema_and_fits_it(path: Path) -> None:
    text = path.read_text("utf-8")
    start, _, named = text.split("\n", 1)[0].partition("$schema=")
    assert start == "# yaml-language-server: "
    file = (path.parent / named).resolve()
    assert file.parent == (RULES / "schema").resolve()
    report = Report()
    node = read_yaml(Source(str(path), text), report)
    if node is not None:
        validate(node, file.stem, report)
    assert not report.diagnostics, render_all(report.sorted())
