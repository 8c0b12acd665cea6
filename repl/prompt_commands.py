"""The commands of the prompt, in a registry that prints the help and completes their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from .terminal import Line, pad, width, wrap
from .texts import LANGUAGES, NAMES, find_language

if TYPE_CHECKING:
    from .choosing import Suggestion
    from .desk import Desk, Reply


class Command(Struct, frozen=True):
    """A command: its name, what it takes, other names, what it does, and what completes its argument."""

    name: str
    takes: str
    aliases: tuple[str, ...]
    run: Callable[[Desk, str], Reply]
    complete: Callable[[Desk, str], list[tuple[str, str]]] | None = None
    listed: bool = True
    """Whether the help tells of it, and the completion suggests it."""


COMMANDS: dict[str, Command] = {}

_MOST_FILES = 500


def command(
    name: str,
    takes: str = "",
    *aliases: str,
    complete: Callable[[Desk, str], list[tuple[str, str]]] | None = None,
) -> Callable[[Callable[[Desk, str], Reply]], Callable[[Desk, str], Reply]]:
    """Registers a command."""

    def register(run: Callable[[Desk, str], Reply]) -> Callable[[Desk, str], Reply]:
        COMMANDS[name] = Command(name, takes, aliases, run, complete)
        return run

    return register


def find_command(
    text: str, commands: Mapping[str, Command], *, shortened: bool = False
) -> tuple[Command, str] | None:
    """Finds the command that a line begins with, and its argument.

    A line that is nothing but the name always finds it; with arguments, or cut short, only if `shortened`.
    """
    folded = text.casefold()
    for c in commands.values():
        for name in (c.name, *c.aliases):
            if folded == name:
                return c, ""
            glued = not name[-1:].isalnum()
            if (shortened or " " in name) and folded.startswith(name if glued else f"{name} "):
                return c, text[len(name) :].strip()
    if not shortened or not text:
        return None
    word, _, rest = text.partition(" ")
    found = [c for c in commands.values() if c.name.startswith(word.casefold())]
    if len(found) != 1 or len(word) < 2 or (rest and not found[0].takes):
        return None
    return found[0], rest.strip()


def suggest_arguments(desk: Desk, text: str) -> list[Suggestion] | None:
    """Completes the argument of a command; None while the command itself is being typed."""
    from .choosing import Suggestion, fuzzy

    text = text.removeprefix("/")
    for c in sorted(desk.commands.values(), key=lambda c: -len(c.name)):
        for name in (c.name, *c.aliases):
            if text.casefold().startswith(f"{name} "):
                if c.complete is None:
                    return []
                typed = text[len(name) + 1 :].lstrip()
                ranked = [
                    (rank, s)
                    for s in c.complete(desk, typed)
                    if (rank := fuzzy(typed.casefold(), s[0])) is not None
                ]
                return [Suggestion(s[0], len(typed), s[1]) for _, s in sorted(ranked, key=lambda r: r[0])]
    return None


def _reply(lines: Sequence[Line]) -> Reply:
    from .desk import Reply

    return Reply(list(lines))


# ---------------------------------------------------------------------------------------------------- looking


@command("help", "", "?")
def show_help(desk: Desk, argument: str) -> Reply:
    """Explains the prompt and lists the commands."""
    listed = [c for c in desk.commands.values() if c.listed]
    head = {c.name: f"{c.name} {c.takes}".strip() for c in listed}
    widest = max(width(h) for h in head.values())
    lines = [*wrap(desk.line("help-intro"), desk.look.width)]
    indent = min(widest + 4, desk.look.width // 2)
    for c in listed:
        says = desk.t(f"help-{c.name.replace(' ', '-')}")
        lines += wrap([("move", f"  {pad(head[c.name], widest)}  "), ("", says)], desk.look.width, indent)
    return _reply(lines)


@command("moves", "", "m")
def show_moves(desk: Desk, argument: str) -> Reply:
    """Lists the moves by number."""
    items = desk.menu()
    if not items:
        return desk.fail("game-is-over" if desk.session.is_over else "no-moves")
    return _reply([desk.status(), *desk.list_items(items)])


def _pictures(desk: Desk, typed: str) -> list[tuple[str, str]]:
    option, space, path = typed.partition(" ")
    if not space:
        return [("--svg ", ""), ("--png ", "")]
    return [(f"{option} {found}", meaning) for found, meaning in _files(desk, path.strip())]


@command("board", "[--svg FILE] [--png FILE]", complete=_pictures)
def show_board(desk: Desk, argument: str) -> Reply:
    """Shows the board, or writes it to a file as a picture; a picture never shows a hand."""
    words = argument.split()
    dark = "--dark" in words
    words = [w for w in words if w != "--dark"]
    if not argument:
        return _reply([*desk.board(), desk.status()])
    if len(words) < 2 or words[0] not in ("--svg", "--png"):
        return desk.fail("board-how")
    from ..interpreter.cache import write
    from .pictures import MissingFont, MissingLibrary, to_png, to_svg

    path = Path(" ".join(words[1:])).expanduser()
    lines = [*desk.board(hand=False), [], desk.status()]
    svg = to_svg(lines, language=desk.language, dark=dark, colours=desk.colours)
    try:
        write(path, svg.encode() if words[0] == "--svg" else to_png(svg))
    except MissingLibrary:
        return desk.fail("picture-needs")
    except MissingFont:
        return desk.fail("picture-needs-font")
    except OSError as error:
        return desk.fail("cannot-write", file=str(path), why=error.strerror or str(error))
    return _reply([desk.line("saved", file=str(path))])


def _people(desk: Desk, typed: str) -> list[tuple[str, str]]:
    return [(desk.session.seats[p].name, "") for p in desk.people]


@command("hand", "[NAME]", complete=_people)
def show_hand(desk: Desk, argument: str) -> Reply:
    """Shows the secret hand of a person: the one named, who plays alone, or whose turn it is."""
    from .board import draw_hands

    session = desk.session
    player = desk.viewer if desk.viewer is not None else desk.turn
    if argument:
        named = [p for p in desk.people if session.seats[p].name.casefold() == argument.casefold()]
        if not named:
            others = [seat.name for seat in session.seats if seat.name.casefold() == argument.casefold()]
            return desk.fail("not-your-hand" if others else "no-such-person", name=(*others, argument)[0])
        player = named[0]
    if player is None:
        return desk.fail("no-hand")
    lines = draw_hands(session.view, session.state, desk.look, player, session.names())
    reply = _reply([desk.line("hand-of", "heading", name=session.seats[player].name), *lines])
    if not lines:
        return desk.fail("no-hand")
    if desk.concealed and player == desk.turn:
        secret = [o for o in desk.options() if o.secret]
        from .choosing import Item

        reply.lines += desk.list_items([Item(o.words, o.meaning, (o,)) for o in secret], numbered=False)
    reply.private, reply.whose = desk.concealed, player
    return reply


@command("log", "[N]")
def show_log(desk: Desk, argument: str) -> Reply:
    """Shows what happened, the last N lines or all."""
    from .telling import write_entry

    session = desk.session
    told = [session]
    while told[0].earlier is not None:
        told.insert(0, told[0].earlier)
    if argument and not argument.isdecimal():
        return desk.fail("log-how-many", words=argument)
    lines = [
        line
        for part in told
        for entry in part.log()
        if (line := write_entry(part.view, entry, desk.language, desk.viewer, ascii=desk.look.ascii))
        is not None
    ]
    if argument.isdecimal():
        lines = lines[-int(argument) :] if int(argument) else []
    return _reply(lines or [desk.line("nothing-yet", "dim")])


# ---------------------------------------------------------------------------------------------------- why not


def _complete_moves(desk: Desk, typed: str) -> list[tuple[str, str]]:
    return [(o.words, o.meaning) for o in desk.options() if not (desk.concealed and o.secret)]


@command("why not", "MOVE", "why", complete=_complete_moves)
def why_not(desk: Desk, argument: str) -> Reply:
    """Tells why a move may not be made, with the rule's line."""
    from .choosing import Option, read_option
    from .desk import Reply

    if not argument:
        return desk.fail("why-not-what")
    if desk.session.is_over:
        return desk.fail("game-is-over")
    listed = [o for o in desk.options() if not (desk.concealed and o.secret)]
    found = read_option(argument, listed)
    if isinstance(found, Option):
        argument = found.words
    else:
        parsed = desk.parse(argument)
        if isinstance(parsed, Reply):
            return parsed
        if parsed is None:
            return desk.unclear(argument)
    reply = _reply([desk.line("it-is-allowed", words=argument)])
    reply.private = desk.concealed and desk.touches_secrets(argument)
    return reply


@command("rules", "[NAME]", "rule", complete=lambda desk, typed: _rule_names(desk))
def show_rules(desk: Desk, argument: str) -> Reply:
    """Shows a rule's own text; without a name, the rule that asks now."""
    from .rule_text import show_definition

    decision = desk.session.state.decision
    name = argument or (decision.rule if decision is not None else "")
    if not name:
        return desk.fail("rules-what")
    lines = show_definition(desk.session, name, desk.language)
    if lines is None:
        from ..grammar.diagnostics import nearest

        near = nearest(name, [n for n, _ in _rule_names(desk)])
        return desk.fail("no-rule-near", name=name, near=near) if near else desk.fail("no-rule", name=name)
    return _reply(lines)


def _rule_names(desk: Desk) -> list[tuple[str, str]]:
    from .rule_text import definition_names

    return definition_names(desk.session.game)


# --------------------------------------------------------------------------------------------- back and forth


@command("undo", "[N]")
def undo(desk: Desk, argument: str) -> Reply:
    """Takes back the last N choices of people; past a draw, the table is asked and chance deals anew."""
    from .desk import Reply

    session = desk.session
    if argument and not (argument.isdecimal() and int(argument) > 0):
        return desk.fail("undo-how-many", words=argument)
    steps = int(argument or 1)
    to = session.undo_target(steps)
    if to is None and session.earlier is not None:
        desk.session = session.earlier
        recorder = desk.session.recorder
        desk.kept = Path(recorder.path) if recorder is not None and recorder.path is not None else None
        return Reply([desk.line("old-rules-again", "note")], board=True)
    if to is None:
        count = session.choices_to_undo()
        return desk.fail("undo-fewer", count=count) if count else desk.fail("nothing-to-undo")

    def go() -> Reply:
        session.go_back(to)
        return Reply([desk.line("taken-back", "note"), *desk.news()], board=True)

    if not session.draws_since(to):
        return go()

    def answer(text: str) -> Reply:
        if text.strip().casefold() in desk.t("yes-words").split():
            return go()
        return _reply([desk.line("not-taken-back", "dim")])

    return desk.ask("undo-past-a-draw", answer)


@command("redo")
def redo(desk: Desk, argument: str) -> Reply:
    """Takes back an undo."""
    from .desk import Reply

    to = desk.session.redo_target()
    if to is None:
        return desk.fail("nothing-to-redo")
    desk.session.go_forward(to)
    return Reply(desk.news(), board=True)


# ------------------------------------------------------------------------------------------------------ files


def _files(desk: Desk, typed: str) -> list[tuple[str, str]]:
    """Completes the path of a file: what lies in its folder, folders first."""
    folder, _, _ = typed.rpartition("/")
    shown = f"{folder}/" if folder or typed.startswith("/") else ""
    try:
        found = sorted(
            (p for p in Path(shown or ".").expanduser().iterdir() if not p.name.startswith(".")),
            key=lambda p: (not p.is_dir(), p.name),
        )
        return [(f"{shown}{p.name}{'/' if p.is_dir() else ''}", "") for p in found[:_MOST_FILES]]
    except OSError:
        return []


@command("save", "FILE", complete=_files)
def save_game(desk: Desk, argument: str) -> Reply:
    """Writes the game to a file."""
    from .taking_up import save

    if not argument:
        return desk.fail("save-where")
    if desk.session.recorder is None:
        return desk.fail("no-record")
    try:
        save(desk.session, desk.language, Path(argument).expanduser())
    except OSError as error:
        return desk.fail("cannot-write", file=argument, why=error.strerror or str(error))
    return _reply([desk.line("saved", file=argument)])


@command("load", "FILE", complete=_files)
def load_game(desk: Desk, argument: str) -> Reply:
    """Goes on with a game from a file; the file itself stays as it is."""
    from ..grammar.diagnostics import RulesError
    from ..interpreter.errors import PlayError
    from .desk import Reply
    from .holding import let_go
    from .seats import SeatError
    from .taking_up import copy_record, take_up

    if not argument:
        return desk.fail("load-what")
    path = Path(argument).expanduser()
    try:
        session, _ = take_up(path, go_on=False)
        kept = copy_record(session, desk.language) if desk.kept is not None else None
    except SeatError as error:
        return desk.fail(error.key, **error.about)
    except (PlayError, RulesError) as error:
        return Reply([[("error", line)] for line in str(error).splitlines()], failed=True)
    except OSError as error:
        return desk.fail("cannot-read", file=argument, why=error.strerror or str(error))
    if desk.kept is not None:
        let_go(desk.kept)
    desk.session, desk.kept = session, kept
    return Reply([desk.line("loaded", file=argument)], board=True)


# ----------------------------------------------------------------------------------------------------- others


@command("lang", "LANGUAGE", complete=lambda desk, typed: [(code, NAMES[code]) for code in LANGUAGES])
def change_language(desk: Desk, argument: str) -> Reply:
    """Changes the language."""
    from .desk import Reply

    found = find_language(argument) if argument else None
    if found is None:
        return desk.fail("which-language", known=", ".join(f"{c} ({NAMES[c]})" for c in LANGUAGES))
    desk.speak(found)
    return Reply([desk.line("language-is", "dim", language=NAMES[found])], board=True)


@command("quit", "", "exit", "q")
def quit_game(desk: Desk, argument: str) -> Reply:
    """Leaves; the game is kept."""
    from .desk import Reply

    return Reply(quit=True)


from . import prompt_games, prompt_rules, prompt_thinking  # noqa: E402  # they register their commands

__all__ = [
    "COMMANDS",
    "Command",
    "command",
    "find_command",
    "prompt_games",
    "prompt_rules",
    "prompt_thinking",
]
