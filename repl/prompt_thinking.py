"""Commands of the prompt for thinking: what if, another reading here, chances, hints, going to and fro."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .prompt_commands import command
from .prompt_rules import _find_question, _question_names
from .terminal import Line, in_ascii, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..interpreter.comparing.matching import Match
    from ..interpreter.game import Game, State
    from .choosing import Option
    from .desk import Desk, Reply


def _moves(desk: Desk, typed: str) -> list[tuple[str, str]]:
    return [(o.words, o.meaning) for o in desk.options() if not (desk.concealed and o.secret)]


def _option(desk: Desk, argument: str) -> Option | Reply:
    """Finds the move that words or a number mean, or tells why there is none."""
    from .choosing import Option, read_option
    from .desk import Reply

    if desk.session.is_over:
        return desk.fail("game-is-over")
    listed = [o for o in desk.options() if not (desk.concealed and o.secret)]
    if argument.isdigit() and 0 < int(argument) <= len(desk.menu()):
        item = desk.menu()[int(argument) - 1]
        if item.option is not None and item.option in listed:
            return item.option
    found = read_option(argument, listed)
    if isinstance(found, Option):
        return found
    parsed = desk.parse(argument)
    if isinstance(parsed, Option) and desk.concealed and desk.touches_secrets(argument):
        return desk.fail("not-before-others")
    if isinstance(parsed, Option | Reply):
        return parsed
    return desk.unclear(argument)


@command("what if", "MOVE", complete=_moves)
def what_if(desk: Desk, argument: str) -> Reply:
    """Shows the board and what would change after a move; the game stays where it is."""
    from ..interpreter.errors import PlayError
    from .board import draw_board
    from .desk import Reply
    from .knowing import Hidden, alike
    from .telling import tell_events, write_entry
    from .texts import LANGUAGES

    if not argument:
        return desk.fail("what-if-what")
    option = _option(desk, argument)
    if isinstance(option, Reply):
        return option
    if option.open:
        return desk.fail("write-the-rest", words=option.words)
    session = desk.session
    if session.state.is_simultaneous_node():
        return desk.fail("what-if-secret")  # the last to choose would see what the others chose

    def show(state: State) -> list[Line]:
        state.apply_action(option.action, option.player)
        if _reveals(state, desk.viewer):
            raise Hidden
        lines: list[Line] = [desk.line("what-if", "note", words=option.words)]
        for entry in tell_events(session.view, state, state.events, LANGUAGES):
            line = write_entry(session.view, entry, desk.language, desk.viewer, ascii=desk.look.ascii)
            if line is not None:
                lines.append(line)
        hand_of = desk.viewer if state.stop else None
        lines += draw_board(session.view, state, desk.look, names=session.names(), hand_of=hand_of)
        return [*lines, _then(desk, state), desk.line("what-if-over", "dim")]

    try:
        return Reply(alike(desk.positions(), show))
    except Hidden:
        return desk.fail("what-if-secret")
    except PlayError as error:
        return desk.broken(error)


def _reveals(state: State, viewer: int | None) -> bool:
    """Tests if what just happened moved anything that this viewer may not see: he could tell what it was."""
    variables = state.game.program.variables
    for event in state.events:
        if event.kind == "change":
            v = variables[event.variable]
            own = v.visibility == "index" and event.indices[:1] == (viewer,)
            if v.visibility != "all" and not own:
                return True
    return False


def _then(desk: Desk, state: State) -> Line:
    """Tells what would come next."""
    if state.is_chance_node():
        return desk.line("then-chance", "heading")
    if state.is_terminal():
        return desk.line("game-over", "heading")
    from .board import acting, stage_of

    names = ", ".join(desk.session.seats[p].name for p in acting(state) if p >= 0)
    return [
        ("", names),
        ("", desk.t("colon")),
        ("heading", stage_of(desk.session.view, state, desk.language).says),
    ]


# ---------------------------------------------------------------------------------------------- other readings


@command("compare here", "QUESTION", complete=_question_names)
def compare_here(desk: Desk, argument: str) -> Reply:
    """Tells what would be otherwise at this very position under each other reading of a question."""
    from ..grammar.diagnostics import RulesError
    from .carrying import Misfit
    from .changing import load_with
    from .desk import Reply
    from .knowing import Hidden, alike

    if not argument:
        return desk.fail("compare-what")
    question = _find_question(desk, argument)
    if isinstance(question, Reply):
        return question
    positions = desk.positions()
    lines: list[Line] = [[("heading", question.name), ("", f" = {question.chosen}")]]
    for reading in question.readings.values():
        if reading.name == question.chosen:
            continue
        lines.append([("heading", f"  {reading.name}")])
        try:
            game = load_with(desk.session, question.name, reading.name)
            game.compiled.player_names = tuple(desk.session.names())
            game.labels(desk.language).players = tuple(desk.session.names())
            found = alike(positions, partial(_carried_differences, desk, game))
        except Misfit as misfit:
            lines.append([("", "    "), ("error", desk.t(misfit.key, **misfit.about))])
            continue
        except RulesError as error:
            lines += [[("error", f"    {text}")] for text in str(error).splitlines()]
            continue
        except Hidden:
            lines.append([("", "    "), ("error", desk.t("what-if-secret"))])
            continue
        for line in found or [desk.line("no-difference-here", "dim")]:
            lines += wrap([("", "    "), *line], desk.look.width, 6)
    return Reply(in_ascii(lines) if desk.look.ascii else lines)


def _carried_differences(desk: Desk, game: Game, state: State) -> list[Line]:
    from .carrying import carry

    return _differences(desk, state, carry(state, game))


def _differences(desk: Desk, a: State, b: State) -> list[Line]:
    """Finds the options that one of two equal positions has more, and those that mean or lead to another thing."""
    from ..interpreter.comparing.matching import Match

    match = Match(a.game, b.game)
    n = a.game.program.actions
    language = desk.language
    waiting = desk.waiting()
    open_ = [x for x in a.legal_actions() if not _secret(a, x)] if desk.concealed else a.legal_actions()
    mine = [x for x in open_ if a.actor(x) in waiting or a.actor(x) < 0 or not waiting]
    theirs = {x for x in b.legal_actions() if not desk.concealed or not _secret(b, x)}
    out: list[Line] = []
    if desk.concealed:
        publics = [
            {
                s.describe(x % s.game.program.actions, s.actor(x), language, viewer=-1)
                for x in s.legal_actions()
                if _secret(s, x) and s.actor(x) in waiting
            }
            for s in (a, b)
        ]
        out += [[("error", "− "), ("move", w)] for w in sorted(publics[0] - publics[1])]
        out += [[("string", "+ "), ("move", w)] for w in sorted(publics[1] - publics[0])]
    shared: dict[int, int] = {}
    gone: dict[str, list[str]] = {}
    come: dict[str, list[str]] = {}
    for action in mine:
        other = match.to_b(action)
        words = a.describe(action % n, a.actor(action), language)
        if other in theirs:
            shared[action] = other
            continue
        refusal = None
        if other >= 0:
            refusal = b.why_not(other % b.game.program.actions, None, language)
        why = (
            f": {refusal.reason} ({refusal.span})" if refusal is not None and refusal.span is not None else ""
        )
        gone.setdefault(f"{a.decode(action)[0].name}{why}", []).append(f"{words}{why}")
    known = {match.to_b(x) for x in a.legal_actions()}
    for other in b.legal_actions():
        if other in theirs and other not in known and (b.actor(other) in waiting or not waiting):
            m = b.game.program.actions
            words = b.describe(other % m, b.actor(other), language)
            meaning = b._text(b.decode(other)[0].means, b.actor(other), b.decode(other)[1], language)
            come.setdefault(b.decode(other)[0].name, []).append(f"{words}  {meaning}".rstrip())
    out += [[("error", "− "), ("", text)] for texts in gone.values() for text in _few(texts)]
    out += [[("string", "+ "), ("", text)] for texts in come.values() for text in _few(texts)]
    for action, other in shared.items():
        told = _leads_elsewhere(a, b, action, other, match, language)
        if told:
            words = a.describe(action % n, a.actor(action), language)
            out.append([("number", "≠ "), ("move", words), ("", f"  {told}")])
    most = 20
    return out if len(out) <= most else [*out[:most], desk.line("and-more", "dim", count=len(out) - most)]


def _few(texts: list[str]) -> list[str]:
    """Shortens a list of moves of one kind to its first and its last."""
    return texts if len(texts) <= 4 else [texts[0], "…", texts[-1]]


def _secret(state: State, action: int) -> bool:
    move = state.decode(action)[0]
    return move.shows is not None or any(move.secret)


def _leads_elsewhere(a: State, b: State, action: int, other: int, match: Match, language: str) -> str:
    """Tells how a move comes out otherwise under two rules, in what everybody may see."""
    from ..interpreter.errors import PlayError

    if a.is_simultaneous_node():
        return ""
    after = []
    for state, chosen in ((a, action), (b, other)):
        copy = state.clone()
        copy.streams = None
        try:
            copy.apply_action(chosen)
        except PlayError as error:
            return error.message
        if _reveals(copy, None):
            return ""
        after.append(copy)
    told = []
    for e in match.differing(after[0].position, after[1].position):
        v = a.game.program.variables[e.variable]
        if v.visibility != "all":
            continue
        labels = a.game.labels(language)
        at = ", ".join(labels.value(i, d[0]) for i, d in zip(e.indices, v.dims, strict=False))
        one = labels.value(after[0].position[e.slot_a], v.type) if v.width == 1 else "…"
        w = b.game.program.variables[e.variable]
        two = b.game.labels(language).value(after[1].position[e.slot_b], w.type) if w.width == 1 else "…"
        told.append(f"{e.variable}{f'[{at}]' if at else ''}: {one} | {two}")
    return "; ".join(told[:3]) + (" …" if len(told) > 3 else "")


# ---------------------------------------------------------------------------------------------------- chances


@command("odds")
def show_odds(desk: Desk, argument: str) -> Reply:
    """Tells the exact chances that the game's view asks for, given what is known now."""
    from ..interpreter.errors import PlayError
    from .desk import Reply
    from .knowing import Hidden, alike
    from .odds_tables import draw_odds, odds_tables

    tables = odds_tables(desk.session.view)
    if not tables:
        return desk.fail("no-odds")
    if desk.session.is_over:
        return desk.fail("game-is-over")

    def show(state: State) -> list[Line]:
        return [line for t in tables for line in draw_odds(t, state, desk.look)]

    try:
        lines = alike(desk.positions(), show)
    except Hidden:
        return desk.fail("what-if-secret")
    except PlayError as error:
        return desk.fail("odds-fail", why=error.message)
    return Reply(lines or [desk.line("no-odds-now", "dim")])


# ------------------------------------------------------------------------------------------------------ hints


@command("hint", "[BOT]")
def hint(desk: Desk, argument: str) -> Reply:
    """Tells what a bot would do, who sees no more than the player."""
    from .thinking import MissingBots, advise

    return _thought(desk, lambda player: advise(desk, player, argument), MissingBots)


@command("value", "[MOVE]", complete=_moves)
def value(desk: Desk, argument: str) -> Reply:
    """Tells what a move is worth, or each move: the mean result of games played on from there, with its interval."""
    from .desk import Reply
    from .thinking import MissingBots, worth

    if not argument:
        return _thought(desk, lambda player: worth(desk, player, None), MissingBots)
    option = _option(desk, argument)
    if isinstance(option, Reply):
        return option
    if option.open:
        return desk.fail("write-the-rest", words=option.words)
    return _thought(desk, lambda player: worth(desk, player, option), MissingBots)


def _thought(desk: Desk, think: Callable[[int], list[Line]], missing: type[Exception]) -> Reply:
    from .desk import Reply

    player = desk.turn
    if player is None:
        return desk.fail("game-is-over" if desk.session.is_over else "no-moves")
    try:
        lines = think(player)
    except missing as error:
        return desk.fail("no-thinking-bots", why=str(error))
    except KeyboardInterrupt:
        return desk.fail("interrupted")
    return Reply(lines, private=desk.concealed)


# --------------------------------------------------------------------------------------------- to and fro


@command("goto", "[N]")
def go_to(desk: Desk, argument: str) -> Reply:
    """Goes to the position after choice N (0 is the start); like `undo`, it asks past a deal or a roll."""
    from .desk import Reply

    session = desk.session
    last = len(session.moments) - 1
    if not argument.isdigit() or int(argument) > last:
        return desk.fail("goto-where", at=session.at, last=last)
    to = int(argument)
    if to == session.at:
        return Reply([desk.line("here-already", "dim", at=to)])

    def go() -> Reply:
        if to > session.at:
            session.go_forward(to)
        else:
            session.go_back(to)
        return Reply([desk.line("now-at", "note", at=session.at), *desk.news()], board=True)

    if to > session.at or not session.draws_since(to):
        return go()

    def answer(text: str) -> Reply:
        if text.strip().casefold() in desk.t("yes-words").split():
            return go()
        return Reply([desk.line("not-taken-back", "dim")])

    return desk.ask("undo-past-a-draw", answer)


@command("branch")
def branch(desk: Desk, argument: str) -> Reply:
    """Goes on in a copy of the game; the game so far stays among the kept games."""
    from .desk import Reply
    from .holding import let_go
    from .taking_up import copy_record

    if desk.session.recorder is None or desk.kept is None:
        return desk.fail("branch-unkept")
    old = desk.kept
    try:
        desk.kept = copy_record(desk.session, desk.language)
    except OSError as error:
        return desk.fail("cannot-write", file=str(old.parent), why=error.strerror or str(error))
    let_go(old)
    return Reply([desk.line("branched", "note", old=old.stem, new=desk.kept.stem)])
