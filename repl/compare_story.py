"""Writes a story to the terminal, on one screen: what led there, the table, the choice, then what each does.

Takes a story as `interpreter/comparing` found it. Where it would be longer than the screen, first what led there is
cut short, then the values that differ; `compare --save` and `--html` keep everything. Nothing here works anything
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .output import columns, pad, paint, say, shutil_height, shutil_width, title, wrap

if TYPE_CHECKING:
    from ..grammar.span import Span
    from ..interpreter.comparing.story import Story
    from ..interpreter.comparing.telling import Point, Roll, Told
    from ..interpreter.state import State
    from .terminal import Line

_WIDEST = 110
_MOST_PATH = 6


def tell_story(story: Story, language: str, *, board: bool = True) -> None:
    """Writes the story: how it came to it, how the table stands, and what each does then."""
    if story.told is None or story.line is None:
        title("No story")
        say(wrap(story.claim(), indent="  "))
        if story.late:
            say("  the clock ended the search: with --seconds it goes on longer")
        return
    width = min(shutil_width(), _WIDEST)
    table = draw(before(story), language, width) if board else []
    title("The smallest story found")
    for line in fitted(story, story.told, [f"  {line}" for line in table], width, shutil_height() - 1):
        say(line)


def fitted(story: Story, told: Told, table: list[str], width: int, height: int) -> list[str]:
    """Makes the lines of a story, as few as `height` where that can be."""
    longest = max(len(told.a), len(told.b), len(told.then_a), len(told.then_b))
    lines: list[str] = []
    for most_path, most in _cuts(longest):
        names = (story.found.a, story.found.b)
        lines = [*_path(told, width, most_path), *table, *_choice(story, told, width)]
        lines += [*_columns(told.a, told.b, names, width, most), *_ending(told, width)]
        if told.then:
            words = "; ".join(f"{s.who} {s.words}".strip() for s in told.then)
            lines += wrap(f"It matters when next: {words}.", indent="  ", width=width).split("\n")
            lines += _columns(told.then_a, told.then_b, ("", ""), width, most)
        if story.late:
            lines.append("  the clock ended the search: a smaller story may be found with --seconds")
        if len(lines) <= height:
            break
    return lines


def _cuts(longest: int) -> Iterator[tuple[int, int]]:
    """Yields how many lines may tell what led there and how many points what follows, less and less."""
    yield from ((path, longest) for path in range(_MOST_PATH, 2, -1))
    yield from ((2, points) for points in range(longest, 2, -1))
    yield from ((1, min(3, longest)), (1, min(2, longest)), (1, 1))


def _path(told: Told, width: int, most: int) -> list[str]:
    """Writes what led there, on a few lines: the last part of it where it is long."""
    for skipped in range(-1, len(told.steps)):
        text = "; ".join(_pieces(told, skipped))
        if skipped >= 0:
            text = f"… (--save FILE keeps all); {text}"
        lines = wrap(text, indent="  ", width=width).split("\n") if text else []
        if len(lines) <= most:
            return [paint(line, "dim") for line in lines]
    return []


def _pieces(told: Told, skipped: int) -> Iterator[str]:
    """Yields what chance gave and what players chose before the last choice, without the first so many choices.

    What one chose in a row stands together, and those who chose alike.
    """
    if skipped < 0:
        yield from _rolled(told, 0)
    who: list[str] = []
    words: list[str] = []
    for n, step in enumerate(told.steps[:-1], 1):
        if n <= skipped:
            continue
        if who == [step.who]:
            words.append(step.words)
        elif who and words == [step.words] and step.who not in who:
            who.append(step.who)
        else:
            if who:
                yield _together(who, words)
            who, words = [step.who], [step.words]
        rolled = list(_rolled(told, n))
        if rolled:
            yield _together(who, words)
            yield from rolled
            who, words = [], []
    if who:
        yield _together(who, words)


def _together(who: Sequence[str], words: Sequence[str]) -> str:
    return f"{', '.join(who)}: {', '.join(words)}" if any(who) else ", ".join(words)


def _rolled(told: Told, after: int) -> Iterator[str]:
    by_stream: dict[str, list[Roll]] = {}
    for roll in told.rolls:
        if roll.after == after:
            by_stream.setdefault(roll.stream, []).append(roll)
    for stream, rolls in by_stream.items():
        if all(r.shuffled for r in rolls):
            yield f"[{stream.replace('_', ' ')} shuffled]"
            continue
        rows = [" ".join(r.words) for r in rolls]
        shown = " · ".join(rows[:12]) + (" …" if len(rows) > 12 else "")
        yield f"[{stream.replace('_', ' ')} {shown}]"


def _choice(story: Story, told: Told, width: int) -> list[str]:
    """Writes the last choice, what chance gave after it, and how the two part."""
    lines = []
    if told.steps:
        last = told.steps[-1]
        text = f"  {paint(f'{last.who} {last.words}'.strip(), 'bold')}"
        used = 2 + columns(f"{last.who} {last.words}".strip())
        place = _shortly(last.span)
        if place and used + 2 + len(place) <= width:
            text += f"  {paint(place, 'dim')}"
            used += 2 + len(place)
        rolled = " ".join(_rolled(told, len(told.steps)))
        if rolled and used + 2 + columns(rolled) <= width:
            text += f"  {rolled}"
        elif rolled:
            lines += wrap(rolled, indent="    ", width=width).split("\n")
        lines.insert(0, text)
    claim = wrap(f"{story.claim()}: {told.headline}", indent="  ", width=width)
    return [*lines, *(paint(line, "bold") for line in claim.split("\n"))]


def before(story: Story) -> State:
    """Gets the state before the last choice of a story."""
    from ..interpreter.comparing.telling import play_states

    assert story.line is not None
    last: State | None = None
    for n, (a, _) in enumerate(play_states(story.lockstep, story.start, story.line, trace=False)):
        if n == max(0, story.line.decisions - 1):
            last = a.clone()
            break
    assert last is not None
    return last


def draw(state: State, language: str, width: int) -> list[str]:
    """Draws the table in plain text; nothing where the game has no view."""
    from .terminal import plain

    lines = board_lines(state, language, width)
    return plain(lines).split("\n") if lines else []


def board_lines(state: State, language: str, width: int) -> list[Line]:
    """Draws the table as styled lines; none where the game has no view, or one that does not fit the rules."""
    from ..grammar.diagnostics import RulesError
    from .board import draw_board
    from .terminal import Look
    from .view import View, ViewError

    try:
        data = state.game.view()
        if data is None:
            return []
        return draw_board(View(state.game, data, strict=False), state, Look(width - 2, 60, language))
    except (RulesError, ViewError):
        return []


# -------------------------------------------------------------------------------------------------- two columns


def _columns(
    a: Sequence[Point], b: Sequence[Point], names: tuple[str, str], width: int, most: int
) -> list[str]:
    half = (width - 5) // 2
    sides = [_column(points, name, half, most) for points, name in ((a, names[0]), (b, names[1]))]
    out = []
    for n in range(max(map(len, sides))):
        cells = [side[n] if n < len(side) else ("", "") for side in sides]
        texts = [_styled(pad(text, half), style) for text, style in cells]
        out.append(f"  {texts[0]} │ {texts[1]}".rstrip())
    return out


def _styled(text: str, style: str) -> str:
    return paint(text, style) if style else text


def _column(points: Sequence[Point], name: str, width: int, most: int) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    if name:
        out += [(line, "bold") for line in _wrapped(name, width)]
    for point in points[:most]:
        place = _shortly(point.span)
        lines = _wrapped(point.text, width)
        if place and columns(lines[-1]) + 2 + len(place) <= width:
            lines[-1] += "  " + place
        elif place:
            lines.append(f"  {place[-width + 2 :]}")
        out += [(line, "") for line in lines]
    if len(points) > most:
        out.append((f"… and {len(points) - most} more", ""))
    return out


def _wrapped(text: str, width: int) -> list[str]:
    """Breaks a text into lines; what has no place to break, such as a path, is cut at its start."""
    return [
        line if columns(line) <= width else f"…{line[1 - width :]}"
        for line in wrap(text, width=width).split("\n")
    ]


def _shortly(span: Span | None) -> str:
    """Writes a place without the folder of its file."""
    return "" if span is None else f"{span.source.name.rsplit('/', 1)[-1]}:{span.line}"


def _ending(told: Told, width: int) -> Iterable[str]:
    out = []
    if told.gains:
        parts = [f"{g.who} {g.a} | {g.b}" + (f" ({g.b - g.a:+})" if g.a != g.b else "") for g in told.gains]
        out.append(f"if it ended now: {', '.join(parts)}")
    if told.because:
        shown = [d.brief() for d in told.because[:3]]
        more = len(told.because) - len(shown)
        out.append(f"because of {'; '.join(shown)}" + (f"; and {more} more" if more else ""))
    return [line for text in out for line in wrap(text, indent="  ", width=width).split("\n")]
