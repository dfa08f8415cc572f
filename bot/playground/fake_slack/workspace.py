"""The fake workspace: who is in it, what was said, and what people are looking at."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from bot.playground.fake_slack.cast import CHANNELS, GROUPS, USERS, direct_messages
from bot.playground.fake_slack.clock import Clock
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import (
    Blocks,
    Message,
    MessageBook,
    Version,
    with_block_ids,
)
from bot.playground.fake_slack.people import BOT_USER, Channel, User, UserGroup
from bot.playground.fake_slack.tickets import Tickets
from bot.playground.fake_slack.view_book import ViewBook


@dataclass(frozen=True, slots=True)
class UserSawError:
    """What Slack told a person because the bot didn't answer in time or in order."""

    user: str
    place: str
    words: str
    at: float


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One Web API call of the bot, for tests to look back at; the token is left out."""

    method: str
    params: dict[str, Any]
    at: float
    error: str = ""


@dataclass(slots=True)
class File:
    """An uploaded file; ``content`` is None until the bytes arrive.

    ``user`` is who uploaded it, ``seen_by_bot`` whether it was given to the app or is in one of its
    channels. ``more`` replaces what the file object says, for the kinds of files that are rare.
    """

    id: str
    name: str
    length: int
    alt: str = ""
    title: str = ""
    content: bytes | None = None
    shared: bool = False
    user: str = BOT_USER
    seen_by_bot: bool = True
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Workspace:
    """All state of the fake; owned by one event loop, so it has no locks."""

    clock: Clock
    url: str = ""
    users: dict[str, User] = field(default_factory=lambda: {u.id: u for u in USERS})
    groups: dict[str, UserGroup] = field(default_factory=lambda: {g.id: g for g in GROUPS})
    channels: dict[str, Channel] = field(
        default_factory=lambda: {c.id: c for c in (*CHANNELS, *direct_messages())}
    )
    book: MessageBook = field(default_factory=MessageBook)
    views: ViewBook = field(default_factory=ViewBook)
    files: dict[str, File] = field(default_factory=dict)
    errors: list[UserSawError] = field(default_factory=list)
    calls: list[ApiCall] = field(default_factory=list)
    watchers: list[Callable[[str], None]] = field(default_factory=list)
    tickets: Tickets = field(init=False)

    def __post_init__(self) -> None:
        self.tickets = Tickets(self.clock)

    def changed(self, topic: str) -> None:
        """Tell every open page that something it shows is different now."""
        for watcher in self.watchers:
            watcher(topic)

    def user(self, user_id: str) -> User:
        """Return a user of the workspace, deleted ones included."""
        if user_id not in self.users:
            raise SlackError("user_not_found")
        return self.users[user_id]

    def channel(self, name: str) -> Channel:
        """Return a channel by id or name, or the direct message with a user id."""
        wanted = name.removeprefix("#")
        for channel in self.channels.values():
            if wanted in {channel.id, channel.name} or (name and name == channel.im_with):
                return channel
        raise SlackError("channel_not_found")

    def channels_of(self, user: str) -> Iterable[Channel]:
        """Return the channels and direct messages that this person is in."""
        return (c for c in self.channels.values() if user in c.members)

    def post(
        self,
        channel: str,
        user: str,
        text: str,
        blocks: Blocks,
        *,
        thread_ts: str = "",
        only_for: str = "",
        broadcast: bool = False,
        metadata: dict[str, Any] | None = None,
    ) -> Message:
        """Add a message."""
        now = self.clock.now()
        first = Version(text, with_block_ids(blocks), now)
        message = Message(channel, "", user, [first], thread_ts, only_for, broadcast, metadata)
        self.book.post(message, now)
        self.changed("messages")
        return message

    def edit(self, message: Message, text: str, blocks: Blocks) -> None:
        """Add a version to a message."""
        message.versions.append(Version(text, with_block_ids(blocks), self.clock.now()))
        self.changed("messages")

    def delete(self, message: Message) -> None:
        """Take a message away; its history stays for tests."""
        message.deleted = True
        self.changed("messages")

    def saw_error(self, user: str, place: str, words: str) -> None:
        """Note that Slack itself told this person of a failure of the bot."""
        self.errors.append(UserSawError(user, place, words, self.clock.now()))
        self.changed("errors")

    def invite_bot(self, channel: str) -> None:
        """Make the bot a member of a channel."""
        old = self.channels[channel]
        self.channels[channel] = replace(old, members=(*old.members, BOT_USER))
