"""Shows the rules' own text: a definition as it stands in its file, with the comments above it and beside
it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..grammar.span import Span
from ..interpreter.game import Game
from .session import Session
from .terminal import Line
from .texts import say


def _spans(game: Game) -> dict[str, Span]:
    checked = game.checked()
    rules = checked.rules
    spans: dict[str, Span] = {}
    for question in rules.questions.values():
        spans[question.name] = question.span
    for name, table in (*rules.tables.items(), *rules.records.items()):
        spans[name] = table.span
    for variable in checked.variables.values():
        spans[variable.name] = variable.node.span
    for alias in checked.aliases.values():
        spans[alias.name.text] = alias.span
    for symbol in checked.callables.values():
        spans[symbol.name] = symbol.node.span
    return spans


def definition_names(game: Game) -> list[tuple[str, str]]:
    """Lists what the rules define, each with where it stands."""
    return [(name, f"{span.source.name}:{span.line}") for name, span in sorted(_spans(game).items())]


def show_definition(session: Session, name: str, language: str) -> list[Line] | None:
    """Shows a definition by its name, or the one of a move by its words; None if there is none."""
    spans = _spans(session.game)
    wanted = name.strip()
    span = spans.get(wanted) or spans.get(wanted.replace(" ", "_")) or spans.get(wanted.replace(" ", "-"))
    if span is None:
        for lang in dict.fromkeys((language, "en")):
            for action in session.game.words(lang).read(wanted):
                span = session.state.decode(action)[0].span
    if span is None:
        return None
    lines = _excerpt(span)
    return lines + _documents(session.game, lines, language)


def _documents(game: Game, lines: Sequence[Line], language: str) -> list[Line]:
    """Names the documents whose keys stand in the lines shown, or at the head of their file."""
    path = game.checked().rules.sources
    if path is None:
        return []
    from ..grammar.diagnostics import Report
    from ..interpreter.gamefiles import Files, Folder, entry, words_of
    from ..interpreter.yamlfile import Mapping

    root = Files(Report()).yaml(Folder(path.parent, path.parent.name), path.name, "sources")
    text = "\n".join("".join(t for _, t in line) for line in lines)
    found: list[Line] = []
    for item in root.entries.values() if root is not None else ():
        if isinstance(item.value, Mapping) and re.search(rf"\b{re.escape(item.key)}\b", text):
            title = words_of(entry(item.value, "title"))
            about = title.get(language) or title.get("en", "")
            found.append([("dim", say(language, "source-of", key=item.key, title=about))])
    return found


def _excerpt(span: Span) -> list[Line]:
    source = span.source
    first = span.line
    head = source.line(1).strip()
    while first > 1 and source.line(first - 1).lstrip().startswith("#"):
        first -= 1
    last = max(span.line, span.end_line - (1 if span.end_column == 1 else 0))
    last = max(last, _end_of_block(span)) if source.name.endswith((".yaml", ".yml")) else last
    while last > span.line and not source.line(last).strip():
        last -= 1
    lines: list[Line] = [[("heading", f"{source.name}:{span.line}")]]
    if first > 1 and head.startswith("#") and source.name.endswith(".rules"):
        lines[0].append(("dim", f"   {' '.join(head.split())}"))
    for n in range(first, last + 1):
        lines.append([("dim", f"{n:>4}  "), *_coloured(source.line(n), source.name)])
    return lines


def _end_of_block(span: Span) -> int:
    """Finds the last line of a YAML entry: the lines below that are indented more."""
    source = span.source
    own = len(source.line(span.line)) - len(source.line(span.line).lstrip())
    last = span.line
    for n in range(span.line + 1, len(source.lines) + 1):
        text = source.line(n)
        if text.strip() and len(text) - len(text.lstrip()) <= own:
            break
        last = n
    return last


def _coloured(text: str, name: str) -> Line:
    if not name.endswith(".rules"):
        return [("", text)]
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

    from ..grammar.highlight import RulesLexer

    styles: tuple[tuple[_TokenType, str], ...] = (
        (Comment, "dim"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (String, "string"),
        (Name.Function, "heading"),
        (Number, "number"),
    )
    line: Line = []
    for kind, value in RulesLexer(stripnl=False, ensurenl=False).get_tokens(text):
        line.append(
            (next((style for k, style in styles if kind is k or kind[: len(k)] == k), ""), value.rstrip("\n"))
        )
    return line
