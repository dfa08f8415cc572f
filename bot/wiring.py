"""The composition root: settings to a running bot. The playground's is a second function.

Everything is made here, once, by constructor; no other module looks anything up.
"""

import asyncio
import signal
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from bot.app import App, Backend, Shape
from bot.forges import forge_of, hook_of
from bot.history import Recorder
from bot.proposals import Proposals, what_if
from bot.settings import Settings
from bot.slack import Access
from bot.sources import Now, read_side, utc_now
from bot.store import Store, open_store
from capacity.errors import UsageError
from capacity.kueue import ClusterConfig
from gitops.flow import Flow

BY_SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Hosted:
    """A repository OWNER/NAME on a forge, and the token of the bot's account there."""

    forge: Literal["github", "gitea"]
    url: str
    name: str
    token: str = field(repr=False)


def build(settings: Settings, *, now: Now = utc_now) -> App:
    """Make the whole bot; it does nothing before ``start``. Raises UsageError for what lacks."""
    return App(backend(settings, now), access(settings), shape(settings))


def for_playground(
    *,
    slack_url: str,
    bot_token: str,
    app_token: str,
    team: str,
    requests_channel: str,
    cluster: ClusterConfig,
    repository: Path,
    database: Path,
    now: Now,
    prometheus_url: str = "",
    pull_url: str = "",
    digests: tuple[str, ...] = (),
    hosted: Hosted | None = None,
) -> App:
    """Make the same bot on endpoints that a playground already has; nothing of it is different.

    With ``hosted``, ``repository`` is the path of its mirror.
    """
    settings = Settings(
        slack_base_url=slack_url,
        slack_bot_token=SecretStr(bot_token),
        slack_app_token=SecretStr(app_token),
        slack_team_ids=(team,),
        requests_channel=requests_channel,
        cluster=cluster.cluster,
        kube_server=cluster.server or "",
        kube_token=SecretStr(cluster.token) if cluster.token else None,
        kube_ca_file=Path(cluster.ca_file) if cluster.ca_file else None,
        visibility_url=cluster.visibility_url or "",
        prometheus_url=prometheus_url,
        repository=str(repository),
        pull_url="" if hosted else pull_url,
        forge=hosted.forge if hosted else "local",
        forge_url=hosted.url if hosted else "",
        forge_repository=hosted.name if hosted else "",
        forge_token=SecretStr(hosted.token) if hosted else None,
        database_url=SecretStr(f"sqlite:///{database}"),
        digests=digests,
        listen_port=0,
        poll_seconds=1.0,
    )
    return build(settings, now=now)


def backend(settings: Settings, now: Now = utc_now) -> Backend:
    """Make everything behind Slack: cluster reader, repository, store and flow."""
    sources = read_side(settings, now)
    reader, repository = sources.reader, sources.repository
    store = open_store(settings.database_url.get_secret_value())
    subscribe(settings, store, now())
    proposals = Proposals(repository, sources.indexer)
    flow = Flow(
        store=store.requests,
        source=repository,
        forge=forge_of(settings, repository, now),
        build_change=proposals.build,
        lint=proposals.lint,
        what_if=what_if,
        fleet=reader.fleet,
        cluster=settings.cluster,
        thread_of=store.outbox.thread,
        poll_every=timedelta(seconds=settings.poll_seconds),
        delivering=sources.tracker.of,
    )
    history = Recorder(store.history, sources.book, reader.fleet, cluster=settings.cluster, now=now)
    return Backend(sources, store, flow, history, now)


def access(settings: Settings) -> Access:
    """Return how to reach Slack; raises UsageError without a bot token or a channel for cards."""
    if settings.slack_bot_token is None:
        raise UsageError("GPUBOT_SLACK_BOT_TOKEN is not set, so the bot can't run in Slack.")
    if not settings.requests_channel:
        raise UsageError("GPUBOT_REQUESTS_CHANNEL is not set: where shall requests be shown?")
    if not settings.repository:
        raise UsageError("GPUBOT_REPOSITORY is not set: who may decide is in the repository.")
    app_token = settings.slack_app_token if settings.slack_mode == "socket" else None
    secret = settings.slack_signing_secret
    return Access(
        base_url=settings.slack_base_url,
        bot_token=settings.slack_bot_token.get_secret_value(),
        app_token=app_token.get_secret_value() if app_token else "",
        signing_secret=secret.get_secret_value() if secret else "",
        team_ids=settings.slack_team_ids,
        requests_channel=settings.requests_channel,
    )


def shape(settings: Settings) -> Shape:
    """Return how the running bot is built."""
    return Shape(
        host=settings.listen_host,
        port=settings.listen_port,
        workers=settings.workers,
        waiting=settings.waiting,
        poll_seconds=settings.poll_seconds,
        hook=hook_of(settings),
    )


def subscribe(settings: Settings, store: Store, now: datetime) -> None:
    """Bring the channels' digests in the database to what the settings say, no more and no less."""
    kept = set()
    for wish in settings.digests:
        channel, equals, question = wish.partition("=")
        if not (channel and equals and question):
            raise UsageError(f"{wish!r} in GPUBOT_DIGESTS is not CHANNEL=question.")
        subscription = store.digests.subscribe(
            channel,
            question,
            cron=settings.digest_cron,
            time_zone=settings.digest_time_zone,
            by=BY_SETTINGS,
            now=now,
        )
        kept.add(subscription.id)
    for old in store.digests.subscriptions():
        if old.created_by == BY_SETTINGS and old.id not in kept:
            store.digests.unsubscribe(old.id)


async def run(settings: Settings) -> None:
    """Run the bot until it is told to end (SIGTERM, SIGINT)."""
    app = build(settings)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    await app.start()
    try:
        await ended.wait()
    finally:
        await app.stop()
