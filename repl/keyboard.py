"""The keyboard while nobody reads it: what is typed is neither echoed nor lost, and Ctrl-C breaks nothing in the middle.

Between two prompts the program works, and the terminal would echo what is typed into the picture and hand a
pasted page over line by line. `QuietKeyboard` has it keep everything for the next prompt; `drop_page` throws away
a page that goes on after a mistake; `held_back` lets a change of the game come to its end before Ctrl-C is heard.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prompt_toolkit.input import Input


def _terminal(keys: Input) -> int | None:
    """Gets the number of the terminal that keys are read from; None where it is no terminal of our own."""
    try:
        import termios

        number = keys.fileno()
        termios.tcgetattr(number)
    except (ImportError, NotImplementedError, OSError, ValueError):
        return None
    except Exception as error:  # termios.error has no base class but this one
        if type(error).__module__ != "termios":
            raise
        return None
    return number


class QuietKeyboard:
    """Keeps the terminal from echoing what is typed, and from cutting it into lines, but for while somebody reads."""

    def __init__(self, keys: Input) -> None:
        self._terminal = None if sys.platform == "win32" else _terminal(keys)
        self._modes: tuple[list[Any], list[Any]] | None = None
        """The terminal's modes of before, and those of a quiet keyboard."""
        self._woken: Any = None
        self._readers = 0

    def __enter__(self) -> QuietKeyboard:
        if self._terminal is not None:
            import termios

            before, quiet = termios.tcgetattr(self._terminal), termios.tcgetattr(self._terminal)
            quiet[0] &= ~termios.ICRNL
            quiet[3] &= ~(termios.ECHO | termios.ICANON)
            quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
            self._modes = (before, quiet)
            if threading.current_thread() is threading.main_thread():
                self._woken = signal.signal(signal.SIGCONT, self._wake)
            self._set(1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._woken is not None:
            signal.signal(signal.SIGCONT, self._woken)
        self._set(0)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Leaves the keyboard to somebody who sets its modes himself."""
        self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            self._set(1)

    def _wake(self, number: int, frame: FrameType | None) -> None:
        """Makes the keyboard quiet again: whoever was in front meanwhile has set it as he liked."""
        if not self._readers:
            self._set(1)

    def _set(self, which: int) -> None:
        if self._terminal is not None and self._modes is not None:
            import termios

            with suppress(termios.error):
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._modes[which])


def drop_page(keys: Input) -> int:
    """Throws away what was typed ahead if it is several lines: a page, pasted where pastes are not marked.

    Gets how many lines that was.
    """
    from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
    from prompt_toolkit.keys import Keys

    if _terminal(keys) is None:
        return 0
    typed = [*get_typeahead(keys), *keys.read_keys()]
    lines = sum(key.key in (Keys.ControlM, Keys.ControlJ) for key in typed)
    if lines > 1:
        return lines
    store_typeahead(keys, typed)
    return 0


@contextmanager
def held_back() -> Iterator[None]:
    """Holds a Ctrl-C back until the block is done; it is heard then, by whoever hears it outside."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    come: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        come.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if come:
        signal.raise_signal(signal.SIGINT)
