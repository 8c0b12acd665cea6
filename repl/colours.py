"""The colours of the prompt, by style name.

Players are blocks of the eight colours that Okabe and Ito chose to be told apart by everybody; what is
printed on a board is written in tones that can be read on light and on dark, and that a terminal of 256 colours has
as they are. Nothing is told by colour alone.
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
    "red": "#ff0000",
    "orange": "#d75f00",
    "yellow": "#af8700",
    "green": "#008700",
    "blue": "#0087d7",
    "purple": "#875fd7",
    "pink": "#d70087",
    "brown": "#af5f00",
    "black": "bold",
    "white": "bold",
    "grey": "#767676",
}

STYLES: dict[str, str] = {
    **{
        f"player{n}": f"fg:{ink} bg:{ground}"
        for n in range(20)
        for ink, ground in [list(PLAYERS.values())[n % len(PLAYERS)]]
    },
    **{f"paint-{name}": tone if tone == "bold" else f"fg:{tone} bold" for name, tone in _PAINTS.items()},
    "heading": "bold",
    "dim": "fg:#767676",
    "move": "bold",
    "note": "italic",
    "told": "",
    "error": "fg:#ff0000",
    "rule": "",
    "keyword": "fg:#005fff",
    "string": "fg:#008700",
    "number": "fg:#875fd7",
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
