"""The picture of a position: the panels of a view, arranged for the room there is.

One column of panels where that is tall enough; two, left and right, where the terminal is wide. Pure: gives
lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ..interpreter.game import State
from .panels import HEAD, Drawing, draw_panel, draw_variables
from .terminal import Line, Look, cut, in_ascii, line_width, pad_line
from .view import Hand, Table, View

_BETWEEN = 3
_WIDE = 126
_LEFT = 58
_RIGHT = 60


class Stage(Struct, frozen=True):
    """What is going on: its name, how it stands, what comes next."""

    says: str = ""
    now: str = ""
    next: str = ""


def letters_of(names: Sequence[str]) -> list[str]:
    """Gives each player one sign: the first letter of the name that is still free, else a digit."""
    taken: list[str] = []
    for n, name in enumerate(names, 1):
        signs = [c for c in (name.upper() if name.isascii() else name) if c.isalnum()]
        taken.append(next((c for c in [*signs, *"123456789"[n - 1 :]] if c not in taken), "?"))
    return taken


def stage_of(view: View, state: State, language: str) -> Stage:
    """Tells what is decided now, in the view's words, or by the name of the rule that asks."""
    decision = state.decision
    if decision is None:
        return Stage()
    stage = view.stages.get(decision.rule)
    if stage is None:
        names = view.game.labels(language).names
        return Stage(names.get(f"rule.{decision.rule}", decision.rule.replace("_", " ")))
    stands = stage.now is not None and (stage.now_when is None or stage.now_when.value(state))
    now = stage.now.show(state, language) if stage.now is not None and stands else ""
    following = stage.next.show(state, language) if stage.next is not None else ""
    return Stage(stage.says.show(state, language), now, following)


def acting(state: State) -> list[int]:
    """Gets whose turn it is: who decides, or all who may where anybody does."""
    decision = state.decision
    if decision is None:
        return []
    return [state.current_player()] if decision.mode == "one" else state.players_to_act()


def draw_board(
    view: View,
    state: State,
    look: Look,
    *,
    title: str = "",
    names: Sequence[str] = (),
    hand_of: int | None = None,
) -> list[Line]:
    """Draws the whole picture, with the hand of one player if it is drawn for him alone."""
    drawing = Drawing(view, state, look, letters_of(names or view.game.player_names), acting(state))
    headline = view.headline.show(state, look.language) if view.headline is not None else ""
    top: Line = [(HEAD, title), ("", " · " if title and headline else ""), ("", headline)]
    lines = [cut(top, look.width)] if title or headline else []
    one = _column(view, drawing, look.width, hand_of)
    if not view.panels:
        one = [draw_variables(drawing, look.width, hand_of)]
    flat = [line for block in one for line in block]
    two = _two_columns(view, drawing, look.width, hand_of) if look.width >= 100 else None
    if two is not None and (look.width >= _WIDE or len(flat) + 4 > look.height):
        flat = two
    lines += flat
    return in_ascii(lines) if look.ascii else lines


def draw_hands(view: View, state: State, look: Look, player: int, names: Sequence[str] = ()) -> list[Line]:
    """Draws what only this player may see."""
    drawing = Drawing(view, state, look, letters_of(names or view.game.player_names), ())
    lines: list[Line] = []
    for panel in view.panels:
        if isinstance(panel, Hand):
            lines += draw_panel(panel, drawing, look.width, player)
    return in_ascii(lines) if look.ascii else lines


def _column(view: View, drawing: Drawing, columns: int, hand_of: int | None) -> list[list[Line]]:
    return [draw_panel(panel, drawing, columns, hand_of) for panel in view.panels]


def _two_columns(view: View, drawing: Drawing, columns: int, hand_of: int | None) -> list[Line] | None:
    """Arranges panels in two columns, tables and what follows at the right; None where they are too wide."""
    tables = [n for n, panel in enumerate(view.panels) if isinstance(panel, Table)]
    at = tables[0] if tables else len(view.panels) // 2
    right = [line for p in view.panels[at:] for line in draw_panel(p, drawing, _RIGHT, hand_of)]
    room = columns - max(map(line_width, right), default=0) - _BETWEEN
    left = [line for p in view.panels[:at] for line in draw_panel(p, drawing, room, hand_of)]
    if not left or not right or room < _LEFT:
        return None
    height = max(len(left), len(right))
    blank: Line = []
    left += [blank] * (height - len(left))
    right += [blank] * (height - len(right))
    return [[*pad_line(one, room + _BETWEEN), *two] for one, two in zip(left, right, strict=True)]
