"""A fake Slack that serves, people at it, and the echo bot."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.playground.fake_slack.person import SlackPerson
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.serving import Serving
from tests.playground.echo_bot import EchoBot


@dataclass
class Stage:
    """A served fake Slack and what tests do with it."""

    slack: FakeSlack
    serving: Serving

    def person(self, user: str, channel: str = "C0REQUESTS") -> SlackPerson:
        return SlackPerson(self.slack, self.serving, user, channel)

    def client(self, token: str = "xoxb-play") -> WebClient:
        return WebClient(token, base_url=self.slack.api_url, retry_handlers=[])


@pytest.fixture
def staged() -> Iterator[Callable[..., Stage]]:
    running: list[Serving] = []

    def make(**options: Any) -> Stage:
        slack = FakeSlack(**{"rate_scale": math.inf, **options})
        serving = Serving(application(slack))
        serving.start()
        running.append(serving)
        slack.at(serving.url)
        return Stage(slack, serving)

    yield make
    for serving in running:
        serving.stop()


@pytest.fixture
def stage(staged: Callable[..., Stage]) -> Stage:
    return staged()


@pytest.fixture
def echo(stage: Stage) -> Iterator[EchoBot]:
    bot = EchoBot(stage.slack.api_url)
    bot.start()
    yield bot
    bot.stop()


@pytest.fixture
def ana(stage: Stage) -> SlackPerson:
    return stage.person("U0ANA")
