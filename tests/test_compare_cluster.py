"""Pairs of games on a cluster of several processes, one of them killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from harbourmaster.interpreter.comparing.clusters import ClusterError, blocks_on, play_on
from harbourmaster.interpreter.comparing.howmuch import BLOCK, Plan, measure
from harbourmaster.repl.cli import main

from .ferry import write_ferry

distributed = pytest.importorskip("distributed")


def test_a_killed_worker_costs_nothing_but_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ferry = write_ferry(tmp_path)
    plan = Plan(ferry, f"{ferry}+bank=drifts", 2, 4000)
    alone = measure(plan, backend="python")
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victims = list(client.run(os.getpid).values())

        def kill(done: int, _: float) -> None:
            if done == BLOCK:
                os.kill(victims[0], signal.SIGKILL)

        there = measure(plan, blocks=lambda p, first: play_on(client, p, first, "python"), progress=kill)
        assert there.sums == alone.sums
        with pytest.raises(ProcessLookupError):
            os.kill(victims[0], 0)
        few = ["--no-story", "--games", "300", "--json", "--scheduler", cluster.scheduler_address]
        assert main(["compare", plan.a, plan.b, *few]) == 1
        assert json.loads(capsys.readouterr().out)["measured"][0]["pairs"] == 300


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: str, timeout: float) -> None:
        raise OSError("nobody there")

    monkeypatch.setattr(distributed, "Client", refuse)
    plan = Plan("manila", "manila+plunder-paid=at-once", 3, 100)
    with pytest.raises(ClusterError, match="no Dask scheduler answers"):
        list(blocks_on("tcp://127.0.0.1:1")(plan, 0))
