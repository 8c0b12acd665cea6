"""A screen to read long answers on, page by page; it follows the window's size and leaves nothing behind.

Space, Page Down or Down go on; b, Page Up or Up go back; g and G go to the beginning and the end; q, Escape, Enter or
Ctrl-C return to the table. A page of text pasted here does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.output import Output
from prompt_toolkit.styles import BaseStyle

from .terminal import Line, cut, wrap


class Pager:
    """Shows lines in a window of their own."""

    def __init__(
        self,
        lines: Sequence[Line],
        keys: Callable[[int, int, int], Line],
        drawn: Callable[[Sequence[Line]], FormattedText],
        *,
        style: BaseStyle,
        output: Output,
        height: int | None = None,
    ) -> None:
        """Takes `keys` to write the foot, from the first and last line shown and their number."""
        self.lines = lines
        self.keys = keys
        self.drawn = drawn
        self.top = 0
        self._output = output
        self._wrapped: tuple[int, list[Line]] = (0, [])
        body = Window(FormattedTextControl(self._body, show_cursor=False), always_hide_cursor=True)
        foot = Window(FormattedTextControl(self._foot), height=1, style="class:bottom-toolbar")
        self.app: Application[None] = Application(
            Layout(HSplit([body, foot])),
            key_bindings=self._bindings(),
            style=style,
            output=output,
            full_screen=True,
        )
        self.app.ttimeoutlen = 0.05
        self.app.timeoutlen = 0.1

    def run(self) -> None:
        """Shows the lines until the reader has enough."""
        self.app.run()

    def _size(self) -> tuple[int, int]:
        size = self._output.get_size()
        return max(size.columns, 20), max(size.rows - 1, 1)

    def _lines(self) -> list[Line]:
        columns, _ = self._size()
        if self._wrapped[0] != columns:
            self._wrapped = (columns, [part for line in self.lines for part in wrap(line, columns, 4)])
        return self._wrapped[1]

    def _body(self) -> FormattedText:
        _, rows = self._size()
        lines = self._lines()
        self.top = max(0, min(self.top, len(lines) - rows))
        return self.drawn(lines[self.top : self.top + rows])

    def _foot(self) -> FormattedText:
        columns, rows = self._size()
        lines = self._lines()
        return self.drawn(
            [cut(self.keys(self.top + 1, min(self.top + rows, len(lines)), len(lines)), columns)]
        )

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()

        def by(*names: str, pages: float = 0, lines: int = 0) -> None:
            def scroll(event: KeyPressEvent) -> None:
                _, rows = self._size()
                self.top += lines + int(pages * max(1, rows - 1))

            for name in names:
                keys.add(name)(scroll)

        by(" ", "pagedown", "f", "c-f", pages=1)
        by("b", "pageup", "c-b", pages=-1)
        by("d", pages=0.5)
        by("u", pages=-0.5)
        by("down", "j", "c-n", lines=1)
        by("up", "k", "c-p", lines=-1)
        by("g", "home", lines=-(10**9))
        by("G", "end", lines=10**9)

        @keys.add("q")
        @keys.add("escape")
        @keys.add("enter")
        @keys.add("c-c")
        @keys.add("c-d")
        def leave(event: KeyPressEvent) -> None:
            event.app.exit()

        @keys.add("c-z")
        def sleep(event: KeyPressEvent) -> None:
            event.app.suspend_to_background()

        @keys.add(Keys.BracketedPaste)
        @keys.add("<any>")
        def nothing(event: KeyPressEvent) -> None:
            pass

        return keys
