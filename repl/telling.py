"""What happened, as sentences: choices, dice, what the rules tell, and changes with their amounts.

Takes the events of a step as the game gave them; gives log entries that can be written in any language.
Every entry knows who may read it: a change of a secret variable is for its owner, the words of a secret
choice for who made it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from ..interpreter.game import Event, State
from ..interpreter.types import Type
from .terminal import Line, to_ascii
from .texts import say
from .view import Tell, View

EVERYBODY = -1
_SEPARATOR = " · "


class Entry(Struct):
    """A line of the log.

    `kind`: "choice", "told", "changes" or "note". `to`: who alone may read it, or EVERYBODY. A choice has
    words by language, `public` for who did not make it; changes have items of one tell; a note has a key of
    our own sentences.
    """

    kind: str
    to: int = EVERYBODY
    player: int = -1
    words: dict[str, str] = field(default_factory=dict)
    public: dict[str, str] = field(default_factory=dict)
    itself: bool = False
    text: int = -1
    values: tuple[int, ...] = ()
    tell: Tell | None = None
    items: list[Change] = field(default_factory=list)
    key: str = ""
    about: dict[str, str] = field(default_factory=dict)


class Change(Struct):
    """A variable's element that changed."""

    indices: tuple[int, ...]
    old: int
    new: int


class Rolled(Struct, frozen=True):
    """An outcome of chance, as it fell."""

    variable: str
    indices: tuple[int, ...]
    value: int


Happening = Event | Rolled


def tell_events(
    view: View, state: State, happenings: Sequence[Happening], languages: Sequence[str]
) -> list[Entry]:
    """Makes log entries of what happened in one step; changes that belong together become one line."""
    out: list[Entry] = []
    part = _Part(view)
    for happening in happenings:
        if isinstance(happening, Rolled):
            if part.has_changes:
                out += part.entries()
                part = _Part(view)
            part.roll(happening)
        elif happening.kind == "taken":
            out += part.entries()
            part = _Part(view)
            out.append(choice_entry(state, happening.action, happening.player, languages, itself=True))
        elif happening.kind == "told":
            part.told(Entry("told", happening.to, text=happening.text, values=happening.values))
        elif happening.kind == "change":
            told = view.tells.get(happening.variable)
            if told is not None and not told[1].of and not told[1].rolled:
                out += part.entries()
                part = _Part(view)
            part.change(happening)
    return out + part.entries()


def choice_entry(
    state: State, action: int, player: int, languages: Sequence[str], *, itself: bool = False
) -> Entry:
    """Makes the entry of a choice; to be called while the position is the one it is made in."""
    plain = action % state.game.program.actions
    words = {lang: state.describe(plain, player, lang) for lang in languages}
    public = {lang: state.describe(plain, player, lang, viewer=-1) for lang in languages}
    return Entry("choice", player=player, words=words, public=public, itself=itself)


class _Part:
    """A stretch of a step in which changes of one element add up."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.lines: list[tuple[int, Entry]] = []
        self.groups: dict[tuple[str, int], tuple[Entry, dict[tuple[int, ...], Change]]] = {}
        self.has_changes = False
        self.clock = 0

    def told(self, entry: Entry) -> None:
        self.clock += 1
        self.lines.append((self.clock, entry))

    def roll(self, rolled: Rolled) -> None:
        found = self.view.tells.get(rolled.variable)
        if found is not None and found[1].rolled:
            self._add(found[1], rolled.variable, rolled.indices, rolled.value, rolled.value)

    def change(self, event: Event) -> None:
        found = self.view.tells.get(event.variable)
        if found is None or found[1].rolled or found[1].unless_new == event.new:
            return
        self.has_changes = True
        self._add(found[1], event.variable, event.indices, event.old, event.new)

    def _add(self, tell: Tell, variable: str, indices: tuple[int, ...], old: int, new: int) -> None:
        self.clock += 1
        to = _owner(self.view, variable, indices)
        if to is None:
            return
        key = (variable, to)
        if key not in self.groups:
            self.groups[key] = (Entry("changes", to, tell=tell), {})
            self.lines.append((self.clock, self.groups[key][0]))
        entry, changes = self.groups[key]
        if indices in changes:
            changes[indices].new = new
        else:
            changes[indices] = Change(indices, old, new)
        if not tell.rolled:
            self.lines = [(self.clock if e is entry else n, e) for n, e in self.lines]

    def entries(self) -> list[Entry]:
        """Gets the lines, each at the place of its last change; sums stand last."""
        for entry, changes in self.groups.values():
            rolled = entry.tell is not None and entry.tell.rolled
            entry.items = [c for c in changes.values() if rolled or c.old != c.new]
        ordered = [e for _, e in sorted(self.lines, key=lambda line: (_is_sum(line[1]), line[0]))]
        return [e for e in ordered if e.kind != "changes" or e.items]


def _is_sum(entry: Entry) -> bool:
    return entry.tell is not None and entry.tell.last


def _owner(view: View, variable: str, indices: tuple[int, ...]) -> int | None:
    """Tells who may see a variable's element: EVERYBODY, one player, or None for nobody."""
    v = view.game.program.variables.get(variable)
    if v is None:
        return None
    if v.visibility == "all":
        return EVERYBODY
    return indices[0] if v.visibility == "index" and indices else None


# ---------------------------------------------------------------------------------------------------- writing


def write_entry(
    view: View, entry: Entry, language: str, viewer: int | None, *, ascii: bool = False
) -> Line | None:
    """Writes an entry for a viewer (None: everybody); None if it is not for him."""
    if entry.to not in (EVERYBODY, viewer):
        return None
    line = _write(view, entry, language, viewer)
    return [(style, to_ascii(text)) for style, text in line] if ascii else line


def _write(view: View, entry: Entry, language: str, viewer: int | None) -> Line:
    game = view.game
    match entry.kind:
        case "choice":
            own = viewer is not None and viewer == entry.player
            words = (entry.words if own else entry.public)[language]
            if entry.player < 0:
                return [("dim", words)]
            name = game.labels(language).players[entry.player]
            style = "" if not entry.itself else "dim"
            gap: Line = [("", ": ")] if language == "en" else [("", "：")]
            return [(f"player{entry.player}", name), *gap, (style, words)]
        case "told":
            text = game.program.texts[entry.text]
            return [("", "  "), ("told", game.labels(language).render(text, entry.values))]
        case "changes":
            assert entry.tell is not None
            return _write_changes(view, entry.tell, entry.items, language)
        case _:
            return [("note", say(language, entry.key, **entry.about))]


def _write_changes(view: View, tell: Tell, items: Sequence[Change], language: str) -> Line:
    variable = view.game.program.variables[tell.variable]
    title = tell.title.get(language) or tell.title.get("en", "")
    line: Line = [("", "  "), ("dim", title + ("  " if title else ""))] if tell.of else []
    sentence = tell.says.get(language) or tell.says["en"]
    for n, item in enumerate(items):
        if n:
            line.append(("dim", _SEPARATOR))
        line += _write_change(
            view, sentence, tell, item, variable.type, [d[0] for d in variable.dims], language
        )
    return line


def _write_change(
    view: View,
    sentence: str,
    tell: Tell,
    item: Change,
    type_: Type,
    index_types: Sequence[Type],
    language: str,
) -> Line:
    values: dict[str, tuple[str, str]] = {
        "old": ("dim", view.show(item.old, type_, language)),
        "new": ("", view.show(item.new, type_, language)),
        "change": ("", f"{item.new - item.old:+d}".replace("-", "−")),
    }
    for name, value, index_type in zip(tell.of, item.indices, index_types, strict=False):
        values[name] = (view.style(value, index_type), view.show(value, index_type, language))
    line: Line = []
    rest = sentence
    while rest:
        before, _, after = rest.partition("{")
        name, _, rest = after.partition("}")
        line.append(("" if tell.of else "heading", before))
        if name:
            line.append(values.get(name, ("", "{" + name + "}")))
    return line
