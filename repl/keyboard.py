"""The keyboard while nobody reads it: what is typed is neither echoed nor lost, and Ctrl-C breaks nothing in the middle.

Between two prompts the program works, and the terminal would echo what is typed into the picture and hand a
pasted page over line by line. `quiet_keyboard` has it keep everything for the next prompt; `drop_page` throws away
a page that goes on after a mistake; `held_back` lets a change of the game come to its end before Ctrl-C is heard.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

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


@contextmanager
def quiet_keyboard(keys: Input) -> Iterator[None]:
    """Keeps the terminal from echoing what is typed, and from cutting it into lines."""
    number = _terminal(keys)
    if number is None or sys.platform == "win32":
        yield
        return
    import termios

    before = termios.tcgetattr(number)
    quiet = termios.tcgetattr(number)
    quiet[0] &= ~termios.ICRNL
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
    termios.tcsetattr(number, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSANOW, before)


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
