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
_FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_WIDE_FONTS = {
    "SC": "Noto Sans Mono CJK SC, Noto Sans CJK SC, Source Han Sans SC, PingFang SC, Microsoft YaHei, WenQuanYi Zen Hei",
    "TC": "Noto Sans Mono CJK TC, Noto Sans CJK TC, Source Han Sans TC, PingFang TC, Microsoft JhengHei, AR PL UMing TW",
}
"""For characters two columns wide, as they are written in mainland China or in Taiwan: the shapes differ."""
_LIGHT = ("#fdfdfb", "#1c1c1c")
_DARK = ("#16181c", "#e6e6e6")
_SIGNS = "中文"
_DRAWN = {"─": "dash", "│": "bar"}


class MissingLibrary(Exception):
    """Says that the library for this form is not installed."""


class MissingFont(Exception):
    """Says that no font here has Chinese characters: boxes would stand for them."""


def to_svg(
    lines: Sequence[Line],
    *,
    language: str = "en",
    dark: bool = False,
    colours: Mapping[int, str] | None = None,
) -> str:
    """Draws lines as an SVG picture, with the colours that players chose."""
    wide_fonts = f"{_WIDE_FONTS['TC' if language == 'zh-Hant' else 'SC']}, {_FONTS}"
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
            x, y = _EDGE + column * _CELL, _EDGE + n * _ROW
            out += _piece(styles.get(style, ""), text, x, y, ink, wide_fonts, dark=dark)
            column += width(text)
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"


def _piece(style: str, text: str, x: float, y: float, ink: str, wide_fonts: str, *, dark: bool) -> list[str]:
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
            family = f" font-family={quoteattr(wide_fonts)}" if width(shown) > len(shown) else ""
            out.append(
                f'<text x="{begin:g}" y="{y + 15:g}" textLength="{width(shown) * _CELL:g}" '
                f'lengthAdjust="spacingAndGlyphs"{family}{attributes}>{escape(shown)}</text>'
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
        before = last.rstrip(" ")[-1:]
        turns = bool(before) and ch != " " and width(ch) != width(before)
        if same and not gap and not turns:
            parts[-1] += ch
        else:
            parts.append(ch)
    return parts


def to_png(svg: str, *, scale: float = 2.0) -> bytes:
    """Turns an SVG picture into a PNG. Raises `MissingLibrary` or `MissingFont`."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingLibrary from None

    def draw(text: str) -> bytes:
        return bytes(svg_to_bytes(svg_string=text, zoom=int(scale)))

    if any(width(ch) == 2 for ch in set(svg)) and len(
        {draw(to_svg([[("", sign)]])) for sign in _SIGNS}
    ) < len(_SIGNS):
        raise MissingFont  # where there is no glyph, all signs look alike
    return draw(svg)
