"""Work beside the table: in a thread of its own, so that nobody has to wait for it, not even at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_T = TypeVar("_T")


class Beside:
    """Does one piece of work after another in threads that do not keep the program from ending."""

    def __init__(self) -> None:
        self._busy = threading.Lock()

    async def do(self, work: Callable[[], _T]) -> _T:
        """Does the work and gets what it gives, or raises what it raises. Who is cancelled waits no more for it."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_T] = loop.create_future()

        def run() -> None:
            with self._busy:
                error: BaseException | None = None
                found: list[_T] = []
                try:
                    if not done.cancelled():
                        found.append(work())
                except BaseException as raised:  # it is raised again where the work was asked for
                    error = raised
            with suppress(RuntimeError):  # the table may be closed by now
                loop.call_soon_threadsafe(tell, found, error)

        def tell(found: list[_T], error: BaseException | None) -> None:
            if done.cancelled():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(found[0])

        threading.Thread(target=run, daemon=True).start()
        return await done
