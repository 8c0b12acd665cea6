"""What a client sees: a screen with the board where there is a terminal, else plain text line by line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.history import DummyHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import print_formatted_text

from ..desk import Reply
from ..pager import Pager
from ..prompt import PromptShell, formatted
from ..terminal import Line, plain
from .chair import Chair
from .channel import ChannelInput

LONGEST_LINE = 500
_MOST_LINES = 200
_QUIET = 0.5
"""After how many seconds of thinking the client is told so."""
_BREATH = 0.02
"""How many seconds each line takes at least: the others' share of the machine."""

Hand = Callable[[str], Coroutine[Any, Any, Reply]]
"""What a line is handed in to."""


def cleaned(text: str) -> str:
    """Takes out of a text what would move a cursor, or write backwards, on another's terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


class ScreenShell(PromptShell):
    """Plays at a client's terminal: the shell of the local prompt, with others at the table."""

    def __init__(
        self, chair: Chair, keys: ChannelInput, output: Vt100_Output, depth: ColorDepth | None
    ) -> None:
        super().__init__(chair, output=output, history=InMemoryHistory(), suspend=False, depth=depth)
        self.chair = chair
        self.keys = keys
        self._depth = depth
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        """In which prompt_toolkit finds this client's terminal, whoever wakes us."""
        self._news: asyncio.Task[None] | None = None
        self._reading = False

    def _bindings(self) -> KeyBindings:
        keys = super()._bindings()
        keys.add("c-z")(lambda event: None)  # there is no shell here to sleep in
        return keys

    async def play(self, hand_in: Hand, greeting: Sequence[Line]) -> None:
        """Plays until the client leaves."""
        self.chair.wake = self._woken
        self._measure()
        self._print(greeting)
        self._after(board=True)
        while True:
            try:
                self._expect_pastes()
                self._reading = True
                text = await self.session.prompt_async(
                    default=self.fill, handle_sigint=False, set_exception_handler=False
                )
                self._reading = False
                self.fill = ""
                self.keys.handed_in()
                if not await self._hand_in_lines(text, hand_in):
                    break
            except KeyboardInterrupt:
                self._reading = False
                self.fill = ""
                self.alone = False
                self.desk.opened = None
                self._forget_question()
                self._print([self.desk.line("interrupted", "dim")])
            except EOFError:
                break
            self._print(self.chair.news())
            await asyncio.sleep(_BREATH)
        self._reading = False
        self._print([self.desk.line("bye-seat-kept" if self.chair.seat is not None else "bye", "dim")])

    async def _hand_in_lines(self, text: str, hand_in: Hand) -> bool:
        """Hands in what was typed, or a pasted page up to the first line that fails; False to leave."""
        lines = [line for line in text.splitlines() if line.strip()] or [""]
        for n, line in enumerate(lines[:_MOST_LINES], 1):
            asked = self.desk.question
            with self._board_stays():
                reply = await self._waited_for(hand_in(line))
            if reply.quit:
                return False
            echo: list[Line] = (
                [[("dim", f"{asked or '>'} {cleaned(line)}")]] if line and not reply.board else []
            )
            await self._answer(echo, reply)
            if reply.failed and n < len(lines):
                self._print([self.desk.line("rest-not-read", "error", count=len(lines) - n)])
                break
            await asyncio.sleep(_BREATH)
        return True

    async def _waited_for(self, answer: Coroutine[Any, Any, Reply]) -> Reply:
        """Waits for an answer; Ctrl-C has it given up."""
        task = self._loop.create_task(answer)
        told = self._loop.call_later(_QUIET, self._standing.add, [self.desk.line("thinking-now", "dim")])

        def keys_came() -> None:
            if any(key.key == Keys.ControlC for key in self.keys.read_keys()):
                task.cancel()

        try:
            with self.keys.attach(keys_came):
                return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                task.cancel()
                raise
            return self.desk.fail("interrupted")
        finally:
            told.cancel()

    async def _answer(self, echo: list[Line], reply: Reply) -> None:
        lines = self._wrapped([*echo, *reply.lines])
        room = self.desk.look.height - 2
        self.alone = not reply.board and len(lines) > room - len(self._board())
        if len(lines) > room and not reply.board:
            self._print(echo)
            await self._pages(reply.lines)
            self.alone = False
        else:
            self._print(lines)
        self.fill = reply.fill
        self._after(board=reply.board)

    def _after(self, *, board: bool) -> None:
        if board and self.desk.session.is_over:
            self._print(self.desk.results())

    async def _pages(self, lines: Sequence[Line]) -> None:
        def foot(first: int, last: int, count: int) -> Line:
            return [("", " " + self.desk.t("pager", first=first, last=last, count=count))]

        pager = Pager(lines, foot, formatted, style=self.style, output=self.output)
        await pager.app.run_async(handle_sigint=False, set_exception_handler=False)

    # ------------------------------------------------------------------------------------------------------ news

    def _woken(self) -> None:
        """Has what others did shown, while this client types or waits."""
        if self._reading and (self._news is None or self._news.done()):
            self._news = self._loop.create_task(self._show_news(), context=self._context)

    async def _show_news(self) -> None:
        await asyncio.sleep(_BREATH)  # what comes together is shown together
        if not self._reading or not self.session.app.is_running:
            return

        def show() -> None:
            before = self.desk.session.is_over
            self.alone = False
            self._print(self.chair.news())
            if before:
                self._print(self.desk.results())

        await run_in_terminal(show)

    def _print(self, lines: Sequence[Line]) -> None:
        wrapped = self._wrapped(lines)
        if wrapped:
            print_formatted_text(
                formatted(wrapped), style=self.style, output=self.output, color_depth=self._depth
            )


async def ask_on_screen(question: str, output: Vt100_Output) -> str | None:
    """Asks for a code at a client's terminal; what is typed is not shown."""
    session: PromptSession[str] = PromptSession(
        output=output, history=DummyHistory(), is_password=True, reserve_space_for_menu=0
    )
    try:
        return await session.prompt_async(question, handle_sigint=False, set_exception_handler=False)
    except (KeyboardInterrupt, EOFError):
        return None


class Lines:
    """The lines that a client without a terminal sends."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._text = ""
        self._come = asyncio.Event()
        self._ended = False
        self._held = False

    def arrive(self, text: str) -> None:
        """Takes text in as it comes."""
        self._text += text.replace("\r\n", "\n").replace("\r", "\n")
        if len(self._text) > LONGEST_LINE * 20 and not self._held:
            self._held = True
            self._channel.pause_reading()
        self._come.set()

    def end(self) -> None:
        """Takes in that no more will come."""
        self._ended = True
        self._come.set()

    async def next(self) -> str | None:
        """Gets the next line; None when there is none."""
        while True:
            line, newline, rest = self._text.partition("\n")
            if newline or len(line) > LONGEST_LINE or self._ended:
                self._text = rest if newline else line[LONGEST_LINE + 1 :]
                if self._held and len(self._text) < LONGEST_LINE * 10:
                    self._held = False
                    self._channel.resume_reading()
                if not newline and not line:
                    return None
                return line[: LONGEST_LINE + 1]
            self._come.clear()
            await self._come.wait()


class LineShell:
    """Plays in plain text, line by line: for scripts, and for terminals that can do no more."""

    def __init__(self, lines: Lines, channel: Any) -> None:
        self.lines = lines
        self._channel = channel
        self._chair: Chair | None = None

    def show(self, lines: Sequence[Line]) -> None:
        """Shows lines."""
        if lines:
            ascii = self._chair is not None and self._chair.look.ascii
            self._write(plain(lines, ascii=ascii))

    async def play(self, chair: Chair, hand_in: Hand, greeting: Sequence[Line]) -> None:
        """Plays until the client leaves."""
        self._chair = chair
        self.show([*greeting, *chair.board(), chair.status()])
        chair.wake = self._woken
        while True:
            text = await self.lines.next()
            if text is None:
                break
            if text.lstrip().startswith("#"):
                continue
            self._write(f"> {cleaned(text)}")
            reply = await hand_in(text)
            if reply.quit:
                break
            self.show(reply.lines)
            if chair.pending is not None:
                self._write(chair.question)
            elif reply.board:
                self.show([*chair.news(), *(chair.results() if chair.session.is_over else [chair.status()])])
            await asyncio.sleep(_BREATH / 4)
        self.show([chair.line("bye-seat-kept" if chair.seat is not None else "bye", "dim")])

    def _woken(self) -> None:
        chair = self._chair
        if chair is not None:
            news = chair.news()
            if news:
                over = chair.session.is_over
                self.show([*news, *(chair.results() if over else [chair.status()])])

    def _write(self, text: str) -> None:
        try:
            if not self._channel.is_closing():
                self._channel.write(text + "\r\n")
        except OSError:
            pass  # the client has gone
