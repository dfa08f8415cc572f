"""What becomes of a job that somebody waits for: when it counts as started, and what is said."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.starts import KNOWN_BY_ALL, LASTS, SOON, Awaited, News, Turn, judge, over
from bot.starts_say import already, kept, news_page, stopped, unseen
from bot.store_convert import from_json, to_json
from bot.text import render, words
from capacity.errors import UsageError
from capacity.model import Fleet, Workload
from commands.page import plain
from commands.parse import parse
from commands.starts import STOP, TELL, as_wished, dont_tell_me, tell_me, wished
from commands.table import run
from tests.builders import (
    ANA,
    AS_OF,
    NOW,
    FakeWorld,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
    waiting_condition,
)

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "bot"
JOB = a_workload("train", 2, 8, created=ago(minutes=50))
WISH = Awaited(
    1, "U0ANA", "prod-eu", "research", "train", JOB.uid, ago(minutes=40), NOW + timedelta(days=13)
)
TOLD = replace(WISH, started_at=ago(minutes=10), until=NOW + timedelta(minutes=50))


def seen(*workloads: Workload, other: bool = False, **changes: Any) -> Fleet:
    workloads = (*workloads, replace(JOB, uid="uid-2")) if other else workloads
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=workloads)
    return replace(fleet, **{"every_workload": True} | changes)


def turn(workload: Workload | None, wish: Awaited = WISH, **changes: Any) -> Turn | None:
    fleet = seen(*([workload] if workload else []), **changes)
    news = judge(wish, fleet, NOW)
    return news.turn if news else None


def admitted(*conditions: Any, **changes: Any) -> Workload:
    job = a_workload("train", 2, 8, state="Admitted", created=ago(minutes=50), since=ago(minutes=9))
    return replace(job, conditions=(*job.conditions, *conditions), **changes)


def finished(reason: str = "Succeeded", message: str = "", **changes: Any) -> Workload:
    job = a_workload(
        "train",
        2,
        8,
        state="Finished",
        created=ago(minutes=50),
        since=ago(minutes=9),
        ended=ago(minutes=2),
        **changes,
    )
    rest = [c for c in job.conditions if c.type != "Finished"]
    end = condition("Finished", "True", reason, message, ago(minutes=2))
    return replace(job, conditions=(*rest, end))


def evicted(reason: str = "Preempted", *, stays: bool = False, **changes: Any) -> Workload:
    """Stopped two minutes ago; ``stays`` while its pods still end and it keeps its quota."""
    lost = condition("Evicted", "True", reason, "told", ago(minutes=2))
    if stays:
        return admitted(lost, **changes)
    no = (waiting_condition("told"), condition("Admitted", "False", "No", at=ago(minutes=2)))
    return replace(JOB, conditions=(lost, *no), **changes)


def ended(reason: str) -> Workload:
    """It never had quota."""
    return replace(JOB, conditions=(condition("Finished", "True", reason, "", ago(minutes=2)),))


RESERVED = a_workload("train", 2, 8, state="QuotaReserved", created=ago(minutes=50))
OFF = evicted("DeactivatedDueToRequeuingLimitExceeded", active=False)


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (JOB, None),
        (RESERVED, None),
        (admitted(), Turn.STARTED),
        (admitted(condition("PodsReady", "False", "WaitForStart")), Turn.STARTED),
        (evicted(stays=True), None),
        (evicted(), None),
        (finished(), Turn.FINISHED),
        (finished("Failed"), Turn.FINISHED),
        (OFF, Turn.SWITCHED_OFF),
        (replace(JOB, active=False), Turn.SWITCHED_OFF),
        (None, Turn.GONE),
    ],
)
def test_a_job_has_started_once_kueue_admitted_it_and_not_before(
    workload: Workload | None, expected: Turn | None
) -> None:
    assert turn(workload) is expected


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (admitted(), None),
        (finished(), None),
        (finished("Failed"), Turn.FINISHED),
        (evicted(), Turn.STOPPED),
        (evicted(stays=True), Turn.STOPPED),
        (JOB, None),
        (RESERVED, None),
        (OFF, Turn.STOPPED),
        (None, None),
    ],
)
def test_after_its_start_only_a_start_that_did_not_last_is_told(
    workload: Workload | None, expected: Turn | None
) -> None:
    assert turn(workload, TOLD) is expected


def test_a_start_is_looked_at_for_an_hour_longer() -> None:
    assert timedelta(hours=1) == SOON
    assert not over(WISH, NOW + LASTS)
    assert not over(TOLD, NOW)
    assert over(TOLD, TOLD.until)


@pytest.mark.parametrize(
    "changes",
    [
        {"every_workload": False},
        {"as_of": ago(minutes=2)},
        {"cluster": "another"},
    ],
)
def test_only_a_fresh_and_complete_list_of_its_own_cluster_says_that_a_job_is_gone(
    changes: dict[str, Any],
) -> None:
    assert turn(None, **changes) is None


def test_a_job_that_a_replica_does_not_know_yet_is_not_gone() -> None:
    young = replace(WISH, asked_at=NOW - KNOWN_BY_ALL + timedelta(seconds=1))
    assert turn(None, young) is None
    assert turn(None, replace(young, asked_at=NOW - KNOWN_BY_ALL)) is Turn.GONE


def test_a_replica_that_still_sees_an_earlier_stop_does_not_take_it_for_a_new_one() -> None:
    assert turn(evicted(), replace(TOLD, started_at=ago(minutes=2))) is None
    assert turn(evicted(), replace(TOLD, started_at=ago(minutes=2, seconds=1))) is Turn.STOPPED


def test_a_stale_list_may_still_say_what_it_saw() -> None:
    news = judge(WISH, seen(admitted(), every_workload=False, as_of=ago(minutes=5)), NOW)
    assert news is not None
    assert (news.turn, news.as_of) == (Turn.STARTED, ago(minutes=5))


def test_a_job_of_the_same_name_with_another_uid_is_not_the_one_that_is_waited_for() -> None:
    other = replace(admitted(), uid="uid-2")
    assert judge(WISH, seen(other, every_workload=False), NOW) is None
    news = judge(WISH, seen(other), NOW)
    assert news is not None
    assert (news.turn, news.namesake) == (Turn.GONE, True)


def test_a_job_of_the_same_name_in_another_namespace_is_no_namesake() -> None:
    news = judge(WISH, seen(a_workload("train", queue="vision")), NOW)
    assert news is not None
    assert not news.namesake


def test_a_wish_ends_after_fourteen_days_even_where_nothing_can_be_seen() -> None:
    old = replace(WISH, until=NOW)
    assert timedelta(days=14) == LASTS
    assert turn(JOB, old) is Turn.EXPIRED
    assert turn(None, old, every_workload=False) is Turn.EXPIRED
    assert turn(None, old, cluster="another") is Turn.EXPIRED
    assert turn(admitted(), old) is Turn.STARTED, "what happened goes before"


STORIES: dict[str, tuple[Awaited, Workload | None, dict[str, Any]]] = {
    "starts": (WISH, admitted(condition("PodsReady", "True", "Started")), {}),
    "starts, pods not ready": (WISH, admitted(condition("PodsReady", "False", "WaitForStart")), {}),
    "starts, pods unknown": (WISH, admitted(), {}),
    "finished before it was seen": (WISH, finished(), {}),
    "failed before it was seen": (
        WISH,
        finished("Failed", "Job has reached the backoff limit"),
        {},
    ),
    "deleted, and Kueue saw it first": (WISH, ended("OwnerNotFound"), {}),
    "changed while it waited": (WISH, ended("WorkloadSliceReplaced"), {"other": True}),
    "ended for a reason of another day": (WISH, ended("Celestial"), {}),
    "switched off": (WISH, replace(JOB, active=False), {}),
    "gone": (WISH, None, {}),
    "gone, and there is another": (WISH, None, {"other": True}),
    "still waits": (replace(WISH, until=NOW), JOB, {}),
    "not to be seen": (replace(WISH, until=NOW), None, {"every_workload": False}),
    "stopped again": (TOLD, evicted(), {}),
    "stopped by a node": (TOLD, evicted("NodeFailures"), {}),
    "stopped and switched off": (TOLD, OFF, {}),
    "failed soon": (TOLD, finished("Failed", "Job has reached the backoff limit"), {}),
}


def test_each_message_word_for_word() -> None:
    told = []
    for name, (wish, workload, changes) in STORIES.items():
        news = judge(wish, seen(*([workload] if workload else []), **changes), NOW)
        assert news is not None, name
        page = news_page(wish, news)
        buttons = ", ".join(f"[{a.label}: {a.action} {a.value}]" for a in page.actions)
        told.append(f"# {name}\n{render(page)}{buttons}\n")
    path = GOLDEN / "starts.txt"
    if os.environ.get("GPUBOT_UPDATE_GOLDEN"):
        path.write_text("\n".join(told), "utf-8")
    assert path.read_text("utf-8") == "\n".join(told)


def test_every_turn_is_told_in_the_golden_file() -> None:
    found = set()
    for wish, workload, changes in STORIES.values():
        news = judge(wish, seen(*([workload] if workload else []), **changes), NOW)
        assert news is not None
        found.add(news.turn)
    assert found == set(Turn)


def test_a_message_that_may_come_twice_says_so() -> None:
    news = judge(WISH, seen(admitted()), NOW)
    assert news is not None
    assert "you may have had this already" in plain(news_page(WISH, news, doubtful=True).footer)
    assert "already" not in plain(news_page(WISH, news).footer)


def test_the_click_is_answered_with_what_is_kept_until_when() -> None:
    assert words(kept(WISH, new=True)) == (
        "I'll tell you when train starts in a direct message, or if it ends, is deleted or is "
        "switched off before. I look out for it until 2026-12-14 14:03 UTC."
    )
    assert words(kept(WISH, new=False)) == (
        "You'll be told already when train starts; you asked for it 2026-12-01 13:23 UTC. "
        "I look out for it until 2026-12-14 14:03 UTC."
    )
    assert "can't see train in the cluster now" in words(unseen(WISH))
    assert words(stopped("train", was=True)) == "I won't tell you when train starts."
    assert "nothing was changed" in words(stopped("train", was=False))


def test_a_click_on_a_job_that_has_started_says_so() -> None:
    news = judge(WISH, seen(admitted()), NOW)
    assert news is not None
    said = words(already(WISH, news))
    assert said.startswith("train has started already: Kueue admitted it 2026-12-01 13:54 UTC.")


JSON = st.builds(
    News,
    st.sampled_from(Turn),
    st.just(AS_OF),
    st.text(max_size=20),
    at=st.none() | st.just(AS_OF),
    waited=st.none() | st.integers(0, 10**8).map(lambda s: timedelta(seconds=s)),
    ready=st.none() | st.booleans(),
    said=st.text(max_size=20),
)


@given(JSON)
def test_news_is_the_same_after_it_was_written_down(news: News) -> None:
    assert from_json(to_json(news), News) == news


@pytest.mark.parametrize("word", ["why", "queue"])
def test_a_button_says_which_workload_and_what_was_asked(word: str) -> None:
    found = wished(tell_me("uid-1", f"{word} research/llm-ft.7").value)
    assert (found.uid, found.namespace, found.job) == ("uid-1", "research", "llm-ft.7")
    assert found.question == f"{word} research/llm-ft.7"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "uid",
        "uid why x",
        "uid why a/b c",
        "uid help a/b",
        "u.id why a/b",
        "uid why A/b",
        "x" * 99,
    ],
)
def test_a_button_with_another_value_is_from_another_time(value: str) -> None:
    with pytest.raises(UsageError):
        wished(value)


def test_an_answer_offers_to_stop_what_was_wished_for() -> None:
    page = run(parse("why llm-ft-7", ANA), FakeWorld())[1]
    [tell] = [a for a in page.actions if a.action == TELL]
    uid = wished(tell.value).uid
    marked = as_wished(page, frozenset({uid}))
    assert [a.action for a in marked.actions].count(STOP) == 1
    assert dont_tell_me(tell.value) in marked.actions
    assert as_wished(page, frozenset({"another"})) == page


@pytest.mark.parametrize("job", ["chat", "past-3"])
def test_a_job_that_has_started_or_ended_offers_nothing(job: str) -> None:
    page = run(parse(f"why {job}", ANA), FakeWorld())[1]
    assert TELL not in {a.action for a in page.actions}
