"""A writer is killed without warning: what was saved is whole, what wasn't left nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from bot.store import open_store
from gitops.audit import verify
from tests.bot.test_store import NEW, a_new

WRITER = """
import sys
from dataclasses import replace
from datetime import UTC, datetime
from bot.store import open_store
from gitops.audit import Entry
from gitops.moves import Move, MoveKind
from gitops.ports import Told

START = datetime(2026, 12, 1, tzinfo=UTC)
VOTED = Told((Move(MoveKind.VOTED, START, "li"),), (Entry(START, "voted", "slack:U0LI", "li", 1),))
store = open_store(sys.argv[1])
print("ready", flush=True)
n = 0
while True:
    request = store.requests.get(1)
    n += 1
    if store.requests.save(replace(request, observed=str(n)), request.revision, VOTED, f"{sys.argv[2]}-{n}"):
        print("saved", flush=True)
    store.inbox.receive(f"{sys.argv[2]}-{n}", {"n": n}, START)
"""
ROOT = Path(__file__).resolve().parents[2]


def start(url: str, name: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, name],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_writers_that_are_killed_at_any_moment_lose_and_double_nothing(store_url: str) -> None:
    store = open_store(store_url)
    store.requests.add(a_new(), "k0", 5, NEW)
    chance = random.Random(7)
    acknowledged = 0
    for round_ in range(2):
        writers = [start(store_url, f"{round_}-{n}") for n in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.05, 0.4))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            out, _ = writer.communicate(timeout=30)
            acknowledged += out.count("saved")
    request = store.requests.get(1)
    assert request is not None
    saves = request.revision - 1
    assert saves >= acknowledged > 0
    assert len(store.outbox.pending_moves(100_000)) == saves + 1
    assert len(store.audit.records()) == saves + 1
    assert verify(store.audit.records()) is None
    store.close()
