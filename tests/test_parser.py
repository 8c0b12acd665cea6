"""Tests the grammar, the parser and its complaints.

The cases stand in tests/language. `sample.rules` uses every alternative of the grammar; `sample.tree` is its
syntax tree. Each file in `syntax/` holds small rule files between lines `---`; the line that is wrong ends
with `# error: code`, and `syntax/*.txt` shows what is said about it. `UPDATE_GOLDEN=1 pytest` writes these
outputs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.grammar import parser, tree
from harbourmaster.grammar.complaints import phrases, starts_definition
from harbourmaster.grammar.diagnostics import Report, render_all
from harbourmaster.grammar.parser import (
    lark_parser,
    parse_expression,
    parse_rules,
    parse_template,
    tokenize,
)
from harbourmaster.grammar.span import Source, Span
from hypothesis import example, given, settings
from hypothesis import strategies as st

LANGUAGE = Path(__file__).with_name("language")
SAMPLE = (LANGUAGE / "sample.rules").read_text(encoding="utf-8")
ARCHIVE = sorted((LANGUAGE / "syntax").glob("*.rules"))


def read(text: str, name: str = "case.rules") -> tuple[tree.File, Report]:
    report = Report()
    return parse_rules(Source(name, text), report), report


def check_golden(path: Path, found: str) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == found


# ------------------------------------------------------------------------------------------- the grammar


def test_grammar_is_unambiguous() -> None:
    lark_parser(strict=True)


def is_impossible(rule: Any) -> bool:
    """Tests if no file can use a rule: indentation holds a line; line ends come as one token, one or more."""
    symbols = [symbol.name for symbol in rule.expansion]
    if rule.origin.name.startswith("__start"):
        return len(symbols) == 2 and symbols[1] == "_NL"
    return ("_INDENT", "_DEDENT") in pairwise(symbols) or not symbols


def test_sample_uses_every_alternative_of_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    lark = lark_parser()
    machine: Any = lark.parser.parser
    used: set[Any] = set()

    def noting(rule: Any, callback: Any) -> Any:
        def note(*children: Any) -> Any:
            used.add(rule)
            return callback(*children)

        return note

    machine.parser.callbacks = {r: noting(r, callback) for r, callback in machine.parser.callbacks.items()}
    monkeypatch.setattr(parser, "_lark", lark)
    for text in (SAMPLE, "", "rule a: stop", "\nrule a: stop"):
        assert not read(text)[1].diagnostics
    for text in ("x", "x\n"):
        parse_expression(Source("x", text), Report())
    assert used, "Lark keeps its callbacks elsewhere now"
    assert [str(r) for r in lark.rules if r not in used and not is_impossible(r)] == []


def test_sample_parses_to_the_known_tree() -> None:
    file, report = read(SAMPLE, "sample.rules")
    assert render_all(report.sorted()) == ""
    check_golden(LANGUAGE / "sample.tree", "\n".join(dump(file)) + "\n")


def dump(node: Any, label: str = "", indent: str = "") -> Iterator[str]:
    """Writes a tree, a line a node: its class, its plain fields; its parts below it."""
    if isinstance(node, tuple):
        yield f"{indent}{label}:"
        for item in node:
            yield from dump(item, "", indent + "  ")
        return
    if not isinstance(node, tree.Node):
        yield f"{indent}{label}{'=' if label else ''}{node!r}"
        return
    values = {f: getattr(node, f) for f in node.__struct_fields__ if f != "span"}
    words = {n: v.text if isinstance(v, tree.Word) else v for n, v in values.items()}
    plain = "".join(f" {n}={v!r}" for n, v in words.items() if not isinstance(v, tree.Node | tuple))
    yield f"{indent}{label}{'=' if label else ''}{type(node).__name__}{plain}"
    for name, value in words.items():
        if isinstance(value, tree.Node) or (isinstance(value, tuple) and value):
            yield from dump(value, name, indent + "  ")


def children(node: tree.Node) -> Iterator[tree.Node]:
    for field in node.__struct_fields__:
        value = getattr(node, field)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, tree.Node):
                yield item


def test_spans_cover_what_they_name() -> None:
    file, _ = read(SAMPLE)
    seen = 0
    nodes: list[tree.Node] = list(file.definitions)
    while nodes:
        node = nodes.pop()
        seen += 1
        text = node.span.text
        if isinstance(node, tree.Word | tree.Name):
            assert text == node.text
        elif isinstance(node, tree.Number):
            assert text == str(node.value)
        elif isinstance(node, tree.Template):
            assert text == f'"{node.text}"'
        else:
            assert text and text == text.strip()
        begin, end = (node.span.line, node.span.column), (node.span.end_line, node.span.end_column)
        for child in children(node):
            assert begin <= (child.span.line, child.span.column), (node, child)
            assert (child.span.end_line, child.span.end_column) <= end, (node, child)
            nodes.append(child)
    assert seen > 500


# ------------------------------------------------------------------------------------------ the complaints


def chunks(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("---\n")


def cases() -> Iterator[Any]:
    for path in ARCHIVE:
        for chunk in chunks(path):
            title = chunk.split("\n")[0].removeprefix("# ")
            yield pytest.param(chunk, id=f"{path.stem}: {title}")


@pytest.mark.parametrize("chunk", list(cases()))
def test_errors_are_told_where_they_are(chunk: str) -> None:
    expected = [
        (number, found[1])
        for number, line in enumerate(chunk.split("\n"), 1)
        if (found := re.search(r"# error: ([a-z-]+)$", line))
    ]
    _, report = read(chunk)
    assert [(d.span.line, d.code) for d in report.sorted()] == expected, render_all(report.sorted())


@pytest.mark.parametrize("path", [p for p in ARCHIVE if p.stem != "accepted"], ids=lambda p: p.stem)
def test_errors_are_told_in_these_words(path: Path) -> None:
    shown = [render_all(read(chunk, path.name)[1].sorted()) for chunk in chunks(path)]
    check_golden(path.with_suffix(".txt"), "\n---\n".join(shown) + "\n")


@pytest.mark.parametrize("path", ARCHIVE, ids=lambda p: p.stem)
def test_messages_follow_the_house_style(path: Path) -> None:
    for chunk in chunks(path):
        for diagnostic in read(chunk)[1].sorted():
            assert len(diagnostic.message) <= 110
            assert not diagnostic.message.endswith(".")
            assert diagnostic.message[0] in "'" or diagnostic.message[0].islower()
            assert "\n" not in diagnostic.message + diagnostic.help
            assert "_" not in diagnostic.message.replace("'_'", ""), "the name of a terminal shows through"


def test_what_could_be_read_is_given_after_errors() -> None:
    file, report = read("rule a:\n    x = 3\n\nrule b: stop\n\nrule c\n\ntype d: 0 to 3\n")
    assert [type(d).__name__ for d in file.definitions] == ["Rule", "TypeDef"]
    assert len(report.diagnostics) == 2


def test_a_file_full_of_errors_ends() -> None:
    file, report = read("rule a\n\n" * 100)
    assert file.definitions == ()
    assert 10 < len(report.diagnostics) <= 100


def test_brackets_in_texts_and_comments_do_not_nest() -> None:
    file, report = read('rule a:\n    tell "(1) ("  # (\n' + '    tell "[{x}"  # )\n' * 100)
    assert not report.diagnostics
    assert len(file.definitions) == 1


def test_deep_nesting_is_refused() -> None:
    _, report = read(f"rule a:\n    x := {'(' * 61}1{')' * 61}\n")
    assert [d.code for d in report.diagnostics] == ["nesting"]
    assert not read(f"rule a:\n    x := {'(' * 60}1{')' * 60}\n")[1].diagnostics


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("when", ["when"]),
        ("/", ["/"]),
        (r"/is +not\b/", ["is not"]),
        (r"/,? *up +to\b/", ["up to"]),
        (r"/, *no +offers\b/", [", no offers"]),
        (r"/rounded +(down|up)\b/", ["rounded down", "rounded up"]),
        (r"/,([ ]*(#[^\n]*)?\n)* *or\b/", [", or"]),
        ("/,([ ]*(#[^\n]*)?\n)*/", [","]),
    ],
)
def test_terminals_are_written_as_words(pattern: str, words: list[str]) -> None:
    assert phrases(pattern) == words


def test_every_phrase_of_the_grammar_is_written_as_words() -> None:
    seen = 0
    for terminal in lark_parser().terminals:
        if terminal.pattern.type == "re" and terminal.priority > 0:
            seen += 1
            for words in phrases(f"/{terminal.pattern.value}/"):
                assert re.fullmatch(r"(, )?[a-z]+( [a-z]+)*", words)
    assert seen > 30


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("rule a:", True),
        ("add to choice a: b", True),
        ("rle a:", True),
        ("points: 3", True),
        ("add x to y", False),
        ("x := 3", False),
        ("x[1] := 3", False),
        ("pay(x)", False),
        ("    rule a:", False),
        ("# rule a", False),
        ("", False),
        ("else:", False),
        (")", False),
    ],
)
def test_starts_definition(line: str, starts: bool) -> None:
    assert starts_definition(line) is starts


# -------------------------------------------------------------------------------- expressions and templates


@pytest.mark.parametrize("text", ["x", "x + 1\n", "sum of x[p] for p in player where p is not none", "none"])
def test_an_expression_is_read_alone(text: str) -> None:
    report = Report()
    found = parse_expression(Source("view.yaml", text), report)
    assert found is not None and not report.diagnostics
    assert found.span.text == text.strip()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got the end, want a value"),
        ("x +", "got the end, want a value"),
        ("x y", "got 'y', want an operator or the end of the line"),
        ("(x", "this '(' is never closed"),
        ("x)", "got ')', want the end of the line"),
        ("x := 3", "got ':=', want an operator or the end of the line"),
        ("x\ny", "got 'y', want the end"),
        ("%", "'%' means nothing here"),
    ],
)
def test_an_expression_that_is_wrong(text: str, message: str) -> None:
    report = Report()
    assert parse_expression(Source("view.yaml", text), report) is None
    assert [d.message for d in report.diagnostics] == [message]


def template(text: str, quote: str = "") -> tree.Template | None:
    source = Source("labels.yaml", f"key: {quote}{text}{quote}")
    found = parse_template(source, Span(source, 1, 6, 1, 6 + len(text)), text, Report())
    if found is not None:
        assert "".join(p if isinstance(p, str) else f"{{{p.span.text}}}" for p in found.pieces) == text
    return found


def test_placeholders_are_expressions() -> None:
    template("{p} has {cash[p]}", '"')
    found = template("{p} has {cash[p] - 1} and {none}, {x in {a, b}}")
    assert found is not None
    kinds = [type(p).__name__ for p in found.pieces]
    assert kinds == ["str", "Name", "str", "Binary", "str", "Constant", "str", "Binary", "str"]


@pytest.mark.parametrize("text", ["", "no braces", "{a}{b}", "'single' # and := signs"])
def test_texts_that_are_right(text: str) -> None:
    assert template(text) is not None


@pytest.mark.parametrize(
    "text", ["{", "}", "{}", "{a", "a}", "{a}}", "{{a}", "{a b}", "{if}", "{x := 1}", "{ }", "{a", "{é}"]
)
def test_texts_that_are_wrong(text: str) -> None:
    assert template(text) is None


def test_positions_in_placeholders() -> None:
    file, _ = read('rule a:\n    tell "so {x} and {y[z]}"\n')
    rule = file.definitions[0]
    assert isinstance(rule, tree.Rule)
    tell = rule.body[0]
    assert isinstance(tell, tree.Tell)
    assert [str(p.span) for p in tell.text.pieces if isinstance(p, tree.Expr)] == [
        "case.rules:2:15",
        "case.rules:2:23",
    ]


# ------------------------------------------------------------------------------------------------ any text

WORDS = sorted({t.value for t in tokenize(SAMPLE) if t.type not in ("_NL", "_INDENT", "_DEDENT")})
DEFINITIONS = re.split(r"\n(?=\S)", SAMPLE)
SIGNS = st.sampled_from([*WORDS, "\n", "\n    ", "\n        ", "  ", *"\"{}()[]'", "# "])


@st.composite
def spoilt_rules(draw: st.DrawFn) -> str:
    """Draws a few definitions of the sample with tokens or characters lost, doubled, added or swapped."""
    text = "\n".join(draw(st.lists(st.sampled_from(DEFINITIONS), min_size=1, max_size=3)))
    for _ in range(draw(st.integers(1, 3))):
        parts = re.findall(r"\w+|\n *|.", text) if draw(st.booleans()) else list(text)
        at = draw(st.integers(0, max(0, len(parts) - 1)))
        match draw(st.sampled_from(["lose", "double", "add", "swap", "cut"])):
            case "lose":
                del parts[at : at + 1]
            case "double":
                parts[at:at] = parts[at : at + 1]
            case "add":
                parts.insert(at, draw(SIGNS))
            case "swap":
                other = draw(st.integers(0, max(0, len(parts) - 1)))
                if parts:
                    parts[at], parts[other] = parts[other], parts[at]
            case _:
                del parts[at:]
        text = "".join(parts)
    return text


def check_complaints(text: str, report: Report) -> None:
    lines = text.split("\n")
    for diagnostic in report.sorted():
        assert diagnostic.message
        assert 1 <= diagnostic.span.line <= len(lines)
        assert 1 <= diagnostic.span.column <= len(lines[diagnostic.span.line - 1]) + 1
        assert (diagnostic.span.line, diagnostic.span.column) < (
            diagnostic.span.end_line,
            diagnostic.span.end_column,
        )
    render_all(report.sorted())


@settings(max_examples=300, deadline=None, derandomize=True)
@given(spoilt_rules())
def test_spoilt_rules_are_complained_about(text: str) -> None:
    check_complaints(text, read(text)[1])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text() | st.lists(SIGNS, max_size=30).map(" ".join) | st.lists(SIGNS, max_size=30).map("".join))
@example("rule a: x := 3\x00")
@example("\ufeffrule a: stop")
@example("rule a: stop\r\n")
@example("rule a: x := " + "9" * 5000)
@example("rule a: x := " + "not " * 5000 + "y")
@example("(" * 5000)
@example(")" * 5000)
@example("rule a:\n    x := (\n")
@example('"' * 5001)
def test_any_text_is_survived(text: str) -> None:
    check_complaints(text, read(text)[1])
    parse_expression(Source("x", text), Report())
    parse_template(source := Source("x", text), Span(source, 1, 1, 1, 1), text, Report())
