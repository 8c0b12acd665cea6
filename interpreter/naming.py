"""Names rule sets: `game+variant+question=reading+table.entry.attribute=20`.

The one way to say which rules are meant, on the command line, in the API, in records and in reports. The
game comes first: a bundled name, or the path of a game's folder. The parts after it, in any order:

- a variant's name, or the path of an overlay of one's own (`./my-rule.yaml`): these stack in the order given;
- `question=reading`;
- `table.entry.attribute=value` or `record.constant=value`; the stem of the table's file may stand before it.

Spaces around `+` and `=` do not count; within brackets and quotes `+` is a character like others; in a
path `%2B` is a plus and `%25` a percent sign. What the words stand for, loading finds out; here they only
get their places.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from ..grammar.diagnostics import Label, Report
from ..grammar.span import Source, Span
from .gamefiles import is_path
from .yamlfile import Entry, Mapping, Node, Scalar, Sequence, read_yaml

SOURCE_NAME = "<rule set>"
"""Under which name a rule set's name is shown in diagnostics; also the layer of what it sets."""

_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)\s*=")
_ENCODED = {"%2B": "+", "%2b": "+", "%25": "%"}


class Part(Struct, frozen=True):
    """The game or an overlay: a name, or a path as written."""

    text: str
    span: Span

    @property
    def is_path(self) -> bool:
        """Whether it names a file or folder."""
        return is_path(self.text)

    @property
    def path(self) -> str:
        """The path meant by the text."""
        return re.sub("%2[Bb]|%25", lambda found: _ENCODED[found[0]], self.text)


class Setting(Struct, frozen=True):
    """`key=value`: a question with its reading, or (`is_patch`) the path of a value with the value."""

    key: str
    value: str
    key_span: Span
    value_span: Span

    @property
    def is_patch(self) -> bool:
        """Whether it changes a table or record."""
        return "." in self.key

    @property
    def span(self) -> Span:
        """The whole of it."""
        return self.key_span.to(self.value_span)

    def node(self, report: Report) -> Node | None:
        """Reads the value as YAML, with its places in the name."""
        source, column = self.value_span.source, self.value_span.column
        complaints = Report()
        found = read_yaml(Source(source.name, " " * (column - 1) + self.value), complaints)
        for d in complaints.diagnostics:
            notes = tuple(Label(note.text, _at(note.span, source)) for note in d.notes)
            report.diagnostics.append(replace(d, span=_at(d.span, source), notes=notes))
        return None if found is None or complaints.has_errors else _moved(found, source)


class RuleSetName(Struct, frozen=True, eq=False):
    """Names a rule set; two names are equal when they are written alike but for the order of settings."""

    source: Source
    game: Part
    overlays: tuple[Part, ...] = ()
    settings: tuple[Setting, ...] = ()

    @staticmethod
    def parse(text: str, report: Report | None = None) -> RuleSetName:
        """Parses a name; complaints go to `report`, or are raised as `RulesError` when there is none."""
        own = Report() if report is None else report
        name = _parse(Source(SOURCE_NAME, text), own)
        if report is None:
            own.raise_errors()
        return name

    @property
    def readings(self) -> tuple[Setting, ...]:
        """The settings of questions, sorted."""
        return tuple(sorted((s for s in self.settings if not s.is_patch), key=_order))

    @property
    def patches(self) -> tuple[Setting, ...]:
        """The settings of tables and records, sorted."""
        return tuple(sorted((s for s in self.settings if s.is_patch), key=_order))

    def canonical(self) -> str:
        """Writes it in the one order: game, overlays as they stack, readings sorted, patches sorted.

        Loading gives a shorter one where it can: without what holds anyway, and without the stems of files.
        """
        settings = [f"{s.key}={s.value}" for s in (*self.readings, *self.patches)]
        return "+".join([self.game.text, *(part.text for part in self.overlays), *settings])

    def with_overlay(self, overlay: str) -> RuleSetName:
        """Makes the name with one more overlay on top."""
        return RuleSetName.parse("+".join([self.canonical(), overlay]))

    def with_setting(self, key: str, value: str) -> RuleSetName:
        """Makes the name with a question or value set, in place of what it said of it before."""
        others = tuple(s for s in self.settings if s.key != key)
        return RuleSetName.parse(f"{replace(self, settings=others).canonical()}+{key}={value}")

    def __str__(self) -> str:
        return self.canonical()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSetName) and self.canonical() == other.canonical()

    def __ne__(self, other: object) -> bool:
        return not self == other  # a structure does not derive it from __eq__

    def __hash__(self) -> int:
        return hash(self.canonical())


def quote_path(path: str) -> str:
    """Writes a path so that it can be part of a name; a bare file or folder name gets `./`."""
    path = path.replace("%", "%25").replace("+", "%2B")
    return path if is_path(path) and (path[0] in "/.~" or "/" in path) else f"./{path}"


def _order(setting: Setting) -> tuple[str, str]:
    return setting.key, setting.value


def _parse(source: Source, report: Report) -> RuleSetName:
    if "\n" in source.text:
        line_end = len(source.lines[0]) + 1
        at = Span(source, 1, line_end, 1, line_end + 1)
        report.error("name-syntax", "the name of a rule set stands on one line", at)
        source = Source(SOURCE_NAME, source.lines[0])
    parts = _split(source)
    game, *others = parts
    if not game.text:
        help = "write GAME+VARIANT+QUESTION=READING"
        report.error("name-syntax", "no game stands first", game.span, help=help)
    elif _SETTING.match(game.text) and not is_path(game.text.split("=")[0]):
        message = f"no game stands first, got the setting '{game.text}'"
        report.error("name-syntax", message, game.span, help=f"write GAME+{game.text}")
    overlays: list[Part] = []
    settings: list[Setting] = []
    for part in others:
        if not part.text:
            report.error("name-syntax", "nothing stands between two '+'", part.span, help="delete the '+'")
        elif _SETTING.match(part.text):
            _add_setting(_setting(part, report), settings, report)
        elif "=" in part.text and not part.is_path:
            key = part.text.split("=")[0].strip()
            report.error(
                "name-syntax",
                f"'{key}' is neither a question nor a path of names joined by dots",
                part.span,
                help="write QUESTION=READING or TABLE.ENTRY.ATTRIBUTE=VALUE",
            )
        else:
            _add_overlay(part, overlays, report)
    return RuleSetName(source, game, tuple(overlays), tuple(settings))


def _add_overlay(part: Part, overlays: list[Part], report: Report) -> None:
    for other in overlays:
        if other.text == part.text:
            notes = [Label("it is named first here", other.span)]
            report.error("name-twice", f"'{part.text}' is named twice", part.span, notes=notes)
            return
    overlays.append(part)


def _add_setting(setting: Setting | None, settings: list[Setting], report: Report) -> None:
    if setting is None:
        return
    for other in settings:
        if other.key == setting.key:
            if other.value != setting.value:
                notes = [Label("it is set first here", other.span)]
                report.error("name-twice", f"'{setting.key}' is set twice", setting.span, notes=notes)
            return
    settings.append(setting)


def _setting(part: Part, report: Report) -> Setting | None:
    key, _, value = part.text.partition("=")
    start = part.span.column
    key_span = _columns(part.span.source, start, start + len(key.rstrip()))
    if not value.strip():
        at = _columns(part.span.source, part.span.end_column, part.span.end_column + 1)
        message = f"nothing stands behind '{key.strip()}='"
        report.error("name-syntax", message, at, help="write the value it gets")
        return None
    value_start = start + len(key) + 1 + len(value) - len(value.lstrip())
    value_span = _columns(part.span.source, value_start, part.span.end_column)
    return Setting(key.rstrip(), value.strip(), key_span, value_span)


def _split(source: Source) -> list[Part]:
    """Splits at each `+` outside brackets and quotes, and takes off the spaces around."""
    text = source.text
    parts: list[Part] = []
    start = depth = 0
    quote = ""
    for at, character in enumerate(f"{text}+"):
        if at == len(text):
            depth, quote = 0, ""
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and depth >= 0 and _is_value(text[start:at]):
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth = max(0, depth - 1)
        elif character == "+" and depth == 0:
            part = text[start:at]
            left = start + len(part) - len(part.lstrip())
            width = len(part.strip())
            parts.append(Part(part.strip(), _columns(source, left + 1, left + 1 + max(1, width))))
            start = at + 1
    return parts


def _is_value(before: str) -> bool:
    """Tests if a quote that stands behind this text opens a quoted value."""
    return before.rstrip()[-1:] in ("=", "[", ",", "{", ":")


def _columns(source: Source, start: int, end: int) -> Span:
    return Span(source, 1, start, 1, end)


def _moved(node: Node, source: Source) -> Node:
    """Makes the node with its places in another source that has the same columns."""
    span = _at(node.span, source)
    match node:
        case Scalar(value):
            return Scalar(value, span)
        case Sequence(items):
            return Sequence(tuple(_moved(item, source) for item in items), span)
        case Mapping(entries):
            moved = {}
            for key, entry in entries.items():
                moved[key] = Entry(key, _at(entry.key_span, source), _moved(entry.value, source))
            return Mapping(moved, span)


def _at(span: Span, source: Source) -> Span:
    return replace(span, source=source)
