"""The shell for terminals: prompt_toolkit around the desk. The board stands above the prompt and follows
the window.

What happened scrolls away above; the board, the prompt and the toolbar are drawn anew at each key, so that
resizing reflows them. An answer that the board would push off the screen stands alone until the next line; one longer
than the screen is read page by page. Private answers are shown on a screen of their own, which is wiped before
anybody else looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from msgspec.structs import replace
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Dimension, Window
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.shortcuts import print_formatted_text
from prompt_toolkit.styles import DynamicStyle, Style

from .choosing import menu
from .colours import styles_with
from .desk import Desk, Reply, run_line, suggest
from .indicator import Indicator
from .keyboard import QuietKeyboard, drop_page
from .pace import let_bots_play
from .pager import Pager
from .standing_board import StandingBoard
from .taking_up import data_folder
from .terminal import Line, cut, line_width, to_ascii, width, wrap

_MENU = 8
_KINDS = 6
"""How many moves are named where nothing is typed yet, before those of one beginning are named as one."""
_AROUND = 2
"""Lines that prompt and toolbar take."""
_LONGEST_PASTE = 200
_ESCAPE = 0.05
"""How many seconds after Escape no more of a key's code is to come."""


def formatted(lines: Sequence[Line], *, last_newline: bool = False) -> FormattedText:
    """Turns lines into what prompt_toolkit prints."""
    out: StyleAndTextTuples = []
    for n, line in enumerate(lines):
        if n:
            out.append(("", "\n"))
        out += [(f"class:{style}" if style else "", text) for style, text in line]
    if last_newline:
        out.append(("", "\n"))
    return FormattedText(out)


class DeskCompleter(Completer):
    """Completes moves and commands."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yields what the desk suggests."""
        for s in suggest(self.desk, document.text_before_cursor):
            meaning = to_ascii(s.meaning) if self.desk.look.ascii else s.meaning
            shown = s.text if not s.text.endswith(" ") and "…" not in s.meaning else f"{s.text.rstrip()} …"
            yield Completion(
                s.text, -s.replaces, to_ascii(shown) if self.desk.look.ascii else shown, display_meta=meaning
            )


class DiscreetHistory(History):
    """Keeps what was typed, but nothing that would show a secret to who sits down next."""

    def __init__(self, desk: Desk, inner: History) -> None:
        super().__init__()
        self.desk = desk
        self.inner = inner

    def load_history_strings(self) -> Iterable[str]:
        """Yields what was typed before, the latest first."""
        return [] if self.desk.concealed else self.inner.load_history_strings()

    def append_string(self, string: str) -> None:
        """Adds what was typed."""
        if self.desk.pending is None and not (self.desk.concealed and self.desk.touches_secrets(string)):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Stores what was typed."""
        if not self.desk.concealed:
            self.inner.store_string(string)


class PromptShell:
    """Plays at a terminal."""

    def __init__(
        self,
        desk: Desk,
        *,
        output: Output | None = None,
        history: History | None = None,
        suspend: bool = True,
        depth: ColorDepth | None = None,
    ) -> None:
        """Takes another history than the user's, whether Ctrl-Z sleeps, and how many colours there are."""
        self.desk = desk
        self.output = output or create_output()
        self._styled: tuple[dict[int, str], Style] | None = None
        self.style = DynamicStyle(self._style)
        self.session: PromptSession[str] = PromptSession(
            self._message,
            completer=DeskCompleter(desk),
            complete_while_typing=True,
            history=DiscreetHistory(desk, _history() if history is None else history),
            bottom_toolbar=self._toolbar,
            placeholder=self._placeholder,
            style=self.style,
            erase_when_done=True,
            enable_suspend=suspend,
            reserve_space_for_menu=0,
            key_bindings=self._bindings(),
            output=self.output,
            color_depth=depth,
        )
        for container in self.session.app.layout.walk():
            if isinstance(container, Window) and isinstance(container.content, CompletionsMenuControl):
                container.height = Dimension(min=1, max=_MENU)  # it may lie on the board
        self.session.app.ttimeoutlen = _ESCAPE
        self.session.app.timeoutlen = 0.3
        self.keyboard = QuietKeyboard(self.session.app.input)
        self._standing = StandingBoard(self.output, self._print)
        self.fill = ""
        self.alone = False
        """Whether the last answer stands alone on the screen, without the board below it."""
        self.looked: int | None = None
        """Who looked last at what only he may see."""
        self._top = 0
        """The first line of the board that is shown, where the window is lower than the board."""

    def _style(self) -> Style:
        """Gets the style: the same object while no colour changes, for prompt_toolkit parses each new one."""
        if self._styled is None or self._styled[0] != self.desk.colours:
            colours = dict(self.desk.colours)
            self._styled = (colours, Style(list(styles_with(colours).items())))
        return self._styled[1]

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("escape")
        def drop(event: KeyPressEvent) -> None:
            """Closes the menu; without one, drops the line."""
            buffer = event.current_buffer
            if buffer.complete_state is not None:
                buffer.cancel_completion()
            else:
                buffer.reset()
                self.desk.opened = None

        @keys.add("pagedown")
        def down(event: KeyPressEvent) -> None:
            self._top += max(1, self._room() - 1)

        @keys.add("pageup")
        def up(event: KeyPressEvent) -> None:
            self._top = max(0, self._top - max(1, self._room() - 1))

        return keys

    def run(self) -> int:
        """Plays until somebody leaves; the exit status is 0."""
        with self.keyboard:
            try:
                self._play()
                self._leave()
            except KeyboardInterrupt:  # while leaving
                pass
            finally:
                self.output.disable_bracketed_paste()
                self.output.flush()
        return 0

    def _play(self) -> None:
        self._measure()
        self._print([self.desk.line("welcome", "dim")])
        self._print(self.desk.warnings())
        self._print(self.desk.news())
        first: Callable[[], None] | None = self._bots
        while True:
            try:
                self._expect_pastes()
                if first is not None:
                    now, first = first, None
                    now()
                with self.keyboard.reading():
                    text = self.session.prompt(default=self.fill)
                self._expect_pastes()
                self.fill = ""
                if not self._lines(text):
                    break
            except KeyboardInterrupt:
                first = self._drop_all
            except EOFError:
                break

    def _drop_all(self) -> None:
        """Begins anew after Ctrl-C: with an empty line, nothing opened, nothing asked."""
        self.fill = ""
        self.alone = False
        self.desk.opened = None
        self._forget_question()
        self._print([self.desk.line("interrupted", "dim")])

    def _expect_pastes(self) -> None:
        """Has the terminal mark what is pasted, also while nobody reads: it must not be taken for typing."""
        self.output.enable_bracketed_paste()
        self.output.flush()

    def _lines(self, text: str) -> bool:
        """Hands in what was typed, or a pasted page up to the first line that fails; False to leave."""
        lines = [line for line in text.splitlines() if line.strip()] or [""]
        if len(lines) > 1 and self.desk.pending is not None:
            self._forget_question()
            self._print([self.desk.line("page-no-answer", "error")])
            return True
        for n, line in enumerate(lines[:_LONGEST_PASTE], 1):
            reply = self._one(line)
            if reply.quit:
                return False
            if reply.failed and n < len(lines):
                self._print([self.desk.line("rest-not-read", "error", count=len(lines) - n)])
                break
        return True

    def _one(self, text: str, *, unseen: bool = False) -> Reply:
        """Hands in a line and shows the answer; what was typed `unseen` by others is not repeated."""
        asked = self.desk.question
        with self._board_stays(), Indicator():
            reply = run_line(self.desk, text)
        dropped = drop_page(self.session.app.input) if reply.failed else 0
        if reply.private:
            return self._privately(reply)
        echo: list[Line] = (
            [[("dim", f"{asked or '>'} {text}")]] if text and not reply.board and not unseen else []
        )
        self._show(echo, reply)
        if dropped:
            self._print([self.desk.line("rest-not-read", "error", count=dropped)])
        self.fill = reply.fill
        if reply.board or (not text and not asked and self.desk.turn is None):
            self._bots()
        return reply

    def _show(self, echo: list[Line], reply: Reply) -> None:
        """Prints an answer: above the board, alone where it needs the board's room, or page by page."""
        desk = self.desk
        lines = self._wrapped([*echo, *reply.lines])
        room = desk.look.height - _AROUND
        over = desk.pending is not None and len(reply.lines) > _AROUND  # such as a board of another moment
        self.alone = not reply.board and (over or len(lines) > room - len(self._board()))
        if len(lines) > room and not reply.board:
            self._print(echo)
            self._page(reply.lines)
            self.alone = False
        else:
            self._print(lines)

    def _page(self, lines: Sequence[Line]) -> None:
        """Shows lines on a screen of their own, page by page."""
        desk = self.desk

        def foot(first: int, last: int, count: int) -> Line:
            return [("", " " + desk.t("pager", first=first, last=last, count=count))]

        with self.keyboard.reading():
            Pager(lines, foot, formatted, style=self.style, output=self.output).run()
        self._expect_pastes()

    def _bots(self) -> None:
        """Lets the bots play, telling each move as it is made."""
        desk = self.desk
        self.alone = False
        moves = let_bots_play(desk)
        try:
            while True:
                with self._board_stays():
                    news = next(moves, None)
                if news is None:
                    break
                self._print(news)
                if desk.pace and not desk.session.is_over:
                    self._wait(desk.pace)
        except KeyboardInterrupt:
            self._print([desk.line("bots-stopped", "note")])
        if desk.session.is_over:
            self._print(desk.results())

    def _wait(self, seconds: float) -> None:
        """Waits, so that a bot's move can be seen; space stops the clock and starts it again."""
        if self._slept(seconds):
            self._print([self.desk.line("paused", "note")])
            self._slept()

    def _slept(self, seconds: float | None = None) -> bool:
        """Shows the board for so many seconds, or until a space is typed: whether it was."""
        keys = self.session.app.input
        end = None if seconds is None else time.monotonic() + seconds
        with self._board_stays():
            while end is None or time.monotonic() < end:
                for key in keys.read_keys():
                    if key.key == Keys.ControlC:
                        raise KeyboardInterrupt
                    if key.data == " ":
                        return True
                time.sleep(0.02)
        return False

    def _board_stays(self) -> AbstractContextManager[None]:
        """Has the board stand there while nobody reads a line, if it stood there before."""
        self._measure()
        if self.alone:
            return nullcontext()
        status = cut(self.desk.status(), self.desk.look.width - 1, "..." if self.desk.look.ascii else "…")
        return self._standing.drawn([*self._board(), status])

    def _leave(self) -> None:
        desk = self.desk
        if desk.kept is not None and not desk.session.is_over:
            self._print([desk.line("kept", "dim")])
        self._print([desk.line("bye", "dim")])

    # ------------------------------------------------------------------------------------------------ private

    def _privately(self, reply: Reply) -> Reply:
        """Shows an answer on a screen of its own, and asks there what it asks; wipes it afterwards.

        Where somebody else looked last, a blank screen comes between that only waits for him.
        """
        desk = self.desk
        whose = desk.turn if reply.whose is None else reply.whose
        self.output.enter_alternate_screen()
        try:
            if whose is not None and whose != self.looked:
                self._wipe()
                name = desk.session.seats[whose].name
                if self._asked_alone(desk.line("only-one-looks", "heading", name=name)) is None:
                    self._forget_question()
                    return Reply()
                self.looked = whose
            self._wipe()
            self._print(reply.lines)
            text = self._asked_alone([("note", (desk.question or desk.t("press-enter")) + " ")])
        finally:
            self._wipe()
            self.output.quit_alternate_screen()
            self.output.flush()
        self._expect_pastes()
        if desk.pending is None:
            return replace(reply, lines=[], private=False)
        return self._one(text or "", unseen=True)

    def _asked_alone(self, message: Line) -> str | None:
        """Asks on the screen of one person; None if he does not want to. What is pasted there is no answer."""
        keys = KeyBindings()
        keys.add("c-z")(lambda event: None)  # the screen must be wiped first
        keys.add(Keys.BracketedPaste)(lambda event: None)
        inner: PromptSession[str] = PromptSession(
            history=InMemoryHistory(),
            style=self.style,
            erase_when_done=True,
            output=self.output,
            key_bindings=keys,
        )
        try:
            with self.keyboard.reading():
                return inner.prompt(formatted([message]))
        except (KeyboardInterrupt, EOFError):
            return None

    def _wipe(self) -> None:
        self.output.erase_screen()
        self.output.cursor_goto(0, 0)
        self.output.flush()

    def _forget_question(self) -> None:
        self.desk.pending = None
        self.desk.question = ""

    # ------------------------------------------------------------------------------------------------ drawing

    def _measure(self) -> None:
        app = get_app_or_none()
        size = (app.output if app is not None else self.output).get_size()
        look = self.desk.look
        if (size.columns, size.rows) != (look.width, look.height):
            self.desk.look = replace(look, width=max(size.columns, 20), height=size.rows)

    def _room(self) -> int:
        """Gets how many lines the board may take."""
        return max(0, self.desk.look.height - _AROUND - 1)

    def _board(self) -> list[Line]:
        """Draws the board, or as much of it as there is room for, with a line that tells so."""
        desk = self.desk
        board, room = desk.board(), self._room()
        rule: Line = [("dim", ("-" if desk.look.ascii else "─") * (desk.look.width - 1))]
        if len(board) <= room or room < 2:
            return [rule, *board[:room]]
        self._top = min(self._top, len(board) - room + 1)
        shown = board[self._top : self._top + room - 1]
        more = desk.line(
            "more-board", "note", first=self._top + 1, last=self._top + len(shown), count=len(board)
        )
        return [rule, *shown, cut(more, desk.look.width)]

    def _message(self) -> FormattedText:
        """Draws the board and the prompt."""
        self._measure()
        desk = self.desk
        lines = [] if self.alone else self._board()
        spare = desk.look.height - len(lines) + 1 - _AROUND
        menu = self.session.default_buffer.complete_state is not None
        roomy = spare >= _MENU + 6 if not self.alone else menu
        self.session.reserve_space_for_menu = _MENU if roomy else 0
        if desk.pending is not None:
            label: Line = [("note", desk.question + " ")]
        elif desk.turn is not None:
            label = [(f"player{desk.turn}", desk.session.seats[desk.turn].name), ("", "> ")]
        else:
            label = [("", "> ")]
        return formatted([*lines, label])

    def _placeholder(self) -> FormattedText:
        """Draws, where nothing is typed yet, what may be: the moves, those of one beginning as one."""
        desk = self.desk
        if desk.pending is not None or desk.turn is None:
            return FormattedText()
        items = menu(desk.options(), concealed=desk.concealed, most=_KINDS)
        dot = " - " if desk.look.ascii else " · "
        words: Line = [("dim", dot.join(dict.fromkeys(item.brief for item in items)))]
        room = desk.look.width - width(desk.session.seats[desk.turn].name) - 3
        return formatted([cut(words, room, "..." if desk.look.ascii else "…")])

    def _toolbar(self) -> FormattedText:
        """Draws whose turn it is and why."""
        desk = self.desk
        hint = "toolbar-alone" if self.alone and desk.pending is None else "toolbar-help"
        help_: Line = [("", " " + desk.t(hint))]
        room = desk.look.width - line_width(help_) - 1
        bold = ("heading", "player")  # other colours would be hard to read on the bar
        status: Line = [("heading" if s.startswith(bold) else "", text) for s, text in desk.status()]
        line = cut(status, room, "..." if desk.look.ascii else "…")
        blank = " " * (room - line_width(line))
        return formatted([[*line, ("", blank), *help_]])

    def _wrapped(self, lines: Sequence[Line]) -> list[Line]:
        room = max(self.desk.look.width, 20)
        return [part for line in lines for part in wrap(line, room, 4)]

    def _print(self, lines: Sequence[Line]) -> None:
        wrapped = self._wrapped(lines)
        if wrapped:
            print_formatted_text(formatted(wrapped), style=self.style, output=self.output)


def _history() -> History:
    """Gets the history of earlier evenings, if it can be kept."""
    path = data_folder() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("a", encoding="utf-8"):
            pass
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


def pieces(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Yields the pieces of lines."""
    for line in lines:
        yield from line
