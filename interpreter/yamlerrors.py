"""Puts what the YAML parser complains of into words for a writer of data.

Takes the problem and context of a PyYAML error, from libyaml or from the parser in Python (they word some
differently), with the line and column; gives code, message, help, and the column to point at.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explained:
    """Tells a syntax error in this program's words."""

    code: str
    message: str
    help: str
    column: int


_MESSAGES: tuple[tuple[str, str, str, str], ...] = (
    # part of the problem, code, message, help
    (
        "unexpected end of stream",
        "yaml-syntax",
        "the file ends inside a text in quotes",
        "close the quotes",
    ),
    ("undefined tag handle", "yaml-tag", "tags are refused", "delete the tag, or put the text in quotes"),
    ("expected ',' or ']'", "yaml-syntax", "a list in brackets wants ',' or ']' here", ""),
    ("expected ',' or '}'", "yaml-syntax", "a mapping in braces wants ',' or '}' here", ""),
    ("expected ':'", "yaml-syntax", "a key wants ':' behind it", "write 'key: value'"),
    (
        "sequence entries are not allowed",
        "yaml-syntax",
        "a list item '- ' may not stand here",
        "begin the list on a line of its own",
    ),
    (
        "document start>",
        "yaml-syntax",
        "more follows where the file's one value has ended",
        "check brackets, quotes and indentation above",
    ),
    (
        "tab character that violates indentation",
        "yaml-tab",
        "a tab stands where only spaces may",
        "write spaces",
    ),
)
_CONTEXTS = (
    ("flow sequence", "the list in brackets opens here"),
    ("flow mapping", "the mapping in braces opens here"),
    ("block mapping", "the mapping begins here"),
    ("block collection", "the list begins here"),
    ("quoted scalar", "the quotes open here"),
    ("simple key", "the key begins here"),
)


def explain_context(context: str) -> str:
    """Says what stands at the place a parser gives as context."""
    return next((words for part, words in _CONTEXTS if part in context), context)


def explain_syntax(problem: str, context: str, line: str, column: int) -> Explained:
    """Says what is wrong at `column` of `line`, and how to mend it."""
    character = line[column - 1 : column]
    indentation = line[: len(line) - len(line.lstrip())]
    if "\t" in indentation and column - 1 <= len(indentation):
        at = indentation.index("\t") + 1
        return Explained("yaml-tab", "a tab stands in the indentation", "indent with spaces", at)
    if "cannot start any token" in problem:
        if character == "\t":
            return Explained("yaml-tab", "a tab stands where only spaces may", "write spaces", column)
        message = f"a plain text may not begin with '{character}'"
        return Explained("yaml-syntax", message, "put the text in quotes", column)
    if "mapping values are not allowed" in problem:
        return _explain_colon(line, column, len(indentation) + 1)
    if "unknown escape" in problem:
        column -= character != "\\"  # the parser in Python points behind the backslash
        message = "an unknown escape follows the backslash"
        return Explained("yaml-syntax", message, "in single quotes a backslash is itself", column)
    if "node content" in problem:
        message = f"a value is wanted before '{character}'" if character else "a value is wanted here"
        help = f"put a text that begins with '{character}' in quotes" if character else ""
        if character == ",":
            help = "delete the comma"
        return Explained("yaml-syntax", message, help, column)
    for part, code, message, help in _MESSAGES:
        if part in problem:
            return Explained(code, message, help, column)
    if "block" in context:
        if column > len(indentation) + 1:
            message = "this follows a value that has ended"
            return Explained("yaml-syntax", message, "put the whole text in quotes", column)
        message = "this line is indented like none of those above"
        help = "align it with the keys or list items it belongs to"
        return Explained("yaml-syntax", message, help, column)
    return Explained("yaml-syntax", problem[:1].lower() + problem[1:].rstrip("."), "", column)


def _explain_colon(line: str, column: int, first: int) -> Explained:
    if ": " in line[: column - 1]:
        message = "a second ': ' on a line that cannot hold it"
        return Explained("yaml-syntax", message, "put a text that holds ': ' in quotes", column)
    message = "a key may not stand here"
    help = "check its indentation, and whether the line above lacks a ':'"
    return Explained("yaml-syntax", message, help, min(first, column))
