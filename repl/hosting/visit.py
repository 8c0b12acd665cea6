"""A client's visit: from the moment he is let in to the moment his line breaks."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import asyncssh
from prompt_toolkit.application import create_app_session
from prompt_toolkit.output import ColorDepth

from ..desk import Reply
from ..terminal import Line, Look
from ..texts import find_language, say
from .admission import LOOKING_ON
from .beside import Beside
from .chair import Chair
from .channel import ChannelInput, channel_output
from .shells import LONGEST_LINE, Lines, LineShell, ScreenShell, ask_on_screen, cleaned

if TYPE_CHECKING:
    from .server import Door

_TRIES = 3
_STUCK = 30.0
"""How many seconds a client may leave what is sent to him unread."""
_LINES_BACK = 12
"""How much of the log is shown to who comes in."""


class Visit(asyncssh.SSHServerSession[str]):
    """One client: his terminal, or his lines where he has none, and his chair."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.host = door.host
        self.chair: Chair | None = None
        self._channel: Any = None
        self._task: asyncio.Task[None] | None = None
        self._keys: ChannelInput | None = None
        self._lines: Lines | None = None
        self._shell: ScreenShell | LineShell | None = None
        self._stuck: asyncio.TimerHandle | None = None
        self._farewell = ""
        self.thinking = Beside()

    # ------------------------------------------------------------------------------------------------- the line

    def connection_made(self, chan: asyncssh.SSHServerChannel[str]) -> None:
        """Takes the channel."""
        self._channel = chan

    def shell_requested(self) -> bool:
        """Allows what a plain `ssh` asks for; running programs is not allowed."""
        return True

    def session_started(self) -> None:
        """Begins the visit."""
        term = self._channel.get_terminal_type()
        if term and term != "dumb":
            self._keys = ChannelInput(lambda: self.close("too-much-at-once"))
        else:
            self._lines = Lines(self._channel)
        self._task = asyncio.get_running_loop().create_task(self._visit(term))

    def data_received(self, data: str, datatype: asyncssh.DataType) -> None:
        """Passes on what comes in."""
        if self._keys is not None:
            self._keys.arrive(data)
        elif self._lines is not None:
            self._lines.arrive(data)

    def eof_received(self) -> bool:
        """Takes in that no more comes; what is still to be read is read."""
        if self._keys is not None:
            self._keys.end()
        elif self._lines is not None:
            self._lines.end()
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        """Has the screen drawn anew."""
        if isinstance(self._shell, ScreenShell):
            self._shell.session.app._on_resize()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the visit."""
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        """Lets a client go who has not read what was sent to him for long."""
        if self._stuck is None:
            self._stuck = asyncio.get_running_loop().call_later(_STUCK, self._let_go)

    def resume_writing(self) -> None:
        """Takes in that he reads again."""
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _let_go(self) -> None:
        self.door.connection.abort()

    def close(self, key: str) -> None:
        """Ends the visit with a sentence."""
        self._farewell = key
        if self._task is not None:
            self._task.cancel()

    # ------------------------------------------------------------------------------------------------ the visit

    async def _visit(self, term: str | None) -> None:
        try:
            if self._keys is not None:
                output = channel_output(self._channel, term)
                with create_app_session(input=self._keys, output=output):
                    await self._play()
            else:
                await self._play()
        except asyncio.CancelledError:
            if self._farewell:  # else the line broke
                language = self.chair.language if self.chair is not None else self.host.language
                with suppress(OSError):  # he may have gone already
                    self._channel.write(f"{say(language, self._farewell)}\r\n")
        except Exception as error:  # one client's trouble is nobody else's
            self.host.admit_fault(error)
        finally:
            self._leave()

    def _leave(self) -> None:
        if self.chair is not None:
            self.host.leave(self.chair)
        if self._stuck is not None:
            self._stuck.cancel()
        self._channel.exit(0)
        self.door.connection.close()

    async def _play(self) -> None:
        language = self._language()
        place, code = self.door.place, self.door.code
        if place is None:
            found = await self._ask_code(language)
            if found is None:
                return
            place, code = found
        chair = Chair(self.host.table, None if place == LOOKING_ON else place, self._look(language))
        self.chair = chair
        greeting = await self._greet(chair, place, code)
        if self._keys is not None:
            screen = ScreenShell(
                chair,
                self._keys,
                channel_output(self._channel, self._channel.get_terminal_type()),
                self._depth(),
            )
            self._shell = screen
            await screen.play(self._hand_in, greeting)
        else:
            assert self._lines is not None
            self._shell = LineShell(self._lines, self._channel)
            await self._shell.play(chair, self._hand_in, greeting)

    async def _greet(self, chair: Chair, place: int, code: str | None) -> list[Line]:
        """Lets the client in; gets what is told him first."""
        made = await self.host.enter(self, chair, place, code, self.door.key)
        session = chair.session
        lines = [*chair.warnings(), *chair.last_lines(_LINES_BACK), chair.line("welcome-line", "dim")]
        if chair.seat is None:
            lines.append(chair.line("welcome-on-looker", "note"))
        else:
            lines.append(chair.line("welcome-seat", "note", name=session.seats[chair.seat].name))
            if made is not None:  # nearest to the board: nobody shows it again
                lines.append(chair.line("way-back-code", "heading", code=made))
            elif code is not None and self.door.key is not None:
                lines.append(chair.line("way-back-key", "dim"))
        return [*lines, *self.host.table.asked(chair)]

    async def _ask_code(self, language: str) -> tuple[int, str] | None:
        """Asks who came in with a key that opens no seat for a code."""
        for _ in range(_TRIES):
            question = say(language, "code-please") + " "
            if self._keys is not None:
                output = channel_output(self._channel, self._channel.get_terminal_type())
                typed = await ask_on_screen(question, output)
                self._keys.handed_in()
            else:
                assert self._lines is not None
                self._channel.write(question + "\n")
                typed = await self._lines.next()
            if typed is None:
                return None
            place = await self.door.try_code(typed)
            if place is not None:
                return place, typed
            self._channel.write(say(language, "code-wrong") + "\r\n")
        return None

    async def _hand_in(self, text: str) -> Reply:
        assert self.chair is not None
        text = cleaned(text)
        if len(text) > LONGEST_LINE:
            return self.chair.fail("line-too-long", most=LONGEST_LINE)
        return await self.host.hand_in(self.chair, text)

    # ----------------------------------------------------------------------------------- what the client asks for

    def _environment(self, name: str) -> str:
        return str(self._channel.get_environment().get(name, ""))

    def _language(self) -> str:
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            found = find_language(self._environment(name)) if self._environment(name) else None
            if found is not None and self._environment(name).split(".")[0] not in ("C", "POSIX"):
                return found
        return self.host.language

    def _look(self, language: str) -> Look:
        columns, rows, _, _ = self._channel.get_terminal_size()
        columns, rows = (columns, rows) if self._keys is not None and columns and rows else (80, 24)
        spoken = self._environment("LC_ALL") or self._environment("LC_CTYPE") or self._environment("LANG")
        ascii = spoken in ("C", "POSIX") or bool(self._environment("HARBOURMASTER_ASCII")) or self.host.ascii
        return Look(max(20, min(columns, 1000)), min(rows, 500), language, ascii)

    def _depth(self) -> ColorDepth | None:
        return ColorDepth.DEPTH_1_BIT if self._environment("NO_COLOR") else ColorDepth.DEPTH_8_BIT
