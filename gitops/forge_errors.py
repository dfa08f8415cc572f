"""What a forge's refusals mean, in the named failures that the flow knows.

One table for all forges: an HTTP status, the headers about limits, and the forge's own words.
[pure]
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from capacity.errors import GpubotError
from gitops.forge import ForgeDenied, ForgeDown, ForgeMissing

_LONGEST = 200
_LIMITED = ("rate limit", "abuse detection", "too many requests")
_RENEW = "Renew GPUBOT_FORGE_TOKEN, or the App's key."


def refusal(
    forge: str, status: int, headers: Mapping[str, str], words: str, what: str
) -> GpubotError:
    """Return the failure that a status stands for; ``what`` names the call for the log.

    A rate limit comes as 429, or as 403 with headers or words that say so.
    """
    said = cleaned(words)
    detail = f"{what}: HTTP {status} {said}"
    known = {name.lower(): value for name, value in headers.items()}
    if status == 429 or (status == 403 and _limited(known, said)):
        return ForgeDown(forge, retry_after=_retry_after(known), detail=detail)
    if status in (408, 425) or status >= 500:
        return ForgeDown(forge, retry_after=_retry_after(known), detail=detail)
    if status == 401:
        return ForgeDenied(f"{forge} doesn't accept my token.", _RENEW, detail=detail)
    if status in (404, 410):
        return ForgeMissing(f"{forge} has no such thing: {what}.", detail=detail)
    if 300 <= status < 400:
        moved = f"{forge} says that the repository has moved."
        return ForgeMissing(moved, "Set GPUBOT_FORGE_REPOSITORY to its new name.", detail=detail)
    return ForgeDenied(
        f"{forge} refuses it: {said or f'HTTP {status}'}",
        "Fix the right or the branch protection there; I try again by myself.",
        detail=detail,
    )


def unreachable(forge: str, error: Exception, what: str) -> ForgeDown:
    """Return the failure of a call without an answer; an exception's text may hold an address."""
    return ForgeDown(forge, detail=f"{what}: {type(error).__name__}")


def cleaned(words: str) -> str:
    """Return a forge's words on one line, in up to 200 characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:_LONGEST]


def _limited(headers: Mapping[str, str], words: str) -> bool:
    spent = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return spent or any(sign in words.lower() for sign in _LIMITED)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the forge's advice in seconds; a reset time counts only once the limit is spent."""
    if headers.get("retry-after", "").isdigit():
        return float(headers["retry-after"])
    reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
    remaining = headers.get("x-ratelimit-remaining") or headers.get("ratelimit-remaining")
    if remaining == "0" and reset.isdigit():
        return max(1.0, float(reset) - time.time())
    return None


def at(text: str) -> datetime:
    """Read a forge's time as aware UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)
