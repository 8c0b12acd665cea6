"""Pairs of games on a cluster of several processes, one of them killed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest
from harbourmaster.interpreter.comparing.clusters import ClusterError, blocks_on, play_on
from harbourmaster.interpreter.comparing.howmuch import Plan, measure
from harbourmaster.repl.cli import main

distributed = pytest.importorskip("distributed")


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(capsys: pytest.CaptureFixture[str]) -> None:
    plan = Plan("manila", "manila+plunder-paid=at-once", 3, 1500)
    alone = measure(plan, backend="python")
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victims = list(client.run(os.getpid).values())

        def kill() -> None:
            time.sleep(1.5)
            os.kill(victims[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        there = measure(plan, blocks=lambda p, first: play_on(client, p, first, "python"))
        killer.join()
        assert there.sums == alone.sums
        address = cluster.scheduler_address
        arguments = [
            "compare",
            plan.a,
            plan.b,
            "--no-story",
            "--games",
            "300",
            "--json",
            "--scheduler",
            address,
        ]
        assert main(arguments) == 1
        assert json.loads(capsys.readouterr().out)["measured"][0]["pairs"] == 300


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: str, timeout: float) -> None:
        raise OSError("nobody there")

    monkeypatch.setattr(distributed, "Client", refuse)
    plan = Plan("manila", "manila+plunder-paid=at-once", 3, 100)
    with pytest.raises(ClusterError, match="no Dask scheduler answers"):
        list(blocks_on("tcp://127.0.0.1:1")(plan, 0))
