"""/gpu-quota: what a queue, a team or a cohort may still start, and what limits it.

[pure]
"""

from capacity.errors import UsageError
from commands.command import Ask, Command, World
from commands.page import Page
from commands.quota_cohort import CohortQuotaAnswer, answer_cohort
from commands.quota_cohort_page import cohort_page
from commands.quota_page import queue_page
from commands.quota_queue import QueueQuotaAnswer, answer_queues
from commands.scope import no_more, scope_of

QuotaAnswer = QueueQuotaAnswer | CohortQuotaAnswer


def answer(ask: Ask, world: World) -> QuotaAnswer:
    """Answer for the named queue, team or cohort, or for the asker's own team."""
    fleet = world.fleet()
    scope = scope_of(ask, fleet, world.people())
    no_more(ask, 2 if scope.kind == "cohort" else 1)
    in_full = _in_full(ask)  # of a queue everything is shown anyway
    if scope.kind == "cohort":
        number = page_number(ask, 1)
        return answer_cohort(scope.name, fleet, world.now(), number, in_full=in_full)
    return answer_queues(scope, fleet, world.now())


def page(found: QuotaAnswer) -> Page:
    """Show a queue in full, a team's queues as a table, or a cohort as a tree."""
    return cohort_page(found) if isinstance(found, CohortQuotaAnswer) else queue_page(found)


def page_number(ask: Ask, position: int) -> int:
    """Return the page that was asked for, 1 if none; raises UsageError if it is no number."""
    word = ask.args[position] if len(ask.args) > position else "1"
    if not (word.isascii() and word.isdigit() and len(word) < 7):
        raise UsageError(
            f"I don't understand {word!r} here.", f"A page is a number: /gpu {ask.word} NAME 2"
        )
    return int(word)


def _in_full(ask: Ask) -> bool:
    """Tell whether all figures of a cohort's rows were asked for; raises UsageError for others."""
    shown = ask.options.get("show", "")
    if shown.casefold() not in ("", "all"):
        raise UsageError(f"I don't understand --show {shown}.", "Ask: /gpu quota NAME --show all")
    return bool(shown)


COMMAND = Command(
    word="quota",
    usage="/gpu-quota [queue, team or cohort]",
    summary="what you can start now, and what limits it",
    examples=("/gpu-quota research", "/gpu-quota ml"),
    answer=answer,
    page=page,
    options=("show",),
)
