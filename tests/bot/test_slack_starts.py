"""Telling a person when a job starts, through the fake Slack: their clicks and nobody else's."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.playground.fake_slack.faults import ApiFault
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.person import SlackPerson, buttons, everything_said
from bot.starts import MOST
from bot.starts_watch import YOUNG, Lookout
from bot.store import Store, open_store
from bot.store_starts import Job, Person
from capacity.errors import SourceDown
from capacity.model import Workload
from tests.bot.stage import Stage
from tests.builders import a_workload
from tests.commands.stories import with_job

STOP, TELL = "Stop telling me", "Tell me when it starts"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/gpubot.db")
    yield store
    store.close()


@pytest.fixture
def stage(staged: Callable[..., Stage], db: Store) -> Stage:
    return staged(starts=db.starts)


def ask(person: SlackPerson, text: str = "research/llm-ft-7", command: str = "/gpu-why") -> Message:
    before = len(person.messages())
    person.slash(command, text)
    return person.wait_for(lambda: person.messages()[before:])[-1]


def press(person: SlackPerson, message: Message, label: str) -> None:
    [action] = [a for a, said in buttons(message).items() if said == label]
    person.click(message, action)


def tell_me(person: SlackPerson, text: str = "research/llm-ft-7") -> Message:
    """Ask why, press the button, and return the answer as it is then."""
    answer = ask(person, text)
    press(person, answer, TELL)
    person.wait_for(lambda: TELL not in buttons(answer).values())
    return answer


def wishes(db: Store, user: str = "U0ANA") -> list[str]:
    return [awaited.name for awaited in db.starts.of(mine(user))]


def mine(user: str = "U0ANA") -> Person:
    return Person("T0PLAY", user)


def starts(stage: Stage, job: str = "llm-ft-7", **changes: Any) -> None:
    """Let a job of the world have started now."""
    now = datetime.now(UTC).replace(microsecond=0)
    old = next(w for w in stage.world.the_fleet.workloads if w.job == job)
    new = a_workload(job, 2, 8, state="Admitted", created=old.created, since=now, uid=old.uid)
    become(stage, job, replace(new, **changes))


def become(stage: Stage, job: str, workload: Workload | None) -> None:
    fleet = stage.world.the_fleet
    others = tuple(w for w in fleet.workloads if w.job != job)
    items = (*((workload,) if workload else ()), *others)
    as_of = datetime.now(UTC)
    listed = replace(fleet.workloads, items=items)  # type: ignore[type-var]
    stage.world.the_fleet = replace(fleet, workloads=listed, as_of=as_of)


def look(stage: Stage, db: Store, after: float = YOUNG.total_seconds()) -> Lookout:
    """Look once as the scheduled job does, some seconds after now."""
    from datetime import timedelta

    lookout = Lookout(
        db.starts,
        stage.world.fleet,
        workspace=stage.bot.workspace,
        post=stage.bot.direct,
        reachable=stage.bot.reachable,
        workers=stage.workers,
        now=lambda: datetime.now(UTC) + timedelta(seconds=after),
    )
    stage.call(lookout.look())
    return lookout


def direct(person: SlackPerson) -> list[Message]:
    return person.messages("@me")


def test_from_the_click_to_the_direct_message(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    answer = tell_me(ana)
    assert STOP in buttons(answer).values()
    said = everything_said(answer)
    assert "I'll tell you when llm-ft-7 starts" in said
    assert "llm-ft-7 waits because it needs 16 H100" in said, "it is still the whole answer"
    assert "Share here" in buttons(answer).values()
    look(stage, db)
    assert direct(ana) == []
    starts(stage)
    look(stage, db)
    look(stage, db)
    [message] = direct(ana)
    assert "llm-ft-7 has its 16 H100 and starts" in everything_said(message)
    assert "as of" in everything_said(message)
    assert list(buttons(message).values()) == ["Why", "Queue"]
    press(ana, message, "Why")
    ana.wait_for_text("llm-ft-7 doesn't wait: it runs on 16 H100", "@me")
    assert ana.see_errors() == []


def test_pressing_twice_keeps_one_and_says_so(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    first, second = ask(ana), ask(ana)
    press(ana, first, TELL)
    ana.wait_for(lambda: STOP in buttons(first).values())
    press(ana, second, TELL)
    ana.wait_for(lambda: "You'll be told already when llm-ft-7 starts" in everything_said(second))
    assert wishes(db) == ["research/llm-ft-7"]


def test_the_same_click_delivered_twice_keeps_one(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    stage.slack.faults.duplicate_envelopes = 1
    tell_me(ana)
    time.sleep(0.2)
    assert wishes(db) == ["research/llm-ft-7"]


def test_the_answer_of_next_time_has_the_button_to_stop(stage: Stage, db: Store) -> None:
    ana, rae = stage.person("U0ANA"), stage.person("U0RAE")
    tell_me(ana)
    again = ask(ana)
    assert STOP in buttons(again).values()
    assert TELL in buttons(ask(rae)).values(), "for another person it is another answer"
    press(ana, again, STOP)
    ana.wait_for(lambda: TELL in buttons(again).values())
    assert "I won't tell you when llm-ft-7 starts" in everything_said(again)
    assert wishes(db) == []
    starts(stage)
    look(stage, db)
    assert direct(ana) == []


def test_a_shared_answer_is_for_everybody_and_each_press_is_its_pressers(
    stage: Stage, db: Store
) -> None:
    ana, rae = stage.person("U0ANA"), stage.person("U0RAE")
    press(ana, tell_me(ana), "Share here")
    shared = rae.wait_for(lambda: [m for m in rae.messages() if not m.only_for])[-1]
    assert TELL in buttons(shared).values(), "what Ana wished for is nobody else's to see"
    press(rae, shared, TELL)
    told = rae.wait_for(rae.see_ephemerals)[-1]
    assert "I'll tell you when llm-ft-7 starts" in everything_said(told)
    assert TELL in buttons(shared).values(), "nobody's press changes what everybody sees"
    assert wishes(db, "U0RAE") == wishes(db) == ["research/llm-ft-7"]
    press(rae, told, STOP)
    rae.wait_for(lambda: not wishes(db, "U0RAE"))
    assert wishes(db) == ["research/llm-ft-7"]


def test_anothers_press_on_the_button_to_stop_does_nothing(stage: Stage, db: Store) -> None:
    """A button that got into a channel, say by a client of their own, stops nobody else's."""
    from bot.blocks import render
    from commands.page import Page
    from commands.starts import dont_tell_me
    from commands.starts import tell_me as button

    ana, otto = stage.person("U0ANA"), stage.person("U0OTTO", "C0REQUESTS")
    tell_me(ana)
    [awaited] = db.starts.of(mine())
    stop = dont_tell_me(button(awaited.uid, "why research/llm-ft-7").value)
    stage.call(stage.bot.client.post("C0REQUESTS", render(Page(("Look",), (), (stop,)))))
    press(otto, otto.wait_for_text("Look"), STOP)
    told = otto.wait_for_text("You weren't going to be told about llm-ft-7")
    assert told.only_for == "U0OTTO"
    assert wishes(db) == ["research/llm-ft-7"]


@pytest.mark.parametrize("user", ["U0STEN"])
def test_strangers_are_told_nothing(stage: Stage, db: Store, user: str) -> None:
    from bot.blocks import render
    from commands.page import Page
    from commands.starts import tell_me as button

    person = stage.person(user, "C0REQUESTS")
    tell = button("uid-research-llm-ft-7", "why research/llm-ft-7")
    stage.call(stage.bot.client.post("C0REQUESTS", render(Page(("Look",), (), (tell,)))))
    press(person, person.wait_for_text("Look"), TELL)
    person.wait_for_text("I only answer people of this workspace")
    assert wishes(db, user) == []


def test_somebody_who_left_meanwhile_is_not_written_to(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    tell_me(ana)
    users = stage.slack.workspace.users
    users["U0ANA"] = replace(users["U0ANA"], deleted=True)
    stage.bot._edge.gate.forget("U0ANA")
    starts(stage)
    look(stage, db)
    assert direct(ana) == []
    assert wishes(db) == []


def test_a_job_that_has_started_by_then_is_said_at_once_and_not_again(
    stage: Stage, db: Store
) -> None:
    ana = stage.person("U0ANA")
    answer = ask(ana)
    starts(stage)
    press(ana, answer, TELL)
    ana.wait_for(lambda: "llm-ft-7 has started already" in everything_said(answer))
    assert not {TELL, STOP} & set(buttons(answer).values())
    assert wishes(db) == []
    look(stage, db)
    assert direct(ana) == []


def test_a_job_that_cant_be_seen_is_kept_and_looked_for_again(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    answer = ask(ana)
    stage.world.down = SourceDown("Kueue", None)
    press(ana, answer, TELL)
    told = ana.wait_for_text("I can't see llm-ft-7 in the cluster now")
    assert "I'll tell you when llm-ft-7 starts" in everything_said(told)
    assert STOP in buttons(told).values()
    look(stage, db, after=3600)
    assert direct(ana) == [], "a source that is down says nothing of any job"
    stage.world.down = None
    starts(stage)
    look(stage, db)
    assert len(direct(ana)) == 1


def test_one_more_than_the_cap_is_refused_with_what_to_do(stage: Stage, db: Store) -> None:
    for n in range(MOST):
        db.starts.wish(mine(), Job("prod-eu", "x", f"j{n}", f"uid-{n}"), datetime.now(UTC))
    ana = stage.person("U0ANA")
    press(ana, ask(ana), TELL)
    told = ana.wait_for_text("You wait for 20 jobs already, and 20 is the most")
    assert "Stop one of them on Gpubot's Home tab first." in everything_said(told)
    assert len(wishes(db)) == MOST


def test_the_home_tab_lists_ones_own_and_stops_them(stage: Stage, db: Store) -> None:
    ana, rae = stage.person("U0ANA"), stage.person("U0RAE")
    tell_me(ana)
    tell_me(ana, "research/eval-3")
    for person in (ana, rae):
        person.open_home()
    home = ana.wait_for(ana.home)
    said = everything_said(home)
    assert "You'll be told when these start (2)" in said
    assert "research/llm-ft-7" in said
    assert "told when these start" not in everything_said(rae.wait_for(rae.home))
    [stop] = [a for a, label in buttons(home).items() if label == "Stop: research/llm-ft-7"]
    ana.click(home, stop)
    ana.wait_for(lambda: "told when these start (1)" in everything_said(ana.wait_for(ana.home)))
    assert wishes(db) == ["research/eval-3"]
    assert ana.see_errors() == []


def test_a_full_home_tab_still_has_a_button_for_each(stage: Stage, db: Store) -> None:
    for n in range(MOST):
        job = Job("prod-eu", "research", f"a-job-with-a-long-name-{n}" * 3, f"uid-{n}")
        db.starts.wish(mine(), job, datetime.now(UTC))
    ana = stage.person("U0ANA")
    ana.open_home()
    home = ana.wait_for(ana.home)
    labels = [label for label in buttons(home).values() if label.startswith("Stop: ")]
    assert len(labels) == MOST
    assert "Help" in everything_said(home)


def test_the_queue_of_a_job_offers_it_too(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    answer = ask(ana, "eval-4", "/gpu-queue")
    press(ana, answer, TELL)
    ana.wait_for(lambda: STOP in buttons(answer).values())
    assert "eval-4 (1 x 1 GPUs) is 3rd of 5 in research" in everything_said(answer)
    assert wishes(db) == ["research/eval-4"]


def test_of_two_jobs_of_one_name_the_button_means_the_one_it_stands_under(
    stage: Stage, db: Store
) -> None:
    first = a_workload("train", 2, 8, name="job-a", uid="uid-a")
    stage.world.the_fleet = with_job(first).the_fleet
    ana = stage.person("U0ANA")
    answer = ask(ana, "research/train")
    fleet = stage.world.the_fleet
    items = (replace(first, name="job-b", uid="uid-b"), *fleet.workloads)
    listed = replace(fleet.workloads, items=items)  # type: ignore[type-var]
    stage.world.the_fleet = replace(fleet, workloads=listed)
    press(ana, answer, TELL)
    told = ana.wait_for_text("I'll tell you when train starts")
    assert STOP in buttons(told).values()
    assert [a.uid for a in db.starts.of(mine())] == ["uid-a"]


class SlowStarts:
    """The real store behind a delay, or an outage."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.seconds = 0.0
        self.down: SourceDown | None = None

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store.starts, name)

        def later(*args: Any, **more: Any) -> Any:
            if self.down:
                raise self.down
            time.sleep(self.seconds)
            return call(*args, **more)

        return later


def test_a_slow_database_still_acks_in_time_and_keeps_nothing_it_said_no_to(
    staged: Callable[..., Stage], db: Store
) -> None:
    slow = SlowStarts(db)
    stage = staged(starts=slow)
    ana = stage.person("U0ANA")
    answer = ask(ana)
    slow.seconds = 2.0
    start = time.monotonic()
    press(ana, answer, TELL)
    assert time.monotonic() - start < 2.5
    ana.wait_for_text("I couldn't write that down, so nothing was changed.")
    time.sleep(1.0)
    assert wishes(db) == []
    assert ana.see_errors() == []


def test_a_database_that_is_down_is_told_and_answers_are_given_all_the_same(
    staged: Callable[..., Stage], db: Store
) -> None:
    slow = SlowStarts(db)
    stage = staged(starts=slow)
    ana = stage.person("U0ANA")
    slow.down = SourceDown("my database", None)
    answer = ask(ana)
    assert "llm-ft-7 waits because" in everything_said(answer)
    press(ana, answer, TELL)
    ana.wait_for_text("I couldn't write that down, so nothing was changed.")
    ana.open_home()
    assert "can't reach my database" in everything_said(ana.wait_for(ana.home))


def test_the_wish_is_on_disk_before_the_ack(staged: Callable[..., Stage], db: Store) -> None:
    """So a crash after the ack loses no click."""
    slow = SlowStarts(db)
    stage = staged(starts=slow)
    ana = stage.person("U0ANA")
    answer = ask(ana)
    slow.seconds = 0.6
    press(ana, answer, TELL)
    assert wishes(db) == ["research/llm-ft-7"], "the press returns with the ack"


def test_slack_limits_the_pace_and_every_message_arrives(
    staged: Callable[..., Stage], db: Store
) -> None:
    stage = staged(starts=db.starts, rate_scale=1.0)
    ana = stage.person("U0ANA")
    for n in range(3):
        job = Job("prod-eu", "research", "llm-ft-7", "uid-research-llm-ft-7")
        db.starts.wish(mine(("U0ANA", "U0RAE", "U0LI")[n]), job, datetime.now(UTC))
    db.starts.wish(
        mine(), Job("prod-eu", "research", "eval-3", "uid-research-eval-3"), datetime.now(UTC)
    )
    starts(stage)
    starts(stage, "eval-3")
    ana.wait_for(lambda: look(stage, db).untold == 0, seconds=15)
    assert len(direct(ana)) == 2
    assert len(direct(stage.person("U0LI"))) == 1
    assert "ratelimited" in {c.error for c in stage.slack.workspace.calls}


def test_blocks_that_slack_refuses_are_sent_as_words(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    tell_me(ana)
    starts(stage)
    stage.slack.faults.fail("chat.postMessage", ApiFault(error="invalid_blocks"))
    look(stage, db)
    [message] = direct(ana)
    assert "llm-ft-7 has its 16 H100 and starts" in message.text


def test_an_answer_that_got_lost_is_repeated_with_a_word(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    tell_me(ana)
    starts(stage)
    stage.slack.faults.fail("chat.postMessage", ApiFault(drop=True, after=True))
    look(stage, db)
    ana.wait_for(lambda: look(stage, db).untold == 0)
    first, second = direct(ana)
    assert "you may have had this already" not in everything_said(first)
    assert "you may have had this already" in everything_said(second)


def test_a_slack_that_cant_be_reached_only_delays(stage: Stage, db: Store) -> None:
    ana = stage.person("U0ANA")
    tell_me(ana)
    starts(stage)
    stage.slack.faults.fail("chat.postMessage", ApiFault(status=500), times=2)
    ana.wait_for(lambda: look(stage, db).untold == 0)
    assert len(direct(ana)) == 1


def test_a_button_with_a_value_of_another_time_is_acked_and_told(stage: Stage, db: Store) -> None:
    from bot.blocks import render
    from commands.page import Action, Page

    old = render(Page(("An old answer",), (), (Action("Tell", "tell", "1"),)))
    stage.call(stage.bot.client.post("C0REQUESTS", old))
    li = stage.person("U0LI", "C0REQUESTS")
    li.click(li.wait_for_text("An old answer"), "tell")
    li.wait_for_text("This button is from another time")
    assert not li.see_errors()
