"""Colours rule files: a Pygments lexer, for the prompt, for reports and for whatever else uses Pygments.

Tolerant where the parser is strict: it colours half-written text too. Its keywords and phrases are read from
the terminals of `rules.lark`, so that they are always those of the language; it needs no parser tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, include
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

_PHRASE = re.compile(r"(?:[a-z]+|\([a-z|]+\))(?: \+(?:[a-z]+|\([a-z|]+\)))*(?=\\b$)")


@cache
def keywords() -> frozenset[str]:
    """Gets the words that cannot be names."""
    quoted = re.findall(r'"([a-z]+)"', _grammar())
    return frozenset(quoted) | {p for p in _patterns() if p.isalpha()}


@cache
def phrases() -> tuple[str, ...]:
    """Gets the phrases of several words, whose words may be names elsewhere, as regular expressions."""
    return tuple(sorted((p for p in _patterns() if not p.isalpha()), key=lambda p: (-p.count(" "), p)))


def _patterns() -> list[str]:
    written = re.findall(r"^[A-Z_]+\.\d+: /(.*)/$", _grammar(), re.MULTILINE)
    return [found[0] for pattern in written if (found := _PHRASE.search(pattern))]


@cache
def _grammar() -> str:
    text = Path(__file__).with_name("rules.lark").read_text(encoding="utf-8")
    return re.sub(r"^ *//.*$", "", text, flags=re.MULTILINE)


# Only colours: a word missing here gets the colour of plain keywords.
_COLOURS: dict[_TokenType, str] = {
    Keyword.Declaration: (
        "type, kind, state, tally, rule, move, define, invariant, score, measure, replace, before, after, "
        "let, open to all, standing at own decisions, standing at all decisions, tie break, ends when, "
        "add to choice, remove from choice"
    ),
    Keyword.Constant: "yes, no, none, empty",
    Keyword.Type: (
        "text, hidden, secret, yes or no, or none, set of, pile of, up to, secret to its player, secret to"
    ),
    Operator.Word: "and, or, not, is, in, mod, is not, not in",
}
_COLOUR_OF = {words: colour for colour, listed in _COLOURS.items() for words in listed.split(", ")}


def _word(
    lexer: RulesLexer, match: re.Match[str], _context: Any = None
) -> Iterator[tuple[int, _TokenType, str]]:
    """Colours a word or phrase by its place in the language; any other word is a name."""
    text = match[0]
    known = " ".join(text.split())
    colour = _COLOUR_OF.get(known, Keyword)
    if known not in keywords() and " " not in known:
        colour = Name
    yield match.start(), colour, text


def _nothing(
    lexer: RulesLexer, match: re.Match[str], _context: Any = None
) -> Iterator[tuple[int, _TokenType, str]]:
    """Colours nothing: for rules that only end a state."""
    yield from ()


def _groups(*kinds: _TokenType) -> Any:
    return bygroups(*kinds)  # type: ignore[no-untyped-call]


_BINDERS = "for|draw|some|every|number +of|the +first|choose +each|choose +any"
_NAME = r"[A-Za-z][A-Za-z0-9_]*"


class RulesLexer(RegexLexer):
    """Colours the rules language; names stand out where they are defined."""

    name = "Harbourmaster rules"
    aliases: ClassVar[list[str]] = ["harbourmaster-rules"]
    filenames: ClassVar[list[str]] = ["*.rules"]
    url = ""

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"^(state|tally)( *)(:)", _groups(Keyword.Declaration, Whitespace, Punctuation), "variables"),
            (rf"^(kind)( +)({_NAME})", _groups(Keyword.Declaration, Whitespace, Name.Class), "members"),
            (rf"^(type)( +)({_NAME})", _groups(Keyword.Declaration, Whitespace, Name.Class)),
            (rf"\b(rule|move|define)( +)({_NAME})( *)(\()",
             _groups(Keyword.Declaration, Whitespace, Name.Function, Whitespace, Punctuation), "parameters"),
            (rf"\b(rule|move|define)( +)({_NAME})", _groups(Keyword.Declaration, Whitespace, Name.Function)),
            (rf"^(score|tie +break)( +)({_NAME})", _groups(Keyword.Declaration, Whitespace, Name.Variable)),
            (rf"\b(let)( +)({_NAME})", _groups(Keyword.Declaration, Whitespace, Name.Variable)),
            include("text"),
            include("code"),
        ],
        "variables": [
            (r"^(?=[^\s#])", _nothing, "#pop"),
            (rf"^( +)({_NAME})(?= *[\[:])", _groups(Whitespace, Name.Variable)),
            include("code"),
        ],
        "members": [
            (r"^(?=[^\s#])", _nothing, "#pop"),
            (_NAME, Name.Constant),
            include("code"),
        ],
        "parameters": [
            (r"^(?=[^\s#)])", _nothing, "#pop"),
            (rf"({_NAME})( *)(?=:)", _groups(Name.Variable, Whitespace)),
            (r"\(", Punctuation, "parentheses"),
            (r"\)", Punctuation, "#pop"),
            include("code"),
        ],
        "parentheses": [
            (r"^(?=[^\s#)])", _nothing, "#pop"),
            (r"\(", Punctuation, "#push"),
            (r"\)", Punctuation, "#pop"),
            include("code"),
        ],
        "code": [
            (r"#.*$", Comment.Single),
            (r"\n", Whitespace),
            include("expression"),
        ],
        "expression": [
            (r" +", Whitespace),
            (rf"\b({_BINDERS})( +)({_NAME})(?= +in\b)", _groups(Keyword, Whitespace, Name.Variable)),
            (rf"\b({'|'.join(phrases())})\b", _word),
            (_NAME, _word),
            (r"[0-9]+", Number.Integer),
            (r":=|->|<=|>=|[-+*/=<>]", Operator),
            (r"[][(){}.,:;]", Punctuation),
        ],
        "text": [
            (r'"', String.Double, "quoted"),
        ],
        "quoted": [
            (r'[^"{}\n]+', String.Double),
            (r'"', String.Double, "#pop"),
            (r"\{", String.Interpol, "placeholder"),
            (r"\}", Error),
            (r"\n", Error, "#pop"),
        ],
        "placeholder": [
            (r"\}", String.Interpol, "#pop"),
            (r'(?=["\n])', _nothing, "#pop"),
            (r"\{", Punctuation, "braces"),
            include("expression"),
        ],
        "braces": [
            (r"\}", Punctuation, "#pop"),
            (r'(?=["\n])', _nothing, "#pop"),
            (r"\{", Punctuation, "#push"),
            include("expression"),
        ],
    }  # fmt: skip
