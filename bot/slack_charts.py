"""Charts in channels: drawn, uploaded and shown; where that isn't possible they are said in words.

A picture is never worth losing the message: without the scope, with files switched off or with
Slack slow to take a picture in, the page goes out with its words.
"""

import asyncio

import structlog

from bot import charts
from bot.slack_client import SlackRefused
from bot.slack_edge import Edge
from capacity.errors import GpubotError
from commands.page import Chart, Page

log = structlog.get_logger(__name__)
# Slack takes a picture in by and by: until then a message with it is refused.
WAITS = (0.5, 1.5, 4.0)


async def show(edge: Edge, channel: str, page: Page) -> None:
    """Post the page in a channel. Raises SlackDown or SlackRefused as any post."""
    images = await uploaded(edge, page)
    if images:
        message = await edge.rendered(page, images)
        for wait in WAITS:
            try:
                await edge.client.post(channel, message)
            except SlackRefused as refused:
                if refused.code not in {"invalid_blocks", "invalid_blocks_format"}:
                    raise
                await asyncio.sleep(wait)
            else:
                return
        log.warning("chart said in words", why="Slack doesn't take the picture in")
    await edge.client.post(channel, await edge.rendered(page))


async def uploaded(edge: Edge, page: Page) -> dict[str, str]:
    """Return the Slack file of each of the page's charts by title; none when one can't be had."""
    images: dict[str, str] = {}
    for chart in (part for part in page.parts if isinstance(part, Chart)):
        try:
            picture = await edge.workers.run(charts.png, chart)
            images[chart.title] = await edge.client.upload("gpu-hours.png", chart.alt, picture)
        except GpubotError as error:
            log.warning("chart said in words", why=error.detail or error.sentence)
            return {}
    return images
