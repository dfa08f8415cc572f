"""The first sentences about a job: why it waits, or what it does instead.

[pure]
"""

from collections.abc import Callable

from capacity.causes import Kind
from capacity.model import UNLIMITED
from commands.page import Bold, Line, Span, Time
from commands.queue_page import ordinal
from commands.reasons import needs_sentence
from commands.why_data import WhyAnswer
from commands.why_place import no_room
from commands.why_story import reason_of, story
from commands.words import amount, count, number, since

_DEACTIVATED = {
    "RequeuingLimitExceeded": "Kueue tried it too often without all its pods getting ready",
    "MaximumExecutionTimeExceeded": "it reached its time limit",
    "AdmissionCheck": "an admission check rejected it",
}
_PLAIN = {
    Kind.ON_HOLD: "waits because it is on hold.",
    Kind.NO_MATCHING_FLAVOR: "can't start: no kind of node that its queue has fits it.",
    Kind.WAITING_FOR_PODS_READY: "waits until the pods of jobs admitted before it are ready.",
    Kind.UNKNOWN: "waits; Kueue gives a reason that I don't know, so here it is in its words.",
    Kind.PENDING_DELAYED_TOPOLOGY: "has its quota; Kueue still looks for the nodes to run it on.",
}


def headline(answer: WhyAnswer) -> Line:
    """Return the answer in a sentence or two, the cause in plain words first."""
    said = story(answer)
    if said and answer.cause.preempted and answer.cause.preempted.current:
        again = f" It is queued again{_place(answer)}."
        return (*said, again, *_because(answer))
    return (*_first(answer), *_second(answer))


def _first(answer: WhyAnswer) -> Line:
    kind, requeue = answer.cause.kind, answer.cause.requeue
    if requeue is not None and requeue.waiting and requeue.at is not None and answer.cause.evicted:
        why = f": it was stopped because {reason_of(answer.cause.evicted)}."
        return (Bold(f"{answer.job} is held back until "), Time(requeue.at), Bold(why))
    if kind in _STATES:
        return _STATES[kind](answer)
    if kind in _CLAUSES:
        return (Bold(f"{answer.job} {_CLAUSES[kind](answer)}."),)
    if kind is Kind.UNKNOWN and answer.cause.status != "Pending":
        said = "has its GPUs reserved but isn't admitted yet; Kueue gives no reason."
        return (Bold(f"{answer.job} {said}"),)
    return (Bold(f"{answer.job} {_PLAIN[kind]}"),)


def _second(answer: WhyAnswer) -> Line:
    kind, place = answer.cause.kind, ""
    if kind in (Kind.WAITING_FOR_QUOTA, Kind.PENDING_EVALUATION) and answer.position:
        place = _in_line(answer)
    gang = ""
    if kind in (Kind.WAITING_FOR_QUOTA, Kind.EXCEEDS_MAX_QUOTA) and answer.pods > 1 and answer.gpus:
        gang = f" All {answer.gpus} or none: it is a gang."
    return (f"{place}{gang}",) if place or gang else ()


def _because(answer: WhyAnswer) -> Line:
    if answer.need is None or answer.queue is None or not answer.need.short:
        return ()
    said = needs_sentence(answer.need, answer.queue)
    return (f" {said[0].upper()}{said[1:]}.",)


def _waiting(answer: WhyAnswer) -> str:
    need = answer.need
    if answer.strict and answer.ahead_of_it:
        first = answer.ahead_of_it.partition("/")[2]
        return f"waits behind {first}, which goes first in {answer.queue}"
    if need is not None and answer.queue is not None and need.short:
        return f"waits because {needs_sentence(need, answer.queue)}"
    if need is not None and answer.queue is not None:
        free = amount(need.pair, need.available)
        return f"should start soon: {answer.queue} can get {free} now, and it needs {need.wanted}"
    return "waits for Kueue to look at it"


def _in_line(answer: WhyAnswer) -> str:
    if answer.position == 1:
        alone = (
            " nothing overtakes it (StrictFIFO)" if answer.strict else " smaller jobs may pass it"
        )
        return f" It is first in line in {answer.queue};{alone}."
    return f" It is {ordinal(answer.position or 0)} of {answer.in_line} in {answer.queue}."


def _place(answer: WhyAnswer) -> str:
    return f", {ordinal(answer.position)} in line in {answer.queue}" if answer.position else ""


def _never(answer: WhyAnswer) -> str:
    return f"can never start as it is: {_too_big(answer)}"


def _too_big(answer: WhyAnswer) -> str:
    need = answer.need
    if need is None:
        return "it asks for more than its queue may ever have"
    wanted, most = amount(need.pair, need.wanted), number(need.pair.resource, need.potential)
    if need.potential >= min(need.wanted, UNLIMITED):
        return f"Kueue says that its {wanted} are more than {answer.queue} may ever have"
    return f"it needs {wanted} at once and {answer.queue} may never have more than {most}"


def _running(answer: WhyAnswer) -> Line:
    at = answer.reserved_at
    when: list[Span] = [" since ", Time(at)] if at else []
    kind, gang = answer.cause.kind, answer.cause.gang
    if kind is Kind.RUNNING or gang is None:
        return (Bold(f"{answer.job} doesn't wait: it runs on {answer.holds}"), *when, ".")
    state = "isn't running in full yet" if kind is Kind.STARTING else "lost a pod and recovers"
    for_ = since(gang.since, answer.asked_at)
    return (
        Bold(f"{answer.job} holds {answer.holds} but {state}: not all its pods are ready"),
        f", for {for_} now.",
    )


def _finished(answer: WhyAnswer) -> Line:
    cause = answer.cause
    good = cause.reason == "Succeeded"
    words = "finished" if good else f"ended ({cause.reason})"
    when: list[Span] = [" ", Time(cause.since)] if cause.since else []
    ran = ""
    if cause.since and answer.reserved_at:
        ran = f" It ran for {since(answer.reserved_at, cause.since)} on {answer.holds}."
    return (Bold(f"{answer.job} doesn't wait: it {words}"), *when, ".", ran)


def _off(answer: WhyAnswer) -> str:
    cause = answer.cause.evicted.cause if answer.cause.evicted else None
    return f"is switched off: {_DEACTIVATED.get(cause or '', 'somebody set it inactive')}"


def _misconfigured(answer: WhyAnswer) -> str:
    if answer.queue is None:
        return f"can't start: namespace {answer.namespace} has no queue {answer.queue_name!r}"
    return "can't start: something in its settings or its queue's is wrong, see Kueue's words below"


def _making_room(answer: WhyAnswer) -> str:
    message = answer.cause.message
    stopping = message.preempting if message else 0
    jobs = (
        f"{count(stopping, 'job')} {'is' if stopping == 1 else 'are'}" if stopping else "others are"
    )
    return f"is about to start: {jobs} stopped to make room"


def _stopped(answer: WhyAnswer) -> str:
    return f"waits because its queue {answer.queue} is stopped"


def _stopping(answer: WhyAnswer) -> str:
    evicted = answer.cause.evicted
    if evicted is None or evicted.reason == "Preempted":
        return "is being stopped"
    return f"is being stopped: {reason_of(evicted)}"


def _gated(answer: WhyAnswer) -> str:
    return "waits because a gate holds it back: whoever set the gate must lift it"


def _checks(answer: WhyAnswer) -> str:
    left = count(len(answer.cause.checks), "check")
    return f"has its GPUs reserved but waits for {left} before it may run"


_CLAUSES: dict[Kind, Callable[[WhyAnswer], str]] = {
    Kind.WAITING_FOR_QUOTA: _waiting,
    Kind.PENDING_EVALUATION: _waiting,
    Kind.EXCEEDS_MAX_QUOTA: _never,
    Kind.DEACTIVATED: _off,
    Kind.SUSPENDED: _stopped,
    Kind.MISCONFIGURED: _misconfigured,
    Kind.WAITING_FOR_PREEMPTED_WORKLOADS: _making_room,
    Kind.ADMISSION_GATED: _gated,
    Kind.EVICTING: _stopping,
    Kind.UNSATISFIED_ADMISSION_CHECKS: _checks,
}
_STATES: dict[Kind, Callable[[WhyAnswer], Line]] = {
    Kind.RUNNING: _running,
    Kind.STARTING: _running,
    Kind.RECOVERING: _running,
    Kind.FINISHED: _finished,
    Kind.TOPOLOGY_PLACEMENT_FAILED: no_room,
}
