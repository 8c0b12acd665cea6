"""Commands of the prompt about the rules: open questions, variants, other readings in mid-game, edited files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .prompt_commands import command
from .terminal import Line, pad, width, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..interpreter.game import Game
    from ..interpreter.ruleset import Question
    from .desk import Desk, Reply


def _in(words: dict[str, str], language: str) -> str:
    return words.get(language) or words.get("en") or next(iter(words.values()), "")


def _questions(desk: Desk) -> dict[str, Question]:
    found: dict[str, Question] = desk.session.game.checked().rules.questions
    return found


def _find_question(desk: Desk, name: str) -> Question | Reply:
    questions = _questions(desk)
    wanted = name.replace("_", "-").replace(" ", "-").casefold()
    begins = [q for n, q in questions.items() if n.startswith(wanted)]
    if wanted in questions:
        return questions[wanted]
    if len(begins) == 1:
        return begins[0]
    from ..grammar.diagnostics import nearest

    near = nearest(wanted, questions)
    if near:
        return desk.fail("no-question-near", name=name, near=near)
    return desk.fail("no-question", name=name)


def _question_names(desk: Desk, typed: str) -> list[tuple[str, str]]:
    return [(n, _in(q.asks, desk.language)) for n, q in _questions(desk).items()]


@command("questions", "[NAME]", complete=_question_names)
def show_questions(desk: Desk, argument: str) -> Reply:
    """Lists the open questions that arise here with the reading that holds, or tells all about one."""
    from .desk import Reply

    columns = desk.look.width
    if argument:
        question = _find_question(desk, argument)
        if isinstance(question, Reply):
            return question
        lines: list[Line] = [[("heading", question.name), ("dim", f"   {question.span}")]]
        lines += wrap([("", _in(question.asks, desk.language))], columns, 2)
        for reading in question.readings.values():
            holds = reading.name == question.chosen
            says = _in(reading.says, desk.language)
            lines += wrap(
                [
                    ("heading" if holds else "move", f"{'*' if holds else ' '} {reading.name}"),
                    ("", f"  {says}"),
                ],
                columns,
                4,
            )
            if reading.sources:
                lines += wrap([("dim", f"    {', '.join(reading.sources)}")], columns, 4)
        return Reply(lines)
    arising = desk.session.game.checked().rules.arising()
    if not arising:
        return Reply([desk.line("no-questions", "dim")])
    lines = []
    for question in arising:
        lines += wrap(
            [
                ("move", question.name),
                ("", " = "),
                ("heading", question.chosen),
                ("dim", f"  {_in(question.asks, desk.language)}"),
            ],
            columns,
            4,
        )
    return Reply(lines)


@command("variants")
def show_variants(desk: Desk, argument: str) -> Reply:
    """Lists the game's variants; those that hold here are marked."""
    from ..interpreter.load import available_variants
    from .commands.variants import _overlay, _said
    from .desk import Reply

    game = desk.session.game.name.split("+")[0]
    chosen = desk.session.game.checked().rules.variants
    overlays = [_overlay(game, name) for name in available_variants(game)]
    if not overlays:
        return Reply([desk.line("no-variants", "dim")])
    widest = max(width(o.name) for o in overlays)
    lines: list[Line] = []
    for overlay in overlays:
        mark = "*" if overlay.name in chosen else " "
        says = _said(overlay, "says", desk.language) or _said(overlay, "title", desk.language)
        lines += wrap(
            [("move", f"{mark} {pad(overlay.name, widest)}"), ("", f"  {says}")], desk.look.width, 4
        )
    return Reply(lines)


# ------------------------------------------------------------------------------------------------ other rules


def _readings(desk: Desk, typed: str) -> list[tuple[str, str]]:
    out = []
    for name, question in _questions(desk).items():
        if typed.startswith(name) or not typed or name.startswith(typed.partition(" ")[0]):
            out += [
                (f"{name} {r.name}", _in(r.says, desk.language))
                for r in question.readings.values()
                if r.name != question.chosen
            ]
    return out


@command("switch", "QUESTION READING", complete=_readings)
def switch_reading(desk: Desk, argument: str) -> Reply:
    """Goes on under another reading: keeps the position where it fits, else plays the choices again."""
    from .changing import load_with
    from .desk import Reply

    words = argument.replace("=", " ").split()
    if not words:
        return desk.fail("switch-what")
    question = _find_question(desk, words[0])
    if isinstance(question, Reply):
        return question
    known = ", ".join(r for r in question.readings if r != question.chosen)
    if len(words) != 2:
        return desk.fail("switch-to-what", name=question.name, known=known)
    wanted = words[1].replace("_", "-")
    found = [r for r in question.readings if r == wanted] or [
        r for r in question.readings if r.startswith(wanted)
    ]
    if len(found) != 1:
        return desk.fail("no-reading", name=question.name, reading=words[1], known=known)
    if found[0] == question.chosen:
        return desk.fail("holds-already", name=question.name, reading=found[0])
    said = f"{question.name} = {found[0]}"
    return _go_on(desk, lambda: load_with(desk.session, question.name, found[0]), said)


@command("reload")
def reload_rules(desk: Desk, argument: str) -> Reply:
    """Reads the rule files again; keeps the position where it fits, else plays the choices again."""
    from .changing import load_anew

    return _go_on(desk, lambda: load_anew(desk.session), "")


def _go_on(desk: Desk, load: Callable[[], Game], said: str) -> Reply:
    from ..grammar.diagnostics import RulesError
    from ..interpreter.errors import PlayError
    from .carrying import Misfit
    from .changing import change_rules, take_over
    from .desk import Reply

    session = desk.session
    try:
        game = load()
        if not said and game.content_hash == session.game.content_hash:
            return Reply([desk.line("nothing-changed", "dim")])
        change = change_rules(session, game)
    except Misfit as misfit:
        why = desk.t(misfit.key, **misfit.about)
        return desk.fail("rules-do-not-fit", why=why)
    except (RulesError, PlayError) as error:
        return Reply([[("error", line)] for line in str(error).splitlines()], failed=True)
    decided = session.moments[0].by_human or session.at > 0

    def go() -> Reply:
        take_over(desk, change)
        desk.session.note("switched" if said else "reloaded", rules=said or game.canonical)
        lines = [desk.line(f"goes-on-{change.how}", "note")]
        if desk.session.recorder is None:
            lines.append(desk.line("goes-on-unrecorded", "dim"))
        return Reply([*desk.news(), *lines], board=True)

    if change.how != "again-otherwise" or not decided:
        return go()

    def answer(text: str) -> Reply:
        if text.strip().casefold() in desk.t("yes-words").split():
            return go()
        return Reply([desk.line("not-taken-back", "dim")])

    return desk.ask("ask-again-otherwise", answer)
