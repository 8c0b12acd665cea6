"""The kept games as a list, and a game as a story."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from .session import Session
from .taking_up import SUFFIX, games_folder
from .telling import write_entry
from .terminal import plain
from .texts import say


class KeptGame(Struct, frozen=True):
    """A kept game as its record tells at a glance."""

    path: Path
    rules: str
    names: tuple[str, ...]
    choices: int
    over: bool

    def summary(self, language: str) -> str:
        """Tells it in a line."""
        when = f"{datetime.fromtimestamp(self.path.stat().st_mtime):%Y-%m-%d %H:%M}"
        key = "kept-game-over" if self.over else "kept-game"
        return say(
            language, key, when=when, rules=self.rules, names=", ".join(self.names), choices=self.choices
        )


def kept_games() -> list[KeptGame]:
    """Lists the games of the user's folder, the latest first; what is no record is left out."""
    from ..interpreter.errors import PlayError
    from ..interpreter.record_files import End, read_record

    folder = games_folder()
    if not folder.is_dir():
        return []
    out = []
    for path in sorted(folder.glob(f"*{SUFFIX}"), key=lambda p: (-p.stat().st_mtime_ns, p.name)):
        try:
            record = read_record(path)
        except (PlayError, OSError):
            continue
        over = bool(record.items) and isinstance(record.items[-1], End)
        out.append(KeptGame(path, record.rules, record.names, len(record.choices()), over))
    return out


def story(session: Session, language: str) -> str:
    """Writes a game as Markdown: who played, what happened as everybody may know it, who won."""
    return "\n".join(_story(session, language)).rstrip() + "\n"


def _story(session: Session, language: str) -> Iterator[str]:
    title = session.game.compiled.title
    yield f"# {title.get(language) or title['en']}"
    yield ""
    names = ("、" if language != "en" else ", ").join(session.names())
    yield say(language, "story-head", rules=session.game.canonical, names=names)
    if session.earlier is not None:
        yield ""
        yield from _told(session.earlier, language)
    yield ""
    yield from _told(session, language)
    yield ""
    if not session.is_over:
        yield say(language, "story-open")
        return
    state = session.state
    scores, winners = state.scores(), state.winners()
    yield f"**{say(language, 'results')}**"
    yield ""
    for p in sorted(range(len(scores)), key=lambda p: (p not in winners, -scores[p])):
        yield f"- {'★ ' if p in winners else ''}{session.names()[p]}: {scores[p]}"


def _told(session: Session, language: str) -> Iterator[str]:
    """Writes the log: headings as headings, choices as points, what comes of them below."""
    for entry in session.log():
        line = write_entry(session.view, entry, language, None)
        if line is None:
            continue
        text = plain([line]).strip()
        if not text:
            continue
        if any(style == "heading" for style, _ in line):
            yield ""
            yield f"## {text.strip('— ')}"
            yield ""
        elif entry.kind == "choice":
            yield f"- {text}"
        else:
            yield f"  - {text}"
