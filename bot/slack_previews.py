"""Live updates of open modals, so that an old one never covers a newer one or a sent form.

Slack gives each state of a view a hash and refuses an update that names an older one. The hash of
our own last update is used, because what a person types does not change it and an update does.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from bot.slack_client import SlackRefused
from bot.slack_edge import Edge

MOST = 1_000
# Somebody closed the modal, or it shows something newer already.
OVERTAKEN = {"not_found", "hash_conflict"}


@dataclass(slots=True)
class Open:
    """An open modal: the newest turn that was given out, and the hash it had last."""

    hash: str
    turn: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Previews:
    """The modals that are being filled, by view id."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        self._open: OrderedDict[str, Open] = OrderedDict()

    async def open(self, body: dict[str, Any], loading: dict[str, Any]) -> dict[str, Any]:
        """Open a modal at once, because the right to open it lasts three seconds; return it."""
        opened = await self._edge.client.call(
            "views.open", repeat="once", trigger_id=body["trigger_id"], view=loading
        )
        view: dict[str, Any] = opened["view"]
        return view

    def turn(self, view: dict[str, Any]) -> int:
        """Take the next turn to update this view; earlier turns are void from now on."""
        known = self._open.setdefault(str(view["id"]), Open(str(view["hash"])))
        if len(self._open) > MOST:
            self._open.popitem(last=False)
        known.turn += 1
        return known.turn

    def end(self, view: dict[str, Any]) -> None:
        """Void all turns: the form was sent."""
        self.turn(view)

    async def show(self, view: dict[str, Any], made: dict[str, Any], turn: int) -> None:
        """Update the view if this is still the newest turn."""
        known = self._open.get(str(view["id"]))
        if known is None:
            return
        async with known.lock:
            if known.turn != turn:
                return
            where = {"view_id": view["id"], "hash": known.hash}
            try:
                shown = await self._edge.client.call("views.update", **where, view=made)
            except SlackRefused as refused:
                if refused.code not in OVERTAKEN:
                    raise
                return
            known.hash = str(shown["view"]["hash"])
