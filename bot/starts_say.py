"""[pure] What is said about a job that somebody waits for: the direct messages, and the replies.

Each message says as of when it was seen, since an outage of Slack may have held it up.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.starts import FAILED, LASTS, Awaited, News, Turn
from commands.page import Action, Bold, Line, Page, Paragraph, Part, Quote, Span, Time
from commands.starts import tell_me
from commands.words import span

REPEATED = "you may have had this already: I was interrupted while I sent it"
# Kueue's reasons for Finished (apis/kueue/v1beta2, workload_types.go).
_ENDS = {
    "Succeeded": "has finished",
    FAILED: "failed",
    "OwnerNotFound": "was deleted",
    "OutOfSync": "was replaced because it was changed",
    "WorkloadSliceReplaced": "was replaced because its size changed",
}
_READY = {
    True: "All its pods are ready.",
    False: "Its pods start now; not all of them are ready yet.",
    None: "Its pods start now; when they are ready Kueue doesn't say here.",
}
_NAMESAKE = " Another job of this name is there: ask why to be told about that one."
_WAITS = " It waits in line again; ask below to be told of its next start."


def news_page(awaited: Awaited, news: News, *, doubtful: bool = False) -> Page:
    """Return the direct message; ``doubtful`` says that it may have come before."""
    told = _SAY[news.turn](awaited, news)
    parts: tuple[Part, ...] = (Quote(news.said, "Kueue says"),) if news.said else ()
    footer: list[Span] = ["as of ", Time(news.as_of, clock=True), f" · {news.source}"]
    footer += [f" · {REPEATED}"] if doubtful else []
    return Page(told, parts, _actions(awaited, news), tuple(footer))


def kept(awaited: Awaited, *, new: bool) -> Line:
    """Say what will be told, and until when; also when that was wished before."""
    until: Line = (" I look out for it until ", Time(awaited.until), ".")
    if not new:
        since: Line = ("; you asked for it ", Time(awaited.asked_at), ".")
        return (Bold(f"You'll be told already when {awaited.job} starts"), *since, *until)
    also = " in a direct message, or if it ends, is deleted or is switched off before."
    return (Bold(f"I'll tell you when {awaited.job} starts"), also, *until)


def unseen(awaited: Awaited) -> Line:
    """Say that a wish is kept although the job can't be seen now."""
    return (f" I can't see {awaited.job} in the cluster now; I look again as soon as I can.",)


def stopped(job: str, *, was: bool) -> Line:
    """Say that nothing will be told."""
    if was:
        return (f"I won't tell you when {job} starts.",)
    return (f"You weren't going to be told about {job}; nothing was changed.",)


def already(awaited: Awaited, news: News) -> Line:
    """Say at the click that there is nothing left to wait for."""
    if news.turn is Turn.STARTED:
        return (Bold(f"{awaited.job} has started already"), *_when(news), *_pods(news))
    return _SAY[news.turn](awaited, news)


def with_line(page: Page, line: Line) -> Page:
    """Return an answer with a sentence of ours next to its buttons, where it was pressed."""
    return replace(page, parts=(*page.parts, Paragraph(line)))


def _started(awaited: Awaited, news: News) -> Line:
    waited = f" It waited {span(news.waited)}." if news.waited is not None else ""
    return (
        Bold(f"{awaited.job} has its {news.holds} and starts"),
        *_when(news),
        *_pods(news),
        waited,
    )


def _when(news: News) -> Line:
    return (": Kueue admitted it ", Time(news.at), ".") if news.at else (".",)


def _pods(news: News) -> Line:
    return (f" {_READY[news.ready]}",)


def _finished(awaited: Awaited, news: News) -> Line:
    ended = _ENDS.get(news.reason, f"ended ({news.reason})")
    other: Line = (_NAMESAKE,) if news.namesake else ()
    at: Line = (" ", Time(news.at)) if news.at else ()
    if awaited.started_at is not None:
        return (Bold(f"{awaited.job} {ended}"), *at, ", soon after it had started.")
    if news.admitted_at is None:
        return (Bold(f"{awaited.job} {ended}"), *at, ". It never started.", *other)
    started: Line = (" It had started ", Time(news.admitted_at), ".")
    return (Bold(f"{awaited.job} {ended} already"), *at, ".", *started, *other)


def _switched_off(awaited: Awaited, news: News) -> Line:
    why = news.why or "it was switched off"
    then = " Ask why for how to switch it on again. I no longer look out for it."
    return (Bold(f"{awaited.job} won't start by itself: {why}."), then)


def _gone(awaited: Awaited, news: News) -> Line:
    said: Line = (
        Bold(f"{awaited.job} is no longer there."),
        " It was deleted, or it ended and isn't kept; I didn't see it start.",
    )
    return (*said, _NAMESAKE) if news.namesake else said


def _stopped(awaited: Awaited, news: News) -> Line:
    at: Line = (" ", Time(news.at)) if news.at else ()
    why = f": {news.why}." if news.why else "."
    return (Bold(f"{awaited.job} was stopped again"), *at, why, _WAITS if news.waits else "")


def _expired(awaited: Awaited, news: News) -> Line:
    waits = f" {awaited.job} still waits." if news.waits else ""
    days = f"{LASTS.days} days have passed"
    return (Bold(f"I no longer look out for {awaited.job}: {days}."), waits)


def _actions(awaited: Awaited, news: News) -> tuple[Action, ...]:
    why = f"why {awaited.name}"
    again = (tell_me(awaited.uid, why),) if news.waits else ()
    seen = news.turn is not Turn.GONE or news.namesake
    queue = (Action("Queue", "ask", f"queue {news.queue}"),) if news.queue else ()
    return (*again, *((Action("Why", "ask", why),) if seen else ()), *queue)


_SAY: Mapping[Turn, Callable[[Awaited, News], Line]] = {
    Turn.STARTED: _started,
    Turn.FINISHED: _finished,
    Turn.SWITCHED_OFF: _switched_off,
    Turn.GONE: _gone,
    Turn.STOPPED: _stopped,
    Turn.EXPIRED: _expired,
}
