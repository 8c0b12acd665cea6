"""Shows at the terminal that something is being worked out, once it takes longer than a moment.

A thread writes the line, so that whoever works need not think of it; the line is wiped when the work ends. Where
output is no terminal nothing is written.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType

QUIET = 0.4
"""How many seconds of work are not worth a word."""
_EACH = 0.25
_WIPE = "\r\x1b[2K"


class Indicator:
    """A line such as `Bo ... 3 s (Ctrl-C)` while a block runs; one begun within another lends it its label."""

    _running: Indicator | None = None

    def __init__(self, label: str = "") -> None:
        self.label = label
        self._outer: Indicator | None = None
        self._outer_label = ""
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Indicator:
        self._outer = Indicator._running
        if self._outer is not None:
            self._outer_label, self._outer.label = self._outer.label, self.label or self._outer.label
        elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            Indicator._running = self
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outer is not None:
            self._outer.label = self._outer_label
        if self._thread is not None:
            self._done.set()
            self._thread.join()
            Indicator._running = None

    def _show(self) -> None:
        begun = time.monotonic()
        if self._done.wait(QUIET):
            return
        turn = 0
        while True:
            dots = "." * (1 + turn % 3)
            lead = f"{self.label} " if self.label else ""
            sys.stdout.write(f"{_WIPE}{lead}{dots:3} {time.monotonic() - begun:.0f} s (Ctrl-C)")
            sys.stdout.flush()
            turn += 1
            if self._done.wait(_EACH):
                break
        sys.stdout.write(_WIPE)
        sys.stdout.flush()
