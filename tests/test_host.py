"""A table over a line: real SSH clients at a real server on this machine."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
import pyte
import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.repl.choosing import options
from harbourmaster.repl.hosting import channel, server
from harbourmaster.repl.hosting.admission import LOOKING_ON, Admission
from harbourmaster.repl.hosting.server import Host
from harbourmaster.repl.hosting.table import Table
from harbourmaster.repl.seats import make_seats
from harbourmaster.repl.session import Session
from harbourmaster.repl.taking_up import keep, take_up
from harbourmaster.repl.view import View

FOUR = ("Ann", "Bo", "Cy", "Di")
PATIENCE = 20.0


class Client:
    """A client without a terminal: lines in, lines out."""

    def __init__(
        self, connection: asyncssh.SSHClientConnection, process: asyncssh.SSHClientProcess[str]
    ) -> None:
        self.connection = connection
        self.process = process
        self.text = ""
        self._seen = 0

    @classmethod
    async def connect(cls, port: int, code: str = "", key: asyncssh.SSHKey | None = None) -> Client:
        connection = await _connect(port, code, key)
        return cls(connection, await connection.create_process(term_type=None))

    async def reads(self, wanted: str) -> str:
        """Reads until something comes that was not read before; gets all that came with it."""
        async with asyncio.timeout(PATIENCE):
            while wanted not in self.text[self._seen :]:
                more = await self.process.stdout.read(4096)
                assert more, f"'{wanted}' never came; all that came:\n{self.text}"
                self.text += more
        at = self.text.index(wanted, self._seen) + len(wanted)
        part, self._seen = self.text[self._seen : at], at
        return part

    async def ends(self) -> None:
        """Reads to the end."""
        async with asyncio.timeout(PATIENCE):
            while more := await self.process.stdout.read(4096):
                self.text += more

    def type(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n")

    def kill(self) -> None:
        """Lets the line break, as when a machine loses power."""
        self.connection.abort()


async def _connect(port: int, code: str, key: asyncssh.SSHKey | None = None) -> asyncssh.SSHClientConnection:
    return await asyncssh.connect(
        "127.0.0.1",
        port,
        username="whoever",
        password=code or None,
        client_keys=[key] if key is not None else None,
        agent_path=None,
        known_hosts=None,
        config=[],
    )


class Screen:
    """A client at a terminal, which answers as terminals do."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.process: asyncssh.SSHClientProcess[str]
        self._reading: asyncio.Task[None]

    @classmethod
    async def open(cls, port: int, code: str, columns: int = 80, rows: int = 24) -> Screen:
        self = cls(columns, rows)
        connection = await _connect(port, code)
        self.process = await connection.create_process(term_type="xterm", term_size=(columns, rows))
        self._reading = asyncio.create_task(self._read())
        return self

    async def _read(self) -> None:
        while more := await self.process.stdout.read(4096):
            for part in re.split(r"(\x1b\[6n)", more):
                if part == "\x1b[6n":
                    row, column = self.screen.cursor.y + 1, self.screen.cursor.x + 1
                    self.process.stdin.write(f"\x1b[{row};{column}R")
                else:
                    self.stream.feed(part)

    @property
    def shown(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def type(self, keys: str) -> None:
        self.process.stdin.write(keys)

    async def shows(self, wanted: str) -> str:
        await until(lambda: wanted in self.shown, lambda: f"'{wanted}' is not shown:\n{self.shown}")
        return self.shown

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.process.change_terminal_size(columns, rows)


async def until(holds: Callable[[], bool], why: Callable[[], str] = lambda: "it never came so") -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(why()) from None


class Inn:
    """A host for a test."""

    def __init__(
        self, folder: Path, name: str = "manila", seats: tuple[str, ...] = FOUR, seed: int = 5
    ) -> None:
        self.folder = folder
        self.path: Path | None = None
        self.seats, self.seed, self.name = seats, seed, name
        self.reports: list[str] = []
        self.host: Host
        self.port = 0

    async def open(self) -> Inn:
        """Opens, or opens again where it stood."""
        if self.path is None:
            game = load_game(self.name, players=len(self.seats))
            people = make_seats(self.seats, game.player_names)
            session = Session(game, View(game, game.view(), strict=False), people, self.seed)
            self.path = keep(session, "en", folder=self.folder)
            assert self.path is not None
        else:
            session, _ = take_up(self.path, go_on=True)
        humans = [n for n, seat in enumerate(session.seats) if seat.is_human]
        admission = Admission.open(self.path.with_suffix(".seats"), humans, {})
        table = Table(
            session, partial(load_game, self.name, players=len(self.seats)), report=self.reports.append
        )
        self.host = Host(table, admission, report=self.reports.append)
        self.host.delay = 0.0
        self.port = await self.host.open("127.0.0.1", 0, self.folder / "host_key")
        return self

    @property
    def session(self) -> Session:
        return self.host.table.session

    def code(self, seat: int) -> str:
        code = self.host.admission.code_of(seat)
        assert code is not None
        return code

    async def seat(self, seat: int) -> tuple[Client, str]:
        """Has somebody come in with his code; gets the code with which he comes back."""
        client = await Client.connect(self.port, self.code(seat))
        await client.reads("shown only now: ")
        back = (await client.reads("\n")).strip()
        await client.reads("then share")
        return client, back

    def no_faults(self) -> None:
        assert not [r for r in self.reports if "fault" in r], self.reports


def play(test: Callable[[Inn], Awaitable[None]], inn: Inn) -> None:
    """Runs a test at an open inn."""

    async def run() -> None:
        await inn.open()
        try:
            await test(inn)
            inn.no_faults()
        finally:
            await inn.host.shut()

    asyncio.run(run())


async def choose(inn: Inn, clients: dict[int, Client], numbers: random.Random) -> None:
    """Has whoever's turn it is type a move, and waits until it is made."""
    session = inn.session
    player = session.waiting_for()[0]
    option = numbers.choice([o for o in options(session, [player], "en") if not o.open])
    before = session.at
    clients[player].type(option.words)
    await until(
        lambda: session.at > before, lambda: f"{FOUR[player]}: {option.words}: {clients[player].text[-800:]}"
    )


# ------------------------------------------------------------------------------------------------------- at play


def test_four_play_to_the_end_though_one_is_killed_in_the_middle(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        clients: dict[int, Client] = {}
        back: dict[int, str] = {}
        for seat in range(4):
            clients[seat], back[seat] = await inn.seat(seat)
        numbers = random.Random(1)
        for _ in range(30):
            await choose(inn, clients, numbers)
        clients[2].kill()
        await clients[0].reads("Cy has gone; the seat is kept")
        while 2 not in inn.session.waiting_for():
            await choose(inn, clients, numbers)
        position = inn.session.state.position[:]
        clients[2] = await Client.connect(inn.port, back[2])
        await clients[2].reads("You sit at the table as Cy.")
        await clients[0].reads("Cy is here")
        assert inn.session.state.position == position
        while not inn.session.is_over:
            await choose(inn, clients, numbers)
        best = max(inn.session.state.scores())
        for client in clients.values():
            await client.reads("Final scores")
            await client.reads(str(best))

    play(evening, Inn(tmp_path))


def test_a_table_survives_its_host(tmp_path: Path) -> None:
    inn = Inn(tmp_path, seats=("Ann", "Bo", "Cy", "Di=random"))
    seen: dict[str, Any] = {}
    key = asyncssh.generate_private_key("ssh-ed25519")

    async def first(inn: Inn) -> None:
        ann, seen["ann"] = await inn.seat(0)
        bo = await Client.connect(inn.port, key=key)
        await bo.reads("The code for your seat")
        bo.type(inn.code(1))
        await bo.reads("your key opens this seat")
        ann.type("bid 7")
        await bo.reads("Ann: bid 7")
        bo.type("bid 9")
        await ann.reads("Bo: bid 9")
        seen["cy"] = inn.code(2)
        seen["position"] = inn.session.state.position[:]
        await inn.host.shut()
        await ann.reads("The host closes the table. It is kept")

    async def second(inn: Inn) -> None:
        assert inn.session.state.position == seen["position"]
        ann = await Client.connect(inn.port, seen["ann"])
        await ann.reads("then share")
        assert "Bo: bid 9" in ann.text
        bo = await Client.connect(inn.port, key=key)
        await bo.reads("You sit at the table as Bo.")
        cy = await Client.connect(inn.port, seen["cy"])
        await cy.reads("You sit at the table as Cy.")
        cy.type("pass")
        await ann.reads("Cy: pass")

    play(first, inn)
    host_key = (tmp_path / "host_key").read_bytes()
    play(second, inn)
    assert (tmp_path / "host_key").read_bytes() == host_key
    assert inn.path is not None
    for path in (tmp_path / "host_key", inn.path, inn.path.with_suffix(".seats")):
        assert path.stat().st_mode & 0o077 == 0, f"{path.name} is the host's alone"


def test_who_looks_on_sees_what_everybody_sees_and_moves_nothing(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        await inn.seat(0)
        watcher = await Client.connect(inn.port, inn.code(LOOKING_ON))
        shown = await watcher.reads("then share")
        assert "You look on" in shown and "hand " not in shown
        before = inn.session.state.position[:]
        for line in (
            "bid 3",
            "Ann bid 3",
            "1",
            "pass",
            "undo",
            "hand",
            "hand Ann",
            "value pass",
            "hint",
            "moves",
        ):
            watcher.type(line)
            await watcher.reads(f"> {line}")
        watcher.type("who")
        await watcher.reads("1 more look on")
        assert watcher.text.count("you only look on") >= 3 and "×" not in watcher.text
        assert inn.session.state.position == before
        assert inn.code(LOOKING_ON), "others may come with it, too"

    play(evening, Inn(tmp_path))


def test_what_one_chooses_in_secret_others_hear_of_but_not_what(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        clients = []
        for seat in range(3):
            client = await Client.connect(inn.port, inn.code(seat))
            await client.reads("shown only now")
            clients.append(client)
        ann, bo, cy = clients
        cy.type("bid 13")  # the last first: nobody has to wait for another
        for client in (ann, bo):
            told = await client.reads("Cy has chosen")
            assert "13" not in told
        cy.type("bid 14")
        await cy.reads("not")
        ann.type("log")
        await ann.reads("> log")
        bo.type("pass")
        ann.type("bid 5")
        told = await ann.reads("Cy has bid 13")
        assert "Bo has chosen" in told
        assert "13" not in told.split("Cy has bid")[0]

    play(evening, Inn(tmp_path, "manila+sealed-bids", FOUR[:3]))


# ------------------------------------------------------------------------------------------------------ coming in


def test_a_code_is_good_for_once_and_a_wrong_one_for_nothing(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        code = inn.code(0)
        ann, back = await inn.seat(0)
        for wrong in (code, "", "k", "xxxxx-xxxxx", "x" * 5000, "' or 1=1"):
            with pytest.raises((asyncssh.PermissionDenied, asyncssh.ConnectionLost)):
                await _connect(inn.port, wrong or "-")
        ann.type("who")
        await ann.reads("Ann  is here (you)")
        again = await Client.connect(inn.port, back)
        await again.reads("You sit at the table as Ann.")
        await ann.reads("You came in from elsewhere")
        again.type("bid 3")
        await again.reads("Ann: bid 3")
        assert inn.host.table.is_here(0) and len(inn.host.visits) == 1

    play(evening, Inn(tmp_path))


def test_wrong_codes_are_answered_later_and_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def evening(inn: Inn) -> None:
        inn.host.delay = 0.25
        slept: list[float] = []
        sleep = asyncio.sleep

        async def note(seconds: float, *rest: Any) -> None:
            if seconds >= 0.25:
                slept.append(seconds)
            await sleep(0)

        monkeypatch.setattr(asyncio, "sleep", note)
        for _ in range(6):
            assert await inn.host.try_code("10.0.0.1", "wrong") is None
        monkeypatch.undo()
        assert slept == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
        assert await inn.host.try_code("10.0.0.1", inn.code(0)) == 0

    play(evening, Inn(tmp_path))


def test_a_key_that_opens_no_seat_is_asked_for_a_code_three_times(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        key = asyncssh.generate_private_key("ssh-ed25519")
        stranger = await Client.connect(inn.port, key=key)
        for _ in range(3):
            stranger.type("wrong")
        await stranger.ends()
        assert stranger.text.count("no seat opens with this code") == 3 and "cash" not in stranger.text
        assert inn.host.admission.keys == {}

    play(evening, Inn(tmp_path))


def test_a_key_shown_but_not_proved_opens_nothing(tmp_path: Path) -> None:
    """Who comes in by a code binds the key that he has proved, not one that he named on the way."""

    async def evening(inn: Inn) -> None:
        door = server.Door(inn.host)
        other = asyncssh.generate_private_key("ssh-ed25519")
        assert door.validate_public_key("x", other)
        assert await door.validate_password("x", inn.code(0))
        assert door.key is None and door.place == 0

    play(evening, Inn(tmp_path))


def test_only_a_shell_is_to_be_had(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        connection = await _connect(inn.port, inn.code(0))
        with pytest.raises(asyncssh.ChannelOpenError):
            await connection.create_connection(asyncssh.SSHTCPSession, "127.0.0.1", 22)
        for refused in (
            connection.run("cat /etc/passwd", check=True),
            connection.run(subsystem="sftp", check=True),
        ):
            with pytest.raises((asyncssh.Error, OSError)):
                await refused
        with pytest.raises(asyncssh.ChannelListenError):
            await connection.forward_remote_port("127.0.0.1", 0, "127.0.0.1", 22)

    play(evening, Inn(tmp_path))


# --------------------------------------------------------------------------------------------------- at a terminal


def test_a_screen_follows_what_others_do_and_keeps_what_is_typed(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        bo = await Screen.open(inn.port, inn.code(1))
        await bo.shows("You sit at the table as Bo.")
        await bo.shows("Ann: auction")
        ann, _ = await inn.seat(0)
        await bo.shows("Ann is here")
        bo.type("bid 1")
        await bo.shows("> bid 1")
        ann.type("say hel\x1b[31mlo\u202e")
        shown = await bo.shows("Ann: hel")
        assert "Ann: hel [31mlo" in shown, "nobody moves another's cursor"
        ann.type("bid 3")
        await bo.shows("Ann: bid 3")
        await bo.shows("Bo> bid 1")
        bo.type("7\r")
        await ann.reads("Bo: bid 17")
        bo.resize(130, 40)
        await until(lambda: "─" * 125 in bo.shown, lambda: bo.shown)
        bo.resize(60, 20)
        await until(lambda: "─" * 59 in bo.shown and "─" * 60 not in bo.shown, lambda: bo.shown)
        bo.type("xyz\x03")
        await bo.shows("Nothing was done")
        bo.type("\x1a")  # Ctrl-Z would stop the host
        bo.type("lang zh-Hans\r")
        await bo.shows("语言")
        ann.type("who")
        await ann.reads("Bo  is here")
        bo.type("\x04")
        await ann.reads("Bo has gone")
        assert "Bo: bid 17" not in ann.text.split("Bo has gone")[1]

    play(evening, Inn(tmp_path))


def test_long_thinking_is_given_up_by_ctrl_c_and_keeps_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harbourmaster.repl.hosting.chair import Chair

    async def evening(inn: Inn) -> None:
        go = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(chair: Chair, work: Any) -> Any:
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result()
            raise AssertionError

        monkeypatch.setattr(Chair, "_worked", work)
        bo = await Screen.open(inn.port, inn.code(1))
        await bo.shows("Ann: auction")
        ann, _ = await inn.seat(0)
        bo.type("odds\r")
        await bo.shows("Ctrl-C gives up")
        ann.type("bid 3")
        await ann.reads("Ann: bid 3")
        bo.type("\x03")
        await bo.shows("Nothing was done")
        await bo.shows("Bo>")
        bo.type("bid 4\r")
        await ann.reads("Bo: bid 4")
        go.set()

    play(evening, Inn(tmp_path))


# ------------------------------------------------------------------------------------------------------- nuisances


def test_garbage_floods_and_many_lines_disturb_nobody(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        ann, _ = await inn.seat(0)
        open_lines = []
        for n in range(server._MOST_OUTSIDE + 8):
            _, writer = await asyncio.open_connection("127.0.0.1", inn.port)
            if n % 2:
                writer.write(random.Random(n).randbytes(3000))
            open_lines.append(writer)
        flood = await Screen.open(inn.port, inn.code(1))
        await flood.shows("You sit at the table as Bo.")
        flood.type(random.Random(0).randbytes(400).decode("latin-1"))
        flood.type("x" * (2 * channel.MOST_UNREAD))
        ann.type("bid 3")
        await ann.reads("Ann: bid 3")
        await ann.reads("Bo has gone")
        lines = await Client.connect(inn.port, inn.code(2))
        await lines.reads("You sit at the table as Cy.")
        lines.type("y" * 3000)
        await lines.reads("that is too long")
        for _ in range(12):
            lines.type("say hey")
        await lines.reads("a lot of talk")
        ann.type("who")
        await ann.reads("Cy  is here")
        assert len(inn.host._outside) <= server._MOST_OUTSIDE
        for writer in open_lines:
            writer.close()

    play(evening, Inn(tmp_path))


def test_a_page_of_lines_is_read_up_to_its_first_mistake(tmp_path: Path) -> None:
    async def evening(inn: Inn) -> None:
        ann = await Screen.open(inn.port, inn.code(0), 100, 30)
        await ann.shows("Ann>")
        ann.type("\x1b[200~who\nbid three\nbid 5\x1b[201~")
        await ann.shows("bid three")
        ann.type("\r")
        await ann.shows("the other 1 lines were not read")
        assert inn.session.at == 0

    play(evening, Inn(tmp_path))


# -------------------------------------------------------------------------------------------------- from the shell


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "HARBOURMASTER_DATA": str(folder), "LANG": "en_US.UTF-8"}
    return subprocess.Popen(
        [sys.executable, "-m", "harbourmaster.repl.cli", "host", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_command_opens_and_closes_and_opens_again(tmp_path: Path) -> None:
    async def visit(port: int, code: str) -> str:
        client = await Client.connect(port, code)
        await client.reads("You sit at the table as Ann.")
        await client.reads("shown only now: ")
        back = (await client.reads("\n")).strip()
        client.type("bid 6")
        await client.reads("Ann: bid 6")
        client.type("quit")
        await client.ends()
        assert "the seat is kept for you" in client.text
        return back

    async def come_back(port: int, back: str) -> None:
        client = await Client.connect(port, back)
        await client.reads("Ann: bid 6")
        await client.reads("You sit at the table as Ann.")

    def announced(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        text = ""
        while "Ctrl-C closes" not in text:
            line = process.stdout.readline()
            assert line, process.communicate()
            text += line
        return text

    def port_of(text: str) -> int:
        found = re.search(r"open on 127\.0\.0\.1 port (\d+)", text)
        assert found is not None, text
        return int(found[1])

    host = _start(tmp_path, "manila", "--seats", "Ann", "Bo", "Cy=random", "--port", "0")
    try:
        text = announced(host)
        port = port_of(text)
        busy = _start(tmp_path, "manila", "--port", str(port))
        assert "cannot listen on 127.0.0.1" in busy.communicate(timeout=30)[1] and busy.returncode == 2
        code = re.search(r"Ann  code (\S+)", text)
        assert code is not None
        back = asyncio.run(visit(port, code[1]))
    finally:
        host.send_signal(signal.SIGINT)
        out, _ = host.communicate(timeout=30)
    assert host.returncode == 0 and "The table is kept" in out
    record = re.search(r"--resume (\S+?)'", out)
    assert record is not None
    host = _start(tmp_path, "--resume", record[1], "--port", "0")
    try:
        text = announced(host)
        assert "Bo   code " in text and "Ann  has been here" in text
        asyncio.run(come_back(port_of(text), back))
    finally:
        host.send_signal(signal.SIGTERM)
        out, _ = host.communicate(timeout=30)
    assert host.returncode == 0


def test_the_command_tells_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "Ann.pub").write_text("ssh-ed25519 nonsense\n", "utf-8")
    for arguments, wrong in (
        (("manila", "--port", "70000"), "want at most 65535"),
        (("manila", "--seats", "random", "random", "random"), "nobody is to come"),
        (("--resume", "--seats", "Ann"), "--seats is settled already"),
        (("--resume",), "no table to go on with"),
        (("manila", "--seats", "Ann", "Bo", "Cy", "--keys", str(tmp_path / "keys")), "Ann.pub:1"),
        (("manila", "--keys", str(tmp_path / "none")), "no such file"),
    ):
        process = _start(tmp_path, *arguments)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 2 and wrong in errors, (arguments, errors)
        assert "Traceback" not in errors
