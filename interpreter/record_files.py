"""The text of a record: what a game was played by, and every choice made in it.

    harbourmaster record 1
    rules: GAME+VARIANT
    hash: 5f0c4e1d2b3a9876
    offers: yes
    seed: 7
    seat 1: Ann
    seat 2: Bo
    variables: bank cash leader …

            bank = 0            cash[Ann] = 30              (what the deal changed)
    1       Ann     bid 3       57      of 55
            cash[Ann] = 27      leader = Ann                (what the choice changed)
    undo    1
    seed    99                                              (chance is drawn anew from here on)
    end     80      60      55                              (the scores)

The columns stand apart by tabs. Words are the rules' own, in no player's language. A choice is written with
what it changed in one piece and synced, so that a process that is killed loses at most the last; what is
torn at the end of a file is passed over when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from ..grammar.diagnostics import Diagnostic, Label
from ..grammar.span import Source, Span
from .errors import PlayError

FIRST_LINE = "harbourmaster record 1"
NOBODY = "-"
"""Stands for the player where nobody acts."""
CHANCE_ACTS = "*"
"""Stands for the player where chance was told how to come out."""


class RecordError(PlayError):
    """Says that a record cannot be used: it is no record, was altered, or does not fit the rules."""

    def __init__(
        self, code: str, message: str, span: Span | None = None, notes: tuple[Label, ...] = ()
    ) -> None:
        super().__init__(code, message, span)
        self.notes = notes

    def diagnostic(self) -> Diagnostic | None:
        """Gets it as a diagnostic, if it has a place."""
        return None if self.span is None else Diagnostic(self.code, self.message, self.span, notes=self.notes)


class Changes(Struct, frozen=True):
    """What a step changed: elements of state variables by name, with their new values as words."""

    values: dict[str, str]

    def __bool__(self) -> bool:
        return bool(self.values)

    def line(self) -> str:
        """Writes it as a line; nothing if nothing changed."""
        return (
            "".join(f"\t{name} = {value}" for name, value in self.values.items()) + "\n"
            if self.values
            else ""
        )


class Choice(Struct, frozen=True):
    """One choice: its number from 1, who chose ("-" nobody, "*" chance), the move, of how many options."""

    number: int
    player: str
    words: str
    action: int
    options: int
    changes: Changes
    span: Span

    def line(self) -> str:
        """Writes it as a line, its changes as another."""
        columns = (str(self.number), self.player, self.words, str(self.action), f"of {self.options}")
        return "\t".join(columns) + "\n" + self.changes.line()


class Undo(Struct, frozen=True):
    """The last `count` choices are taken back."""

    count: int
    span: Span

    def line(self) -> str:
        """Writes it as a line."""
        return f"undo\t{self.count}\n"


class Reseed(Struct, frozen=True):
    """From here on chance is drawn from another seed."""

    seed: int
    span: Span

    def line(self) -> str:
        """Writes it as a line."""
        return f"seed\t{self.seed}\n"


class End(Struct, frozen=True):
    """The game is over, with these scores by seat."""

    scores: tuple[int, ...]
    span: Span

    def line(self) -> str:
        """Writes it as a line."""
        return "\t".join(["end", *map(str, self.scores)]) + "\n"


Item = Choice | Undo | Reseed | End


class Record(Struct):
    """A record of a game: what it was played by, what the deal changed, and what happened."""

    rules: str
    content_hash: str
    names: tuple[str, ...]
    seed: int | None
    offers: bool
    variables: tuple[str, ...]
    start: Changes
    items: list[Item] = field(default_factory=list)
    path: str = "<record>"

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.names)

    def kept(self) -> list[Item]:
        """Gets what happened without what was taken back."""
        kept: list[Item] = []
        for item in self.items:
            if not isinstance(item, Undo):
                kept.append(item)
                continue
            left = item.count
            while left and kept:
                left -= isinstance(kept.pop(), Choice)
        return kept

    def choices(self) -> list[Choice]:
        """Gets the choices that were not taken back."""
        return [item for item in self.kept() if isinstance(item, Choice)]

    def header(self) -> str:
        """Writes what comes before the first choice."""
        lines = [
            FIRST_LINE,
            f"rules: {self.rules}",
            f"hash: {self.content_hash}",
            f"offers: {'yes' if self.offers else 'no'}",
            f"seed: {'none' if self.seed is None else self.seed}",
            *(f"seat {k}: {name}" for k, name in enumerate(self.names, 1)),
            f"variables: {' '.join(self.variables)}",
        ]
        return "\n".join(lines) + "\n\n" + self.start.line()

    def text(self) -> str:
        """Writes the whole record."""
        return self.header() + "".join(item.line() for item in self.items)


def check_names(names: tuple[str, ...]) -> None:
    """Raises `RecordError` unless players' names can stand in a record: each once and on one line."""
    for name in names:
        if (
            name in (NOBODY, CHANCE_ACTS)
            or not name.strip()
            or name != name.strip()
            or any(c in name for c in "\t\n\r")
        ):
            raise RecordError("record-name", f"'{name}' cannot be a player's name in a record")
    if len(set(names)) < len(names):
        raise RecordError("record-name", f"two players have one name: {', '.join(names)}")


# ---------------------------------------------------------------------------------------------------- reading


def read_record(path: str | Path) -> Record:
    """Reads a record without asking if it fits any rules. Raises `RecordError` or `OSError`."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8", "strict")
    except UnicodeDecodeError:
        text = _mended(path.read_bytes())
    return parse_record(text, str(path))


def _mended(data: bytes) -> str:
    """Gets the text without a last line that is torn inside a character."""
    whole = data[: data.rfind(b"\n") + 1]
    try:
        return whole.decode("utf-8")
    except UnicodeDecodeError:
        raise RecordError("record-syntax", "this is no record: it is not text in UTF-8") from None


def whole_lines(text: str) -> str:
    """Gets a record's text without what is torn at its end."""
    return text[: text.rfind("\n") + 1]


def parse_record(text: str, name: str = "<record>") -> Record:
    """Reads the text of a record. Raises `RecordError` at the line."""
    source = Source(name, whole_lines(text))
    lines = source.text.split("\n")[:-1]
    reader = _Reader(source)
    if not lines or lines[0] != FIRST_LINE:
        raise reader.error(1, f"this is no record: its first line is not '{FIRST_LINE}'")
    end = lines.index("") if "" in lines else len(lines)
    if end == len(lines):
        raise reader.error(len(lines), "the record ends before its first choice")
    record = reader.header(lines, end)
    reader.items(lines, end + 1, record)
    return record


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source

    def span(self, number: int) -> Span:
        return Span(self.source, number, 1, number, len(self.source.line(number)) + 1)

    def error(self, number: int, message: str) -> RecordError:
        return RecordError("record-syntax", message, self.span(number))

    def number(self, text: str, line: int) -> int:
        try:
            return int(text)
        except ValueError:
            raise self.error(line, f"got '{text}', want a number") from None

    def header(self, lines: list[str], end: int) -> Record:
        fields: dict[str, str] = {}
        places: dict[str, int] = {}
        for number, line in enumerate(lines[1:end], 2):
            key, colon, value = line.partition(": ")
            if not colon or key in fields:
                raise self.error(number, f"got '{line}', want 'KEY: VALUE', each key once")
            fields[key], places[key] = value, number
        for key in ("rules", "hash", "offers", "seed", "seat 1", "variables"):
            if key not in fields:
                raise self.error(1, f"the record does not say '{key}'")
        names: list[str] = []
        while (name := fields.get(f"seat {len(names) + 1}")) is not None:
            names.append(name)
        seed = None if fields["seed"] == "none" else self.number(fields["seed"], places["seed"])
        return Record(
            fields["rules"],
            fields["hash"],
            tuple(names),
            seed,
            fields["offers"] == "yes",
            tuple(fields["variables"].split()),
            Changes({}),
            path=self.source.name,
        )

    def items(self, lines: list[str], first: int, record: Record) -> None:
        at = first
        if at < len(lines) and lines[at].startswith("\t"):
            record.start = self.changes(lines[at], at + 1)
            at += 1
        count = 0
        while at < len(lines):
            item, used = self.item(lines, at, record)
            match item:
                case Choice(number):
                    count += 1
                    if number != count:
                        raise self.error(at + 1, f"got choice {number}, want choice {count}")
                case Undo(taken):
                    if not 1 <= taken <= count:
                        raise self.error(at + 1, f"{taken} choices are taken back of {count}")
                    count -= taken
                case _:
                    pass
            record.items.append(item)
            at += used

    def item(self, lines: list[str], at: int, record: Record) -> tuple[Item, int]:
        line, number = lines[at], at + 1
        columns = line.split("\t")
        span = self.span(number)
        match columns:
            case ["undo", count]:
                return Undo(self.number(count, number), span), 1
            case ["seed", seed]:
                return Reseed(self.number(seed, number), span), 1
            case ["end", *scores]:
                return End(tuple(self.number(s, number) for s in scores), span), 1
            case [place, player, words, action, options] if options.startswith("of "):
                if player not in (*record.names, NOBODY, CHANCE_ACTS):
                    raise self.error(number, f"nobody is called '{player}' in this record")
                used = 1
                changes = Changes({})
                if at + 1 < len(lines) and lines[at + 1].startswith("\t"):
                    changes, used = self.changes(lines[at + 1], number + 1), 2
                choice = Choice(
                    self.number(place, number),
                    player,
                    words,
                    self.number(action, number),
                    self.number(options.removeprefix("of "), number),
                    changes,
                    span,
                )
                return choice, used
            case _:
                raise self.error(number, f"this is no line of a record: '{line[:60]}'")

    def changes(self, line: str, number: int) -> Changes:
        values: dict[str, str] = {}
        for part in line.split("\t")[1:]:
            name, equals, value = part.partition(" = ")
            if not equals:
                raise self.error(number, f"got '{part}', want 'VARIABLE = VALUE'")
            values[name] = value
        return Changes(values)


def lines_of(record: Record) -> Iterator[str]:
    """Yields the lines of a record's text."""
    yield from record.text().splitlines()
