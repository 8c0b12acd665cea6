"""Draws each kind of panel: takes a compiled panel and a position, gives lines no wider than they may be."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ..grammar.diagnostics import RulesError
from ..interpreter.errors import BrokenRule
from ..interpreter.game import State
from ..interpreter.types import EnumType, OptionalType, PileType, Type
from .terminal import Line, Look, cut, line_width, pad, pad_line, width, wrap
from .view import Cells, Column, Hand, Lane, Note, Panel, Piles, Seats, Spaces, Table, Track, View, ViewError

HEAD = "heading"
DIM = "dim"
GAP = "   "


class Drawing(Struct):
    """What a panel is drawn for: the view, the position, the look, the players' letters and who is to act."""

    view: View
    state: State
    look: Look
    letters: Sequence[str]
    acting: Sequence[int]

    @property
    def arrow(self) -> str:
        """The arrow from a price to what it pays."""
        return "->" if self.look.ascii else "→"

    def value(self, value: int, type_: Type) -> str:
        """Writes a value; nobody is a dot."""
        if value < 0 and isinstance(type_, OptionalType):
            return "·"
        return self.view.show(value, type_, self.look.language)

    def style(self, value: int, type_: Type) -> str:
        """Gets the style of a value."""
        return self.view.style(value, type_) if value >= 0 else DIM

    def letter(self, value: int, type_: Type) -> str:
        """Gets one letter for a player, and the first sign of any other value."""
        base = type_.base if isinstance(type_, OptionalType) else type_
        if value < 0:
            return "·"
        if isinstance(base, EnumType) and base.origin == "players":
            return self.letters[value]
        return self.value(value, type_)[:1]


def draw_panel(panel: Panel, on: Drawing, columns: int, hand_of: int | None) -> list[Line]:
    """Draws any panel; a hand only for the player it is drawn for."""
    try:
        lines = _draw(panel, on, columns, hand_of)
    except (BrokenRule, RulesError, ViewError):  # rules that a variant changed under the view
        lines = [[(DIM, "?")]]
    return [cut(line, columns, "..." if on.look.ascii else "…") for line in lines]


def _draw(panel: Panel, on: Drawing, columns: int, hand_of: int | None) -> list[Line]:
    if panel.when is not None and not panel.when.value(on.state):
        return []
    match panel:
        case Lane():
            lines = draw_lane(panel, on, columns)
        case Spaces():
            lines = draw_spaces(panel, on, columns)
        case Track():
            lines = draw_track(panel, on, columns)
        case Table():
            lines = draw_table(panel, on, columns)
        case Piles():
            lines = draw_piles(panel, on, columns)
        case Hand():
            lines = draw_hand(panel, on, columns, hand_of) if hand_of is not None else []
        case Note():
            lines = wrap([("", panel.shows.show(on.state, on.look.language))], columns)
        case _:
            raise AssertionError(panel)
    if panel.title is not None and lines and not isinstance(panel, Track):
        lines = [[(HEAD, panel.title.show(on.state, on.look.language))], *lines]
    return lines


# ------------------------------------------------------------------------------------------------------- lane


def draw_lane(panel: Lane, on: Drawing, columns: int) -> list[Line]:
    """Draws a lane a row: name, spaces with the marker, what it pays, and the seats with who sits there."""
    state, language = on.state, on.look.language
    members = panel.each.members(state)
    if not members:
        return [[(DIM, panel.empty.show(state, language))]] if panel.empty is not None else []
    names = [
        panel.name.show(state, language, m) if panel.name else on.value(m, panel.each.type) for m in members
    ]
    spaces = panel.spaces.members(state)
    name_width = max(map(width, names)) + 1
    end = panel.end.show(state, language) if panel.end is not None else ""
    pays = [str(panel.pays.value(state, m)) if panel.pays is not None else "" for m in members]
    pays_title = panel.pays_title.show(state, language) if panel.pays_title is not None else ""
    pays_width = max(width(pays_title), *map(width, pays)) + 1 if panel.pays is not None else 0
    end_width = 1 + max(width(end), 1) + 1
    short = [_seats(panel.seats, on, m, names=False) for m in members]
    long = [_seats(panel.seats, on, m, names=True) for m in members]
    fixed = name_width + end_width + pays_width + 1
    room = columns - fixed
    seats = short
    for cell, choice in ((3, long), (3, short), (2, long), (2, short)):
        if cell * len(spaces) + max(map(line_width, choice), default=0) <= room:
            seats = choice
            break
    else:
        cell = 1 if 2 * len(spaces) + max(map(line_width, short), default=0) > room else 2
    scale = " " * name_width + _scale(spaces, cell) + "│"
    heading: Line = [(DIM, scale + pad(end, end_width - 1) + pad(pays_title, pays_width, right=True))]
    lines = [heading]
    for m, name, pay, seat in zip(members, names, pays, seats, strict=True):
        style = on.style(m, panel.each.type)
        line: Line = [(style, pad(name, name_width - 1)), ("", " ")]
        line += _lane_row(panel, on, m, spaces, cell, style)
        line += [
            (DIM, "│"),
            ("", " " * (end_width - 1)),
            ("", pad(pay, pays_width, right=True)),
            ("", " "),
            *seat,
        ]
        lines.append(line)
    return lines


def _scale(spaces: list[int], cell: int) -> str:
    """Writes the numbers of the spaces, some left out where there is no room for all."""
    out = ""
    for n, space in enumerate(spaces):
        text = str(space)
        due = cell >= 3 or n % 5 == 0 or n == len(spaces) - 1
        if due and len(out) + len(text) <= (n + 1) * cell:
            out = pad(out, (n + 1) * cell - len(text)) + text
    return pad(out, len(spaces) * cell)


def _lane_row(panel: Lane, on: Drawing, member: int, spaces: list[int], cell: int, style: str) -> Line:
    state = on.state
    whole = len(spaces) * cell
    if panel.on is not None and not panel.on.value(state, member):
        for when, shows in panel.beyond:
            if when.value(state, member):
                text = shows.show(state, on.look.language, member)
                return pad_line(
                    [(DIM, "─" * max(0, whole - width(text) - 1)), ("", " "), (style, text)], whole
                )
        return [("", " " * whole)]
    at = panel.at.value(state, member)
    line: Line = []
    for space in spaces:
        if space < at:
            line.append((DIM, "─" * cell))
        elif space == at:
            line += [(DIM, "─" * (cell - 1)), (style or HEAD, "►")]
        else:
            line.append((DIM, pad("·", cell, right=True)))
    return line


def _seats(seats: Seats | None, on: Drawing, *outer: int, names: bool) -> Line:
    """Draws seats: the price, and a letter (or the name) of who sits there."""
    if seats is None:
        return []
    line: Line = []
    for m in seats.each.members(on.state, *outer):
        who = seats.who.value(on.state, *outer, m)
        if line:
            line.append(("", "  " if names else " "))
        if seats.price is not None:
            line.append(("", str(seats.price.value(on.state, *outer, m))))
        line += _occupant(who, seats.who.type, on, names=names)
    return line


def _occupant(who: int, type_: Type, on: Drawing, *, names: bool) -> Line:
    if who < 0:
        return [(DIM, " ·" if names else "·")]
    if names:
        return [("", " "), (on.style(who, type_), on.value(who, type_))]
    return [(on.style(who, type_), on.letter(who, type_))]


# ----------------------------------------------------------------------------------------------------- spaces


def draw_spaces(panel: Spaces, on: Drawing, columns: int) -> list[Line]:
    """Draws rows of spaces, several in a line where they fit; cells that stand alike are aligned."""
    rows = [
        (title.show(on.state, on.look.language) if title else "", _cells(cells, on))
        for title, cells in panel.rows
    ]
    title_width = max((width(t) for t, _ in rows), default=0) + 1
    aligned: dict[int, int] = {}
    for _, cells in rows:
        if len(cells) > 2:
            for n, cell in enumerate(cells):
                aligned[n] = max(aligned.get(n, 0), line_width(cell))
    lines: list[Line] = []
    for title, cells in rows:
        alone = len(cells) > 2
        row: Line = []
        for n, cell in enumerate(cells):
            row += pad_line(cell, aligned[n]) if alone and n < len(cells) - 1 else cell
            row.append(("", GAP if n < len(cells) - 1 else ""))
        packed: Line = [(HEAD, title), ("", " "), *row]
        if lines and line_width(lines[-1]) + len(GAP) + line_width(packed) <= columns and not alone:
            lines[-1] = [*lines[-1], ("", GAP), *packed]
        elif line_width(packed) - width(title) + title_width <= columns:
            lines.append([(HEAD, pad(title, title_width)), *row])
        else:
            lines += wrap([(HEAD, pad(title, title_width)), *row], columns, title_width)
    return lines


def _cells(cells: Cells, on: Drawing) -> list[Line]:
    state = on.state
    if cells.seats is not None:
        queue = cells.queue.members(state) if cells.queue is not None else []
        type_ = cells.queue.type if cells.queue is not None else cells.seats.type
        out = []
        for n, price in enumerate(cells.seats.members(state)):
            who = queue[n] if n < len(queue) else -1
            out.append([("", f"{price} "), *_named(who, type_, on)])
        return out
    members = cells.each.members(state) if cells.each is not None else [None]
    return [_cell(cells, on, () if m is None else (m,)) for m in members]


def _cell(cells: Cells, on: Drawing, arguments: tuple[int, ...]) -> Line:
    state = on.state
    line: Line = []
    if cells.each is not None:
        name = (
            cells.name.show(state, on.look.language, *arguments)
            if cells.name
            else on.value(arguments[0], cells.each.type)
        )
        line.append((on.style(arguments[0], cells.each.type), name + " "))
    if cells.price is not None:
        line.append(("", str(cells.price.value(state, *arguments))))
    if cells.pays is not None:
        line.append(("", f"{on.arrow}{cells.pays.value(state, *arguments)}"))
    if cells.gives is not None:
        line.append(("", f"+{cells.gives.value(state, *arguments)}"))
    if cells.who is not None:
        if line and not line[-1][1].endswith(" "):
            line.append(("", " "))
        line += _named(cells.who.value(state, *arguments), cells.who.type, on)
    if cells.holds is not None:
        held = cells.holds.value(state, *arguments)
        if held >= 0:
            line += [
                ("", " ["),
                (on.style(held, cells.holds.type), on.value(held, cells.holds.type)),
                ("", "]"),
            ]
    return line


def _named(who: int, type_: Type, on: Drawing) -> Line:
    return [(on.style(who, type_), on.value(who, type_))] if who >= 0 else [(DIM, "·")]


# ------------------------------------------------------------------------------------------------------ track


def draw_track(panel: Track, on: Drawing, columns: int) -> list[Line]:
    """Draws the steps of a track in one line, each with the markers that stand on it."""
    state = on.state
    standing: dict[int, list[int]] = {}
    for m in panel.each.members(state):
        standing.setdefault(panel.at.value(state, m), []).append(m)
    line: Line = []
    title = panel.title.show(state, on.look.language) if panel.title is not None else ""
    if title:
        line += [(HEAD, title), ("", "  ")]
    indent = line_width(line)
    for n, step in enumerate(panel.steps.members(state)):
        name = (
            panel.name.show(state, on.look.language, step) if panel.name else on.value(step, panel.steps.type)
        )
        if n:
            line.append((DIM, " │ "))
        line.append((HEAD if step in standing else DIM, name))
        for m in standing.get(step, ()):
            line += [("", " "), (on.style(m, panel.each.type), on.value(m, panel.each.type))]
    return wrap(line, columns, indent)


# ------------------------------------------------------------------------------------------------------ table


class _Drawn(Struct):
    """A column being drawn: its headings, its cells, its foot."""

    long: str
    short: str
    cells: list[Line]
    foot: Line
    label: bool


def draw_table(panel: Table, on: Drawing, columns: int) -> list[Line]:
    """Draws a table; whose turn it is is marked where the rows are players."""
    state, language = on.state, on.look.language
    rows = panel.rows.members(state)
    players = isinstance(panel.rows.type, EnumType) and panel.rows.type.origin == "players"
    drawn = [d for column in panel.columns for d in _columns(column, on, rows)]
    names: list[Line] = []
    for row in rows:
        name = on.value(row, panel.rows.type)
        style = on.style(row, panel.rows.type)
        mark = "►" if players and row in on.acting else " "
        names.append([(HEAD, mark), *_lettered(name, on.letters[row] if players else "", style)])
    foot_name = panel.foot.show(state, language) if panel.foot is not None else ""
    name_width = max([*map(line_width, names), width(foot_name) + 1, 4])
    short = _whole(drawn, name_width, short=False, gap=2) > columns
    gap = 2
    if short and _whole(drawn, name_width, short=True, gap=2) > columns:
        drawn = [d for d in drawn if not d.label]
        gap = 2 if _whole(drawn, name_width, short=True, gap=2) <= columns else 1
    lines: list[Line] = []
    for part in _parts(drawn, columns - name_width, short=short, gap=gap):
        part_lines: list[Line] = [[("", " " * name_width)], *(pad_line(name, name_width) for name in names)]
        if foot_name and any(d.foot for d in part):
            part_lines.append([("", " "), (HEAD, pad(foot_name, name_width - 1))])
        for d in part:
            heading = d.short if short else d.long
            w = _width(d, short=short)
            part_lines[0] += [("", " " * gap), (HEAD if d.label else DIM, pad(heading, w, right=True))]
            for n, cell in enumerate(d.cells):
                part_lines[n + 1] += [("", " " * (w + gap - line_width(cell))), *cell]
            if len(part_lines) > len(d.cells) + 1:
                part_lines[-1] += [("", " " * (w + gap - line_width(d.foot))), *d.foot]
        lines += part_lines
    return lines


def _parts(drawn: list[_Drawn], room: int, *, short: bool, gap: int) -> list[list[_Drawn]]:
    """Splits columns that are too many to stand side by side; the rows' names are written again before each part."""
    parts: list[list[_Drawn]] = [[]]
    used = 0
    for d in drawn:
        wide = _width(d, short=short) + gap
        if parts[-1] and used + wide > room:
            parts.append([])
            used = 0
        parts[-1].append(d)
        used += wide
    return parts


def _whole(drawn: list[_Drawn], names: int, *, short: bool, gap: int) -> int:
    return names + sum(_width(d, short=short) + gap for d in drawn)


def _lettered(name: str, letter: str, style: str) -> Line:
    """Writes a name so that its letter is known: coloured as the first letter, or before the name."""
    if not letter or name.startswith(letter):
        return [(style, name)]
    return [(style, f"{letter} {name}")]


def _width(d: _Drawn, *, short: bool) -> int:
    return max(width(d.short if short else d.long), line_width(d.foot), *(line_width(c) for c in d.cells), 1)


def _columns(column: Column, on: Drawing, rows: list[int]) -> list[_Drawn]:
    state, language = on.state, on.look.language
    members = [None] if column.each is None else column.each.members(state)
    out = []
    for m in members:
        outer = () if m is None else (m,)
        cells: list[Line] = []
        for row in rows:
            cell: Line = []
            if column.shows is not None:
                value = column.shows.value(state, row, *outer)
                text = "·" if value == column.blank else on.value(value, column.shows.type)
                cell.append((DIM if value == column.blank else "", text))
            if column.mark is not None:
                marked = column.mark[0].value(state, row, *outer)
                cell.append(("", column.mark[1] if marked else " "))
            cells.append(cell)
        foot: Line = []
        if column.foot is not None:
            foot.append(("", on.value(column.foot.value(state, *outer), column.foot.type)))
        if column.mark is not None and foot:
            foot.append(("", " "))
        long, short = column.title.show(state, language, *outer), column.short.show(state, language, *outer)
        out.append(_Drawn(long, short, cells, foot, column.shows is None))
    return out


# -------------------------------------------------------------------------------------------- hands and piles


def draw_hand(panel: Hand, on: Drawing, columns: int, player: int) -> list[Line]:
    """Draws what a player holds."""
    line: Line = []
    state, language = on.state, on.look.language
    for row in panel.rows:
        if line:
            line.append(("", GAP))
        if row.title is not None:
            line += [(HEAD, row.title.show(state, language, player)), ("", " ")]
        found = False
        for m in row.each.members(state, player):
            count = row.count.value(state, player, m) if row.count is not None else 1
            if count:
                name = row.name.show(state, language, player, m) if row.name else on.value(m, row.each.type)
                line += [("", " " if found else ""), (on.style(m, row.each.type), name)]
                if row.count is not None:
                    line.append(("", f"×{count}"))
                found = True
        if not found:
            line.append((DIM, "–"))
    return wrap(line, columns, 2)


def draw_piles(panel: Piles, on: Drawing, columns: int) -> list[Line]:
    """Draws piles: the name of each, then its cards, or its top, or how many there are."""
    state, language = on.state, on.look.language
    lines: list[Line] = []
    for m in [None] if panel.each is None else panel.each.members(state):
        outer = () if m is None else (m,)
        line: Line = []
        if panel.name is not None:
            line += [(HEAD, panel.name.show(state, language, *outer)), ("", " ")]
        if panel.count is not None:
            line.append(("", f"{panel.count.value(state, *outer)} "))
        if panel.cards is not None:
            cards = panel.cards.members(state, *outer)
            for card in cards[-1:] if panel.top_only else cards:
                seen = panel.open is None or panel.open.value(state, *outer, card)
                name = (
                    panel.card.show(state, language, *outer, card)
                    if panel.card
                    else on.value(card, panel.cards.type)
                )
                line += [
                    (on.style(card, panel.cards.type) if seen else DIM, name if seen else "##"),
                    ("", " "),
                ]
            if not cards:
                line.append((DIM, "–"))
        lines += wrap(line, columns, 2)
    return lines


# --------------------------------------------------------------------------------------- games without a view


def draw_variables(on: Drawing, columns: int, viewer: int | None) -> list[Line]:
    """Draws what everybody may see (or this viewer), variable by variable, for a game that has no view."""
    state = on.state
    names = on.view.game.labels(on.look.language).names
    shown: dict[str, Line] = {}
    for v, slot, value in state.visible(viewer):
        line = shown.setdefault(
            v.name, [(HEAD, names.get(f"state.{v.name}", v.name.replace("_", " "))), ("", " ")]
        )
        place = on.view.game.variable_at(slot)
        if v.width > 1 or place is None:
            if (slot - v.slot) % v.width and (slot - v.slot) % v.width <= state.position[
                slot - (slot - v.slot) % v.width
            ]:
                line.append(("", f"{on.value(value, _member(v.type))} "))
            continue
        for index, (type_, _, _) in zip(place[1], v.dims, strict=True):
            line.append((on.style(index, type_), on.value(index, type_)))
            line.append(("", " "))
        line.append((on.style(value, v.type), on.value(value, v.type)))
        line.append(("", "   " if v.dims else ""))
    return [part for line in shown.values() for part in wrap(line, columns, 2)]


def _member(type_: Type) -> Type:
    return type_.base if isinstance(type_, PileType) else type_
