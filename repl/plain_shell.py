"""The shell for pipes, files and dumb terminals: reads lines, answers in plain text, ends with the input."""

from __future__ import annotations

import sys
from typing import TextIO

from .desk import Desk, run_line
from .pace import let_bots_play
from .terminal import Line, plain


class PlainShell:
    """Reads a script."""

    def __init__(self, desk: Desk, source: TextIO | None = None, target: TextIO | None = None) -> None:
        self.desk = desk
        self.source = sys.stdin if source is None else source
        self.target = sys.stdout if target is None else target

    def run(self) -> int:
        """Reads until the input ends or says so; the exit status is 0."""
        desk = self.desk
        typed = self.source.isatty()
        self._show(desk.warnings())
        self._show(desk.news())
        self._show(desk.board())
        first = True
        while True:
            try:
                if first:
                    first = False
                    self._turn()
                if not self._read_one(typed):
                    break
            except KeyboardInterrupt:
                if not typed:
                    raise
                desk.pending, desk.question, desk.opened = None, "", None
                self._show([[], desk.line("interrupted", "dim")])
        if typed and desk.kept is not None and not desk.session.is_over:
            self._show([desk.line("kept", "dim")])
        return 0

    def _read_one(self, typed: bool) -> bool:
        """Reads a line and answers it; False to leave."""
        desk = self.desk
        if typed:
            self._write(self._prompt(), end="")
        text = self.source.readline()
        if not text:
            if typed:
                self._write("")
            return False
        text = text.rstrip("\r\n")
        if text.lstrip().startswith("#"):
            return True
        if not typed:
            self._write(self._prompt() + text)
        asked = desk.question
        reply = run_line(desk, text)
        self._show(reply.lines)
        if reply.quit:
            return False
        if reply.board or (typed and not text and not asked and desk.turn is None):
            self._turn()
        return True

    def _turn(self) -> None:
        """Lets the bots play and tells where things stand."""
        desk = self.desk
        for news in let_bots_play(desk):
            self._show(news)
        self._show(desk.news())
        if desk.session.is_over:
            self._show(desk.board())
            self._show(desk.results())
        else:
            self._show([desk.status()])

    def _prompt(self) -> str:
        desk = self.desk
        if desk.pending is not None:
            return f"{desk.question} "
        return f"{desk.session.seats[desk.turn].name}> " if desk.turn is not None else "> "

    def _show(self, lines: list[Line]) -> None:
        if lines:
            self._write(plain(lines, ascii=self.desk.look.ascii))

    def _write(self, text: str, end: str = "\n") -> None:
        encoding = getattr(self.target, "encoding", None) or "utf-8"
        self.target.write(text.encode(encoding, "replace").decode(encoding) + end)
        self.target.flush()
