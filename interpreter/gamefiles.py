"""Finds and reads the files of a game, each once, and remembers what was read.

Takes the name or path of a game; gives YAML trees that fit their schemas and syntax trees. Two short cuts
keep loading fast and change no answer: a file whose text was once found to fit the very schema is not
compared with it again (that costs more than all the rest), and a text parsed before in this process is
not parsed again (trees are never changed). Parser and schemas are imported on first use: who only asks
for a fingerprint does not wait for them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterable
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from ..grammar.diagnostics import Report, suggestion
from ..grammar.span import Source, Span
from . import cache
from .sources import read_source
from .yamlfile import Entry, Mapping, Node, Scalar, Sequence, read_yaml

if TYPE_CHECKING:
    from ..grammar import tree

GAME_FILE = "game.yaml"
VARIANTS = "variants"


class Folder(Struct, frozen=True):
    """Names the folder of a game or of its variants: where it is and how it is shown.

    `bundled` is the bundled game's name, if it is one. `key` stands before the names of its files in a
    content hash, which is the same wherever the folder lies.
    """

    path: Path
    shown: str
    bundled: str = ""
    key: str = ""

    @property
    def variants(self) -> Folder:
        """The folder of its variants."""
        return Folder(self.path / VARIANTS, f"{self.shown}/{VARIANTS}", self.bundled, f"{VARIANTS}/")


@once
def rules_folder() -> Path:
    """Gets the folder of the bundled games."""
    from importlib.resources import files

    return Path(str(files(f"{__package__.rpartition('.')[0]}.rules")))


def available_games() -> tuple[str, ...]:
    """Gets the names of the bundled games, sorted."""
    return tuple(sorted(path.parent.name for path in rules_folder().glob(f"*/{GAME_FILE}")))


def variant_names(folder: Folder) -> tuple[str, ...]:
    """Gets the names of the variants that lie in a game's folder, sorted."""
    return tuple(sorted(path.stem for path in folder.variants.path.glob("*.yaml")))


def is_path(text: str) -> bool:
    """Tests if a word of a rule set's name is a path rather than a name."""
    return "/" in text or os.sep in text or text.endswith((".yaml", ".yml")) or text in (".", "..")


def find_game(text: str, at: Span, report: Report) -> Folder | None:
    """Finds the folder of a game by its bundled name or by a path; reports when there is none."""
    if is_path(text):
        return _game_at(to_path(text), at, report)
    games = available_games()
    if text in games:
        return Folder(rules_folder() / text, f"rules/{text}", text)
    help = suggestion(text, games, what="the games are")
    if is_file(Path(text) / GAME_FILE):
        help = f"for the folder of that name write './{text}'"
    report.error("unknown-game", f"no game '{text}'", at, help=help)
    return None


def _game_at(path: Path, at: Span, report: Report) -> Folder | None:
    folder = path.parent if path.name == GAME_FILE else path
    if not is_file(folder / GAME_FILE):
        help = f"name a folder that holds a {GAME_FILE}"
        report.error("unknown-game", f"no {GAME_FILE} in '{folder}'", at, help=help)
        return None
    inside = folder.resolve()
    if inside.parent == rules_folder().resolve():
        return Folder(folder, f"rules/{inside.name}", inside.name)
    return Folder(folder, os.path.normpath(folder))


def to_path(text: str) -> Path:
    """Makes a path of a text, with the home folder for `~`."""
    path = Path(text)
    with contextlib.suppress(RuntimeError):  # no such user
        path = path.expanduser()
    return path


def is_file(path: Path) -> bool:
    """Tests if there is a file; a path that cannot be one is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


class Files(Struct):
    """Reads the files of one rule set; `used` holds name and text of each, in the order read."""

    report: Report
    used: list[tuple[str, str]] = field(default_factory=list)

    def yaml(self, folder: Folder, name: str, schema: str, named_at: Span | None = None) -> Mapping | None:
        """Reads a YAML file that is a mapping and fits a schema; None, with complaints, when it does not."""
        source = self._source(folder, name, named_at)
        if source is None:
            return None
        before = len(self.report.diagnostics)
        node = _yaml_tree(source, self.report)
        if node is None:
            return None
        fits = _fits(source, node, schema, self.report)
        return node if isinstance(node, Mapping) and fits and len(self.report.diagnostics) == before else None

    def sound_part(
        self, folder: Folder, name: str, schema: str, named_at: Span | None = None
    ) -> Mapping | None:
        """Reads a YAML file as `yaml` does, and gives its sound entries in spite of complaints about others."""
        source = self._source(folder, name, named_at)
        before = len(self.report.diagnostics)
        node = _yaml_tree(source, self.report) if source is not None else None
        if source is None or not isinstance(node, Mapping):
            return None
        _fits(source, node, schema, self.report)
        bad = [d.span for d in self.report.diagnostics[before:]]
        sound = {e.key: e for e in node.entries.values() if not any(_lies_in(span, e) for span in bad)}
        return node if len(sound) == len(node.entries) else Mapping(sound, node.span)

    def rules(self, folder: Folder, name: str, named_at: Span | None = None) -> tree.File | None:
        """Reads and parses a rule file; what could be read of it is given in spite of complaints."""
        source = self._source(folder, name, named_at)
        return None if source is None else _rules_tree(source, self.report)

    def _source(self, folder: Folder, name: str, named_at: Span | None) -> Source | None:
        source = read_source(folder.path / name, f"{folder.shown}/{name}", self.report, named_at)
        if source is not None:
            self.used.append((folder.key + name, source.text))
        return source


def _lies_in(span: Span, item: Entry) -> bool:
    start, end = item.key_span, item.value.span
    return (start.line, start.column) <= (span.line, span.column) < (end.end_line, end.end_column)


# ------------------------------------------------------------------------------------------- remembered trees

_T = TypeVar("_T")
_MOST_REMEMBERED = 200
_yaml_trees: OrderedDict[tuple[str, str], Node] = OrderedDict()
_rules_trees: OrderedDict[tuple[str, str], tree.File] = OrderedDict()


def _remember(memory: OrderedDict[tuple[str, str], _T], source: Source, made: _T) -> None:
    memory[(source.name, source.text)] = made
    while len(memory) > _MOST_REMEMBERED:
        memory.popitem(last=False)


def _yaml_tree(source: Source, report: Report) -> Node | None:
    known = _yaml_trees.get((source.name, source.text))
    if known is not None:
        return known
    before = len(report.diagnostics)
    node = read_yaml(source, report)
    if node is not None and len(report.diagnostics) == before:
        _remember(_yaml_trees, source, node)
    return node


def _rules_tree(source: Source, report: Report) -> tree.File:
    known = _rules_trees.get((source.name, source.text))
    if known is not None:
        return known
    from ..grammar.parser import parse_rules

    before = len(report.diagnostics)
    file = parse_rules(source, report)
    if len(report.diagnostics) == before:
        _remember(_rules_trees, source, file)
    return file


# ---------------------------------------------------------------------------- files known to fit their schema

_known_to_fit: set[str] | None = None
_MOST_MARKS = 5_000


def _fits(source: Source, node: Node, schema: str, report: Report) -> bool:
    """Tests if a tree fits its schema, unless the same text is known to."""
    mark = hashlib.sha256(f"{_schema_mark(schema)}\n{source.text}".encode()).hexdigest()
    known = _marks()
    if mark in known:
        return True
    from .schema import validate

    before = len(report.diagnostics)
    fits = validate(node, schema, report)
    if fits and len(report.diagnostics) == before:
        known.add(mark)
        _write_mark(mark)
    return fits


@once
def _schema_mark(schema: str) -> str:
    folder = rules_folder() / "schema"
    parts = [(folder / f"{name}.json").read_bytes() for name in (schema, "common")]
    parts.append(Path(__file__).with_name("schema.py").read_bytes())
    return f"{schema} " + hashlib.sha256(b"\0".join(parts)).hexdigest()


def _marks_file() -> Path | None:
    folder = cache.folder()
    return None if folder is None else folder / "fits-schema.txt"


def _marks() -> set[str]:
    global _known_to_fit
    if _known_to_fit is None:
        _known_to_fit = set()
        path = _marks_file()
        if path is not None:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                _known_to_fit.update(path.read_text("ascii").split())
    return _known_to_fit


def _write_mark(mark: str) -> None:
    """Adds a mark; when there are many, the old ones go. A mark lost or torn costs one comparison."""
    path = _marks_file()
    if path is None:
        return
    with (
        contextlib.suppress(OSError),
        path.open("w" if len(_marks()) > _MOST_MARKS else "a", encoding="ascii") as file,
    ):
        file.write(mark + "\n")


# ---------------------------------------------------------------------------------------------- reading nodes


def entry(node: Mapping | None, key: str) -> Node | None:
    """Gets the value of a key, or None."""
    found = node.entries.get(key) if node is not None else None
    return None if found is None else found.value


def text_of(node: Node | None) -> str:
    """Gets a text; "" for anything else."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""


def number_of(node: Node | None, otherwise: int) -> int:
    """Gets a whole number."""
    if isinstance(node, Scalar) and isinstance(node.value, int):
        return node.value
    return otherwise


def words_of(node: Node | None) -> dict[str, str]:
    """Gets sentences by language; a text alone is English."""
    if isinstance(node, Mapping):
        return {key: text_of(item.value) for key, item in node.entries.items()}
    text = text_of(node)
    return {"en": text} if text else {}


def items_of(node: Node | None) -> tuple[Node, ...]:
    """Gets the items of a list; none for anything else."""
    return node.items if isinstance(node, Sequence) else ()


def texts_of(node: Node | None) -> Iterable[tuple[str, Span]]:
    """Yields the texts of a list with their places."""
    for item in items_of(node):
        yield text_of(item), item.span


def mapping_of(node: Node | None) -> list[tuple[str, Node]]:
    """Gets keys and values of a mapping; none for anything else."""
    return [(e.key, e.value) for e in node.entries.values()] if isinstance(node, Mapping) else []
