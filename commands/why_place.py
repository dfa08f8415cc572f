"""How a job's pods must stand together, how they do, and what becomes of pods that aren't ready.

[pure]
"""

from datetime import timedelta

from capacity.causes import Kind
from commands.page import Bold, Line, Time
from commands.why_data import WhyAnswer
from commands.why_help import Remedy
from commands.words import amount, count

# Kueue's waitForPodsReady since v0.19 (apis/config/v1beta2/defaults.go); what a platform sets
# instead is in the manager's configuration, which isn't read.
READY_IN = timedelta(minutes=30)
_SHOWN = 6


def no_room(answer: WhyAnswer) -> Line:
    """Return why no place takes a job whose pods must stand together; with its quota, if enough."""
    level = f"in one {answer.together.level}" if answer.together else "close together"
    must = "should" if answer.together and answer.together.mode == "preferred" else "must"
    pods = count(answer.pods, "pod")
    return (
        Bold(
            f"{answer.job} waits for room in one place: its {pods} {must} stand {level}, and "
            f"{_best(answer)}."
        ),
        _quota(answer),
    )


def _best(answer: WhyAnswer) -> str:
    room = answer.room
    if room is None:
        return "no such place is free now"
    if not room.fits:
        return f"no such place takes even one {room.unit} now"
    return f"the best place takes {room.fits} of {room.wanted} {room.unit}s now"


def _quota(answer: WhyAnswer) -> str:
    need = answer.need
    if need is None or need.short:
        return ""
    free = amount(need.pair, need.available)
    return f" Quota isn't what it lacks: {answer.queue} can get {free}, and it needs {need.wanted}."


def left_out(answer: WhyAnswer) -> Line:
    """Return which nodes Kueue didn't count, in its words; empty if it names none."""
    room = answer.room
    if room is None or room.nodes is None:
        return ()
    return (f"Of {count(room.nodes, 'node')}, Kueue left out: {room.excluded}.",)


def stands(answer: WhyAnswer) -> Line:
    """Return where the pods of an admitted job stand; empty where Kueue doesn't say."""
    places = answer.places
    if not places or answer.cause.kind is Kind.FINISHED:
        return ()
    shown = ", ".join(f"{name} ({pods})" for name, pods in places[:_SHOWN])
    more = f" and {len(places) - _SHOWN} more places" if len(places) > _SHOWN else ""
    return (f"Its pods stand on {shown}{more}.",)


def not_ready(answer: WhyAnswer) -> Line:
    """Return what becomes of a job whose pods aren't all ready, and when; empty for others."""
    gang = answer.cause.gang
    if gang is None or gang.ready or answer.cause.kind not in (Kind.STARTING, Kind.RECOVERING):
        return ()
    minutes = int(READY_IN.total_seconds() // 60)
    said = f"Kueue stops and requeues a job whose pods aren't all ready in {minutes} min: at "
    return (
        said,
        Time(gang.since + READY_IN, clock=True),
        ", unless your platform set another time or switched that off.",
    )


def makes_room(answer: WhyAnswer) -> tuple[Remedy, ...]:
    """Return what gets a job a place to stand in; nothing where a place isn't what it lacks."""
    if answer.cause.kind is not Kind.TOPOLOGY_PLACEMENT_FAILED:
        return ()
    found = [Remedy("wait until jobs in one such place end", "how long can't be said")]
    room, together = answer.room, answer.together
    if room is not None and room.fits:
        fewer = f"run it with {count(room.fits, room.unit)}, which fit in one place now"
        found.append(Remedy(fewer, "it runs longer, and the job must allow another size"))
    if together is not None and together.mode == "required":
        farther = f"ask for the {together.level} as preferred instead of required"
        found.append(Remedy(farther, "its pods may stand farther apart and talk slower"))
    return tuple(found)
