"""The host: lets clients in by SSH, and has one thing done at the table at a time.

Only a shell can be asked for: no programs, no files, no forwarding. A move is made under the table's lock, here; bots
and thinking run in a thread beside, where nobody has to wait for them. Who has not come in yet may hold no more than a few
lines, for no longer than half a minute; wrong codes are answered late, and the later the more there were.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
import traceback
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncssh
from asyncssh.auth import KbdIntChallenge, KbdIntResponse

from ...interpreter.errors import BrokenRule
from ..desk import Reply, run_line
from .admission import LOOKING_ON, Admission
from .beside import Beside
from .chair import Chair
from .table import Table
from .visit import Visit

MOST_VISITORS = 64
_MOST_OUTSIDE = 16
"""How many lines may be open that have not come in yet; the oldest is closed for one more."""
_TO_COME_IN = 30
_WRONG_A_LINE = 4
_WRONG_REMEMBERED = 600.0
_DELAY, _LONGEST_DELAY = 0.5, 5.0
_LAST_WORDS = 0.3
"""How many seconds after the farewell the host ends."""
_ALIVE, _MISSED = 15, 3
"""How often a silent client is asked if he is there, and how often he may fail to answer."""


class Host:
    """A table that is open to others."""

    def __init__(
        self,
        table: Table,
        admission: Admission,
        *,
        language: str = "en",
        ascii: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.table = table
        self.admission = admission
        self.language = language
        self.ascii = ascii
        self.report = report
        self.delay = _DELAY
        """How many seconds the first wrong code is answered later."""
        self.visits: dict[Chair, Visit] = {}
        self._outside: dict[Door, None] = {}
        self._lock = asyncio.Lock()
        self._playing = Beside()
        self._bots: asyncio.Task[None] | None = None
        self._wrong: dict[str, deque[float]] = {}
        self._server: asyncssh.SSHAcceptor | None = None
        table.members |= admission.came

    # -------------------------------------------------------------------------------------------------- open, shut

    async def open(self, address: str, port: int, key: Path) -> int:
        """Opens the door; gets the port. Raises `OSError`."""
        logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
        self._server = await asyncssh.create_server(
            lambda: Door(self),
            address,
            port,
            server_host_keys=[host_key(key)],
            server_version="harbourmaster",
            login_timeout=_TO_COME_IN,
            keepalive_interval=_ALIVE,
            keepalive_count_max=_MISSED,
            line_editor=False,
            encoding="utf-8",
            errors="replace",
            x11_forwarding=False,
            agent_forwarding=False,
            allow_scp=False,
            gss_host=None,
            config=[],
        )
        self.wake_bots()
        return self._server.get_port()

    async def shut(self) -> None:
        """Closes the door; everybody is told that the table is kept."""
        if self._server is not None:
            self._server.close()
        for visit in list(self.visits.values()):
            visit.close("host-closes")
        for door in list(self._outside):
            door.connection.abort()
        if self._bots is not None:
            self._bots.cancel()
        await asyncio.sleep(_LAST_WORDS)
        if self.table.session.recorder is not None:
            self.table.session.recorder.close()

    # ------------------------------------------------------------------------------------------------- the door

    def arrives(self, door: Door) -> bool:
        """Takes in that a line was opened; False where there are too many."""
        if len(self.visits) >= MOST_VISITORS:
            return False
        if len(self._outside) >= _MOST_OUTSIDE:
            oldest = next(iter(self._outside))
            del self._outside[oldest]
            oldest.connection.abort()
        self._outside[door] = None
        return True

    def goes(self, door: Door) -> None:
        """Takes in that a line has ended, or has come in."""
        self._outside.pop(door, None)

    async def try_code(self, address: str, code: str) -> int | None:
        """Gets the place a code opens; wrong ones are answered late."""
        place = self.admission.by_code(code)
        if place is not None:
            return place
        now = time.monotonic()
        wrong = self._wrong.setdefault(address, deque(maxlen=100))
        while wrong and now - wrong[0] > _WRONG_REMEMBERED:
            wrong.popleft()
        wrong.append(now)
        if len(self._wrong) > 1000:
            del self._wrong[next(iter(self._wrong))]
        self.report(f"a wrong code from {address}")
        await asyncio.sleep(min(self.delay * len(wrong), _LONGEST_DELAY))
        return None

    # ------------------------------------------------------------------------------------------------- the table

    async def enter(
        self, visit: Visit, chair: Chair, place: int, code: str | None, key: str | None
    ) -> str | None:
        """Lets a client sit down; gets the code with which he comes back, where he needs one."""
        async with self._lock:
            if place != LOOKING_ON and code is not None and self.admission.by_code(code) != place:
                raise asyncio.CancelledError  # somebody came in with this code a moment ago
            made = self.admission.admit(place, code, key)
            before = self.table.sit(chair)
        if before is not None and before in self.visits:
            self.visits.pop(before).close("taken-over")
        self.visits[chair] = visit
        self.goes(visit.door)
        self.report(f"{self._name(chair)} is here ({visit.door.address})")
        self.wake_bots()
        return made

    def leave(self, chair: Chair) -> None:
        """Lets a client go."""
        if self.visits.pop(chair, None) is not None:
            self.report(f"{self._name(chair)} has gone")
        self.table.leave(chair)

    def _name(self, chair: Chair) -> str:
        return "somebody who looks on" if chair.seat is None else self.table.session.seats[chair.seat].name

    async def hand_in(self, chair: Chair, text: str) -> Reply:
        """Hands in a line of a client; gets the answer."""
        try:
            async with self._lock:
                reply = run_line(chair, text)
            if reply.work is not None:
                reply = await self.visits[chair].thinking.do(reply.work)
        except Exception as error:  # as in the prompt's loop: the table goes on
            self.admit_fault(error)
            return chair.fail("fault-of-ours")
        if reply.board:
            self.wake_bots()
        return reply

    def wake_bots(self) -> None:
        """Lets the bots play until somebody is to act."""
        if self._bots is None or self._bots.done():
            self._bots = asyncio.get_running_loop().create_task(self._let_bots_play())

    async def _let_bots_play(self) -> None:
        more = True
        while more:
            async with self._lock:
                try:
                    more = await self._playing.do(self.table.bots_turn)
                except BrokenRule as error:
                    self.report(f"the rules went wrong: {error.message} ({error.span})")
                    return
                except Exception as error:  # a bot's trouble
                    self.admit_fault(error)
                    return
            if more:
                self.table.moved()

    def admit_fault(self, error: Exception) -> None:
        """Reports a fault of ours to the host."""
        self.report("a fault of ours: " + "".join(traceback.format_exception(error)).rstrip())


class Door(asyncssh.SSHServer):
    """One line: who is at its other end."""

    connection: asyncssh.SSHServerConnection

    def __init__(self, host: Host) -> None:
        self.host = host
        self.place: int | None = None
        self.code: str | None = None
        self.key: str | None = None
        self.address = "?"
        self._wrong = 0
        self._visited = False

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Takes the line in, or not."""
        self.connection = conn
        peer: Any = conn.get_extra_info("peername")
        self.address = str(peer[0]) if peer else "?"
        if not self.host.arrives(self):
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Takes in that the line has ended."""
        self.host.goes(self)

    def begin_auth(self, username: str) -> bool:
        """Asks everybody for a key or a code."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Takes keys."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Lets everybody who proves that he holds a key as far as the question for a code."""
        self.key = key_text(key)
        self.place = self.host.admission.by_key(self.key)
        self.code = None
        return True

    def password_auth_supported(self) -> bool:
        """Takes codes as passwords."""
        return True

    async def validate_password(self, username: str, password: str) -> bool:
        """Takes a code."""
        self.key = None  # whatever key was shown before was not proved
        self.place = await self.try_code(password)
        self.code = password
        return self.place is not None

    def kbdint_auth_supported(self) -> bool:
        """Takes codes as answers."""
        return True

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> KbdIntChallenge:
        """Asks for a code."""
        return "", "", "", [("Code: ", False)]

    async def validate_kbdint_response(self, username: str, responses: KbdIntResponse) -> KbdIntChallenge:
        """Takes a code."""
        return await self.validate_password(username, responses[0] if responses else "")

    async def try_code(self, code: str) -> int | None:
        """Gets the place a code opens; ends the line after a few wrong ones."""
        place = await self.host.try_code(self.address, code)
        if place is None:
            self._wrong += 1
            if self._wrong >= _WRONG_A_LINE:
                self.connection.abort()
        return place

    def session_requested(self) -> Visit | bool:
        """Opens one session a line."""
        if self._visited:
            return False
        self._visited = True
        return Visit(self)


def key_text(key: asyncssh.SSHKey) -> str:
    """Writes a public key without its comment."""
    return " ".join(key.export_public_key("openssh").decode().split()[:2])


def host_key(path: Path) -> asyncssh.SSHKey:
    """Gets the host's key, made at the first time. Raises `OSError`."""
    if path.exists():
        return asyncssh.read_private_key(path)
    key = asyncssh.generate_private_key("ssh-ed25519", "harbourmaster")
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(key.export_private_key())
    return key


def keys_of(folder: Path, names: dict[str, int]) -> dict[str, int]:
    """Reads the keys of seats: the files NAME, NAME.pub or NAME.keys of a folder, a key a line.

    Raises `OSError`, or `ValueError` with the file and line of what is no key.
    """
    given: dict[str, int] = {}
    for path in sorted(folder.iterdir()):
        seat = names.get(path.name.casefold(), names.get(path.stem.casefold()))
        if seat is None or not path.is_file():
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                given[key_text(asyncssh.import_public_key(line))] = seat
            except asyncssh.KeyImportError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return given
