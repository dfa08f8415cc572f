"""Slack's rate limits: tiers per method and minute, and about one message a second per channel."""

import math
from dataclasses import dataclass, field

from bot.playground.fake_slack.clock import Clock

TIER_1, TIER_2, TIER_3, TIER_4 = 1, 20, 50, 100
POSTS_PER_SECOND = 1.0


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: float


@dataclass(slots=True)
class Limits:
    """Token buckets; ``scale`` multiplies every rate so that a playground is not slow.

    An infinite scale turns the limits off, for tests that are about something else.
    """

    clock: Clock
    scale: float = 1.0
    _buckets: dict[str, _Bucket] = field(default_factory=dict)

    def seconds_to_wait(self, key: str, per_second: float, burst: float) -> int:
        """Take one call out of a bucket; return 0, or the Retry-After if it is empty."""
        if math.isinf(self.scale):
            return 0
        rate, room, now = per_second * self.scale, max(1.0, burst * self.scale), self.clock.now()
        bucket = self._buckets.setdefault(key, _Bucket(room, now))
        bucket.tokens = min(room, bucket.tokens + (now - bucket.filled) * rate)
        bucket.filled = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0
        return max(1, math.ceil((1 - bucket.tokens) / rate))

    def method(self, name: str, per_minute: int) -> int:
        """Count one call of a method; tiers allow a minute's worth at once."""
        return self.seconds_to_wait(name, per_minute / 60, per_minute)

    def post(self, channel: str) -> int:
        """Count one message to a channel."""
        return self.seconds_to_wait(f"post {channel}", POSTS_PER_SECOND, POSTS_PER_SECOND)
