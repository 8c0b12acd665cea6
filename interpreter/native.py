"""Compiles the C of a rule set once, keeps it in the user's cache, and plays positions with it.

Any C compiler will do: the one that the environment variable CC names, else cc, gcc or clang, else that of the
`ziglang` wheel (extra `native`). What was compiled is kept under a fingerprint of the rules, the interpreter's code and
the compiler; it is written under another name and renamed, so that processes at the same work cannot harm each other.
Where the cache cannot be written, the library lives in a temporary folder for as long as the process.

Without a compiler `NativeUnavailable` is raised, and says what to do; all works with the Python backend too.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache as cached
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import cache
from . import program as ir
from .c_backend import APPLY, DECIDE, MORE_WHYS, RUN, STOPS, figure_count, row_length, wanted, write_c
from .c_layout import Unwritable
from .c_writer import WHYS
from .errors import BrokenRule
from .native_totals import Totals

if TYPE_CHECKING:
    from .game import Game
    from .python_backend import Position, Stop

FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fno-semantic-interposition", "-w")
_PATIENCE = 300
"""Seconds a compiler may take."""
_KEPT = 60
"""How many libraries are kept; the oldest go first."""
_SUFFIX = ".native.so"
_COMPILING = "compiling-"

HINT = "for mass play a hundred times as fast install a C compiler, or: pip install 'harbourmaster[native]'"


class NativeUnavailable(Exception):
    """Says why rules cannot run as C here, and how to be faster; the Python backend runs them all the same."""


# ---------------------------------------------------------------------------------------- compilers


@cached
def compilers() -> tuple[tuple[str, ...], ...]:
    """Gets the commands that may compile C, the best first."""
    words = os.environ.get("CC", "").split()
    if words:
        return ((*words,),) if shutil.which(words[0]) else ()
    found: list[tuple[str, ...]] = []
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path and os.path.realpath(path) not in {os.path.realpath(c[0]) for c in found}:
            found.append((path,))
    if find_spec("ziglang") is not None:
        found.append((sys.executable, "-m", "ziglang", "cc"))
    return tuple(found)


def _identity(command: Sequence[str]) -> str:
    """Gets what tells one compiler from another without running it: its path, size and time of change."""
    path = Path(os.path.realpath(shutil.which(command[0]) or command[0]))
    if command[1:3] == ("-m", "ziglang"):
        spec = find_spec("ziglang")
        path = Path(spec.origin) if spec is not None and spec.origin else path
    try:
        stat = path.stat()
    except OSError:
        return " ".join(command)
    return f"{' '.join(command)} {path} {stat.st_size} {stat.st_mtime_ns}"


def _compile(command: Sequence[str], source: Path, target: Path) -> None:
    """Compiles a file. Raises `NativeUnavailable`; nothing is left then."""
    try:
        done = subprocess.run(
            [*command, *FLAGS, "-o", str(target), str(source)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        target.unlink(missing_ok=True)
        raise NativeUnavailable(f"the C compiler {command[0]} does not run: {e}; {HINT}") from None
    if done.returncode != 0 or not target.exists():
        target.unlink(missing_ok=True)
        said = [line for line in done.stderr.splitlines() if line.strip()]
        first = next(
            (line for line in said if "error" in line), said[0] if said else f"exit {done.returncode}"
        )
        raise NativeUnavailable(f"the C compiler {' '.join(command)} failed: {first.strip()}; {HINT}")


# ---------------------------------------------------------------------------------------- libraries


def _open(path: Path, fingerprint: str) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.hm_fingerprint.restype = ctypes.c_char_p
    if library.hm_fingerprint() != fingerprint.encode():
        raise OSError("another program's library")
    return library


def _build(command: Sequence[str], text: str, fingerprint: str, root: Path | None) -> ctypes.CDLL:
    """Compiles the text and loads the library, from the folder or, where that is None, from a temporary one."""
    if root is None:
        with tempfile.TemporaryDirectory(prefix="harbourmaster-", ignore_cleanup_errors=True) as folder:
            source, target = Path(folder) / "rules.c", Path(folder) / f"{fingerprint}{_SUFFIX}"
            source.write_text(text, encoding="utf-8")
            _compile(command, source, target)
            return _open(target, fingerprint)
    final = root / f"{fingerprint}{_SUFFIX}"
    # in a folder of its own inside the cache, so that a crash leaves one thing to sweep and renaming stays atomic
    with tempfile.TemporaryDirectory(prefix=_COMPILING, dir=root, ignore_cleanup_errors=True) as folder:
        source, target = Path(folder) / "rules.c", Path(folder) / final.name
        source.write_text(text, encoding="utf-8")
        _compile(command, source, target)
        library = _open(target, fingerprint)
        with target.open("rb") as f:
            os.fsync(f.fileno())
        os.replace(target, final)
    _prune(root)
    return library


def _prune(root: Path) -> None:
    """Sweeps out old libraries, and what a process that was killed left behind."""
    try:
        for path in root.glob(f"{_COMPILING}*"):
            if path.stat().st_mtime < time.time() - 3600:
                shutil.rmtree(path, ignore_errors=True)
        entries = sorted(root.glob(f"*{_SUFFIX}"), key=lambda p: p.stat().st_mtime)
        for path in entries[: max(0, len(entries) - _KEPT)]:
            path.unlink(missing_ok=True)
    except OSError:
        return


Writes = Callable[[ir.Program, str], str]
"""Writes a program as C that tells of itself by a fingerprint: (program, fingerprint) → text."""


def library_of(program: ir.Program, key: str = "", write: Writes = write_c) -> ctypes.CDLL:
    """Gets the library of a program, compiling it if it is not in the cache under `key` (if empty: its text).

    Raises `NativeUnavailable`.
    """
    commands = compilers()
    if not commands:
        named = os.environ.get("CC", "").strip()
        raise NativeUnavailable(
            f"the compiler CC={named} is not there; {HINT}" if named else f"no C compiler found; {HINT}"
        )
    text = "" if key else _written(program, "", write)
    root = cache.folder()
    problem = NativeUnavailable(HINT)
    for command in commands:
        parts = (key or text, _identity(command), " ".join(FLAGS), platform.machine(), sys.platform)
        fingerprint = hashlib.sha256("\0".join((cache.code_version(), *parts)).encode()).hexdigest()[:32]
        if root is not None:
            path = root / f"{fingerprint}{_SUFFIX}"
            if path.exists():
                try:
                    return _open(path, fingerprint)
                except (OSError, AttributeError):
                    pass  # damaged: made anew
        source = _written(program, fingerprint, write)
        try:
            if root is not None:
                try:
                    return _build(command, source, fingerprint, root)
                except (OSError, NativeUnavailable):
                    pass  # the cache may be read-only or full: the same again elsewhere
            return _build(command, source, fingerprint, None)
        except NativeUnavailable as e:
            problem = e
        except (OSError, AttributeError) as e:
            problem = NativeUnavailable(
                f"what the C compiler {command[0]} made cannot be loaded: {e}; {HINT}"
            )
    raise problem


def _written(program: ir.Program, fingerprint: str, write: Writes) -> str:
    try:
        return write(program, fingerprint)
    except Unwritable as e:
        raise NativeUnavailable(f"these rules do not run as C: {e}") from None


# ------------------------------------------------------------------------------------------ machine

_Numbers = Any  # a ctypes array of 64-bit numbers; its type differs by length


class NativeMachine:
    """Runs positions of one program with compiled C, like `PythonMachine`; plays whole games at once.

    `hooks`: what raises the errors (`bad`, `circle`, `stuck`), as for `PythonMachine`. Not for several threads at once.
    """

    def __init__(
        self, program: ir.Program, library: ctypes.CDLL, *, hooks: Mapping[str, Callable[..., Any]]
    ) -> None:
        self.program = program
        self.library = library
        self.hooks = hooks
        c = ctypes
        number, pointer, bits = c.c_int64, c.c_void_p, c.c_uint64
        for name, arguments in (
            ("hm_run", [pointer, number, number, number, pointer, pointer]),
            ("hm_call", [pointer, number, pointer, pointer, pointer]),
            ("hm_list", [pointer, number, number, pointer, pointer]),
            ("hm_chance", [pointer, number, pointer, pointer]),
            ("hm_finish", [pointer, number, pointer, pointer, pointer]),
            ("hm_play", [bits, *[number] * 2, pointer, *[number] * 2, *[pointer] * 3]),
            ("hm_play_checked", [bits, *[number] * 2, pointer, *[number] * 2, *[pointer] * 3]),
            ("hm_play_tasted", [bits, *[number] * 2, pointer, *[number] * 2, *[pointer] * 4]),
            ("hm_taste_bytes", []),
            ("hm_taste_values", []),
            ("hm_taste_begin", [pointer, *[number] * 3]),
            ("hm_position_bytes", []),
            ("hm_most_options", []),
        ):
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, number
        self._slots: _Numbers = (number * program.size)()
        self._options: _Numbers = (number * library.hm_most_options())()
        self._error: _Numbers = (number * 6)()
        self._result: _Numbers = (number * 8)()
        used = wanted(program)
        values = [f.name for f in program.functions.values() if f.kind == "value" and f.name in used]
        lists = [f.name for f in program.functions.values() if f.kind == "options"]
        self._values = {name: i for i, name in enumerate(values)}
        self._lists = {name: i for i, name in enumerate(lists)}
        self.names: dict[str, Callable[..., Any]] = {}
        for name in values:
            self.names[name] = self._caller(name)
        for name in lists:
            self.names[name] = self._lister(name)
        self.chance_info = [self._informer(chance) for chance in program.chances]

    @property
    def position_bytes(self) -> int:
        """How many bytes a position takes in C."""
        return int(self.library.hm_position_bytes())

    # ------------------------------------------------------------------------------------- in steps

    def start(self) -> tuple[Position, Stop]:
        """Makes the first position and runs it to where the game first stops."""
        position = list(self.program.initial)
        return position, self.run(position, self.program.start)

    def run(self, position: Position, place: int | Stop) -> Stop:
        """Runs a position from block `place` to where the game stops."""
        return self._step(position, RUN, place, 0) if isinstance(place, int) else place

    def stop(self, position: Position) -> Stop:
        """Finds what a position that has stopped stands at."""
        return self._step(position, RUN, position[0], 0)

    def apply(self, position: Position, action: int) -> Stop:
        """Makes a move and runs on to the next stop."""
        return self._step(position, APPLY, 0, action)

    def decide(self, position: Position, chance: int, outcome: int) -> Stop:
        """Lets a chance node come out as `outcome` and runs on to the next stop."""
        return self._step(position, DECIDE, chance, outcome)

    def call(self, function: str, position: Position, *arguments: int) -> int:
        """Calls a function of the program."""
        slots = self._load(position)
        given = (ctypes.c_int64 * max(1, len(arguments)))(*arguments)
        if self.library.hm_call(slots, self._values[function], given, self._result, self._error) < 0:
            self.fail()
        return int(self._result[0])

    def _step(self, position: Position, how: int, what: int, value: int) -> Stop:
        slots = self._load(position)
        n: int = self.library.hm_run(slots, how, what, value, self._options, self._error)
        position[:] = slots[:]
        if n >= 0:
            options: list[int] = self._options[:n]
            return options
        if n == STOPS["END"]:
            return None
        if n == STOPS["TROUBLE"]:
            self.fail()
        return (STOPS["CHANCE"] - n,)

    def _load(self, position: Position) -> _Numbers:
        self._slots[:] = position
        return self._slots

    def _caller(self, name: str) -> Callable[..., int]:
        return lambda position, *arguments: self.call(name, position, *arguments)

    def _lister(self, name: str) -> Callable[[Position, int], list[int]]:
        def lists(position: Position, actor: int) -> list[int]:
            slots = self._load(position)
            n = self.library.hm_list(slots, self._lists[name], actor, self._options, self._error)
            if n < 0:
                self.fail()
            return list(self._options[:n])

        return lists

    def _informer(self, chance: ir.ChanceNode) -> Callable[[Position], tuple[int, int, int, int, int, Any]]:
        weigh = self.names[chance.weights] if chance.weights else None

        def informs(position: Position) -> tuple[int, int, int, int, int, Any]:
            slots = self._load(position)
            if self.library.hm_chance(slots, chance.number, self._result, self._error) < 0:
                self.fail()
            stream, row, ordinal, low, count = self._result[:5]
            return stream, row, ordinal, low, count, weigh

        return informs

    def fail(self, error: _Numbers | None = None) -> NoReturn:
        """Raises the error that C told of."""
        site, why, value, low, high, _ = error or self._error
        kinds = (*WHYS, *MORE_WHYS)
        kind = kinds[why]
        if kind == "loop":
            self.hooks["circle"](site)
        elif kind == "stuck":
            self.hooks["stuck"](site, value)
        elif kind == "lost":
            raise ValueError(f"a position cannot stand at {value}")
        elif kind == "slot":
            raise ValueError(f"slot {low} of a position cannot hold {value}")
        elif kind == "invariant":
            text, _, span = self.program.invariants[value]
            raise BrokenRule("runtime-invariant", f"at the end this does not hold: {text}", span)
        elif kind == "weight":
            raise AssertionError("no outcome has any weight")
        else:
            self.hooks["bad"](site, kind, value, low, high)
        raise AssertionError(kind)

    # ---------------------------------------------------------------------------------- whole games

    def play(
        self,
        seed: int,
        first: int,
        games: int,
        *,
        position: Position | None = None,
        action: int | None = None,
        rows: bool = False,
        check: bool = False,
    ) -> tuple[Totals, array[int]]:
        """Plays games number `first` … of a run by chance and adds up what came of them.

        From the start, or from a position that has stopped, after `action` there if one is given. With `rows`
        comes one row a game, `row_length(program)` numbers: decisions (below 0: not over within the budget), the
        winners as a set, each player's score, the measures' figures. `check` tests the invariants at the end of
        each game. Raises `BrokenRule`. Unlike the rest it may be called from several threads at once.
        """
        totals = Totals.empty(self.program)
        flat = (ctypes.c_int64 * len(totals.numbers))()
        error = (ctypes.c_int64 * 6)()
        table: array[int] = array("q", bytes(8 * row_length(self.program) * games)) if rows else array("q")
        where = table.buffer_info()[0] if rows else None
        slots, place = None, self.program.start
        if position is not None:
            slots, place = (ctypes.c_int64 * self.program.size)(*position), position[0]
        move = -1 if action is None else action
        play = self.library.hm_play_checked if check else self.library.hm_play
        if play(seed & (1 << 64) - 1, first, games, slots, place, move, flat, where, error) < 0:
            self.fail(error)
        totals.numbers[:] = flat[:]
        return totals, table

    def finish(self, position: Position, place: int | Stop, keys: Sequence[int], x: int) -> tuple[int, int]:
        """Plays a position to its end by chance, like the function of `playout.player_of`: gets (decisions, x)."""
        from .playout import endless

        slots = self._load(position)
        streams = (ctypes.c_uint64 * max(1, len(keys)))(*keys)
        picks = ctypes.c_uint64(x)
        at = place if isinstance(place, int) else position[0]
        n: int = self.library.hm_finish(slots, at, streams, ctypes.byref(picks), self._error)
        position[:] = slots[:]
        if n == STOPS["TROUBLE"]:
            self.fail()
        if n == STOPS["ENDLESS"]:
            raise endless(self.program.decision_budget)
        return n, picks.value


def native_machine(game: Game) -> NativeMachine:
    """Gets the native machine of a game, compiling it at first use. Raises `NativeUnavailable`."""
    return NativeMachine(game.program, library_of(game.program, game._key), hooks=game._hooks())


__all__ = [
    "HINT",
    "BrokenRule",
    "NativeMachine",
    "NativeUnavailable",
    "compilers",
    "figure_count",
    "library_of",
    "native_machine",
]
