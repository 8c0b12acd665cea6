"""The view of a game, ready to be drawn: what view.yaml says, its expressions compiled.

Takes the plain data of view.yaml as the loader checked it against its schema; gives panels whose figures
and texts can be worked out on any position. Refuses what would show a secret to others: only a hand may
read what is secret, and only what is secret to its own player.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import Struct, field

from ..grammar.diagnostics import RulesError
from ..grammar.span import Source, Span
from ..interpreter.errors import BrokenRule
from ..interpreter.types import EnumType, IntType, OptionalType, Type

if TYPE_CHECKING:
    from ..interpreter.figures import Figure
    from ..interpreter.game import Game, State

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

_T = TypeVar("_T")

Scope = dict[str, str]
"""The parameters of a figure: name and type name, in order."""


class ViewError(Exception):
    """Says that a view does not fit the rules it is for, and of which text of the view."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class Words(Struct):
    """A sentence of the view, in the languages it is given in, with figures in its placeholders."""

    view: View
    texts: dict[str, str]
    scope: Scope
    where: str
    owner: str = ""
    made: dict[str, list[str | Figure]] = field(default_factory=dict)

    def show(self, state: State, language: str, *arguments: int) -> str:
        """Writes the sentence."""
        return "".join(
            p if isinstance(p, str) else _shown(p, state, arguments, language) for p in self.parts(language)
        )

    def parts(self, language: str) -> list[str | Figure]:
        """Gets the sentence in pieces: text, and figures, which are compiled at first use."""
        if language not in self.made:
            text = self.texts.get(language) or self.texts["en"]
            pieces = _PLACEHOLDER.split(text)
            self.made[language] = [
                self.view.figure(p, self.scope, self.where, self.owner) if i % 2 else p
                for i, p in enumerate(pieces)
            ]
        return self.made[language]


def _shown(figure: Figure, state: State, arguments: tuple[int, ...], language: str) -> str:
    try:
        return figure.show(state, *arguments, language=language)
    except BrokenRule:
        return "?"


class Each(Struct):
    """What a panel repeats itself for: a parameter over the members of an expression, some left out."""

    name: str
    domain: Figure
    type: Type
    where: Figure | None

    def members(self, state: State, *arguments: int) -> list[int]:
        """Gets the members that are there now; `arguments` are the outer parameters'."""
        members = self.domain.members(state, *arguments)
        if self.where is None:
            return members
        return [m for m in members if self.where.value(state, *arguments, m)]


class Panel(Struct):
    """Any panel: its heading, and when it is shown at all."""

    title: Words | None
    when: Figure | None


class Seats(Struct):
    """Places with a price and perhaps somebody in them."""

    each: Each
    price: Figure | None
    who: Figure


class Lane(Panel):
    """Rows of spaces on which things move, each with its seats."""

    each: Each
    name: Words | None
    spaces: Figure
    at: Figure
    on: Figure | None
    beyond: list[tuple[Figure, Words]]
    end: Words | None
    seats: Seats | None
    pays: Figure | None
    pays_title: Words | None
    empty: Words | None


class Cells(Struct):
    """The cells of a row of spaces; or, with `queue`, seats that are taken in order."""

    each: Each | None
    name: Words | None
    price: Figure | None
    pays: Figure | None
    gives: Figure | None
    who: Figure | None
    holds: Figure | None
    seats: Figure | None
    queue: Figure | None


class Spaces(Panel):
    """Rows of places to stand on."""

    rows: list[tuple[Words | None, Cells]]


class Track(Panel):
    """Steps on which markers stand."""

    steps: Each
    name: Words | None
    each: Each
    at: Figure


class Column(Struct):
    """A column of a table, or one for each of something."""

    title: Words
    short: Words
    each: Each | None
    shows: Figure | None
    foot: Figure | None
    blank: int | None
    mark: tuple[Figure, str] | None


class Table(Panel):
    """Rows and columns of figures."""

    rows: Each
    columns: list[Column]
    foot: Words | None


class Holding(Struct):
    """A row of a hand: counted things, or the cards of a pile."""

    title: Words | None
    each: Each
    count: Figure | None
    name: Words | None


class Hand(Panel):
    """What one player holds, for his eyes."""

    of: str
    rows: list[Holding]


class Piles(Panel):
    """Piles of cards side by side: all of a pile, its top, or how many there are."""

    each: Each | None
    name: Words | None
    cards: Each | None
    card: Words | None
    open: Figure | None
    count: Figure | None
    top_only: bool


class Note(Panel):
    """A sentence."""

    shows: Words


class Stage(Struct):
    """What is going on where a rule asks: its name, how it stands, what comes next."""

    says: Words
    now: Words | None
    now_when: Figure | None
    next: Words | None


class Tell(Struct):
    """A change worth a line in the log."""

    variable: str
    of: tuple[str, ...]
    says: dict[str, str]
    title: dict[str, str]
    rolled: bool
    unless_new: int | None
    last: bool = False
    """Whether it comes after everything else of its step: a sum, after what it sums up."""


class View:
    """The view of one game."""

    def __init__(
        self,
        game: Game,
        data: Mapping[str, Any] | None,
        *,
        strict: bool = True,
        places: Mapping[str, Span] | None = None,
    ) -> None:
        """Reads a view. Raises `ViewError` or `RulesError`; if not `strict`, leaves out what does not fit.

        `places` tells where in its file each text stands, so that complaints point there.
        """
        self.game = game
        self.places = places or {}
        self.all_words: list[Words] = []
        self.faults: list[RulesError | ViewError] = []
        """What was left out, as it was complained of."""
        self.data: Mapping[str, Any] = data or {}
        self._owner = ""
        self.colours: dict[str, str] = {}
        """The colours of entries, by dotted name."""
        self.problems: list[str] = []
        """What was left out, and why."""
        self._strict = strict
        for name, colour in self.data.get("colours", {}).items():
            if isinstance(colour, Mapping):
                self._tried(self._paint, {"table": name, **colour}, f"colours of {name}")
            else:
                self.colours[str(name)] = str(colour)
        self.headline = self._words(self.data.get("headline"), {}, "headline")
        panels = enumerate(self.data.get("panels", ()), 1)
        self.panels: list[Panel] = [
            panel for n, p in panels if (panel := self._tried(self._panel, p, f"panel {n}")) is not None
        ]
        stages = self.data.get("stages", {}).items()
        self.stages = {
            str(rule): stage
            for rule, s in stages
            if (stage := self._tried(self._stage, s, f"stage {rule}")) is not None
        }
        self.tells = {t.variable: (n, t) for n, t in enumerate(map(_tell, self.data.get("tell", ())))}

    def _tried(
        self, make: Callable[[Mapping[str, Any], str], _T], data: Mapping[str, Any], where: str
    ) -> _T | None:
        try:
            return make(data, where)
        except (RulesError, ViewError) as error:
            if self._strict:
                raise
            self._owner = ""
            self.faults.append(error)
            self.problems.append(str(error).splitlines()[0])
            return None

    def figure(self, text: str, scope: Scope, where: str, owner: str = "") -> Figure:
        """Compiles an expression of the view, which may read what is secret to `owner` alone."""
        source = Source(f"view.yaml, {where}", str(text))
        span = self.places.get(str(text)) or Span(source, 1, 1, 1, len(str(text)) + 1)
        figure = self.game.view_figure(str(text), scope, span=span)
        for what, whose in figure.secrets:
            if not owner or whose != owner:
                raise ViewError(
                    f"view.yaml, {where}: '{text}' would show everybody what is secret: {what}", str(text)
                )
        return figure

    def show(self, value: int, type_: Type, language: str) -> str:
        """Writes a value."""
        return self.game.labels(language).value(value, type_)

    def style(self, value: int, type_: Type) -> str:
        """Gets the style a value is shown in: a player's, or a colour as printed on the board."""
        if isinstance(type_, OptionalType):
            type_ = type_.base
        if not isinstance(type_, EnumType) or not 0 <= value < len(type_.entries):
            return ""
        if type_.origin == "players":
            return f"player{value}"
        colour = self.colours.get(f"{type_.name}.{type_.entries[value]}")
        return f"paint-{colour}" if colour else ""

    # ------------------------------------------------------------------------------------------------ reading

    def _words(self, data: Any, scope: Scope, where: str) -> Words | None:
        if data is None:
            return None
        texts = (
            {"en": str(data)} if not isinstance(data, Mapping) else {str(k): str(v) for k, v in data.items()}
        )
        texts.setdefault("en", next(iter(texts.values())))
        words = Words(self, texts, dict(scope), where, self._owner)
        self.all_words.append(words)
        return words

    def _some_words(self, data: Any, scope: Scope, where: str) -> Words:
        words = self._words(data if data is not None else "", scope, where)
        assert words is not None
        return words

    def _maybe(self, data: Any, scope: Scope, where: str) -> Figure | None:
        if data is None:
            return None
        try:
            return self.figure(data, scope, where, self._owner)
        except (RulesError, ViewError) as error:
            if self._strict or not self.places:
                raise
            self.faults.append(error)  # while checking: so that what comes after it is checked too
            return None

    def _each(
        self, data: Mapping[str, Any], scope: Scope, where: str, condition: Any = None
    ) -> tuple[Each, Scope]:
        ((name, domain),) = data.items()
        figure = self.figure(domain, scope, where, self._owner)
        if not figure.many:
            raise ViewError(f"view.yaml, {where}: '{domain}' is one value, want a set, a pile or a list")
        match figure.type:
            case EnumType(type_name):
                pass
            case IntType():
                type_name = str(domain)
            case _:
                raise ViewError(f"view.yaml, {where}: '{domain}' has members of no type that has a name")
        inner = {**scope, str(name): type_name}
        return Each(str(name), figure, figure.type, self._maybe(condition, inner, where)), inner

    def _panel(self, data: Mapping[str, Any], where: str) -> Panel:
        title = self._words(data.get("title"), {}, where)
        when = self._maybe(data.get("when"), {}, where)
        match data["panel"]:
            case "lane":
                return self._lane(data, title, when, where)
            case "spaces":
                rows = []
                for row in data["rows"]:
                    rows.append((self._words(row.get("title"), {}, where), self._cells(row["cells"], where)))
                return Spaces(title, when, rows)
            case "track":
                steps, inner = self._each(data["steps"], {}, where)
                each, outer = self._each(data["each"], {}, where, data.get("where"))
                return Track(
                    title,
                    when,
                    steps,
                    self._words(data.get("name"), inner, where),
                    each,
                    self.figure(data["at"], outer, where),
                )
            case "table":
                return self._table(data, title, when, where)
            case "hand":
                return self._hand(data, title, when, where)
            case "piles":
                return self._piles(data, title, when, where)
            case "note":
                return Note(title, when, self._some_words(data["shows"], {}, where))
            case kind:
                raise ViewError(f"view.yaml, {where}: no kind of panel '{kind}'")

    def _lane(self, data: Mapping[str, Any], title: Words | None, when: Figure | None, where: str) -> Lane:
        each, scope = self._each(data["each"], {}, where, data.get("where"))
        seats = None
        if "seats" in data:
            of, inner = self._each(data["seats"]["each"], scope, where, data["seats"].get("where"))
            price = self._maybe(data["seats"].get("price"), inner, where)
            seats = Seats(of, price, self.figure(data["seats"]["who"], inner, where))
        beyond = [
            (self.figure(b["when"], scope, where), self._some_words(b["shows"], scope, where))
            for b in data.get("beyond", ())
        ]
        return Lane(
            title,
            when,
            each,
            self._words(data.get("name"), scope, where),
            self.figure(data["spaces"], {}, where),
            self.figure(data["at"], scope, where),
            self._maybe(data.get("on"), scope, where),
            beyond,
            self._words(data.get("end"), {}, where),
            seats,
            self._maybe(data.get("pays"), scope, where),
            self._words(data.get("pays title"), {}, where),
            self._words(data.get("empty"), {}, where),
        )

    def _cells(self, data: Mapping[str, Any], where: str) -> Cells:
        each: Each | None = None
        scope: Scope = {}
        if "each" in data:
            each, scope = self._each(data["each"], {}, where, data.get("where"))
        return Cells(
            each,
            self._words(data.get("name"), scope, where),
            self._maybe(data.get("price"), scope, where),
            self._maybe(data.get("pays"), scope, where),
            self._maybe(data.get("gives"), scope, where),
            self._maybe(data.get("who"), scope, where),
            self._maybe(data.get("holds"), scope, where),
            self._maybe(data.get("seats"), scope, where),
            self._maybe(data.get("queue"), scope, where),
        )

    def _table(self, data: Mapping[str, Any], title: Words | None, when: Figure | None, where: str) -> Table:
        rows, scope = self._each(data["rows"], {}, where, data.get("where"))
        columns = []
        for column in data["columns"]:
            each: Each | None = None
            inner, outer = scope, Scope()
            if "each" in column:
                each, outer = self._each(column["each"], {}, where)
                inner = {**scope, **outer}
            heading = self._some_words(column.get("title"), outer, where)
            short = self._words(column.get("short"), outer, where) or heading
            shows = self._maybe(column.get("shows"), inner, where)
            mark = None
            if "mark" in column:
                mark = (self.figure(column["mark"]["when"], inner, where), str(column["mark"]["with"]))
            foot = self._maybe(column.get("foot"), outer, where)
            columns.append(Column(heading, short, each, shows, foot, column.get("blank"), mark))
        return Table(title, when, rows, columns, self._words(data.get("foot"), {}, where))

    def _hand(self, data: Mapping[str, Any], title: Words | None, when: Figure | None, where: str) -> Hand:
        of = {str(data["of"]): "player"}
        self._owner = str(data["of"])
        rows = []
        for row in data["rows"]:
            each, scope = self._each(row["each"], of, where, row.get("where"))
            rows.append(
                Holding(
                    self._words(row.get("title"), of, where),
                    each,
                    self._maybe(row.get("count"), scope, where),
                    self._words(row.get("name"), scope, where),
                )
            )
        self._owner = ""
        return Hand(title, when, str(data["of"]), rows)

    def _piles(self, data: Mapping[str, Any], title: Words | None, when: Figure | None, where: str) -> Piles:
        each: Each | None = None
        cards: Each | None = None
        scope, inner = Scope(), Scope()
        if "each" in data:
            each, scope = self._each(data["each"], {}, where, data.get("where"))
            inner = scope
        if "cards" in data:
            cards, inner = self._each(data["cards"], scope, where)
        return Piles(
            title,
            when,
            each,
            self._words(data.get("name"), scope, where),
            cards,
            self._words(data.get("card"), inner, where),
            self._maybe(data.get("open"), inner, where),
            self._maybe(data.get("count"), scope, where),
            bool(data.get("top only", False)),
        )

    def _paint(self, data: Mapping[str, Any], where: str) -> bool:
        """Finds the colours of a table's entries: for each the first colour whose condition holds."""
        table, parameter = str(data["table"]), str(data["each"])
        members = self.figure(table, {}, where)
        if not isinstance(members.type, EnumType):
            raise ViewError(f"view.yaml, {where}: '{table}' is no table")
        dealt = cast("State", SimpleNamespace(position=self.game.program.initial))
        for colour, condition in data.items():
            if colour in ("table", "each"):
                continue
            figure = self.figure(condition, {parameter: table}, where)
            for n in members.members(dealt):
                if figure.value(dealt, n):
                    self.colours.setdefault(f"{table}.{members.type.entries[n]}", str(colour))
        return True

    def _stage(self, data: Mapping[str, Any], where: str) -> Stage:
        now = data.get("now", {})
        return Stage(
            self._some_words(data["says"], {}, where),
            self._words(now.get("shows"), {}, where),
            self._maybe(now.get("when"), {}, where),
            self._words(data.get("next"), {}, where),
        )


def _texts(data: Any) -> dict[str, str]:
    if data is None:
        return {}
    return {"en": str(data)} if not isinstance(data, Mapping) else {str(k): str(v) for k, v in data.items()}


def _tell(data: Mapping[str, Any]) -> Tell:
    of: Sequence[Any] = data.get("of", ())
    return Tell(
        str(data["variable"]),
        tuple(map(str, of)),
        _texts(data["says"]),
        _texts(data.get("title")),
        bool(data.get("rolled", False)),
        data.get("unless new"),
        bool(data.get("last", False)),
    )
