"""What ``gpubot check`` asks of Slack: whether the tokens are good and the scopes there."""

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.server import Check
from bot.slack import Access
from bot.slack_client import DOWN, TIMEOUT

SCOPES = ("app_mentions:read", "chat:write", "commands", "users:read")


async def check(access: Access) -> tuple[Check, ...]:
    """Return what was found; nothing is posted anywhere."""
    client = AsyncWebClient(access.bot_token, access.base_url, TIMEOUT)
    found = [await _bot_token(client)]
    if access.app_token:
        found.append(await _app_token(client, access.app_token))
    return tuple(found)


async def _bot_token(client: AsyncWebClient) -> Check:
    try:
        said = await client.auth_test()
    except SlackApiError as error:
        return Check("bot token", False, f"Slack refuses it: {error.response.get('error')}")
    except DOWN as error:
        return Check("bot token", False, f"Slack doesn't answer ({type(error).__name__})")
    held = str(said.headers.get("x-oauth-scopes") or "")
    lacks = [scope for scope in SCOPES if held and scope not in held.split(",")]
    if lacks:
        return Check("bot token", False, f"it lacks {', '.join(lacks)}; reinstall the app")
    return Check("bot token", True, f"{said.get('user')} in {said.get('team')}")


async def _app_token(client: AsyncWebClient, token: str) -> Check:
    try:
        await client.apps_connections_open(app_token=token)
    except SlackApiError as error:
        return Check("app token", False, f"Slack refuses it: {error.response.get('error')}")
    except DOWN as error:
        return Check("app token", False, f"Slack doesn't answer ({type(error).__name__})")
    return Check("app token", True, "socket mode is allowed")
