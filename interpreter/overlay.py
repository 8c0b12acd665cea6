"""Reads overlays and stacks them: which are meant, what they require, whether they go together.

Takes the name of a rule set; gives the overlays in the order in which they apply. What an overlay
requires comes below it, whether named or not. Refuses overlays that do not exist, are for another game,
require each other in a circle, or conflict. What they change is applied by `patches.py` (data) and
`overlay_rules.py` (rules).
"""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Span
from .gamefiles import (
    Files,
    Folder,
    entry,
    is_file,
    number_of,
    text_of,
    texts_of,
    to_path,
    variant_names,
    words_of,
)
from .naming import Part, RuleSetName, quote_path
from .ruleset import Layer
from .yamlfile import Entry, Mapping

if TYPE_CHECKING:
    from ..grammar import tree


class Mention(Struct, frozen=True, eq=False):
    """Names another variant, perhaps with a reason."""

    name: str
    span: Span
    reason: str = ""


class Overlay(Struct, eq=False):
    """One overlay of the stack: its file, and where it was asked for."""

    name: str
    folder: Folder
    path: str
    root: Mapping
    named_at: Span
    written: str
    """How a canonical name writes it."""
    requires: tuple[Mention, ...]
    conflicts: tuple[Mention, ...]
    below: frozenset[str] = frozenset()
    """The names of what it requires, and of what those require."""
    files: list[str] = field(default_factory=list)
    rules: list[tree.File] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Where its file gives its name."""
        named = entry(self.root, "variant")
        return self.root.span if named is None else named.span

    def entries(self, key: str) -> list[Entry]:
        """Gets the entries of one of its mappings, e.g. `patch`."""
        found = entry(self.root, key)
        return list(found.entries.values()) if isinstance(found, Mapping) else []

    def player_range(self, least: int, most: int) -> tuple[int, int]:
        """Gets the numbers of players it is for, within those given."""
        given = entry(self.root, "players")
        if not isinstance(given, Mapping):
            return least, most
        return (
            max(least, number_of(entry(given, "least"), least)),
            min(most, number_of(entry(given, "most"), most)),
        )

    def layer(self) -> Layer:
        """Tells of it what later passes may want to show."""
        return Layer(
            name=self.name,
            span=self.span,
            folder=self.folder.path,
            title=words_of(entry(self.root, "title")),
            says=words_of(entry(self.root, "says")),
            labels={e.key: self.folder.path / text_of(e.value) for e in self.entries("labels")},
            files=tuple(self.files),
        )


def read_stack(
    name: RuleSetName, root: Mapping, folder: Folder, files: Files, report: Report
) -> list[Overlay]:
    """Reads the overlays that a name asks for and those they require, from the lowest to the highest.

    `root` is what the game's own file says.
    """
    stack = _Stack(root, folder, files, report)
    for part in name.overlays:
        stack.place_part(part)
    stack.check()
    return stack.placed


class _Place(Struct, frozen=True):
    """Says where an overlay's file is."""

    folder: Folder
    file: str
    written: str

    @property
    def path(self) -> str:
        """The one path of the file, however it was written."""
        return os.path.realpath(self.folder.path / self.file) if "\0" not in self.file else self.file


class _Stack:
    def __init__(self, root: Mapping, folder: Folder, files: Files, report: Report) -> None:
        self.root = root
        self.game = text_of(entry(root, "game"))
        self.folder = folder
        self.files = files
        self.report = report
        self.placed: list[Overlay] = []
        self.failed: set[str] = set()

    # Finding

    def place_part(self, part: Part) -> None:
        """Places what a part of the rule set's name asks for."""
        if not part.is_path:
            if part.text in variant_names(self.folder):
                self._place(self._bundled(part.text), part.span, ())
            else:
                self._unknown(part.text, part.span)
            return
        path = to_path(part.path)
        if (
            path.suffix == ".yaml"
            and is_file(path)
            and path.parent.resolve() == self.folder.variants.path.resolve()
        ):
            self._place(self._bundled(path.stem), part.span, ())
            return
        plain = os.path.normpath(path)
        written = part.text if part.text.startswith("~") else quote_path(plain)
        folder = Folder(path.parent, os.path.dirname(plain) or ".", key=self.folder.variants.key)
        self._place(_Place(folder, path.name, written), part.span, ())

    def _bundled(self, name: str) -> _Place:
        return _Place(self.folder.variants, f"{name}.yaml", name)

    def _required(self, mention: Mention, by: Overlay) -> _Place | None:
        """Finds a required variant: one of the game's, or one that lies beside the overlay's own file."""
        if mention.name in variant_names(self.folder):
            return self._bundled(mention.name)
        beside = by.folder.path / f"{mention.name}.yaml"
        if is_file(beside):
            return _Place(by.folder, beside.name, quote_path(f"{by.folder.shown}/{beside.name}"))
        return None

    def _unknown(self, name: str, at: Span, asked_by: str = "") -> None:
        known = variant_names(self.folder)
        help = suggestion(name, known, what="its variants are")
        if not asked_by:
            if name in self._questions():
                help = f"'{name}' is a question; write {name}=READING"
            elif is_file(Path(f"{name}.yaml")):
                help = f"for the file of that name write './{name}.yaml'"
            elif not help:
                help = "write a question as QUESTION=READING, a file as './FILE.yaml'"
        self.report.error("unknown-variant", f"{self.game} has no variant '{name}'", at, help=help)

    def _questions(self) -> Container[str]:
        node = entry(self.root, "questions")
        found = Files(Report()).yaml(self.folder, text_of(node), "questions") if node is not None else None
        return found.entries if found is not None else ()

    # Placing

    def _place(self, place: _Place, at: Span, trail: tuple[tuple[Overlay, Mention], ...]) -> Overlay | None:
        """Puts an overlay on the stack, first what it requires; `trail` is who asked for it, and where."""
        for number, (by, _) in enumerate(trail):
            if by.path == place.path:
                self._circle(trail[number:])
                return by
        for other in self.placed:
            if other.path == place.path:
                return other
        if place.path in self.failed:
            return None
        overlay = self._read(place, at)
        if overlay is None:
            self.failed.add(place.path)
            return None
        for other in self.placed:
            if other.name == overlay.name:
                notes = [Label("the other one is here", other.span)]
                message = f"two overlays are called '{overlay.name}'"
                self.report.error("overlay-same-name", message, overlay.span, notes=notes)
                return None
        below: set[str] = set()
        for mention in overlay.requires:
            required = self._required(mention, overlay)
            if required is None:
                self._unknown(mention.name, mention.span, overlay.name)
                continue
            lower = self._place(required, mention.span, (*trail, (overlay, mention)))
            if lower is not None:
                below |= {lower.name} | lower.below
        overlay.below = frozenset(below)
        self.placed.append(overlay)
        return overlay

    def _circle(self, trail: tuple[tuple[Overlay, Mention], ...]) -> None:
        *others, (by, mention) = trail
        notes = [Label(f"'{o.name}' requires '{m.name}' here", m.span) for o, m in others]
        if others:
            message = f"'{by.name}' requires '{mention.name}', which requires it"
        else:
            message = f"'{by.name}' requires itself"
        self.report.error("overlay-cyclic-require", message, mention.span, notes=notes)

    def _read(self, place: _Place, at: Span) -> Overlay | None:
        root = self.files.sound_part(place.folder, place.file, "variant", at)
        if root is None:
            return None
        name_node, game_node = entry(root, "variant"), entry(root, "for")
        name = text_of(name_node) or Path(place.file).stem
        if game_node is not None and text_of(game_node) != self.game:
            notes = [Label(f"it is asked for here, with {self.game}", at)]
            message = f"'{name}' is a variant for {text_of(game_node)}, not for {self.game}"
            self.report.error("overlay-other-game", message, game_node.span, notes=notes)
            return None
        if name_node is not None and name != Path(place.file).stem:
            message = f"the variant is called '{name}', its file '{place.file}'"
            self.report.error("overlay-file-name", message, name_node.span, help="give both one name")
        requires, conflicts = _mentions(root, "require"), _mentions(root, "conflicts")
        return Overlay(name, place.folder, place.path, root, at, place.written, requires, conflicts)

    # Checking

    def check(self) -> None:
        """Reports conflicts between what was placed, and conflicts with what does not exist."""
        for place, upper in enumerate(self.placed):
            for mention in upper.conflicts:
                self._check_known(mention, upper)
            for lower in self.placed[:place]:
                for one, other in ((upper, lower), (lower, upper)):
                    mention_of = next((m for m in one.conflicts if m.name == other.name), None)
                    if mention_of is not None:
                        self._conflict(lower, upper, one, mention_of)
                        break

    def _conflict(self, lower: Overlay, upper: Overlay, says: Overlay, mention: Mention) -> None:
        reason = f": {mention.reason}" if mention.reason else ""
        self.report.error(
            "overlay-conflict",
            f"'{upper.name}' cannot be played with '{lower.name}'{reason}",
            upper.named_at,
            notes=[
                Label(f"'{lower.name}' is asked for here", lower.named_at),
                Label(f"'{says.name}' says so here", mention.span),
            ],
            help=f"leave out '{upper.name}' or '{lower.name}'",
        )

    def _check_known(self, mention: Mention, by: Overlay) -> None:
        known = {*variant_names(self.folder), *(o.name for o in self.placed)}
        if mention.name not in known and not is_file(by.folder.path / f"{mention.name}.yaml"):
            self._unknown(mention.name, mention.span, by.name)


def _mentions(root: Mapping, key: str) -> tuple[Mention, ...]:
    node = entry(root, key)
    if isinstance(node, Mapping):
        reasons = {e.key: words_of(e.value) for e in node.entries.values()}
        return tuple(
            Mention(e.key, e.key_span, reasons[e.key].get("en", next(iter(reasons[e.key].values()), "")))
            for e in node.entries.values()
        )
    return tuple(Mention(text, span) for text, span in texts_of(node))


def may_override(upper: Overlay | None, lower: Overlay | None) -> bool:
    """Tests if one layer may change what another has changed: what requires it may, and settings (None).

    Of two that are in conflict, that has been said already.
    """
    if upper is None or lower is None or lower.name in upper.below:
        return True
    return any(m.name == b.name for a, b in ((upper, lower), (lower, upper)) for m in a.conflicts)
