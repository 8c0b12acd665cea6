"""A terminal at the other end of a line: keys come in as text, and what is written goes out as it is asked for.

Nothing here ever waits for a client. Keys are read in portions, and keys that nobody reads yet stay in a backlog; a
client who sends far more than a page before he hands in a line, or who reads nothing of what is sent to him, is let
go. So a paste, garbage or a stuck client disturbs nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TextIO, cast

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.output.vt100 import Vt100_Output

_PORTION, _PAUSE = 256, 0.01
"""How much text is read at a time, and how many seconds later the next."""
MOST_UNREAD = 16_384
"""How much a client may send before he hands in a line."""


class ChannelInput(Input):
    """Keys that come over a line."""

    _made = 0

    def __init__(self, too_much: Callable[[], None]) -> None:
        """Takes what is done about a client who sends too much."""
        ChannelInput._made += 1
        self._number = ChannelInput._made
        self._keys: list[KeyPress] = []
        self._parser = Vt100Parser(self._keys.append)
        self._callback: Callable[[], None] | None = None
        self._backlog = ""
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._too_much = too_much
        self._since = 0

    def arrive(self, text: str) -> None:
        """Takes text in as it comes."""
        if self._closed:
            return
        self._backlog += text
        self._since += len(text)
        if self._since > MOST_UNREAD:
            self._backlog = ""
            self._closed = True
            self._too_much()
            return
        self._soon(0)

    def handed_in(self) -> None:
        """Notes that a line was handed in."""
        self._since = len(self._backlog)

    def _soon(self, seconds: float) -> None:
        if self._timer is None and self._callback is not None and (self._backlog or self._closed):
            self._timer = asyncio.get_running_loop().call_later(seconds, self._pump)

    def _pump(self) -> None:
        self._timer = None
        if self._callback is None:
            return
        portion, self._backlog = self._backlog[:_PORTION], self._backlog[_PORTION:]
        if portion:
            self._parser.feed(portion)
        self._callback()
        if self._backlog:
            self._soon(_PAUSE)

    def end(self) -> None:
        """Takes in that no more keys will come."""
        self._closed = True
        self._soon(0)

    # ------------------------------------------------------------------------------- what prompt_toolkit asks for

    def fileno(self) -> int:
        """Refuses: there is no file."""
        raise NotImplementedError

    def typeahead_hash(self) -> str:
        """Gets a name for what is typed ahead here."""
        return f"channel-{self._number}"

    def read_keys(self) -> list[KeyPress]:
        """Gets the keys that have come."""
        keys = self._keys[:]
        self._keys.clear()
        return keys

    def flush_keys(self) -> list[KeyPress]:
        """Gets the keys, an Escape that nothing follows among them."""
        self._parser.flush()
        return self.read_keys()

    @property
    def closed(self) -> bool:
        """Whether no more keys will come."""
        return self._closed and not self._backlog

    def raw_mode(self) -> AbstractContextManager[None]:
        """Does nothing: the terminal is at the other end."""
        return nullcontext()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """Does nothing: the terminal is at the other end."""
        return nullcontext()

    def attach(self, input_ready_callback: Callable[[], None]) -> AbstractContextManager[None]:
        """Has somebody called whenever keys come."""
        return self._attached(input_ready_callback)

    def detach(self) -> AbstractContextManager[None]:
        """Has nobody called."""
        return self._attached(None)

    @contextmanager
    def _attached(self, callback: Callable[[], None] | None) -> Iterator[None]:
        before, self._callback = self._callback, callback
        self._soon(0)
        try:
            yield
        finally:
            self._callback = before
            if before is not None:
                self._soon(0)


class _ChannelFile:
    """What is written to the channel, as a text file."""

    encoding = "utf-8"

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def write(self, text: str) -> int:
        """Writes text with the line ends of terminals."""
        try:
            if not self._channel.is_closing():
                self._channel.write(text.replace("\n", "\r\n"))
        except OSError:
            pass  # the client has gone; whoever waits for his keys is told so
        return len(text)

    def flush(self) -> None:
        """Does nothing: nothing is held back."""

    def isatty(self) -> bool:
        """Tells that it is a terminal."""
        return True


def channel_output(channel: Any, term: str | None) -> Vt100_Output:
    """Makes the output to the terminal of a channel."""

    def size() -> Size:
        columns, rows, _, _ = channel.get_terminal_size()
        return Size(rows=min(rows, 500) or 24, columns=min(columns, 1000) or 80)

    return Vt100_Output(cast(TextIO, _ChannelFile(channel)), size, term=term, enable_bell=False)
