"""Tests the strict reading of files: sources.py, yamlfile.py, yamlscalars.py, yamlerrors.py.

Cases are chunks: a title after ``===``, the text (``→`` stands for a tab), then either ``== JSON`` for what
is read, or a line ``!! line:column code`` for every complaint, or both. A missing or surplus complaint fails.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.grammar.diagnostics import Report, render_all
from harbourmaster.grammar.span import Source, Span
from harbourmaster.interpreter import yamlfile
from harbourmaster.interpreter.sources import LARGEST_FILE, check_text, read_source
from harbourmaster.interpreter.yamlfile import DEEPEST, Mapping, Node, Scalar, Sequence, plain, read_yaml
from hypothesis import given, settings
from hypothesis import strategies as st

CASES = r"""
=== scalars of the core schema
a: no
b: true
c: FALSE
d: ~
e:
f: null
g: -12
h: +3
i: 0x1F
j: 0o17
k: 1.5
l: -1e3
m: .5
n: 0
== {"a": "no", "b": true, "c": false, "d": null, "e": null, "f": null, "g": -12, "h": 3, "i": 31, "j": 15,
== "k": 1.5, "l": -1000.0, "m": 0.5, "n": 0}
=== texts, though YAML 1.1 reads them otherwise
- yes
- On
- y
- 1:30
- 1_000
- 2001-01-01
- 0b11
- tRUE
- =
- 1,000
- 0x
- 0o8
- 1e
== ["yes", "On", "y", "1:30", "1_000", "2001-01-01", "0b11", "tRUE", "=", "1,000", "0x", "0o8", "1e"]
=== quotes make texts
- '5'
- "true"
- ''
- "~"
- 'it''s'
- "a\tb\u65E5"
== ["5", "true", "", "~", "it's", "a\tb日"]
=== block texts
a: |
  one
  two
b: >-
  one
  two

c: 1
== {"a": "one\ntwo\n", "b": "one two", "c": 1}
=== keys
3: a
no: b
"4": c
0x10: d
two words: e
日本: f
== {"3": "a", "no": "b", "4": "c", "16": "d", "two words": "e", "日本": "f"}
=== flow and block together
a: {b: [1, 2], c: {}}
d:
- x
-
  - y
  - z: 1
    w: 2
== {"a": {"b": [1, 2], "c": {}}, "d": ["x", ["y", {"z": 1, "w": 2}]]}
=== an explicit document and comments
# hello
---
a: 1 # one
...
# bye
== {"a": 1}
=== aliases share
a: &x {b: [1, 2]}
c: *x
d: [*x, &y 3, *y]
== {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": [{"b": [1, 2]}, 3, 3]}
=== an alias as key
a: &k name
*k : 1
== {"a": "name", "name": 1}
=== leading zeros
a: 010
b: -0090
c: 00
d: "010"
e: 0.5
f: 089
!! 1:4 yaml-octal
!! 2:4 yaml-octal
!! 3:4 yaml-octal
!! 6:4 yaml-octal
== {"a": 10, "b": -90, "c": 0, "d": "010", "e": 0.5, "f": 89}
=== numbers without end
a: .inf
b: -.INF
c: .nan
d: 1e999
e: 1000000000000000000
f: 999999999999999999
g: 0xffffffffffffffff
!! 1:4 yaml-number
!! 2:4 yaml-number
!! 3:4 yaml-number
!! 4:4 yaml-number
!! 5:4 yaml-number
!! 7:4 yaml-number
=== a number with a leading zero as key
players: {03: 1, 3: 2}
!! 1:11 yaml-octal
!! 1:18 yaml-duplicate-key
=== duplicate keys
a: 1
b: 2
a: 3
c: {x: 1, y: 2, x: 3, x: 4}
!! 3:1 yaml-duplicate-key
!! 4:17 yaml-duplicate-key
!! 4:23 yaml-duplicate-key
== {"a": 1, "b": 2, "c": {"x": 1, "y": 2}}
=== a number and its text are one key
3: a
'3': b
!! 2:1 yaml-duplicate-key
=== keys that are not names
true: 1
~: 2
1.5: 3
[a]: 4
? {a: b}
: 5
d: 6
!! 1:1 yaml-key
!! 2:1 yaml-key
!! 3:1 yaml-key
!! 4:1 yaml-key
!! 5:3 yaml-key
== {"d": 6}
=== a key left out
a: 1
: 2
!! 2:1 yaml-syntax
=== tags
a: !!str 1
b: !thing {c: 1}
c: !!python/object:os.system [x]
d: ! x
e: !x!y z
!! 1:4 yaml-tag
!! 2:4 yaml-tag
!! 3:4 yaml-tag
!! 4:4 yaml-tag
!! 5:4 yaml-tag
=== merge keys
base: &base {a: 1}
other:
  <<: *base
  b: 2
quoted: {'<<': 3}
value: <<
!! 3:3 yaml-merge-key
== {"base": {"a": 1}, "other": {"b": 2}, "quoted": {"<<": 3}, "value": "<<"}
=== a second document
a: 1
---
b: 2
!! 2:1 yaml-documents
=== a second document of nothing
---
---
!! 2:1 yaml-documents
=== more behind the end of the document
a: 1
...
b: 2
!! 3:1 yaml-documents
=== a directive
# first a comment
%YAML 1.1
---
a: no
!! 2:1 yaml-directive
=== an unknown directive
%FOO bar
---
a: 1
!! 1:1 yaml-directive
=== a tag directive
%TAG ! tag:example.com,2000:
---
a: !x 1
!! 1:1 yaml-directive
=== aliases of nothing
anchor: &ware 1
a: *waer
b: *b
*c : 1
!! 2:4 yaml-alias
!! 3:4 yaml-alias
!! 4:1 yaml-alias
=== an alias inside what it names
a: &x
  b: [*x]
!! 2:7 yaml-alias
=== an anchor given twice
a: &x 1
b: &x 2
c: *x
!! 2:7 yaml-anchor
== {"a": 1, "b": 2, "c": 1}
=== a tab as indentation
a:
→b: 1
!! 2:1 yaml-tab
=== a tab behind spaces
a:
  b: 1
  →c: 2
!! 3:3 yaml-tab
=== a tab on the first line
→a: 1
!! 1:1 yaml-tab
=== a tab in a plain text
a: x→y
!! 1:5 yaml-tab
=== tabs where they are texts
a: "x→y"
b: |
  x→y
== {"a": "x\ty", "b": "x\ty\n"}
=== nothing
!! 1:1 yaml-empty
=== comments alone
# hello

# bye
!! 1:1 yaml-empty
=== an empty document
---
!! 1:1 yaml-empty
=== an explicit null is something
null
== null
=== a text with a colon
says: one: two
!! 1:10 yaml-syntax
=== a key below a value
a: 1
  b: 2
!! 2:3 yaml-syntax
=== a line without colon
a
b: 1
!! 2:1 yaml-syntax
=== indented like nothing above
a:
    b: 1
  c: 2
!! 3:3 yaml-syntax
=== a list item below a key
a: 1
- b
!! 2:1 yaml-syntax
=== a key below a list item
- a
b: 1
!! 2:1 yaml-syntax
=== a list on the key's line
a: - b
!! 1:4 yaml-syntax
=== a bracket left open
a: [x, y
b: 2
!! 2:2 yaml-syntax
=== a brace left open
a: {x: 1, y
b: 2
!! 2:2 yaml-syntax
=== a bracket too many
a: ]
!! 1:4 yaml-syntax
=== a brace too many
{a: 1}}
!! 1:7 yaml-syntax
=== a comma too many
a: [1, 2,, 3]
!! 1:10 yaml-syntax
=== quotes left open
a: 'x
b: 2
!! 3:1 yaml-syntax
=== text behind quotes
a: 'x' y
!! 1:8 yaml-syntax
=== an unknown escape
a: "C:\qux"
!! 1:7 yaml-syntax
=== characters that begin no text
a: @x
!! 1:4 yaml-syntax
=== percent begins no text
a: %x
!! 1:4 yaml-syntax
=== an escaped control character
a: "\e[31mred"
b: '\e'
c: "\u202E"
!! 1:4 control-character
!! 3:4 control-character
=== complaints before the syntax error are kept
a: 010
a: 2
b: [
!! 1:4 yaml-octal
!! 2:1 yaml-duplicate-key
!! 4:1 yaml-syntax
"""


def chunks(text: str) -> Iterator[Any]:
    """Yields each case: its text, the complaints wanted and, if given, the JSON wanted."""
    for chunk in text.split("\n=== ")[1:]:
        title, *lines = chunk.rstrip("\n").split("\n")
        complaints = [line[3:] for line in lines if line.startswith("!! ")]
        wanted = " ".join(line[3:] for line in lines if line.startswith("== ")) or None
        body = [line for line in lines if not line.startswith(("!! ", "== "))]
        yield pytest.param("\n".join(body).replace("→", "\t"), complaints, wanted, id=title)


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[[bool], Any] = yamlfile.parser_class
    monkeypatch.setattr(yamlfile, "parser_class", lambda: real(request.param == "python"))


both_parsers = pytest.mark.usefixtures("_parser")


def read(text: str) -> tuple[Node | None, Report]:
    report = Report()
    return read_yaml(Source("x.yaml", text), report), report


def complaints(report: Report) -> list[str]:
    return [f"{d.span.line}:{d.span.column} {d.code}" for d in report.diagnostics]


@both_parsers
@pytest.mark.parametrize(("text", "wanted", "value"), list(chunks(CASES)))
def test_case(text: str, wanted: list[str], value: str | None) -> None:
    node, report = read(f"{text}\n" if text else "")
    assert complaints(report) == wanted
    if value is not None:
        assert node is not None
        got = plain(node)
        assert got == json.loads(value)
        assert json.dumps(got, sort_keys=True) == json.dumps(
            json.loads(value), sort_keys=True
        )  # 1 is not True


def get(node: Node | None, *path: str | int) -> Node:
    for step in path:
        node = node.entries[step].value if isinstance(node, Mapping) else node  # type: ignore[index]
        if isinstance(node, Sequence) and isinstance(step, int):
            node = node.items[step]
    assert node is not None
    return node


SPANS = """\
ware:
  ginseng: {berths: [1, 2], profit: 18}
  丝绸: "two  words"
text: >
  folded
  text

list:
- one
- two words   # comment
none:
aliased: &here {a: 1}
again: *here
block: &there
  b: 2
"""


@both_parsers
def test_spans() -> None:
    node, report = read(SPANS)
    assert not report.diagnostics
    assert isinstance(node, Mapping)

    def place(node: Node) -> tuple[str, str]:
        span = node.span
        return f"{span.line}:{span.column}-{span.end_line}:{span.end_column}", span.text

    ware = get(node, "ware")
    assert isinstance(ware, Mapping)
    assert place(node)[0] == "1:1-15:7"
    assert place(ware)[0] == "2:3-3:19"
    assert place(ware.entries["ginseng"].value) == ("2:12-2:40", "{berths: [1, 2], profit: 18}")
    assert str(ware.entries["丝绸"].key_span) == "x.yaml:3:3"
    assert ware.entries["丝绸"].key_span.text == "丝绸"
    assert place(ware.entries["丝绸"].value) == ("3:7-3:19", '"two  words"')
    ginseng = ware.entries["ginseng"].value
    assert isinstance(ginseng, Mapping)
    assert place(ginseng.entries["berths"].value) == ("2:21-2:27", "[1, 2]")
    assert place(ginseng.entries["profit"].value) == ("2:37-2:39", "18")
    assert place(get(node, "text")) == ("4:7-6:7", ">\n  folded\n  text")
    items = get(node, "list")
    assert isinstance(items, Sequence)
    assert place(items)[0] == "9:1-10:12"
    assert [place(item) for item in items.items] == [("9:3-9:6", "one"), ("10:3-10:12", "two words")]
    assert place(get(node, "none")) == ("11:6-11:6", "")
    assert place(get(node, "aliased")) == ("12:16-12:22", "{a: 1}")
    assert get(node, "again") is get(node, "aliased")
    assert node.entries["again"].key_span.line == 13


def test_place_of_wide_and_astral_characters() -> None:
    _, report = read("a: 😀日\nb: {😀: 1, 😀: 2}\n")
    assert complaints(report) == ["2:11 yaml-duplicate-key"]


def test_last_line_without_line_feed() -> None:
    node, report = read("a: 1\nb:")
    assert not report.diagnostics
    assert str(get(node, "b").span) == "x.yaml:2:3"


# What is shown

SHOWN = [
    (
        "a: 1\nb: 2\na: 3\n",
        "x.yaml:3:1: error[yaml-duplicate-key]: the key 'a' is given twice\n"
        "      3 | a: 3\n"
        "        | ^\n"
        "note: it is given first here\n"
        "  x.yaml:1:1  a: 1",
    ),
    (
        "start: 010\n",
        "x.yaml:1:8: error[yaml-octal]: "
        "a whole number begins with 0, got 010: some readers take it for octal\n"
        "      1 | start: 010\n"
        "        |        ^^^\n"
        'help: write 10 if decimal is meant, 0o10 if octal is, or "010" in quotes for the text',
    ),
    (
        "a: [x, y\nb: 2\n",
        "x.yaml:2:2: error[yaml-syntax]: a list in brackets wants ',' or ']' here\n"
        "      2 | b: 2\n"
        "        |  ^\n"
        "note: the list in brackets opens here\n"
        "  x.yaml:1:4  a: [x, y",
    ),
    (
        "ware: &ware 1\na: *waer\n",
        "x.yaml:2:4: error[yaml-alias]: no anchor '&waer' stands above\n"
        "      2 | a: *waer\n"
        "        |    ^^^^^\n"
        "help: did you mean 'ware'?",
    ),
    (
        "says: one: two\n",
        "x.yaml:1:10: error[yaml-syntax]: a second ': ' on a line that cannot hold it\n"
        "      1 | says: one: two\n"
        "        |          ^\n"
        "help: put a text that holds ': ' in quotes",
    ),
]


@both_parsers
@pytest.mark.parametrize(("text", "wanted"), SHOWN)
def test_shown(text: str, wanted: str) -> None:
    _, report = read(text)
    assert render_all(report.sorted()) == wanted


# Bombs: small files that grow or dig

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
BOMBS = {
    "billion laughs": (LAUGHS, "yaml-too-many-aliases"),
    "laughs in mappings": (
        "a0: &a0 {x: 1, y: 1, z: 1}\n"
        + "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 60)),
        "yaml-too-many-aliases",
    ),
    "many small aliases": ("- &a x\n" + "- *a\n" * 20_000, "yaml-too-many-aliases"),
    "a chain of aliases": (
        "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 300)),
        "yaml-too-deep",
    ),
    "brackets": ("[" * 1_000_000, "yaml-too-deep"),
    "brackets on lines": ("[\n" * 500_000, "yaml-too-deep"),
    "braces": ("{" * 1_000_000, "yaml-too-deep"),
    "mappings in a line": ("{a: " * 250_000, "yaml-too-deep"),
    "dashes": ("- " * 500_000, "yaml-too-deep"),
    "question marks": ("? " * 500_000, "yaml-too-deep"),
    "stairs": ("".join(" " * n + "a:\n" for n in range(1_400)), "yaml-too-deep"),
    "many items": ("- 1\n" * 250_000, "file-too-large"),
    "many items in brackets": ("[" + "a," * 500_000 + "]", "file-too-large"),
    "many complaints": ("a: 1\n" * 200_000, "yaml-too-many-errors"),
    "a long number": ("9" * 1_000_000, "yaml-number"),
    "a long octal": ("0" + "7" * 1_000_000, "yaml-octal"),
    "a long float": ("1" * 1_000_000 + ".0", "yaml-number"),
    "a long tag": ("a: !" + "x" * 500_000, "yaml-tag"),
    "a long alias": ("a: *" + "x" * 500_000, "yaml-alias"),
    "documents": ("---\n" * 300_000, "yaml-documents"),
}


@both_parsers
@pytest.mark.parametrize("name", BOMBS)
def test_bomb(name: str) -> None:
    text, code = BOMBS[name]
    _, report = read(text)
    assert [d.code for d in report.diagnostics][-1] == code
    assert len(report.diagnostics) <= yamlfile.MOST_COMPLAINTS + 1
    assert len(render_all(report.diagnostics)) < 100_000
    assert all(len(d.message) < 200 and len(d.help) < 300 for d in report.diagnostics)


@both_parsers
def test_depth_bound_is_exact() -> None:
    node, report = read("[" * DEEPEST + "]" * DEEPEST)
    assert node is not None
    assert not report.diagnostics
    node, report = read("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1))
    assert node is None
    assert [d.code for d in report.diagnostics] == ["yaml-too-deep"]


def test_alias_bound_counts_what_aliases_stand_for() -> None:
    items = ", ".join("x" * 99)  # 100 nodes with the list itself
    _, report = read(f"a: &a [{items}]\nb: [{', '.join(['*a'] * 100)}]\n")
    assert not report.diagnostics
    _, report = read(f"a: &a [{items}]\nb: [{', '.join(['*a'] * 101)}]\n")
    assert [d.code for d in report.diagnostics] == ["yaml-too-many-aliases"]


# Files

FILES: dict[str, tuple[bytes, list[str], bool]] = {
    # name: bytes, complaints, whether a source is given all the same
    "sound": (b"a: 1\n", [], True),
    "chinese": ("a: 人参\n".encode(), [], True),
    "byte-order mark": (b"\xef\xbb\xbfa: 1\n", ["1:1 byte-order-mark"], True),
    "windows line ends": (b"a: 1\r\nb: 2\r\n", ["1:5 crlf"], True),
    "one windows line end": (b"a: 1\nb: 23\r\nc: 3\n", ["2:6 crlf"], True),
    "mark and line ends": (b"\xef\xbb\xbfa: 1\r\n", ["1:1 byte-order-mark", "1:5 crlf"], True),
    "mac line ends": (b"a: 1\rb: 2\r", ["1:5 crlf"], False),
    "latin 1": (b"a: 1\nb: 2\nname: M\xfcller\n", ["3:8 not-utf8"], False),
    "latin 1 behind chinese": ("b: 人参".encode() + b"\xff", ["1:6 not-utf8"], False),
    "utf-16": ("a: 1\n".encode("utf-16"), ["1:1 not-utf8"], False),
    "cut short": ("人".encode()[:2], ["1:1 not-utf8"], False),
    "a surrogate": (b"a: \xed\xa0\x80\n", ["1:4 not-utf8"], False),
    "overlong": (b"\xc0\xaf", ["1:1 not-utf8"], False),
    "NUL": (b"a: 1\nb: \x00\n", ["2:4 control-character"], False),
    "escape": (b"a: \x1b[31m\n", ["1:4 control-character"], False),
    "next line": ("a: x\x85b: 1\n".encode(), ["1:5 control-character"], False),
    "line separator": ("a: x\u2028b: 1\n".encode(), ["1:5 control-character"], False),
    "right to left override": ("a: \u202etxet\n".encode(), ["1:4 control-character"], False),
    "a mark inside": ("a: \ufeffx\n".encode(), ["1:4 control-character"], False),
    "too large": (b"#" * (LARGEST_FILE + 1), ["1:1 file-too-large"], False),
    "just not too large": (b"#" * LARGEST_FILE, [], True),
    "empty": (b"", [], True),
}


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path) -> None:
    data, wanted, given_all_the_same = FILES[name]
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    report = Report()
    source = read_source(path, "rules/x.yaml", report)
    assert complaints(report) == wanted
    assert (source is not None) == given_all_the_same
    assert all(d.span.source.name == "rules/x.yaml" for d in report.diagnostics)
    if source is not None:
        assert check_text(source, Report())  # mended
    render_all(report.sorted())


def test_file_is_read_on_after_mending(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\na: 010\r\n")
    report = Report()
    source = read_source(path, "x.yaml", report)
    assert source is not None
    read_yaml(source, report)
    wanted = ["1:1 byte-order-mark", "1:5 crlf", "2:4 yaml-octal", "2:1 yaml-duplicate-key"]
    assert sorted(complaints(report)) == sorted(wanted)


def test_missing_file_is_the_fault_of_the_value_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "auction.rules").write_text("")
    (tmp_path / "auction.yaml").write_text("")
    game = Source("game.yaml", "game: x\nrules: [aucton.rules]\n")
    named_at = Span(game, 2, 9, 2, 21)
    report = Report()
    assert read_source(tmp_path / "aucton.rules", "aucton.rules", report, named_at) is None
    [found] = report.diagnostics
    assert str(found) == "game.yaml:2:9: error[file-missing]: no file 'aucton.rules'"
    assert found.help == "did you mean 'auction.rules'?"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("gone.yaml", "file-missing"),
        ("no/folder/x.yaml", "file-missing"),
        ("", "file-is-folder"),
        ("a\0b", "file-unreadable"),
    ],
)
def test_no_such_file(name: str, code: str, tmp_path: Path) -> None:
    report = Report()
    assert read_source(tmp_path / name, "shown.yaml", report) is None
    assert [str(d).split(":")[0] + " " + d.code for d in report.diagnostics] == [f"shown.yaml {code}"]


def test_text_of_no_file_is_checked_too() -> None:
    for text, wanted in [
        ("\ufeffa: 1", "1:1 byte-order-mark"),
        ("a: 1\r\n", "1:5 crlf"),
        ("a: \ud800", "1:4 control-character"),
    ]:
        node, report = read(text)
        assert node is None
        assert complaints(report) == [wanted]


# Properties

_texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co", "Zl", "Zp", "Cf"]), max_size=8)
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18) + 1, 10**18 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    _texts,
)
_data = st.recursive(
    _scalars, lambda d: st.lists(d, max_size=4) | st.dictionaries(_texts, d, max_size=4), max_leaves=12
)


@both_parsers
@settings(max_examples=100, deadline=None)
@given(_data)
def test_json_is_read_as_it_is(data: Any) -> None:
    for indent in (None, 2):
        node, report = read(json.dumps(data, ensure_ascii=False, indent=indent))
        assert not report.diagnostics
        assert node is not None
        assert json.dumps(plain(node)) == json.dumps(data)


_PIECES = ["a", "b: ", "- ", "? ", ": ", "[", "]", "{", "}", ", ", "'", '"', "\n", "\n  ", "\n    ", "\t",
           "&x ", "*x", "!t ", "|\n", ">\n", "#c", "010", "1", "no", "~", "---\n", "...\n", "%Y\n", "<<: ",
           "@", "\\", "日", "\x01", "\n- ", "0x", "1.5", "true", "\ufeff", "\r\n", "\x85", "\ud800",
           "😀"]  # fmt: skip


def _all_spans(node: Node) -> Iterator[Span]:
    yield node.span
    if isinstance(node, Mapping):
        for entry in node.entries.values():
            yield entry.key_span
            yield from _all_spans(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _all_spans(item)
    else:
        assert isinstance(node, Scalar)
        assert not isinstance(node.value, float) or math.isfinite(node.value)


@both_parsers
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_any_text_gives_a_node_or_a_complaint_and_places_in_the_text(text: str) -> None:
    node, report = read(text)
    assert node is not None or report.has_errors
    spans = [d.span for d in report.diagnostics] + (list(_all_spans(node)) if node is not None else [])
    for span in spans:
        assert 1 <= span.line <= span.end_line <= len(span.source.lines)
        assert 1 <= span.column <= len(span.source.line(span.line)) + 1
        assert (span.line, span.column) <= (span.end_line, span.end_column)
    render_all(report.sorted())


def test_yaml_library_is_imported_on_first_use() -> None:
    program = (
        "import sys; import harbourmaster.interpreter.yamlfile, harbourmaster.interpreter.schema;"
        "print(*sorted({'yaml', 'jsonschema', 'importlib.resources'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() in ("", "importlib.resources")
