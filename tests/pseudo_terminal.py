"""A terminal for tests: the program behind a pseudo-terminal, its screen kept by pyte."""

from __future__ import annotations

import copy
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect
import pyte

MAIN = "from harbourmaster.repl.cli import main; raise SystemExit(main())"


_ALTERNATE = 1049
"""The mode of the screen that comes in front of the normal one, and leaves it as it was."""


class _Screen(pyte.Screen):
    """A screen that answers when it is asked where the cursor is, and has an alternate screen."""

    answer: Callable[[str], object] | None = None
    normal: tuple[dict[int, Any], Any] | None = None
    """While the alternate screen is in front: the rows of the normal one, and its cursor."""

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private") and _ALTERNATE in modes and self.normal is None:
            self.normal = (copy.deepcopy(dict(self.buffer)), copy.copy(self.cursor))
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private") and _ALTERNATE in modes and self.normal is not None:
            rows, cursor = self.normal
            self.buffer.clear()
            self.buffer.update(rows)
            self.cursor = cursor
            self.dirty.update(range(self.lines))
            self.normal = None
        super().reset_mode(*modes, **kwargs)

    def write_process_input(self, data: str) -> None:
        if self.answer is not None:
            self.answer(data)


class Terminal:
    """Runs `harbourmaster` with arguments, or another program, in a window of some size."""

    def __init__(
        self,
        arguments: Sequence[str],
        data: Path,
        *,
        columns: int = 80,
        rows: int = 24,
        environment: dict[str, str] | None = None,
        program: Sequence[str] | None = None,
    ) -> None:
        variables = {
            **os.environ,
            "HARBOURMASTER_DATA": str(data),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            **(environment or {}),
        }
        self.screen = _Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.raw = ""
        command, *rest = program or (sys.executable, "-c", MAIN, *arguments)
        self.child = pexpect.spawn(
            command,
            list(rest),
            env=variables,
            dimensions=(rows, columns),
            encoding="utf-8",
            codec_errors="replace",
            timeout=20,
        )
        self.child.delaybeforesend = None
        self.screen.answer = self.child.send

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.child.close(force=True)

    def send(self, text: str) -> None:
        """Types."""
        self.child.send(text)

    def read(self, seconds: float = 0.05) -> None:
        """Takes in what the program writes until it is quiet for so long."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                data = self.child.read_nonblocking(65536, timeout=seconds)
            except (pexpect.TIMEOUT, pexpect.EOF):
                return
            self.raw += data
            self.stream.feed(data)

    def wait(self, holds: Callable[[str], bool], seconds: float = 20) -> str:
        """Waits until the screen's text is as wanted; gets the text."""
        end = time.monotonic() + seconds
        while True:
            text = self.text
            if holds(text):
                return text
            assert time.monotonic() < end, f"not seen within {seconds} s; the screen is\n{text}"
            self.read(0.02)

    def until(self, *wanted: str) -> str:
        """Waits until the screen shows all of this."""
        return self.wait(lambda text: all(w in text for w in wanted))

    @property
    def text(self) -> str:
        """The screen as text; wide characters stand once."""
        lines = []
        for row in range(self.screen.lines):
            cells = self.screen.buffer[row]
            lines.append("".join(cells[n].data for n in range(self.screen.columns)).rstrip())
        return "\n".join(lines)

    def resize(self, columns: int, rows: int) -> None:
        """Changes the window's size."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def finish(self) -> int | None:
        """Waits for the end; gets the exit status."""
        self.child.expect(pexpect.EOF)
        self.raw += self.child.before or ""
        self.child.close()
        return self.child.exitstatus
