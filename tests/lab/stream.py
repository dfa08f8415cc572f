"""Jobs that come and go: first the world of the worked example, then a seeded stream."""

import random
import threading
from dataclasses import dataclass
from typing import Any

from tests.cluster.control_plane import ControlPlane
from tests.cluster.objects import job, priority_class
from tests.cluster.web import RefusedError


@dataclass(frozen=True, slots=True)
class Wanted:
    """A job as a person would submit it: ``workers`` pods of ``gpus`` each, all or none."""

    name: str
    queue: str
    workers: int
    gpus: int
    run: str
    util: int = 80
    card: str = "NVIDIA-H100-80GB-HBM3"


START = (
    Wanted("llm-pretrain-3", "research", 4, 8, "40m", 93),
    Wanted("ablation-11", "research", 1, 8, "25m", 71),
    Wanted("tokenizer-2", "research", 1, 4, "12m", 38),
    Wanted("detector-5", "vision", 1, 8, "30m", 84),
    Wanted("notebook-vera", "vision", 1, 2, "3h", 3),
    Wanted("chat-prod", "serving", 3, 8, "3h", 55),
    Wanted("rank-prod", "serving", 1, 6, "3h", 47),
)
"""Reserves 44, 10 and 30 of research, vision and serving: the figures of the design's example."""
WAITING = (
    Wanted("llm-ft-7", "research", 2, 8, "20m", 90),
    Wanted("eval-3", "research", 1, 1, "5m", 62),
)
KINDS = ((1, 1, "2m"), (1, 2, "4m"), (1, 4, "6m"), (1, 8, "8m"), (2, 8, "10m"))


def manifest(wanted: Wanted) -> dict[str, Any]:
    """A Job that insists on its card, as people who tuned for one do."""
    made = job(
        wanted.name,
        wanted.queue,
        wanted.queue,
        gpus=wanted.gpus,
        workers=wanted.workers,
        run=wanted.run,
        annotations={"gpubot.test/gpu-util": str(wanted.util)},
    )
    made["spec"]["template"]["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": wanted.card}
    return made


class Stream:
    """Submits the world of the example, then about a job every ``every`` seconds."""

    def __init__(self, control_plane: ControlPlane, every: float = 20.0, seed: int = 7) -> None:
        self._control_plane = control_plane
        self._every = every
        self._chance = random.Random(seed)
        self._count = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream", daemon=True)

    def submit(self, *wanted: Wanted) -> None:
        """Submit jobs as their people would: suspended, with the queue's label."""
        self._control_plane.apply(*(manifest(one) for one in wanted))

    def begin(self) -> None:
        """Submit what runs at the start."""
        self._control_plane.apply(priority_class("high", 1000), priority_class("low", -100))
        self.submit(*START)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def _run(self) -> None:
        while not self._ended.wait(self._every * self._chance.uniform(0.5, 1.5)):
            self._count += 1
            workers, gpus, run = self._chance.choice(KINDS)
            queue = self._chance.choice(("research", "research", "vision", "serving"))
            name = f"{self._chance.choice(('train', 'eval', 'sweep', 'export'))}-{self._count}"
            util = self._chance.randint(0, 98)
            try:
                self.submit(Wanted(name, queue, workers, gpus, run, util))
            except RefusedError:
                if not self._ended.is_set():  # the API server is away: the next job tries again
                    continue
