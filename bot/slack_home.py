"""The Home tab in Slack: published when somebody opens it, and again after they did something."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp

from bot.home import Standing, home
from bot.slack_ask import asker
from bot.slack_edge import Edge, slack_of
from bot.slack_identity import Caller, caller_of
from bot.starts import Awaited
from capacity.errors import GpubotError
from commands.command import Asker
from commands.page import Line, Page
from gitops.people import People
from gitops.ports import View

log = structlog.get_logger(__name__)
MOST_TEAMS = 3


class HomeTab:
    """Publishes Home tabs; ``requests`` are the unsettled ones, ``answer`` a question's page.

    ``awaited`` are the jobs that an account waits for.
    """

    def __init__(
        self,
        edge: Edge,
        requests: Callable[[datetime], tuple[View, ...]],
        answer: Callable[[str, Asker], Page],
        awaited: Callable[[str], Sequence[Awaited]],
        now: Callable[[], datetime],
    ) -> None:
        self._edge = edge
        self._requests = requests
        self._answer = answer
        self._awaited = awaited
        self._now = now

    def register(self, app: AsyncApp) -> None:
        app.event("app_home_opened")(self._opened)

    async def publish(self, caller: Caller) -> None:
        """Show this person's Home as it stands now."""
        zone = await self._edge.gate.welcome(caller)
        user = caller.user
        view = await self._edge.workers.run(self._view, user, zone)
        await self._edge.client.call("views.publish", user_id=user, view=view)

    async def _opened(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        if event.get("tab") != "home":
            return
        user = str(event["user"])

        async def work() -> None:
            await self.publish(caller_of(body))

        async def tell(page: Page) -> None:
            view = {"type": "home", "blocks": self._edge.message(page).blocks}
            await self._edge.client.call("views.publish", user_id=user, view=view)

        await self._edge.guarded("home", work, tell)

    def _view(self, user: str, zone: str) -> dict[str, Any]:
        reader = asker(self._edge, user, zone)
        trouble: Line = ()
        requests: tuple[View, ...] = ()
        awaited: Sequence[Awaited] = ()
        try:
            awaited = self._awaited(user)
            requests = self._requests(self._now())
        except GpubotError as error:
            trouble = ("⚠ ", error.sentence)
        shown = Standing(reader.person, requests, self._team(reader), awaited, trouble)
        people = self._people()
        return home(shown, lambda person: slack_of(people, person))

    def _people(self) -> People:
        try:
            return self._edge.people()
        except GpubotError as error:
            log.warning("people unreadable", detail=error.detail or error.sentence)
            return People()

    def _team(self, reader: Asker) -> tuple[tuple[Line, str], ...]:
        """Return the first lines of the answers about the person's teams, also when they fail."""
        lines: list[tuple[Line, str]] = []
        for team in reader.teams[:MOST_TEAMS]:
            for question in (f"quota {team}", f"queue {team}"):
                try:
                    lines.append((self._answer(question, reader).headline, question))
                except GpubotError as error:
                    lines.append((("⚠ ", error.sentence), question))
        return tuple(lines)
