"""A board that stays on the screen while nobody reads a line: while something is worked out, or bots are watched.

It is drawn where the prompt stood and wiped before anything else is printed, so that what happened scrolls away above
it as it does above the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from prompt_toolkit.output import Output

from .terminal import Line, line_width


class StandingBoard:
    """Lines above the cursor that can be wiped again."""

    def __init__(self, output: Output, show: Callable[[Sequence[Line]], None]) -> None:
        """Takes the terminal, and what writes lines there as they are."""
        self._output = output
        self._show = show
        self._widths: list[int] | None = None
        """How wide each line is that stands there now, if any do."""

    @contextmanager
    def drawn(self, lines: Sequence[Line]) -> Iterator[None]:
        """Draws lines, and wipes them at the end."""
        self._widths = []
        try:
            self.add(lines)
            yield
        finally:
            self._wipe()

    def add(self, lines: Sequence[Line]) -> None:
        """Writes more lines, to be wiped with the rest; where none stand, they remain."""
        if self._widths is not None:
            self._widths += [line_width(line) for line in lines]
        self._show(lines)

    def _wipe(self) -> None:
        """Wipes what stands there, also where a narrower window has folded it."""
        columns = max(self._output.get_size().columns, 1)
        rows = sum(max(1, -(-width // columns)) for width in self._widths or ())
        self._widths = None
        self._output.write_raw("\r")
        self._output.cursor_up(rows)
        self._output.erase_down()
        self._output.flush()
