"""The board as a picture: the very lines that a terminal shows, in SVG, on a light or a dark ground.

Every piece of text is put at its column and stretched to its columns, so that it stands right whatever font
the viewer has. PNG needs a library (extra `pictures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from .colours import STYLES, styles_with
from .terminal import Line, line_width, width

_CELL = 9.0
_ROW = 20.0
_EDGE = 14.0
_FONTS = "DejaVu Sans Mono, Noto Sans Mono CJK SC, Menlo, Consolas, monospace"
_LIGHT = ("#fdfdfb", "#1c1c1c")
_DARK = ("#16181c", "#e6e6e6")
_DRAWN = {"─": "dash", "│": "bar"}


class MissingLibrary(Exception):
    """Says that the library for this form is not installed."""


def to_svg(lines: Sequence[Line], *, dark: bool = False, colours: Mapping[int, str] | None = None) -> str:
    """Draws lines as an SVG picture, with the colours that players chose."""
    styles = styles_with(colours) if colours else STYLES
    ground, ink = _DARK if dark else _LIGHT
    columns = max(map(line_width, lines), default=0)
    wide, high = columns * _CELL + 2 * _EDGE, len(lines) * _ROW + 2 * _EDGE
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high:g}" '
        f'viewBox="0 0 {wide:g} {high:g}">',
        f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>',
        f'<g font-family={quoteattr(_FONTS)} font-size="15" xml:space="preserve" fill="{ink}">',
    ]
    for n, line in enumerate(lines):
        column = 0
        for style, text in line:
            out += _piece(
                styles.get(style, ""), text, _EDGE + column * _CELL, _EDGE + n * _ROW, ink, dark=dark
            )
            column += width(text)
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"


def _piece(style: str, text: str, x: float, y: float, ink: str, *, dark: bool) -> list[str]:
    words = style.split()
    fore = next((w[3:] for w in words if w.startswith("fg:")), ink)
    back = next((w[3:] for w in words if w.startswith("bg:")), "")
    if back and dark and back.lower() == "#000000":
        back = "#333333"
    wide = width(text) * _CELL
    out = []
    if back and text.strip():
        out.append(
            f'<rect x="{x:g}" y="{y + 1:g}" width="{wide:g}" height="{_ROW - 2:g}" rx="3" fill="{back}"/>'
        )
    attributes = f' fill="{fore}"' if fore != ink else ""
    attributes += ' font-weight="bold"' if "bold" in words else ""
    attributes += ' font-style="italic"' if "italic" in words else ""
    at = x
    for part in _parts(text):
        part_width = width(part) * _CELL
        if part[0] in _DRAWN:
            middle = y + _ROW / 2
            if _DRAWN[part[0]] == "dash":
                path = f"M{at:g} {middle:g}h{part_width:g}"
            else:
                path = f"M{at + _CELL / 2:g} {y:g}v{_ROW:g}"
            out.append(f'<path d="{path}" stroke="{fore}" stroke-width="1.2" fill="none"/>')
        elif part.strip():
            lead = len(part) - len(part.lstrip(" "))
            shown = part.strip(" ")
            begin = at + lead * _CELL
            out.append(
                f'<text x="{begin:g}" y="{y + 15:g}" textLength="{width(shown) * _CELL:g}" '
                f'lengthAdjust="spacingAndGlyphs"{attributes}>{escape(shown)}</text>'
            )
        at += part_width
    return out


def _parts(text: str) -> list[str]:
    """Splits a text where lines are drawn rather than written, at wide gaps, and where another script begins."""
    parts: list[str] = []
    for ch in text:
        kind = ch if ch in _DRAWN else ""
        last = parts[-1] if parts else ""
        same = bool(last) and (last[0] if last[0] in _DRAWN else "") == kind and kind != "│"
        gap = last.endswith("  ") and ch != " "
        turns = bool(last) and ch != " " and last[-1] != " " and width(ch) != width(last[-1])
        if same and not gap and not turns:
            parts[-1] += ch
        else:
            parts.append(ch)
    return parts


def to_png(svg: str, *, scale: float = 2.0) -> bytes:
    """Turns an SVG picture into a PNG. Raises `MissingLibrary`."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingLibrary from None
    return bytes(svg_to_bytes(svg_string=svg, zoom=int(scale)))
