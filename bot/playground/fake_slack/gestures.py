"""What a person can do in Slack, and what Slack then tells the bot and the person."""

import re
from dataclasses import dataclass
from typing import Any

from bot.playground.fake_slack import payloads
from bot.playground.fake_slack.app import SlackApp
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.fields import form_errors
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.people import BOT_USER, Channel, User
from bot.playground.fake_slack.places import Place, address, find_element, keep
from bot.playground.fake_slack.responses import answer, apply_submission
from bot.playground.fake_slack.state import Value
from bot.playground.fake_slack.view_book import View
from bot.playground.fake_slack.wire import Deliverer, Kind, NotAcked
from bot.playground.fake_slack.workspace import Workspace

TROUBLE = "We had some trouble connecting. Try again?"
ENTER, TYPING = "on_enter_pressed", "on_character_entered"


@dataclass(slots=True)
class Gestures:
    """The hands of everybody in the workspace."""

    workspace: Workspace
    app: SlackApp
    deliverer: Deliverer

    async def slash(self, user_id: str, channel_id: str, command: str, text: str) -> None:
        """Send a slash command."""
        user, channel = self._who_where(user_id, channel_id)
        known = self.app.command(command)
        if known is None:
            words = f"{command} is not a valid command."
            self.workspace.saw_error(user.id, channel.id, words)
            return
        if known.should_escape:
            text = self._escaped(text)
        key = self.workspace.tickets.response(user.id, channel.id)
        rights = self._rights(user, key)
        payload = payloads.slash(self.app, user, channel, known, text=text, rights=rights)
        failed = f'{command} failed with the error "operation_timeout"'
        ack = await self._send("slash_commands", payload, user.id, channel.id, failed)
        if isinstance(ack, str) and ack:
            ack = {"text": ack}
        if isinstance(ack, dict) and (ack.get("text") or ack.get("blocks")):
            ticket = self.workspace.tickets.responses[key]
            self._or_saw(user.id, channel.id, failed, lambda: answer(self.workspace, ticket, ack))

    async def use(
        self, user_id: str, place: Place, block_id: str, action_id: str, value: Value = None
    ) -> None:
        """Press a button, choose from a menu or pick a date outside of input blocks."""
        block, element = find_element(place, block_id, action_id)
        if element["type"] not in {"button", "overflow"}:
            keep(place, block, element, value)
        used = payloads.action(block, element, value, self.workspace.clock.now())
        await self._use(user_id, place, used)

    async def fill(
        self,
        user_id: str,
        place: Place,
        block_id: str,
        action_id: str,
        value: Value,
        *,
        how: str = "",
    ) -> None:
        """Put a value into an input field; the bot hears of it only if the block dispatches."""
        block, element = find_element(place, block_id, action_id)
        keep(place, block, element, value)
        if isinstance(place, View):
            place.errors.pop(block["block_id"], None)
        if block["type"] != "input" or not block.get("dispatch_action"):
            return
        when = (element.get("dispatch_action_config") or {}).get("trigger_actions_on") or [ENTER]
        if how and how not in when:
            return
        used = payloads.action(block, element, value, self.workspace.clock.now())
        await self._use(user_id, place, used)

    async def submit(self, user_id: str, view_id: str) -> bool:
        """Submit a modal; return whether it was sent at all."""
        user, view = self.workspace.user(user_id), self.workspace.views.by_id(view_id)
        view.errors = form_errors(view.blocks, view.values)
        if view.errors:
            self.workspace.changed("views")
            return False
        trigger = self.workspace.tickets.trigger(user.id)
        payload = payloads.submission(self.app, user, view, trigger)
        ack = await self._send("interactive", payload, user.id, view.id, TROUBLE)
        if ack is not NO_ACK:
            done = self._or_saw(
                user.id, view.id, TROUBLE, lambda: apply_submission(self.workspace, view, ack)
            )
            self.workspace.changed("views")
            return done
        return False

    async def close(self, user_id: str, *, all_of_them: bool = False) -> None:
        """Close the top modal, or all."""
        user = self.workspace.user(user_id)
        for view in self.workspace.views.close(user_id, all_of_them=all_of_them):
            if view.body.get("notify_on_close"):
                payload = payloads.closing(self.app, user, view, cleared=all_of_them)
                await self._send("interactive", payload, user.id, view.id, "")
        self.workspace.changed("views")

    async def suggest(
        self, user_id: str, place: Place, block_id: str, action_id: str, query: str
    ) -> dict[str, Any]:
        """Type into an external select and return the options that the bot offers."""
        block, element = find_element(place, block_id, action_id)
        used = payloads.action(block, element, None, self.workspace.clock.now())
        user = self.workspace.user(user_id)
        payload = payloads.suggestion(self.app, user, place, used, query)
        ack = await self._send("interactive", payload, user.id, address(place), "No options")
        return ack if isinstance(ack, dict) else {}

    async def shortcut(self, user_id: str, callback: str, message: Message | None = None) -> None:
        """Use a global shortcut, or one on a message."""
        user, key = self.workspace.user(user_id), ""
        if not self.app.shortcut(callback, "message" if message else "global"):
            raise SlackError("no_such_shortcut", (f"{callback} is no shortcut of the app",))
        if message:
            key = self.workspace.tickets.response(user.id, message.channel, message)
        payload = payloads.shortcut(self.app, user, callback, self._rights(user, key), message)
        await self._send("interactive", payload, user.id, "", "That shortcut didn't work.")

    def open_home(self, user_id: str) -> None:
        """Look at the app's Home tab."""
        home = self.workspace.views.homes.get(user_id)
        inner = {"type": "app_home_opened", "user": user_id, "tab": "home"}
        inner["channel"] = self.workspace.channel(user_id).id
        self._event({**inner, **({"view": home.to_json()} if home else {})})

    def say(self, user_id: str, channel_id: str, text: str, thread_ts: str = "") -> Message:
        """Write a message; the bot hears it in its direct messages and where it is mentioned."""
        user, channel = self._who_where(user_id, channel_id)
        if channel.im_with and self.app.messages_read_only:
            raise SlackError("messages_tab_disabled")
        message = self.workspace.post(channel.id, user.id, text, [], thread_ts=thread_ts)
        inner = {**message.to_json(), "channel": channel.id, "event_ts": message.ts}
        if channel.im_with:
            self._event({**inner, "channel_type": "im"}, name="message.im")
        elif f"<@{BOT_USER}>" in text:
            self._event({**inner, "type": "app_mention"})
        return message

    def _event(self, inner: dict[str, Any], name: str = "") -> None:
        if self.app.hears(name or inner["type"]):
            stamped = {"event_ts": f"{self.workspace.clock.now():.6f}", **inner}
            self.deliverer.event(payloads.event(self.app, stamped, self.workspace.clock.now()))

    async def _use(self, user_id: str, place: Place, used: dict[str, Any]) -> None:
        user = self.workspace.user(user_id)
        if isinstance(place, View):
            trigger = self.workspace.tickets.trigger(user.id)
            payload = payloads.view_action(self.app, user, place, used, trigger)
        else:
            channel = self.workspace.channels[place.channel]
            rights = self._rights(user, self.workspace.tickets.response(user.id, channel.id, place))
            payload = payloads.message_action(
                self.app, user, channel, place, used=used, rights=rights
            )
        await self._send("interactive", payload, user.id, address(place), TROUBLE)

    def _rights(self, user: User, key: str) -> payloads.Rights:
        url = f"{self.workspace.url}/response/{key}" if key else ""
        return payloads.Rights(self.workspace.tickets.trigger(user.id), url)

    async def _send(
        self, kind: Kind, payload: dict[str, Any], user: str, where: str, failed: str
    ) -> Any:
        try:
            return await self.deliverer.interaction(kind, payload)
        except NotAcked:
            if failed:
                self.workspace.saw_error(user, where, failed)
            return NO_ACK

    def _or_saw(self, user: str, where: str, failed: str, do: Any) -> bool:
        try:
            do()
        except SlackError as refusal:
            details = "; ".join((refusal.error, *refusal.messages))
            self.workspace.saw_error(user, where, f"{failed} ({details})")
            return False
        return True

    def _who_where(self, user_id: str, channel_id: str) -> tuple[User, Channel]:
        user, channel = self.workspace.user(user_id), self.workspace.channel(channel_id)
        if user.id not in channel.members or user.deleted:
            raise SlackError("not_in_channel")
        return user, channel

    def _escaped(self, text: str) -> str:
        for user in self.workspace.users.values():
            text = re.sub(rf"@{user.name}\b", f"<@{user.id}|{user.name}>", text)
        for channel in self.workspace.channels.values():
            if channel.name:
                text = re.sub(rf"#{channel.name}\b", f"<#{channel.id}|{channel.name}>", text)
        return text


NO_ACK = object()
