"""What tests make go wrong on the wire between Slack and the bot."""

from collections import defaultdict, deque
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ApiFault:
    """What happens to one Web API call.

    ``status`` answers that HTTP status (429 with ``retry_after``), ``error`` answers a Slack error
    code, ``drop`` closes the connection without an answer, ``seconds`` waits first. With ``after``
    the call takes effect and only its answer is lost, as when a proxy times out.
    """

    status: int = 0
    error: str = ""
    drop: bool = False
    retry_after: int = 1
    seconds: float = 0.0
    after: bool = False


@dataclass(slots=True)
class Faults:
    """Faults to come; each is used up by the call or envelope it hits."""

    drop_acks: int = 0
    duplicate_envelopes: int = 0
    delay_envelopes: float = 0.0
    _api: defaultdict[str, deque[ApiFault]] = field(default_factory=lambda: defaultdict(deque))

    def fail(self, method: str, fault: ApiFault, times: int = 1) -> None:
        """Hit the next calls of a Web API method ("*" for any)."""
        self._api[method].extend([fault] * times)

    def next_for(self, method: str) -> ApiFault | None:
        """Take the fault that is meant for this call, if any."""
        for key in (method, "*"):
            if self._api[key]:
                return self._api[key].popleft()
        return None

    def takes_ack(self) -> bool:
        """Tell whether the next acknowledgement gets lost."""
        if self.drop_acks <= 0:
            return False
        self.drop_acks -= 1
        return True

    def copies(self) -> int:
        """Return how often the next envelope is sent."""
        if self.duplicate_envelopes <= 0:
            return 1
        self.duplicate_envelopes -= 1
        return 2
