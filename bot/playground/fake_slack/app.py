"""The Slack app as its manifest declares it: tokens, scopes, commands and events. [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALL_SCOPES = frozenset(
    {
        "app_mentions:read",
        "channels:join",
        "channels:read",
        "chat:write",
        "chat:write.public",
        "commands",
        "files:read",
        "files:write",
        "im:history",
        "im:write",
        "reactions:write",
        "team:read",
        "usergroups:read",
        "users:read",
        "users:read.email",
    }
)


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command; with ``should_escape`` Slack turns names into ids before the bot sees it."""

    command: str
    description: str = ""
    usage_hint: str = ""
    should_escape: bool = False


@dataclass(frozen=True, slots=True)
class SlackApp:
    """What the app may do. Without a manifest it may do all, and every command exists."""

    bot_token: str = "xoxb-play"  # noqa: S105 - the fake's own, valid nowhere else
    app_token: str = "xapp-play"  # noqa: S105
    signing_secret: str = "play"  # noqa: S105
    verification_token: str = "legacy"  # noqa: S105
    scopes: frozenset[str] = ALL_SCOPES
    commands: tuple[Command, ...] | None = None
    events: frozenset[str] | None = None
    shortcuts: tuple[Mapping[str, str], ...] | None = None
    messages_read_only: bool = False

    def command(self, name: str) -> Command | None:
        """Return the slash command of this name, None if the app has none."""
        if self.commands is None:
            return Command(name)
        return next((c for c in self.commands if c.command == name), None)

    def shortcut(self, callback: str, kind: str) -> bool:
        """Tell whether the app has this shortcut, "global" or "message"."""
        known = self.shortcuts
        return known is None or any(
            (s.get("callback_id"), s.get("type")) == (callback, kind) for s in known
        )

    def hears(self, event: str) -> bool:
        """Tell whether the app subscribed to this event."""
        return self.events is None or event in self.events


def from_manifest(manifest: Mapping[str, Any], **tokens: str) -> SlackApp:
    """Return the app that Slack would make of a parsed app manifest."""
    features, settings = manifest.get("features", {}), manifest.get("settings", {})
    commands = tuple(
        Command(
            c["command"],
            c.get("description", ""),
            c.get("usage_hint", ""),
            bool(c.get("should_escape")),
        )
        for c in features.get("slash_commands", [])
    )
    scopes = manifest.get("oauth_config", {}).get("scopes", {}).get("bot", [])
    events = settings.get("event_subscriptions", {}).get("bot_events", [])
    shortcuts = tuple(features.get("shortcuts", []))
    home = features.get("app_home", {})
    return SlackApp(
        scopes=frozenset(scopes),
        commands=commands,
        events=frozenset(events),
        shortcuts=shortcuts,
        messages_read_only=bool(home.get("messages_tab_read_only_enabled")),
        **tokens,
    )
