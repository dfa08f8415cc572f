"""The admission checks that a job waits for: what each says, what that means, who answers it.

[pure]
"""

from capacity.model import AdmissionCheckState
from commands.page import Line
from commands.why_data import WhyAnswer
from commands.words import count

_SHOWN = 6
_MEANS = {
    "Pending": "hasn't answered yet",
    "Retry": "says not now; Kueue takes the quota back and queues the job again",
    "Rejected": "says no; Kueue switches the job off",
}
_WHO = "It has its quota. The controller behind a check answers; your platform team knows which."


def checks(answer: WhyAnswer) -> list[Line]:
    """Return a line for each check that isn't ready, the first six, and who answers them."""
    open_ = answer.cause.checks
    lines: list[Line] = [(_said(check),) for check in open_[:_SHOWN]]
    if len(open_) > _SHOWN:
        lines.append((f"{count(len(open_) - _SHOWN, 'more check')} not shown.",))
    return [*lines, (_WHO,)] if lines else []


def _said(check: AdmissionCheckState) -> str:
    means = _MEANS.get(check.state, f"is {check.state}")
    tried = f" (retried {count(check.retries, 'time')})" if check.retries else ""
    message = f" Its words: {check.message.rstrip('.')}." if check.message else ""
    return f"Check {check.name} {means}{tried}.{message}"
