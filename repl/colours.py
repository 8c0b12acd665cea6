"""The colours of the prompt, by style name.

Players are blocks of the eight colours that Okabe and Ito chose to be told apart by everybody; what is
printed on a board is written in tones that can be read on light and on dark. Nothing is told by colour
alone.
"""

from __future__ import annotations

from collections.abc import Mapping

PLAYERS = {
    "orange": ("#000000", "#e69f00"),
    "sky": ("#000000", "#56b4e9"),
    "green": ("#ffffff", "#00805d"),
    "pink": ("#000000", "#cc79a7"),
    "blue": ("#ffffff", "#0072b2"),
    "red": ("#ffffff", "#c04f00"),
    "yellow": ("#000000", "#f0e442"),
    "grey": ("#ffffff", "#5c5c5c"),
}
"""The players' colours in the order of seats: of the ink and of the ground."""

_PAINTS = {
    "red": "#dc322f",
    "orange": "#cb4b16",
    "yellow": "#b58900",
    "green": "#2f9e44",
    "blue": "#268bd2",
    "purple": "#6c71c4",
    "pink": "#d33682",
    "brown": "#a8622a",
    "black": "bold",
    "white": "bold",
    "grey": "#808080",
}

STYLES: dict[str, str] = {
    **{
        f"player{n}": f"fg:{ink} bg:{ground}"
        for n in range(20)
        for ink, ground in [list(PLAYERS.values())[n % len(PLAYERS)]]
    },
    **{f"paint-{name}": tone if tone == "bold" else f"fg:{tone} bold" for name, tone in _PAINTS.items()},
    "heading": "bold",
    "dim": "fg:#808080",
    "move": "bold",
    "note": "italic",
    "told": "",
    "error": "fg:#dc322f",
    "rule": "",
    "keyword": "fg:#268bd2",
    "string": "fg:#2f9e44",
    "number": "fg:#b58900",
    "bottom-toolbar": "reverse",
    "bottom-toolbar.text": "",
}


def colour_of(player: int, chosen: Mapping[int, str]) -> str:
    """Gets the name of a player's colour: the one chosen, else that of the seat."""
    return chosen.get(player) or list(PLAYERS)[player % len(PLAYERS)]


def styles_with(chosen: Mapping[int, str]) -> dict[str, str]:
    """Gets the styles with the colours that players chose."""
    own = {f"player{n}": "fg:{} bg:{}".format(*PLAYERS[name]) for n, name in chosen.items()}
    return {**STYLES, **own}
