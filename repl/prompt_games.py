"""Commands of the prompt for kept games: listing, taking up, stepping through, telling as a story."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .prompt_commands import _files, command
from .terminal import Line, cut, in_ascii

if TYPE_CHECKING:
    from .desk import Desk, Reply
    from .session import Session


def _kept(desk: Desk, typed: str = "") -> list[tuple[str, str]]:
    from .kept_games import kept_games

    return [(str(n), game.summary(desk.language)) for n, game in enumerate(kept_games(), 1)]


@command("games")
def list_games(desk: Desk, argument: str) -> Reply:
    """Lists the kept games, the latest first."""
    from .desk import Reply
    from .kept_games import kept_games

    lines: list[Line] = []
    for n, game in enumerate(kept_games(), 1):
        here = desk.kept is not None and game.path == desk.kept
        mark = "►" if here else " "
        line: Line = [
            ("dim", f"{mark}{n:>2} "),
            ("move", game.path.stem),
            ("", f"  {game.summary(desk.language)}"),
        ]
        lines.append(cut(line, desk.look.width))
    if not lines:
        return Reply([desk.line("no-kept-games", "dim")])
    return Reply(in_ascii(lines) if desk.look.ascii else lines)


def _path(argument: str) -> Path | None:
    """Finds a kept game by its number in the list or its name, or any file."""
    from .kept_games import kept_games

    games = kept_games()
    if argument.isdigit() and 0 < int(argument) <= len(games):
        return games[int(argument) - 1].path
    named = [g.path for g in games if g.path.stem == argument]
    path = Path(argument).expanduser()
    return named[0] if named else path if path.is_file() else None


@command("resume", "[N]", complete=_kept)
def resume(desk: Desk, argument: str) -> Reply:
    """Leaves this game and goes on with a kept one: by its number in `games`, else the latest other one."""
    from .desk import Reply
    from .holding import let_go
    from .kept_games import kept_games

    others = [g.path for g in kept_games() if g.path != desk.kept]
    path = _path(argument) if argument else (others[0] if others else None)
    if path is None:
        return desk.fail("no-such-game", name=argument) if argument else desk.fail("no-game-to-resume")
    if path == desk.kept:
        return desk.fail("this-game", name=path.stem)
    session = _taken_up(desk, path, go_on=True)
    if not isinstance(session, tuple):
        return session
    if desk.session.recorder is not None:
        desk.session.recorder.close()
    if desk.kept is not None:
        let_go(desk.kept)
    desk.session, desk.kept = session[0], path
    return Reply([desk.line("loaded", file=path.stem)], board=True)


def _taken_up(desk: Desk, path: Path, *, go_on: bool) -> tuple[Session] | Reply:
    from ..grammar.diagnostics import RulesError
    from ..interpreter.errors import PlayError
    from .desk import Reply
    from .seats import SeatError
    from .taking_up import take_up

    try:
        session, _ = take_up(path, go_on=go_on)
    except SeatError as error:
        return desk.fail(error.key, **error.about)
    except (PlayError, RulesError) as error:
        return Reply([[("error", line)] for line in str(error).splitlines()], failed=True)
    except OSError as error:
        return desk.fail("cannot-read", file=str(path), why=error.strerror or str(error))
    return (session,)


# ----------------------------------------------------------------------------------------------------- stepping


@command("replay", "[N]", complete=_kept)
def replay(desk: Desk, argument: str) -> Reply:
    """Steps through this game, or a kept one, as everybody may see it."""
    session = desk.session
    if argument:
        path = _path(argument)
        if path is None:
            return desk.fail("no-such-game", name=argument)
        found = _taken_up(desk, path, go_on=False)
        if not isinstance(found, tuple):
            return found
        session = found[0]
    return _step(desk, session, 0)


def _step(desk: Desk, session: Session, at: int) -> Reply:
    """Shows a moment and asks where to go."""
    from .board import draw_board, stage_of
    from .desk import Reply
    from .telling import write_entry

    last = len(session.moments) - 1
    moment = session.moments[at]
    lines: list[Line] = [
        line
        for entry in moment.entries
        if (line := write_entry(session.view, entry, desk.language, None, ascii=desk.look.ascii)) is not None
    ]
    lines += draw_board(session.view, moment.state, desk.look, names=session.names())
    lines.append([("heading", stage_of(session.view, moment.state, desk.language).says)])

    def answer(text: str) -> Reply:
        wanted = text.strip().casefold()
        if wanted in ("q", "quit", "x", "exit"):
            return Reply([desk.line("replay-over", "dim")])
        if wanted.isdigit():
            return _step(desk, session, min(int(wanted), last))
        if wanted in ("b", "back", "-"):
            return _step(desk, session, max(0, at - 1))
        if not wanted and at < last:
            return _step(desk, session, at + 1)
        if not wanted:
            return Reply([desk.line("replay-over", "dim")])
        refused = desk.line("replay-what", "error", words=text.strip())
        return desk.ask("replay-where", answer, [refused], at=at, last=last)

    return desk.ask("replay-where", answer, lines, at=at, last=last)


# --------------------------------------------------------------------------------------------------------- pace


@command("pace", "[SECONDS]")
def set_pace(desk: Desk, argument: str) -> Reply:
    """Sets how long to wait after each move of a bot, so that it can be watched."""
    from .desk import Reply

    if argument:
        try:
            seconds = float(argument)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds <= 60:
            return desk.fail("pace-how")
        desk.pace = seconds
    return Reply([desk.line("pace-is", seconds=f"{desk.pace:g}")])


def _colours(desk: Desk, typed: str) -> list[tuple[str, str]]:
    from .colours import PLAYERS

    return [(f"{name} {colour}", "") for name in desk.session.names() for colour in PLAYERS]


@command("colour", "NAME COLOUR", "color", complete=_colours)
def set_colour(desk: Desk, argument: str) -> Reply:
    """Gives a player another colour; who had it takes his."""
    from .colours import PLAYERS, colour_of
    from .desk import Reply

    name, _, wanted = argument.rpartition(" ")
    names = [n.casefold() for n in desk.session.names()]
    if name.strip().casefold() not in names or wanted.casefold() not in PLAYERS:
        return desk.fail("colour-how", known=", ".join(PLAYERS))
    player = names.index(name.strip().casefold())
    old, new = colour_of(player, desk.colours), wanted.casefold()
    for other in range(len(names)):
        if other != player and colour_of(other, desk.colours) == new:
            desk.colours[other] = old
    desk.colours[player] = new
    return Reply([[(f"player{player}", desk.session.names()[player]), ("", f"  {new}")]], board=True)


# -------------------------------------------------------------------------------------------------------- story


@command("story", "FILE", complete=_files)
def write_story(desk: Desk, argument: str) -> Reply:
    """Writes the game as a story to read, as everybody may know it, in three languages: FILE.en.md and so on."""
    from ..interpreter.cache import write
    from .desk import Reply
    from .kept_games import story
    from .texts import LANGUAGES

    if not argument:
        return desk.fail("story-where")
    path = Path(argument).expanduser()
    stem = path.name.removesuffix(".md")
    written = []
    try:
        for language in LANGUAGES:
            target = path.with_name(f"{stem}.{language}.md")
            write(target, story(desk.session, language).encode())
            written.append(desk.line("saved", file=str(target)))
    except OSError as error:
        return desk.fail("cannot-write", file=argument, why=error.strerror or str(error))
    return Reply(written)
