"""A player that is a program of its own, in any language: `exec:COMMAND`.

The program is started without a shell. Each time its seat is to choose it gets one line of JSON on its standard input,
with what the player has seen and may do, and answers with one line on its standard output; `interpreter/PROTOCOL.md`
says what stands in them. It is told nothing that the player cannot know: neither the position nor what others may do.

A program may fail: end, be too slow, answer nonsense or an action that is not offered. Then an option is taken by
chance, the program is ended (it is started again for the next choice), and the fault is noted in `faults`. After three
faults in a row it is not asked any more. What it writes to its standard error is kept apart; the last line of it is
told with the fault.

One program runs for each command and seat, from game to game, and ends with this one.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

from ..engine_requests import PROTOCOL
from ..errors import PlayError
from ..playout import Random
from .budget import Stopper, never
from .thinker import may_pass

if TYPE_CHECKING:
    from ..game import Game, State
    from ..seen import Onlooker

KIND = "exec"
DEFAULT_SECONDS = 10.0
_TO_START = 5.0
"""How many seconds more a program has for its first answer."""
_LONGEST = 1 << 20
"""The longest line of an answer, in bytes."""
_SHOWN = 80
_MOST_FAULTS = 3
"""After how many faults in a row, in however many games, a program is not asked any more."""
_TICK = 0.05


class Failure(Exception):
    """Says why a program gave no answer that could be used."""


class Stopped(Failure):
    """Says that it was not waited for: no fault of the program's."""


class Program:
    """A running program that answers lines with lines."""

    def __init__(self, command: tuple[str, ...]) -> None:
        """Starts it. Raises `Failure`."""
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C at this terminal is not meant for it
            )
        except OSError as error:
            raise Failure(f"could not be started: {(error.strerror or str(error)).lower()}") from None
        self.is_new = True
        self.owes = 0
        """How many answers are still to come that nobody waits for."""
        self.errors: deque[str] = deque(maxlen=20)
        """The last lines of its standard error."""
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._to_write: queue.Queue[bytes | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._read, self._read_errors, self._write)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline(_LONGEST + 1)
            self._lines.put(line or None)
            if not line or len(line) > _LONGEST:
                return

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while line := self.process.stderr.readline(1000):
            if text := line.decode("utf-8", "replace").strip():
                self.errors.append(text)

    def _write(self) -> None:
        """Writes in a thread of its own: a program that does not read must not hold us up."""
        assert self.process.stdin is not None
        try:
            while (line := self._to_write.get()) is not None:
                self.process.stdin.write(line)
                self.process.stdin.flush()
            self.process.stdin.close()
        except OSError:
            return

    def ask(self, line: bytes, seconds: float, stop: Stopper) -> bytes:
        """Sends a line and waits for the one that answers it. Raises `Failure`."""
        while not self._lines.empty() and self._lines.queue[0] is not None:
            self._lines.get()  # late or said unasked: it cannot be the answer
            self.owes = max(0, self.owes - 1)
        allowed = seconds + (_TO_START if self.is_new else 0)
        end = time.monotonic() + allowed
        self._to_write.put(line)
        while True:
            try:
                answer = self._lines.get(timeout=max(0.0, min(_TICK, end - time.monotonic())))
            except queue.Empty:
                if stop():
                    self.owes += 1
                    raise Stopped("was told to stop before it answered") from None
                if time.monotonic() >= end:
                    raise Failure(f"did not answer within {allowed:g} s") from None
                continue
            if answer is None:
                raise Failure(self._how_it_ended())
            if len(answer) > _LONGEST:
                raise Failure(f"answered with more than {_LONGEST:,} bytes on one line")
            self.is_new = False
            if not self.owes:
                return answer
            self.owes -= 1

    def _how_it_ended(self) -> str:
        try:
            status = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "closed its standard output before it answered"
        if status < 0:
            return f"was ended by signal {-status} before it answered"
        return f"ended with exit status {status} before it answered"

    def end(self, patience: float = 0.0) -> None:
        """Ends it: lets it see the end of its input, waits so many seconds, then kills it."""
        self._to_write.put(None)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self._kill()
            self.process.wait()
        self._threads[1].join(0.2)  # for its last words

    def _kill(self) -> None:
        """Kills it and what it has started."""
        if os.name != "posix":
            self.process.kill()
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


_Key = tuple[int, tuple[str, ...], int]
"""The process that starts a program, its command, and the seat."""
_running: dict[_Key, Program] = {}
_faults_in_a_row: dict[_Key, int] = {}


def end_all() -> None:
    """Ends the programs that this process started."""
    for key in [k for k in _running if k[0] == os.getpid()]:
        _running.pop(key).end(0.5)


_ends_in: set[int] = set()


def _end_with_this_process() -> None:
    """Has the programs ended when this process ends; unlike `atexit` this is heeded in worker processes, too."""
    if os.getpid() not in _ends_in:
        _ends_in.add(os.getpid())
        Finalize(None, end_all, exitpriority=10)


class OutsidePolicy:
    """A player that is a program of its own."""

    def __init__(self, name: str, command: tuple[str, ...], seconds: float = DEFAULT_SECONDS) -> None:
        self.name = name
        self.command = command
        self.seconds = seconds
        """How long it may take for one choice."""
        self.stop: Stopper = never
        self.faults: list[str] = []
        """What went wrong, a sentence each; for the caller to tell and take out."""
        self._onlooker: tuple[Game, Onlooker] | None = None

    def choose(self, state: State, player: int, rng: Random) -> int | None:
        """Asks the program; takes any option where it fails."""
        offered = state.legal_actions(player)
        leave = may_pass(state, player)
        number = rng.below(1 << 32)
        if len(offered) + leave < 2:
            return offered[0] if offered else None
        key = (os.getpid(), self.command, player)
        if _faults_in_a_row.get(key, 0) < _MOST_FAULTS:
            try:
                action = self._ask(key, state, player, offered, leave, number)
            except Failure as failure:
                self._note(key, failure)
            else:
                _faults_in_a_row[key] = 0
                return action
        at = rng.below(len(offered) + leave)
        return offered[at] if at < len(offered) else None

    def _note(self, key: _Key, failure: Failure) -> None:
        stopped = isinstance(failure, Stopped)
        faults = _faults_in_a_row[key] = _faults_in_a_row.get(key, 0) + (not stopped)
        said = ""
        program = None if stopped else _running.pop(key, None)
        if program is not None:
            program.end()
            said = f"; the last it said: {program.errors[-1][:_SHOWN]}" if program.errors else ""
        over = "; it is not asked any more" if faults == _MOST_FAULTS and not stopped else ""
        shown = shlex.join(self.command)
        self.faults.append(f"'{shown}' at seat {key[2] + 1} {failure}{said}; chance chose{over}")

    def _ask(
        self, key: _Key, state: State, player: int, offered: list[int], leave: bool, number: int
    ) -> int | None:
        if key not in _running:
            _end_with_this_process()
            _running[key] = Program(self.command)
        message = self.message(state, player, leave, number)
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        return self._read(_running[key].ask(line, self.seconds, self.stop), state, player, offered, leave)

    def message(self, state: State, player: int, leave: bool, number: int) -> dict[str, Any]:
        """Makes what the program is asked."""
        game = state.game
        if self._onlooker is None or self._onlooker[0] is not game:
            from ..seen import Onlooker

            self._onlooker = (game, Onlooker(game))
        onlooker = self._onlooker[1]
        return {
            "ask": "choose",
            "protocol": PROTOCOL,
            "ruleset": game.canonical,
            "hash": game.content_hash,
            "players": list(game.player_names),
            "player": player,
            "choices": len(state.choices()),
            **onlooker.seen(state, player),
            "actions": onlooker.actions(state, player),
            "may_pass": leave,
            "seconds": self.seconds,
            "number": number,
        }

    def _read(self, line: bytes, state: State, player: int, offered: list[int], leave: bool) -> int | None:
        shown = line[:_SHOWN].decode("utf-8", "replace").strip()
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise Failure(f"answered '{shown}', which is no JSON") from None
        if not isinstance(answer, dict) or not ("action" in answer or "words" in answer):
            raise Failure(f"""answered '{shown}', want {{"action": NUMBER}} or {{"words": TEXT}}""")
        action = answer.get("action")
        if action is None and isinstance(answer.get("words"), str):
            try:
                action = state.parse_action(answer["words"], "en", player)
            except PlayError as error:
                raise Failure(f"chose '{answer['words'][:_SHOWN]}': {error.message}") from None
            return _as_offered(state, player, action, offered)
        if action is None and "words" not in answer:
            if leave:
                return None
            raise Failure("passed, where it cannot")
        if type(action) is not int or action not in offered:
            raise Failure(f"chose action {json.dumps(action)[:_SHOWN]}, which is not offered")
        return action


def _as_offered(state: State, player: int, action: int, offered: list[int]) -> int:
    """Gets the number by which a player takes an action that words name: one that is offered, or one with a free text."""
    own = action % state.game.program.actions
    if (
        action in offered
        or own in offered
        or state.is_simultaneous_node()
        or player == state.current_player()
    ):
        return action if action in offered else own
    return own + state.game.program.actions * (player + 1)


def make_outside(name: str, argument: str) -> OutsidePolicy:
    """Makes the player of `exec:COMMAND` or `exec:MS:COMMAND` (so many milliseconds a choice).

    Raises `UnknownPolicy`.
    """
    from .policy import UnknownPolicy

    seconds = DEFAULT_SECONDS
    first, colon, rest = argument.partition(":")
    if colon and first.isascii() and first.isdigit():
        seconds, argument = int(first) / 1000, rest
        if not 0 < seconds <= 3600:
            raise UnknownPolicy(f"'{name}': got {first} milliseconds, want 1 to 3600000", "which is an hour")
    written = f"as in '{KIND}:python3 bot.py' or '{KIND}:2000:python3 bot.py', with milliseconds"
    try:
        command = tuple(shlex.split(argument))
    except ValueError as error:
        raise UnknownPolicy(f"'{name}': {str(error).lower()}", written) from None
    if not command:
        raise UnknownPolicy(f"'{name}' names no program", written)
    if shutil.which(command[0]) is None:
        raise UnknownPolicy(f"'{name}': there is no program '{command[0]}' that can be run", written)
    return OutsidePolicy(name, command, seconds)
