"""Tests the colours of rule files, and that they know every word of the language."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.grammar import highlight
from harbourmaster.grammar.highlight import RulesLexer, keywords, phrases
from harbourmaster.grammar.parser import lark_parser, tokenize
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

HERE = Path(__file__).parent
SAMPLE = (HERE / "language" / "sample.rules").read_text(encoding="utf-8")


def colours(text: str) -> list[tuple[Any, str]]:
    return [(kind, value) for kind, value in RulesLexer().get_tokens(text) if kind is not Whitespace]


def colour_of(word: str, text: str) -> Any:
    found = {kind for kind, value in colours(text) if value == word}
    assert len(found) == 1, (word, found)
    return found.pop()


# -------------------------------------------------------------------------------------------- the language


def test_keywords_are_those_of_the_grammar() -> None:
    terminals = {t.pattern.value for t in lark_parser().terminals if t.pattern.type == "str"}
    alone = {t.pattern.value.removesuffix(r"\b") for t in lark_parser().terminals if t.pattern.type == "re"}
    assert keywords() == {word for word in terminals | alone if word.isalpha()}


def test_phrases_are_those_of_the_grammar() -> None:
    of_grammar = {
        re.sub(r"^[^a-z]*", "", t.pattern.value).removesuffix(r"\b")
        for t in lark_parser().terminals
        if t.pattern.type == "re" and t.priority > 0 and re.search(r"[a-z] \+", t.pattern.value)
    }
    assert set(phrases()) == of_grammar
    assert len(phrases()) > 30


def test_words_with_a_colour_of_their_own_exist() -> None:
    known = keywords() | {re.sub(r" \+", " ", p) for p in phrases()}
    assert set(highlight._COLOUR_OF) <= known


def test_the_lexer_is_registered() -> None:
    with (HERE.parent / "pyproject.toml").open("rb") as file:
        entries = tomllib.load(file)["project"]["entry-points"]["pygments.lexers"]
    modules = {path.split(":")[0] for path in entries.values()}
    names = {path.split(":")[1] for path in entries.values()}
    assert [getattr(importlib.import_module(m), n) for m in modules for n in names] == [RulesLexer]
    assert RulesLexer.filenames == ["*.rules"]
    assert RulesLexer.aliases == ["harbourmaster-rules"]


# --------------------------------------------------------------------------------------------- the colours


def test_every_token_of_the_sample_has_the_right_colour() -> None:
    """Words the parser takes for keywords are coloured as such, and its names as names."""
    at: dict[int, tuple[Any, str]] = {}
    position = 0
    for kind, value in RulesLexer(ensurenl=False, stripnl=False).get_tokens(SAMPLE):
        at[position] = (kind, value)
        position += len(value)
    checked = 0
    for token in tokenize(SAMPLE):
        assert token.start_pos is not None
        start = token.start_pos + len(token) - len(token.lstrip(" ,"))
        if token.type in ("_NL", "_INDENT", "_DEDENT", "COMMA") or start not in at:
            continue
        kind, value = at[start]
        checked += 1
        if token.type == "NAME":
            assert kind in Name, (token, kind)
        elif token.type == "NUMBER":
            assert kind is Number.Integer
        elif token.type == "TEXT":
            assert kind is String.Double
        elif token.strip()[0].isalpha() or " " in token.strip():
            assert kind in Keyword or kind is Operator.Word, (token, kind)
            assert value == token.strip(" ,")
        else:
            assert kind in (Operator, Punctuation), (token, kind)
    assert checked > 1000


def test_nothing_in_the_sample_is_unknown() -> None:
    assert not [value for kind, value in colours(SAMPLE) if kind in (Error, Text)]


@pytest.mark.parametrize(
    ("word", "text", "colour"),
    [
        ("bid", "move bid(n: 1 to 6):\n    says", Name.Function),
        ("n", "move bid(n: 1 to 6):\n    says", Name.Variable),
        ("auction", "replace rule auction: stop", Name.Function),
        ("auction", "before rule auction:\n    stop", Name.Function),
        ("credit", "open to all define credit -> money: 3", Name.Function),
        ("money", "type money: 0 to 9", Name.Class),
        ("place", "kind place: ashore,\n    afloat", Name.Class),
        ("afloat", "kind place: ashore,\n    afloat", Name.Constant),
        ("bank", "state:\n    # here\n    bank: money = 3\nrule a: stop", Name.Variable),
        ("cash", "tally:\n    cash[player]: money\nrule a: stop", Name.Variable),
        ("money", "tally:\n    cash[player]: money\nrule a: stop", Name),
        ("x", "rule a:\n    let x = 3", Name.Variable),
        ("p", "rule a:\n    for p in all_of_them: stop", Name.Variable),
        ("p", "rule a:\n    y := the  first p in queue", Name.Variable),
        ("p", "rule a:\n    choose any p in queue: bid", Name.Variable),
        ("p", "score p: 3", Name.Variable),
        ("open to all", "open to all define credit -> money: 3", Keyword.Declaration),
        ("is not", "x := y is not z", Operator.Word),
        ("is", "x := y is notable", Operator.Word),
        ("none", "x := none", Keyword.Constant),
        ("yes or no", "state:\n    a: yes or no", Keyword.Type),
        ("rounded down", "x := y / 2 rounded down", Keyword),
        ("rounded", "x := rounded", Name),
        ("# no 'text', no \"text\"", "x := 3  # no 'text', no \"text\"", Comment.Single),
        ("42", "x := 42", Number.Integer),
        (":=", "x := 42", Operator),
    ],
)
def test_colour(word: str, text: str, colour: Any) -> None:
    assert colour_of(word, text) is colour


def test_placeholders_are_expressions_inside_texts() -> None:
    assert colours('tell "so {x in {1}} it"') == [
        (Keyword, "tell"),
        (String.Double, '"'),
        (String.Double, "so "),
        (String.Interpol, "{"),
        (Name, "x"),
        (Operator.Word, "in"),
        (Punctuation, "{"),
        (Number.Integer, "1"),
        (Punctuation, "}"),
        (String.Interpol, "}"),
        (String.Double, " it"),
        (String.Double, '"'),
    ]


@pytest.mark.parametrize("text", ['"so', '"so {x', '"so {x in {1', '"so {x"', "rule a(n: (1", "kind a: b,"])
def test_half_written_text_spoils_only_its_own_line(text: str) -> None:
    assert colours(f"{text}\nrule a: stop")[-4:] == [
        (Keyword.Declaration, "rule"),
        (Name.Function, "a"),
        (Punctuation, ":"),
        (Keyword, "stop"),
    ]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text() | st.lists(st.sampled_from(re.findall(r"\w+|\s+|.", SAMPLE)), max_size=40).map("".join))
def test_any_text_is_coloured(text: str) -> None:
    lexer = RulesLexer(ensurenl=False, stripnl=False)
    assert "".join(value for _, value in lexer.get_tokens(text)) == re.sub("\r\n?", "\n", text).removeprefix(
        "\ufeff"
    )
