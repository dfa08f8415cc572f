"""``gpubot check``: is everything there that the bot needs? Read-only, one line each."""

import asyncio
from collections.abc import Iterator

from bot import slack_check
from bot.server import Check
from bot.settings import Settings
from bot.sources import prometheus_of, read_side, utc_now
from bot.wiring import access
from capacity.errors import GpubotError
from gitops.book import read_book


def checks(settings: Settings) -> Iterator[Check]:
    """Yield what was found about Slack, the cluster and the repository."""
    yield Check("settings", True, "every name is known, every value holds")
    try:
        yield from asyncio.run(slack_check.check(access(settings)))
    except GpubotError as error:
        yield Check("slack", False, error.sentence)
    yield from _cluster(settings)
    yield _prometheus(settings)
    yield from _repository(settings)


def _cluster(settings: Settings) -> Iterator[Check]:
    try:
        sources = read_side(settings)
        sources.reader.start()
    except GpubotError as error:
        yield Check("cluster", False, error.sentence)
        return
    try:
        fleet = sources.world.fleet()
        queues = len(fleet.cluster_queues)
        yield Check("cluster", True, f"{queues} cluster queues, as of {fleet.as_of:%H:%M:%S} UTC")
        for gap in fleet.gaps:
            yield Check("cluster", False, f"{gap.source}: {gap.missing}")
    except GpubotError as error:
        yield Check("cluster", False, f"{error.sentence} {error.detail}".strip())
    finally:
        sources.reader.stop()


def _prometheus(settings: Settings) -> Check:
    prometheus = prometheus_of(settings)
    if prometheus is None:
        return Check("prometheus", True, "not set up: answers leave out what is used")
    try:
        prometheus.query("vector(1)", utc_now())
    except GpubotError as error:
        return Check("prometheus", False, f"{error.sentence} {error.detail}".strip())
    return Check("prometheus", True, "answers queries")


def _repository(settings: Settings) -> Iterator[Check]:
    if not settings.repository:
        yield Check("repository", False, "GPUBOT_REPOSITORY is not set")
        return
    try:
        book = read_book(read_side(settings).repository)
    except GpubotError as error:
        yield Check("repository", False, error.sentence)
        return
    yield Check("repository", True, f"main is at {book.commit[:7]}")
    for name, problems in (("policy", book.policy.problems), ("people", book.people.problems)):
        for problem in problems:
            yield Check(f"gpubot/{name}.yaml", False, problem)
