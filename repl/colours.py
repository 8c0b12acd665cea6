"""The colours of the prompt, by style name.

Players are blocks of the eight colours that Okabe and Ito chose to be told apart by everybody; what is
printed on a board is written in tones that can be read on light and on dark. Nothing is told by colour
alone.
"""

from __future__ import annotations

_PLAYERS = (
    ("#000000", "#e69f00"),
    ("#000000", "#56b4e9"),
    ("#ffffff", "#00805d"),
    ("#000000", "#cc79a7"),
    ("#ffffff", "#0072b2"),
    ("#ffffff", "#c04f00"),
    ("#000000", "#f0e442"),
    ("#ffffff", "#5c5c5c"),
)

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
        for ink, ground in [_PLAYERS[n % len(_PLAYERS)]]
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
