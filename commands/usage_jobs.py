"""Which jobs the hours belong to: pods of one job together.

[pure]
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from capacity.usage import Hours, PodHours

ENOUGH = 0.9
"""The share of held hours that must be measured before anyone is called idle."""
_SUFFIX = re.compile(r"(-\d+)?(-[a-z0-9]{5})?$")


@dataclass(frozen=True, slots=True)
class JobHours:
    """One job's hours in the window."""

    namespace: str
    job: str
    hours: Hours

    @property
    def judged(self) -> bool:
        """Tell whether enough of it was measured to speak of idle."""
        return is_judged(self.hours)


def is_judged(hours: Hours) -> bool:
    """Tell whether at least 90 % of the held hours were measured."""
    return hours.held > 0 and (hours.busy + hours.idle) / hours.held >= ENOUGH - 1e-9


def by_job(pods: Iterable[PodHours], known: Collection[str]) -> tuple[JobHours, ...]:
    """Add up pods by job, the largest holder first; ``known`` are the jobs that Kueue remembers."""
    totals: dict[tuple[str, str], Hours] = defaultdict(Hours)
    for pod in pods:
        totals[pod.namespace, job_of(pod.pod, known)] += pod.hours
    ordered = sorted(totals.items(), key=lambda item: (-item[1].held, item[0]))
    return tuple(JobHours(namespace, job, hours) for (namespace, job), hours in ordered)


def job_of(pod: str, known: Collection[str]) -> str:
    """Return the job a pod is named after: one that is known, else the name without its ending.

    Controllers append "-0", "-abcde" or "-0-abcde" to the job's name.
    """
    name = pod
    while "-" in name:
        if name in known:
            return name
        name = name.rpartition("-")[0]
    return name if name in known else _SUFFIX.sub("", pod, count=1) or pod
