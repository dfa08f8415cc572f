"""A refusal in Slack's own words. [pure]."""

from typing import Any


class SlackError(Exception):
    """An error that the Web API answers: its code, and the details Slack adds for developers."""

    def __init__(self, error: str, messages: tuple[str, ...] = (), **extra: Any) -> None:
        super().__init__(error, *messages)
        self.error = error
        self.messages = messages
        self.extra = extra

    def to_json(self) -> dict[str, Any]:
        """Return the body as Slack sends it."""
        body: dict[str, Any] = {"ok": False, "error": self.error, **self.extra}
        if self.messages:
            body["errors"] = list(self.messages)
            body["response_metadata"] = {"messages": [f"[ERROR] {m}" for m in self.messages]}
        return body
