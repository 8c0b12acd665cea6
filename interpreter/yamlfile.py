"""Reads YAML strictly, keeping the place of every value and key.

Takes a source; gives a tree of `Scalar`, `Sequence` and `Mapping`, or None when the text cannot be read.
Scalars are those of the YAML 1.2 core schema: `no` is a text, `1:30` is a text, `0o17` is fifteen. Refuses,
with a diagnostic at the place, everything that means different things to different readers or lets a small
file grow: numbers with a leading zero, duplicate keys, keys that are not texts or whole numbers, tags, merge
keys, directives, several documents, anchors given twice, deep nesting and aliases that expand to many nodes.

The tree is built from the parser's events with a stack of our own, so depth costs no recursion, and an alias
shares the node it names, so that a "billion laughs" file is counted, never expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Source, Span
from .sources import check_text, name_character, refused_character
from .yamlerrors import explain_context, explain_syntax
from .yamlscalars import MAY_BEGIN_OTHER, resolve, shortened

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

DEEPEST = 64
"""How deep mappings and lists may nest, aliases included."""
MOST_NODES = 30_000
"""How many values and keys a file may hold as written."""
MOST_THROUGH_ALIASES = 10_000
"""How many values and keys a file's aliases may stand for together."""
MOST_COMPLAINTS = 100
"""After how many complaints about one file reading stops."""


class Scalar(Struct, frozen=True, eq=False):
    """Holds one plain value; an empty place is None."""

    value: str | int | float | bool | None
    span: Span


class Sequence(Struct, frozen=True, eq=False):
    """Holds a list."""

    items: tuple[Node, ...]
    span: Span


class Entry(Struct, frozen=True, eq=False):
    """Holds one key of a mapping with its value."""

    key: str
    key_span: Span
    value: Node


class Mapping(Struct, frozen=True, eq=False):
    """Holds a mapping in the order written; a whole number as key has become its text."""

    entries: dict[str, Entry]
    span: Span


Node: TypeAlias = Scalar | Sequence | Mapping


def plain(node: Node) -> Any:
    """Gets a node as dicts, lists and scalars, without places."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {key: plain(entry.value) for key, entry in node.entries.items()}


def read_yaml(source: Source, report: Report) -> Node | None:
    """Reads the one document of a source, or gives None when its shape cannot be made out.

    A node is given whenever there is one, also when complaints were added (a duplicate key, a tag, a number
    with a leading zero), so that a schema can add its own; whether the file is sound, `report.has_errors`
    tells.
    """
    if not check_text(source, report):
        return None
    builder = _Builder(source, report)
    try:
        builder.run()
    except _Stop:
        return None
    return builder.root


_SECOND_DOCUMENT = (
    "yaml-documents",
    "a second document begins here, want one document a file",
    "delete the line '---' or '...', or move what follows to a file of its own",
)
_NO_DIRECTIVE = "delete the line: every file is YAML 1.2"
_MOST_COMPARED = 200  # names to look for the nearest among
_ANCHOR = re.compile(r"&\S+\s+")


class _Stop(Exception):
    """Ends the reading of a file after a complaint that leaves nothing to go on with."""


class _Frame(Struct):
    """Holds a list or mapping while its parts arrive."""

    is_mapping: bool
    line: int
    column: int
    anchor: str | None
    nodes_before: int
    items: list[Node]
    entries: dict[str, Entry]
    last: Span | None = None  # the part that ended last
    awaits_value: bool = False
    key: str | None = None  # None while awaiting a value: the key was refused
    key_span: Span | None = None
    height: int = 1


class _Anchored(Struct, frozen=True):
    node: Node
    nodes: int
    height: int
    span: Span


class _Builder:
    """Turns parser events into nodes."""

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.root: Node | None = None
        self._complaints = 0
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}
        self._nodes = 0  # as if every alias were written out
        self._through_aliases = 0
        self._documents = 0

    def run(self) -> None:
        """Reads to the end of the first document and tests that nothing follows."""
        import yaml

        self._refuse_directives()
        parser = parser_class()(self.source.text)
        handlers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }
        handler_of = handlers.get
        stream_end = yaml.StreamEndEvent
        try:
            while True:
                event = parser.get_event()
                kind = type(event)
                handle = handler_of(kind)
                if handle is not None:
                    handle(event)
                elif kind is stream_end:
                    break
        except yaml.MarkedYAMLError as error:
            self._syntax(error)
        if self.root is None:
            at = Span(self.source, 1, 1, 1, 1)
            self._error("yaml-empty", "the file holds nothing", at, help="write its first key")

    # Events

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._error(*_SECOND_DOCUMENT[:2], self._span(event), help=_SECOND_DOCUMENT[2])
            raise _Stop

    def _scalar(self, event: Any) -> None:
        self._count(1)
        text: str = event.value
        span = self._span(event)
        if event.anchor is not None:
            span = self._after_anchor(span)
        if event.tag is not None:
            self._refuse_tag(event.tag, span)
        value: str | int | float | bool | None = text
        if event.implicit[0] and event.tag is None:
            if "\t" in text:
                self._tab_in_text(span)
            first = text[:1]
            if first in MAY_BEGIN_OTHER:  # holds for the empty text, too
                value, problem = resolve(text)
                if problem is not None:
                    self._error(problem.code, problem.message, span, help=problem.help)
                if value is None and not text and not self._stack:
                    return  # a document of nothing
            elif (
                text == "<<"
                and self._stack
                and self._stack[-1].is_mapping
                and not self._stack[-1].awaits_value
            ):
                self._error("yaml-merge-key", "merge keys are refused", span, help="write the keys out")
                self._refused_key()
                return
        elif event.style == '"' and (at := refused_character(text)) is not None:
            self._error(
                "control-character",
                f"the character {name_character(text[at])} may not stand in rules or data",
                span,
                help="delete it, or write it as words",
            )
        elif event.style in ("|", ">"):
            span = self._trimmed(span)
        node = Scalar(value, span)
        self._remember(event.anchor, node, 1, 0, span)
        self._add(node, 0, span)

    def _open(self, event: Any) -> None:
        self._count(1)
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if len(self._stack) >= DEEPEST:
            self._too_deep(Span(self.source, line, column, line, column + 1))
        if event.tag is not None:
            self._refuse_tag(event.tag, Span(self.source, line, column, line, column + 1))
        is_mapping = type(event).__name__ == "MappingStartEvent"
        self._stack.append(_Frame(is_mapping, line, column, event.anchor, self._nodes - 1, [], {}))

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        mark = event.end_mark
        line, column = mark.line + 1, mark.column + 1
        if (
            frame.last is not None and event.start_mark.index == mark.index
        ):  # block style: it ends with its last part
            line, column = frame.last.end_line, frame.last.end_column
        span = Span(self.source, frame.line, frame.column, line, column)
        if frame.anchor is not None:
            span = self._after_anchor(span)
        node: Node = Mapping(frame.entries, span) if frame.is_mapping else Sequence(tuple(frame.items), span)
        self._remember(frame.anchor, node, self._nodes - frame.nodes_before, frame.height, span)
        self._add(node, frame.height, span)

    def _alias(self, event: Any) -> None:
        name: str = event.anchor
        span = self._span(event)
        anchored = self._anchors.get(name)
        if anchored is None:
            name = shortened(name)
            if any(frame.anchor == name for frame in self._stack):
                self._error("yaml-alias", f"the alias '*{name}' stands inside what it names", span)
            else:
                near = self._anchors if len(self._anchors) <= _MOST_COMPARED else ()
                help = suggestion(name, near, what="the anchors above are")
                self._error("yaml-alias", f"no anchor '&{name}' stands above", span, help=help)
            if self._stack and self._stack[-1].is_mapping and not self._stack[-1].awaits_value:
                self._refused_key()
            else:
                self._add(Scalar(None, span), 0, span)
            return
        self._through_aliases += anchored.nodes
        if self._through_aliases > MOST_THROUGH_ALIASES:
            self._error(
                "yaml-too-many-aliases",
                f"the aliases of this file stand for more than {MOST_THROUGH_ALIASES:,} values",
                span,
                notes=[Label(f"'&{shortened(name)}' stands for {anchored.nodes:,} values", anchored.span)],
            )
            raise _Stop
        if len(self._stack) + anchored.height > DEEPEST:
            self._too_deep(span)
        self._nodes += anchored.nodes
        self._add(anchored.node, anchored.height, span)

    # Building

    def _add(self, node: Node, height: int, span: Span) -> None:
        """Puts a finished node where it belongs; `span` is where it stands (for an alias, the alias)."""
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        frame.last = span
        if height >= frame.height:
            frame.height = height + 1
        if not frame.is_mapping:
            frame.items.append(node)
        elif not frame.awaits_value:
            self._key(frame, node, span)
        else:
            if frame.key is not None and frame.key_span is not None:
                frame.entries[frame.key] = Entry(frame.key, frame.key_span, node)
            frame.awaits_value = False

    def _key(self, frame: _Frame, node: Node, span: Span) -> None:
        frame.awaits_value = True
        frame.key = None
        frame.key_span = span
        if isinstance(node, Scalar):
            value = node.value
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if isinstance(value, str):
                first = frame.entries.get(value)
                if first is None:
                    frame.key = value
                else:
                    self._error(
                        "yaml-duplicate-key",
                        f"the key {shown(value)} is given twice",
                        span,
                        notes=[Label("it is given first here", first.key_span)],
                    )
                return
            text = shortened(span.text)
            got = describe(node)
            help = (
                f'write "{text}" in quotes if the text is meant' if text else "write a name before the colon"
            )
        else:
            got, help = kind(node), 'put the text in quotes if it begins with "[" or "{"'
        self._error("yaml-key", f"a key is a text or a whole number, got {got}", span, help=help)

    def _refused_key(self) -> None:
        frame = self._stack[-1]
        frame.awaits_value, frame.key = True, None

    def _remember(self, anchor: str | None, node: Node, nodes: int, height: int, span: Span) -> None:
        if anchor is None:
            return
        first = self._anchors.get(anchor)
        if first is not None:
            self._error(
                "yaml-anchor",
                f"the anchor '&{shortened(anchor)}' is given twice",
                span,
                notes=[Label("it is given first here", first.span)],
            )
            return
        self._anchors[anchor] = _Anchored(node, nodes, height, span)

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes - self._through_aliases > MOST_NODES:
            at = Span(self.source, 1, 1, 1, 1)
            self._error("file-too-large", f"the file holds more than {MOST_NODES:,} values", at)
            raise _Stop

    # Places

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        line, column, end_line, end_column = start.line + 1, start.column + 1, end.line + 1, end.column + 1
        if end_line > len(self.source.lines):  # where no line feed ends the file, the parser counts one
            end_line = len(self.source.lines)
            end_column = len(self.source.lines[-1]) + 1
            if line > end_line:
                line, column = end_line, end_column
        return Span(self.source, line, column, end_line, end_column)

    def _after_anchor(self, span: Span) -> Span:
        """Gets the span of the value behind an anchor on the same line."""
        line = self.source.line(span.line)
        found = _ANCHOR.match(line, span.column - 1)
        ends_here = span.end_line == span.line and found is not None and found.end() >= span.end_column
        if found is None or found.end() >= len(line) or ends_here:
            return span
        return Span(self.source, span.line, found.end() + 1, span.end_line, span.end_column)

    def _trimmed(self, span: Span) -> Span:
        """Gets the span of a block text without the blank lines behind it."""
        line = span.end_line - 1 if span.end_column == 1 else span.end_line
        lines = self.source.lines
        line = min(line, len(lines))
        while line > span.line and not lines[line - 1].strip():
            line -= 1
        return Span(self.source, span.line, span.column, line, len(self.source.line(line)) + 1)

    # Complaints

    def _error(
        self, code: str, message: str, span: Span, *, notes: list[Label] | None = None, help: str = ""
    ) -> None:
        self._complaints += 1
        if self._complaints > MOST_COMPLAINTS:
            self.report.error(
                "yaml-too-many-errors",
                f"more than {MOST_COMPLAINTS} complaints about this file; reading stops",
                span,
            )
            raise _Stop
        self.report.error(code, message, span, notes=notes or (), help=help)

    def _refuse_directives(self) -> None:
        for number, line in enumerate(self.source.lines, 1):
            if line.startswith("%"):
                span = Span(self.source, number, 1, number, len(line) + 1)
                self._error("yaml-directive", "directives are refused", span, help=_NO_DIRECTIVE)
                raise _Stop
            if line.strip() and not line.lstrip().startswith("#"):
                break

    def _refuse_tag(self, tag: str, span: Span) -> None:
        shown_tag = shortened(tag.replace("tag:yaml.org,2002:", "!!"))
        help = "write the value in quotes if a text is meant" if shown_tag == "!!str" else "delete the tag"
        self._error("yaml-tag", f"tags are refused, got '{shown_tag}'", span, help=help)

    def _tab_in_text(self, span: Span) -> None:
        line = next(n for n in range(span.line, span.end_line + 1) if "\t" in self.source.line(n))
        at = self.source.line(line).index("\t", span.column - 1 if line == span.line else 0) + 1
        where = Span(self.source, line, at, line, at + 1)
        self._error("yaml-tab", "a tab stands in a text without quotes", where, help="write a space")

    def _too_deep(self, span: Span) -> None:
        self._error("yaml-too-deep", f"mappings and lists nest deeper than {DEEPEST}", span)
        raise _Stop

    def _syntax(self, error: MarkedYAMLError) -> None:
        """Reports what the parser choked on, in the words of this program where it has any."""
        mark = error.problem_mark or error.context_mark
        index_line, index_column = (mark.line, mark.column) if mark is not None else (0, 0)
        line = min(index_line + 1, len(self.source.lines))
        column = index_column + 1 if line == index_line + 1 else len(self.source.line(line)) + 1
        span = Span(self.source, line, column, line, column + 1)
        problem, context = str(error.problem or error), str(error.context or "")
        if "nesting depth" in problem:
            self._too_deep(span)
        explained = explain_syntax(problem, context, self.source.line(line), column)
        notes = []
        if error.context_mark is not None and error.context_mark.line < len(self.source.lines):
            at = (error.context_mark.line + 1, error.context_mark.column + 1)
            if at < (line, explained.column):
                where = Span(self.source, *at, at[0], at[1] + 1)
                notes.append(Label(explain_context(context), where))
        if "document start>" in problem and any(
            above.startswith("...") for above in self.source.lines[: line - 1]
        ):
            self._error(*_SECOND_DOCUMENT[:2], span, help=_SECOND_DOCUMENT[2])
        else:
            span = Span(self.source, line, explained.column, line, max(explained.column, column) + 1)
            self._error(explained.code, explained.message, span, notes=notes, help=explained.help)
        raise _Stop


# Words for complaints


def shown(text: str) -> str:
    """Shows a text in quotes, on one line and not too long."""
    return f"'{shortened(' '.join(text.split()) if len(text.split()) > 1 else text.strip() or text)}'"


def kind(node: Node) -> str:
    """Names what a node is, as in "got a list"."""
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool()):
            return "the truth value"
        case Scalar(value=int()):
            return "the whole number"
        case Scalar(value=float()):
            return "the number"
        case _:
            return "the text"


def describe(node: Node) -> str:
    """Describes a node for "got …": ``the text 'four'``, ``true``, ``a list``."""
    if not isinstance(node, Scalar) or node.value is None:
        return kind(node)
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    if isinstance(node.value, str):
        return f"the text {shown(node.value)}" if node.value.strip() else "an empty text"
    return f"{kind(node)} {node.value}"


@cache
def parser_class(pure: bool = False) -> Callable[[str], Any]:
    """Gets libyaml's parser, or the one in Python when PyYAML was built without (or `pure` asks for it)."""
    if not pure:
        try:
            from yaml._yaml import CParser

            return CParser
        except ImportError:
            pass
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner, ScannerError

    class PureParser(Reader, Scanner, Parser):
        """Parses in Python; bounds brackets while scanning, as libyaml does, since it scans far ahead."""

        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)

        def fetch_flow_collection_start(self, token_class: Any) -> None:
            if self.flow_level > DEEPEST:
                raise ScannerError(None, None, "exceeded maximum nesting depth", self.get_mark())
            super().fetch_flow_collection_start(token_class)

    return PureParser
