"""Plays blocks of pairs on a Dask cluster, with the results of a single process.

Every block is a task of its own that depends on the plan and its number alone; results are taken in order. A
worker that is killed costs the time of its blocks: the scheduler gives them to others, as often as it must.
Workers need this package and, for rule sets that lie in files, the same files at the same paths.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import PlayError
from .howmuch import BLOCK, Plan, Sums, content_of, play_block

if TYPE_CHECKING:
    from ..simulate import Backend

_AHEAD = 4
"""So many blocks are handed out for every thread of the cluster."""


class ClusterError(PlayError):
    """Says that a cluster cannot be used."""


def blocks_on(address: str, backend: Backend = "auto") -> Callable[[Plan, int], Iterator[Sums]]:
    """Makes what plays blocks on the cluster whose scheduler is at an address."""

    def blocks(plan: Plan, first: int) -> Iterator[Sums]:
        with _client(address) as client:
            yield from play_on(client, plan, first, backend)

    return blocks


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        message = "playing on a cluster needs Dask: pip install 'harbourmaster[cluster]'"
        raise ClusterError("cluster", message) from None
    try:
        connect: Any = Client
        return connect(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError("cluster", f"no Dask scheduler answers at {address}: {error}") from None


def play_on(client: Any, plan: Plan, first: int, backend: Backend = "auto") -> Iterator[Sums]:
    """Plays blocks with a Dask client and gives them in order."""
    wanted = content_of(plan)
    total = math.ceil(plan.games / BLOCK)
    threads = max(1, sum(client.nthreads().values()))
    todo = iter(range(first, total))
    waiting: deque[Any] = deque()
    try:
        while True:
            while len(waiting) < _AHEAD * threads:
                block = next(todo, None)
                if block is None:
                    break
                # pure=False: another run with the same plan may meet other rules under the same names
                waiting.append(
                    client.submit(_play_there, plan, block, backend, wanted, pure=False, retries=5)
                )
            if not waiting:
                return
            found = waiting.popleft().result()
            if isinstance(found, str):
                raise ClusterError("cluster", found)
            yield found
    finally:
        client.cancel(list(waiting))


def _play_there(plan: Plan, block: int, backend: Backend, wanted: tuple[str, str]) -> Sums | str:
    """Plays a block on a worker, if it has the same rules."""
    if content_of(plan) != wanted:
        return "a worker of the cluster has other rules under the same names"
    return play_block(plan, block, backend)
