"""Tests the formatter: the layout by cases (tests/language/format.rules), and that nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.grammar import tree
from harbourmaster.grammar.diagnostics import Report, display_width
from harbourmaster.grammar.formatter import format_rules
from harbourmaster.grammar.parser import parse_rules, tokenize
from harbourmaster.grammar.span import Source
from hypothesis import example, given, settings
from hypothesis import strategies as st

LANGUAGE = Path(__file__).with_name("language")
SAMPLE = (LANGUAGE / "sample.rules").read_text(encoding="utf-8")
CASES = (LANGUAGE / "format.rules").read_text(encoding="utf-8").split("---\n")
ACCEPTED = (LANGUAGE / "syntax" / "accepted.rules").read_text(encoding="utf-8").split("---\n")
GAMES = sorted((LANGUAGE.parent.parent / "rules").glob("**/*.rules"))


def formatted(text: str) -> str:
    report = Report()
    found = format_rules(Source("case.rules", text), report)
    assert found is not None, report.diagnostics
    return found


def shape(value: Any) -> Any:
    """Gets what a tree says, without where it stands."""
    if isinstance(value, tuple):
        return [shape(item) for item in value]
    if not isinstance(value, tree.Node):
        return value
    fields = [name for name in value.__struct_fields__ if name != "span"]
    return {"": type(value).__name__, **{name: shape(getattr(value, name)) for name in fields}}


def meaning(text: str) -> Any:
    report = Report()
    file = parse_rules(Source("case.rules", text), report)
    assert not report.diagnostics
    return shape(file)


def comments(text: str) -> list[str]:
    return [found.rstrip() for found in re.findall(r'"[^"\n]*"|(#.*)', text) if found]


def check(text: str) -> str:
    """Formats a text, checks that it says the same, keeps its comments, and stays so when formatted again."""
    found = formatted(text)
    assert meaning(found) == meaning(text)
    assert comments(found) == comments(text)
    assert formatted(found) == found
    assert not re.search(r" $|\t|\n\n\n|\A\n|\n\n\Z", found, re.MULTILINE)
    return found


@pytest.mark.parametrize("case", CASES, ids=[c.split("\n")[0][2:] for c in CASES])
def test_layout(case: str) -> None:
    text, wanted = case.split("=>\n")
    assert check(text) == wanted


def test_the_sample_is_formatted() -> None:
    assert check(SAMPLE) == SAMPLE


@pytest.mark.parametrize("text", ACCEPTED, ids=[c.split("\n")[0][2:] for c in ACCEPTED])
def test_odd_texts_keep_their_meaning(text: str) -> None:
    check(text)


@pytest.mark.parametrize("path", GAMES, ids=lambda p: p.stem)
def test_games_keep_their_meaning(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


def test_lines_stay_in_the_page_where_a_list_can_be_broken() -> None:
    names = ", ".join(f"move_number_{n}" for n in range(40))
    text = f"rule a:\n    choose p: {names}\n    x := f({names})\n    y := f(g({names}), h({names}))\n"
    assert max(display_width(line) for line in check(text).split("\n")) <= 110


@pytest.mark.parametrize("times", range(2, 9))
def test_long_names_change_nothing_else(times: int) -> None:
    out, at = [], 0
    for token in tokenize(SAMPLE):
        if token.type == "NAME":
            assert token.start_pos is not None
            out += [SAMPLE[at : token.start_pos], "_".join([token] * times)]
            at = token.start_pos + len(token)
    found = check("".join(out) + SAMPLE[at:])
    assert "\n            " in found


@pytest.mark.parametrize("text", ["", "\n", "\n\n   \n"])
def test_an_empty_file_stays_empty(text: str) -> None:
    assert formatted(text) == ""


def test_wide_characters_take_two_columns() -> None:
    text = 'rule a:\n    tell "中文"  # 一\n    tell "plain"  # 二\n'
    assert check(text) == 'rule a:\n    tell "中文"   # 一\n    tell "plain"  # 二\n'


def test_a_file_that_does_not_parse_is_refused() -> None:
    report = Report()
    assert format_rules(Source("case.rules", "rule a\n"), report) is None
    assert [d.code for d in report.diagnostics] == ["syntax"]


# ---------------------------------------------------------------------------------------------- any layout

DEFINITIONS = re.split(r"\n(?=\S)", SAMPLE)


@st.composite
def rules_laid_out_anyhow(draw: st.DrawFn) -> str:
    """Draws definitions of the sample with other spaces, indentation, comments, blank and broken lines."""
    chosen = draw(st.lists(st.sampled_from(DEFINITIONS), min_size=1, max_size=4))
    text = "\n".join(chosen) + "\n"
    spaces = st.sampled_from(["", " ", "  ", "      "])
    remark = st.sampled_from(["", "", "", " # remark", "  #remark"])
    between = st.sampled_from(
        ["", "", "", "", "\n", "\n\n\n", "\n# remark\n", "\n    # deep\n", "   \n  # mid\n\n"]
    )
    own_lines = st.sampled_from(["", "", "\n\n", "  # own line\n", "# one\n\n   # two\n"])
    step = draw(st.integers(1, 9))
    out: list[str] = []
    depth = brackets = 0
    previous = ""
    for token in tokenize(text):
        match token.type:
            case "_INDENT":
                depth += 1
                out[-1] = " " * (step * depth)
            case "_DEDENT":
                depth -= 1
                out[-1] = " " * (step * depth)
            case "_NL":
                if out:
                    out += [
                        draw(spaces),
                        draw(remark),
                        "\n",
                        draw(between).removeprefix("\n"),
                        " " * (step * depth),
                    ]
                previous = ""
                continue
            case _:
                may_break = brackets > 0 or previous == ","
                brackets += {"LPAR": 1, "LSQB": 1, "LBRACE": 1, "RPAR": -1, "RSQB": -1, "RBRACE": -1}.get(
                    token.type, 0
                )
                word = str(token).strip()
                if token.type != "TEXT":
                    word = re.sub(" +", lambda _: draw(spaces.filter(bool)), " ".join(word.split()))
                gap = draw(spaces)
                if not gap and previous and (previous[-1] + word[0]).isalnum():
                    gap = " "
                if may_break and draw(st.integers(0, 9)) == 0:
                    gap = draw(remark) + "\n" + draw(own_lines) + gap
                out += [gap if previous else "", word]
                previous = word
                continue
        previous = ""
    return "".join(out)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(rules_laid_out_anyhow())
def test_any_layout_is_formatted(text: str) -> None:
    report = Report()
    parse_rules(Source("case.rules", text), report)
    assert not report.diagnostics
    check(text)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(DEFINITIONS), min_size=1, max_size=4), st.data())
def test_layout_depends_on_the_words_alone(definitions: list[str], data: st.DataObject) -> None:
    """Spaces, and line ends inside brackets or after commas, leave no trace."""
    text = "\n".join(definitions) + "\n"
    spread = re.sub(r'"[^"\n]*"|#.*|(?<=\S) +', lambda m: m[0] if m[0][0] != " " else data.draw(BLANKS), text)
    broken = re.sub(
        r'"[^"\n]*"|#.*|,(?! *(no|round|up|or)\b)', lambda m: m[0] + data.draw(BREAKS) * (m[0] == ","), spread
    )
    assert formatted(broken) == formatted(text)


BLANKS = st.sampled_from([" ", "  ", "     "])
BREAKS = st.sampled_from(["", "\n", "\n        ", "  \n\n "])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.sampled_from('ab1 \n:=,()[]{}"#-+.;'), max_size=60))
@example("rule a: x := (1)(2)")
def test_any_text_is_formatted_or_refused(text: str) -> None:
    report = Report()
    if format_rules(Source("case.rules", text), report) is None:
        assert report.diagnostics
    else:
        check(text)
