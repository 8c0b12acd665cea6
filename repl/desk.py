"""The desk: a session with a language and a size, that answers lines of text. No terminal is needed.

`run_line(desk, text)` does what a line says and gives the answer; `suggest` completes a line; `is_complete`
tells whether a line can be handed in. A line is a move, a number of the menu, or a command. Answers that
only one person may read are marked private: the shell shows them on a screen of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from ..grammar.diagnostics import nearest
from ..grammar.span import Span
from ..interpreter.errors import BrokenRule, IllegalMove, PlayError, UnclearMove
from .board import acting, draw_board, stage_of
from .choosing import Item, Option, Suggestion, menu, options, read_option, suggest_options
from .knowing import possible
from .prompt_commands import COMMANDS, Command, find_command, suggest_arguments
from .session import Session
from .telling import Entry, write_entry
from .terminal import Line, Look, in_ascii
from .texts import say

if TYPE_CHECKING:
    from ..interpreter.game import State


class Reply(Struct):
    """The answer to a line: what to show, to whom, and what comes next."""

    lines: list[Line] = field(default_factory=list)
    private: bool = False
    quit: bool = False
    board: bool = False
    """Whether the position changed, so that the board is worth drawing again."""
    fill: str = ""
    """What the next line begins with."""
    failed: bool = False
    whose: int | None = None
    """For whose eyes a private answer is; of him who is to act if None."""
    work: Callable[[], Reply] | None = None
    """What gives the answer, where it takes time: to be called where nobody has to wait for it."""


Pending = Callable[[str], Reply]
_LONGEST_COMPLETED = 300
"""How long a line may be that is completed."""


class Desk:
    """What the prompt works on."""

    def __init__(self, session: Session, look: Look, *, kept: Path | None = None) -> None:
        self.session = session
        self.look = look
        self.colours: dict[int, str] = {}
        """The colours that players chose, by seat."""
        self.pace = 0.0
        """How many seconds to wait after each move of a bot."""
        self.kept = kept
        """Where the game is kept, if it is."""
        self.pending: Pending | None = None
        self.question: str = ""
        """What is asked while something is pending."""
        self.opened: Item | None = None
        """The head that was opened last; numbers and words that follow at once are taken as its rest."""
        self._options: tuple[object, str, list[Option]] | None = None
        self._board: tuple[object, list[Line]] | None = None

    # -------------------------------------------------------------------------------------------------- words

    @property
    def language(self) -> str:
        """The language at hand."""
        return self.look.language

    def speak(self, language: str) -> None:
        """Changes the language."""
        self.look = replace(self.look, language=language)

    def t(self, key: str, /, **values: object) -> str:
        """Writes one of our own sentences."""
        return say(self.language, key, **values)

    def line(self, key: str, style: str = "", /, **values: object) -> Line:
        """Makes a line of one of our own sentences."""
        return [(style, self.t(key, **values))]

    def fail(self, key: str, /, **values: object) -> Reply:
        """Makes an answer that says what is wrong."""
        return Reply([self.line(key, "error", **values)], failed=True)

    def ask(
        self, key: str, then: Pending, lines: Sequence[Line] = (), *, private: bool = False, **values: object
    ) -> Reply:
        """Makes an answer that asks something; the next line is the answer."""
        self.question = self.t(key, **values)
        self.pending = then
        return Reply(list(lines), private=private)

    # --------------------------------------------------------------------------------------------------- turn

    commands: Mapping[str, Command] = COMMANDS
    """The commands that this desk knows."""

    @property
    def viewer(self) -> int | None:
        """The seat for whose eyes everything is written; None where it is for everybody's."""
        return self.session.viewer

    @property
    def people(self) -> list[int]:
        """The seats of the people at this screen."""
        return self.session.humans

    def waiting(self) -> list[int]:
        """Gets the people at this screen who may act now, the one whose turn it is first."""
        return self.session.waiting_for()

    def copy(self) -> State:
        """Copies the position to think about, without the streams, in which the future could be read."""
        state = self.session.state.clone()
        state.streams = None
        return state

    def positions(self) -> list[State]:
        """Gets positions to look ahead from: as they may be for the viewer, or as it is where many look on."""
        return [self.copy()] if self.viewer is None else possible(self.copy(), self.viewer)

    @property
    def concealed(self) -> bool:
        """Whether several people look at this screen, so that secrets stay hidden until asked for."""
        return self.viewer is None

    @property
    def turn(self) -> int | None:
        """The person whose turn it is at this screen, or None."""
        waiting = self.waiting()
        return waiting[0] if waiting else None

    def options(self) -> list[Option]:
        """Gets what the people at this screen may do now."""
        session = self.session
        key = (session.state, self.language)
        if (
            self._options is None
            or self._options[0] is not session.state
            or self._options[1] != self.language
        ):
            waiting = self.waiting()
            decision = session.state.decision
            if decision is not None and decision.mode == "each":
                waiting = waiting[:1]
            found = options(session, waiting, self.language)
            if decision is not None and decision.mode == "each" and self.concealed:
                public = self.t("choose-in-secret")
                found = [replace(o, public=public, secret=True) for o in found]
            self._options = (*key, found)
        return self._options[2]

    def menu(self) -> list[Item]:
        """Gets the numbered menu."""
        return menu(self.options(), concealed=self.concealed)

    def board(self, *, hand: bool = True) -> list[Line]:
        """Draws the board as it may be seen at this screen."""
        session = self.session
        key = (session.state, self.look, hand)
        if self._board is None or not all(a is b or a == b for a, b in zip(self._board[0], key, strict=True)):  # type: ignore[call-overload]
            title = session.game.compiled.title
            lines = draw_board(
                session.view,
                session.state,
                self.look,
                title=title.get(self.language) or title["en"],
                names=session.names(),
                hand_of=self.viewer if hand else None,
            )
            self._board = (key, lines)
            session.game.keep_figures()
        return self._board[1]

    def status(self) -> Line:
        """Tells whose turn it is, why, and what comes next."""
        session = self.session
        if session.is_over:
            return self.line("game-over", "heading")
        stage = stage_of(session.view, session.state, self.language)
        waiting = session.waiting_for()
        line: Line = []
        for n, player in enumerate(waiting or acting(session.state)):
            line += [("", ", " if n else ""), (f"player{player}", session.seats[player].name)]
        line += [("", self.t("colon")), ("heading", stage.says)]
        if stage.now:
            line.append(("", f" ({stage.now})"))
        if stage.next:
            line += [("dim", self.t("then", next=stage.next))]
        return in_ascii([line])[0] if self.look.ascii else line

    def news(self) -> list[Line]:
        """Writes what happened since it was last asked for."""
        session = self.session
        lines = (
            write_entry(session.view, e, self.language, self.viewer, ascii=self.look.ascii)
            for e in self.fresh()
        )
        return [line for line in lines if line is not None]

    def fresh(self) -> list[Entry]:
        """Gets what happened since it was last asked for."""
        return self.session.fresh()

    def warnings(self) -> list[Line]:
        """Tells what of the view does not fit these rules."""
        return [self.line("view-problem", "note", why=why) for why in self.session.view.problems]

    def results(self) -> list[Line]:
        """Writes who has won, once the game is over."""
        state = self.session.state
        scores, winners = state.scores(), state.winners()
        order = sorted(range(len(scores)), key=lambda p: (p not in winners, -scores[p]))
        lines: list[Line] = [self.line("results", "heading")]
        for p in order:
            mark = "★" if p in winners else " "
            lines.append(
                [("heading", f" {mark} "), (f"player{p}", self.session.seats[p].name), ("", f"  {scores[p]}")]
            )
        return in_ascii(lines) if self.look.ascii else lines

    # -------------------------------------------------------------------------------------------------- moves

    def take(self, option: Option) -> Reply:
        """Makes a move."""
        if option.open:
            begun = option.words.partition("…")[0]
            return Reply([self.line("write-the-rest", words=begun.strip())], fill=begun)
        session = self.session
        decision = session.state.decision
        silent = decision is not None and decision.mode == "any" and session.state.actor(option.action) < 0
        try:
            if silent:
                session.break_silence()
            else:
                session.choose(option.action, option.player)
        except BrokenRule as error:
            return self.broken(error)
        return Reply(self.news(), board=True)

    def broken(self, error: PlayError) -> Reply:
        """Tells that the rules themselves went wrong; the position is as it was."""
        lines = [self.line("broken-rule", "error", why=error.message)]
        lines += rule_line(error.span) if error.span is not None else []
        lines.append(self.line("broken-advice", "", rules=self.session.game.canonical))
        return Reply(lines, failed=True)

    def open_item(self, item: Item) -> Reply:
        """Takes the only option of a menu's line, or opens it."""
        if item.option is not None:
            return self.take(item.option)
        if item.hidden:
            return self.choose_privately(item.options)
        self.opened = item
        inner = menu(item.options, concealed=False)
        if len(inner) == 1 and inner[0].option is None:
            lines = [self.line("say-which", words=item.words.strip(), rest=item.meaning)]
        else:
            listed = self.list_items(inner, numbered=not _reads_numbers(item))
            lines = [self.line("which", words=item.words.strip()), *listed]
        return Reply(lines, fill=item.words.rstrip() + " " if item.words.isascii() else item.words)

    def go_on(self, opened: Item, text: str) -> Reply | None:
        """Takes a line as the rest of the head that was opened before it, if it can be that."""
        begun = opened.words.rstrip()
        rest = text[len(begun) :].strip() if text.casefold().startswith(begun.casefold()) else text
        for joined in (f"{begun} {rest}", f"{begun}{rest}"):
            found = read_option(joined, opened.options)
            if isinstance(found, Option):
                return self.take(found)
            if found.among:
                return self.among(joined, found.among)
        inner = menu(opened.options, concealed=False)
        if rest.isdecimal() and not _reads_numbers(opened) and 0 < int(rest) <= len(inner):
            return self.open_item(inner[int(rest) - 1])
        return None

    def without_head(self, opened: Item, text: str) -> str:
        """Takes the head away that the line was begun with, where what follows means something by itself."""
        begun = opened.words.rstrip()
        rest = text[len(begun) :].strip() if text.casefold().startswith(begun.casefold()) else ""
        if not rest or self.is_wording(text):
            return text
        alone = read_option(rest, self.options())
        known = isinstance(alone, Option) or alone.among or find_command(rest, self.commands, shortened=True)
        return rest if known else text

    def among(self, text: str, among: Sequence[Option]) -> Reply:
        """Answers words that could mean several moves with their list."""
        seen = [o for o in among if not (self.concealed and o.secret)]
        if not seen:
            return self.choose_privately(among)
        heads = menu(seen, concealed=False)
        if len(heads) == 1 and heads[0].option is None:
            return self.open_item(heads[0])
        reply = self.open_item(Item(text, "", tuple(seen)))
        return Reply([self.line("several", words=text), *reply.lines[1:]], fill=reply.fill, failed=True)

    def choose_privately(self, among: Sequence[Option]) -> Reply:
        """Lets a person choose among secret moves where the others do not see it."""

        def answer(text: str) -> Reply:
            wanted = text.strip()
            if not wanted:
                return Reply([self.line("nothing-chosen", "dim")])
            if wanted.isdecimal() and 0 < int(wanted) <= len(among):
                return self.take(among[int(wanted) - 1])
            found = read_option(wanted, among)
            if isinstance(found, Option):
                return self.take(found)
            return Reply([self.line("nothing-chosen", "dim")], failed=True)

        lines = self.list_items([Item(o.words, o.meaning, (o,)) for o in among])
        return self.ask("choose-one", answer, lines, private=True)

    def list_items(self, items: Sequence[Item], *, numbered: bool = True) -> list[Line]:
        """Writes a menu, a line each; side by side where there are many."""
        from .listing import list_items

        return list_items(items, self.look, numbered=numbered)

    def refuse(self, text: str, near: str = "") -> Reply:
        """Tells why words name no move that may be made: the reason of the rules, or the nearest move."""
        session = self.session
        if session.is_over:
            return self.fail("game-is-over")
        found = self.parse(text)
        if isinstance(found, Option):
            return self.take(found)
        return found if found is not None else self.unclear(text, near)

    def parse(self, text: str) -> Option | Reply | None:
        """Reads the words of a move of a person here, perhaps after a name; a reply tells what forbids it.

        None where the words name no move. Nobody can make, or ask about, the moves of another than a person.
        """
        session = self.session
        waiting = self.waiting()
        player, words = self._speaker(text)
        if player is None:
            if len(waiting) > 1 and not session.state.is_simultaneous_node():
                return self.fail("who-does-it", name=session.seats[waiting[0]].name, words=text)
            player = waiting[0] if waiting else -1
        if player not in self.people:
            return self.fail("not-yours")
        return self.read_move(player, words, text)

    def read_move(self, player: int, words: str, text: str) -> Option | Reply | None:
        """Reads the words of a move of one player; a reply tells what forbids it, None where they name none."""
        state = self.session.state
        try:
            action = state.parse_action(words, self.language, player)
        except IllegalMove as refusal:
            return self.refusal(words, refusal)
        except UnclearMove:
            return None
        passed_on = player if state.is_simultaneous_node() else None
        return Option(action, passed_on, text, text, "", text, False)

    def _speaker(self, text: str) -> tuple[int | None, str]:
        """Splits a line that begins with a player's name."""
        for n, name in enumerate(self.session.names()):
            if text.casefold().startswith(f"{name.casefold()} "):
                return n, text[len(name) :].strip()
        return None, text

    def is_wording(self, text: str) -> bool:
        """Tests if a text is the words of a move, allowed or not."""
        game = self.session.game
        return any(game.words(language).read(text) for language in dict.fromkeys((self.language, "en")))

    def names_somebody(self, text: str) -> bool:
        """Tests if a text begins with a player's name."""
        return self._speaker(text)[0] is not None

    def refusal(self, text: str, refusal: PlayError) -> Reply:
        """Tells why a move may not be made, with the rule's line."""
        lines = [self.line("not-allowed", "error", why=refusal.message)]
        if refusal.span is not None:
            lines += rule_line(refusal.span)
        private = self.concealed and self.touches_secrets(text)
        return Reply(lines, private=private, failed=True)

    def touches_secrets(self, text: str) -> bool:
        game = self.session.game
        plain = " ".join(text.split())
        for language in dict.fromkeys((self.language, "en")):
            for name in ("", *self.session.names()):
                rest = plain[len(name) :].strip() if plain.casefold().startswith(name.casefold()) else ""
                for action in game.words(language).read(rest):
                    move = self.session.state.decode(action)[0]
                    if move.shows is not None or any(move.secret):
                        return True
        return False

    def unclear(self, text: str, near: str | None = None) -> Reply:
        """Answers words that name nothing, with the nearest move or command."""
        known = {o.words.casefold(): o.words for o in self.options() if not (self.concealed and o.secret)}
        known.update({name: name for name in self.commands})
        near = near or nearest(" ".join(text.split()).casefold(), known)
        shown = text if len(text) <= 60 else text[:57] + "…"
        if near is not None:
            return self.fail("unclear-near", words=shown, near=known.get(near, near))
        return self.fail("unclear", words=shown)


def _reads_numbers(item: Item) -> bool:
    """Tests if what comes after a head may be a number, so that numbers cannot count its options."""
    begun = len(item.words.rstrip())
    return any(o.words[begun:].lstrip()[:1].isdigit() for o in item.options)


def rule_line(span: Span) -> list[Line]:
    """Shows the line of a rule."""
    return [[("dim", f"  {span.source.name}:{span.line}  "), ("rule", span.source.line(span.line).strip())]]


# ------------------------------------------------------------------------------------------------------ lines


def run_line(desk: Desk, text: str) -> Reply:
    """Does what a line says: a move, a number of the menu, a command, or the answer to a question."""
    if desk.pending is not None:
        answer, desk.pending, desk.question = desk.pending, None, ""
        return answer(text)
    text = " ".join(text.split())
    opened, desk.opened = desk.opened, None
    if not text:
        return Reply()
    if text.startswith("/"):
        return _command(desk, text[1:].strip(), text) or desk.unclear(text)
    listed = desk.options()
    exact = [o for o in listed if text.casefold() in (o.words.casefold(), o.english.casefold())]
    if exact:
        return desk.take(exact[0])
    if opened is not None:
        if (reply := desk.go_on(opened, text)) is not None:
            return reply
        text = desk.without_head(opened, text)
    alone = find_command(text, desk.commands)
    begins = any(o.words.casefold().startswith(f"{text.casefold()} ") for o in listed)
    if alone is not None and not (alone[0].takes and not alone[0].takes.startswith("[") and begins):
        return _command(desk, text, text) or desk.unclear(text)
    if text.isdecimal():
        return _number(desk, int(text))
    found = read_option(text, listed)
    if isinstance(found, Option):
        return desk.take(found)
    if found.among:
        return desk.among(text, found.among)
    if desk.is_wording(text) or desk.names_somebody(text):
        return desk.refuse(text)
    return _command(desk, text, text) or desk.refuse(text, found.near)


def _number(desk: Desk, number: int) -> Reply:
    items = desk.menu()
    if not items:
        return desk.fail("game-is-over" if desk.session.is_over else "no-moves")
    if not 1 <= number <= len(items):
        return desk.fail("no-such-number", last=len(items))
    return desk.open_item(items[number - 1])


def _command(desk: Desk, text: str, typed: str) -> Reply | None:
    found = find_command(text, desk.commands, shortened=True)
    if found is None:
        return None
    command, argument = found
    return command.run(desk, argument)


def suggest(desk: Desk, text: str, cursor: int | None = None) -> list[Suggestion]:
    """Completes a line up to the cursor: moves first, then commands and their arguments."""
    before = text[: len(text) if cursor is None else cursor]
    if desk.pending is not None or "\n" in before or len(before) > _LONGEST_COMPLETED:
        return []
    stripped = before.lstrip()
    found = suggest_arguments(desk, stripped)
    if found is not None:
        moves = (
            []
            if stripped.startswith("/")
            else suggest_options(stripped, desk.options(), concealed=desk.concealed)
        )
        return moves or found
    moves = suggest_options(stripped, desk.options(), concealed=desk.concealed)
    word = stripped.removeprefix("/")
    commands = [
        Suggestion(name, len(word), desk.t(f"help-{name.replace(' ', '-')}"))
        for name, c in desk.commands.items()
        if c.listed and word and " " not in word and name.startswith(word.casefold())
    ]
    return commands if stripped.startswith("/") else moves + commands


def is_complete(text: str) -> bool:
    """Tests if a line can be handed in: any line can, but for one that ends in a backslash."""
    return not text.rstrip().endswith("\\")
