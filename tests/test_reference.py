"""The language reference cannot drift from the grammar: its examples parse, and it speaks of every word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import Report, render_all
from harbourmaster.grammar.highlight import keywords, phrases
from harbourmaster.grammar.parser import parse_expression, parse_rules
from harbourmaster.grammar.span import Source

PAGE = (Path(__file__).parent.parent / "grammar" / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(rules|statements|expressions)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("kind", "text"), BLOCKS, ids=range(len(BLOCKS)))
def test_examples_parse(kind: str, text: str) -> None:
    report = Report()
    if kind == "expressions":
        for line in text.splitlines():
            parse_expression(Source("README.md", line), report)
    elif kind == "statements":
        body = "".join(f"    {line}\n" for line in text.splitlines())
        parse_rules(Source("README.md", f"rule example:\n{body}"), report)
    else:
        parse_rules(Source("README.md", text), report)
    assert not report.diagnostics, render_all(report.sorted())


def test_every_word_of_the_grammar_is_spoken_of() -> None:
    examples = " ".join(" ".join(text.split()) for _, text in BLOCKS)
    for pattern in [*keywords(), *phrases()]:
        assert re.search(rf"(?<![a-z]){pattern}(?![a-z])", examples), f"'{pattern}' is in no example"
