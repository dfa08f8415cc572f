"""/gpu-why: why a job waits, what it needs, and what would start it.

[pure]
"""

from capacity.errors import UnknownName, UsageError
from capacity.model import Fleet, Workload
from commands.command import Ask, Command, World
from commands.jobs import named
from commands.nearest import nearest
from commands.page import Page
from commands.scope import no_more
from commands.why_data import ChoicesAnswer, WhyAnswer, answer_job, choices
from commands.why_page import choices_page, why_page


def answer(ask: Ask, world: World) -> WhyAnswer | ChoicesAnswer:
    """Answer for the job of this name; unfinished ones go first, several of them are a choice."""
    if not ask.args:
        raise UsageError("Which job?", "Name it: /gpu-why llm-ft-7, or /gpu-queue for all.")
    no_more(ask, 1)
    name, fleet = ask.args[0], world.fleet()
    found = named(name, fleet)
    if not found:
        raise UnknownName("job", name, nearest(name, _job_names(name, fleet)))
    unfinished = tuple(w for w in found if w.status != "Finished")
    if len(unfinished) > 1:
        return choices(name, unfinished, fleet, world.now())
    return answer_job(found[0], fleet, world, len(found) - 1)


def page(found: WhyAnswer | ChoicesAnswer) -> Page:
    """Show one job in full, or the choice between several."""
    return why_page(found) if isinstance(found, WhyAnswer) else choices_page(found)


def _job_names(asked: str, fleet: Fleet) -> tuple[str, ...]:
    """Return names to compare with: as namespace/job if it was asked so."""
    if "/" not in asked:
        return tuple(fleet.workloads.names())
    return tuple(_full(w) for w in fleet.workloads)


def _full(workload: Workload) -> str:
    return f"{workload.namespace}/{workload.job}"


COMMAND = Command(
    word="why",
    usage="/gpu-why JOB",
    summary="why a job waits, and what would start it",
    examples=("/gpu-why llm-ft-7", "/gpu-why research/llm-ft-7"),
    answer=answer,
    page=page,
)
