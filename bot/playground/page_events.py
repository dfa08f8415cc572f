"""Tells open pages that something they show has changed, over server-sent events."""

import asyncio
import contextlib
from dataclasses import dataclass, field

from aiohttp import web

QUIET_SECONDS = 15.0


@dataclass(slots=True, eq=False)
class _Page:
    topics: set[str] = field(default_factory=set)
    ring: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class PageEvents:
    """Topics are "messages", "views", "errors" and "world"; several in a moment become one."""

    _pages: set[_Page] = field(default_factory=set)

    def changed(self, topic: str) -> None:
        """Note a topic for every open page."""
        for page in self._pages:
            page.topics.add(topic)
            page.ring.set()

    @property
    def watched(self) -> bool:
        """Whether any page is open."""
        return bool(self._pages)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Stream topics to one page until it goes."""
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        page = _Page()
        self._pages.add(page)
        try:
            with contextlib.suppress(ConnectionError):
                await self._stream(page, response)
        finally:
            self._pages.discard(page)
        return response

    async def _stream(self, page: _Page, response: web.StreamResponse) -> None:
        await response.write(b"event: hello\ndata: -\n\n")
        while True:
            try:
                await asyncio.wait_for(page.ring.wait(), QUIET_SECONDS)
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            await asyncio.sleep(0.03)
            topics, page.topics = sorted(page.topics), set()
            page.ring.clear()
            await response.write(f"data: {' '.join(topics)}\n\n".encode())
