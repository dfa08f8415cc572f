"""Wishes to be told of a start, on SQLite and PostgreSQL: one each, one's own, told once."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, inspect

from bot.starts import LASTS, MOST, SOON, Awaited, News, Turn
from bot.store import Store, open_store
from bot.store_engine import _MIGRATIONS, _with_driver
from bot.store_starts import LEASE, Job, Person
from capacity.errors import Conflict
from tests.bot.test_store import at_once
from tests.gitops.flow_fakes import START

ANA, RAE = Person("T1", "U0ANA"), Person("T1", "U0RAE")
JOB = Job("prod-eu", "research", "llm-ft-7", "uid-1")
NEWS = News(Turn.STARTED, START, "Kueue", at=START, waited=timedelta(minutes=41), ready=True)
ENDED = News(Turn.GONE, START, "Kueue")
LATER = START + timedelta(hours=2)


def kept(store: Store, person: Person = ANA, job: Job = JOB) -> Awaited:
    got = store.starts.wish(person, job, START)
    assert got is not None
    return got[0]


def noted(store: Store, news: News = NEWS) -> Awaited:
    assert store.starts.note(kept(store), news)
    return store.starts.all("T1")[0]


def test_a_wish_comes_back_as_it_was_and_lasts_fourteen_days(store: Store) -> None:
    got = store.starts.wish(ANA, JOB, START)
    assert got is not None
    awaited, new = got
    assert new
    assert awaited == Awaited(
        awaited.id, "U0ANA", "prod-eu", "research", "llm-ft-7", "uid-1", START, START + LASTS
    )
    assert store.starts.of(ANA) == store.starts.all("T1") == (awaited,)


def test_the_same_wish_again_is_the_first_one(store: Store) -> None:
    first = kept(store)
    assert store.starts.wish(ANA, JOB, LATER) == (first, False)
    assert store.starts.of(ANA) == (first,)


def test_each_person_has_wishes_of_their_own(store: Store) -> None:
    mine, theirs = kept(store), kept(store, RAE)
    assert store.starts.of(ANA) == (mine,)
    assert store.starts.of(RAE) == (theirs,)
    assert store.starts.of(Person("T2", "U0ANA")) == ()
    assert store.starts.all("T2") == ()


def test_a_person_stops_only_their_own(store: Store) -> None:
    mine = kept(store)
    for other in (RAE, Person("T2", "U0ANA"), Person("T1", "")):
        assert not store.starts.stop(other, "uid-1")
    assert not store.starts.stop(ANA, "uid-2")
    assert store.starts.of(ANA) == (mine,)
    assert store.starts.stop(ANA, "uid-1")
    assert not store.starts.stop(ANA, "uid-1")
    assert store.starts.of(ANA) == ()


def test_one_person_waits_for_twenty_jobs_at_most(store: Store) -> None:
    for n in range(MOST):
        kept(store, job=replace(JOB, uid=f"uid-{n}"))
    with pytest.raises(Conflict, match="You wait for 20 jobs already, and 20 is the most"):
        kept(store, job=replace(JOB, uid="one-more"))
    assert store.starts.wish(ANA, replace(JOB, uid="uid-3"), LATER) is not None, "not a new one"
    assert kept(store, RAE, replace(JOB, uid="one-more"))
    assert store.starts.stop(ANA, "uid-3")
    assert kept(store, job=replace(JOB, uid="one-more"))


def test_what_was_told_as_not_kept_is_not_kept(store: Store) -> None:
    late = threading.Event()
    late.set()
    assert store.starts.wish(ANA, JOB, START, late) is None
    assert store.starts.of(ANA) == ()
    kept(store)
    assert not store.starts.stop(ANA, "uid-1", late)
    assert len(store.starts.of(ANA)) == 1


def test_what_is_to_be_told_is_noted_once(store: Store) -> None:
    awaited = kept(store)
    assert store.starts.note(awaited, NEWS)
    assert not store.starts.note(awaited, ENDED)
    assert store.starts.all("T1") == (replace(awaited, news=NEWS),)


def test_nothing_is_noted_for_a_wish_that_was_stopped_and_made_again(store: Store) -> None:
    old = kept(store)
    store.starts.stop(ANA, "uid-1")
    store.starts.wish(ANA, JOB, LATER)
    assert not store.starts.note(old, NEWS)


def test_news_is_told_by_one_and_by_another_only_when_that_one_is_gone(store: Store) -> None:
    awaited = noted(store)
    first = store.starts.claim(awaited, START)
    assert first is not None
    assert (first.awaited, first.doubtful) == (awaited, False)
    assert store.starts.claim(awaited, START + LEASE - timedelta(seconds=1)) is None
    again = store.starts.claim(awaited, START + LEASE)
    assert again is not None
    assert again.doubtful, "the first may have told it before it was gone"


def test_news_that_surely_did_not_arrive_comes_again_without_a_doubt(store: Store) -> None:
    awaited = noted(store)
    store.starts.claim(awaited, START)
    store.starts.later(awaited, START + timedelta(seconds=30), doubtful=False)
    assert store.starts.claim(awaited, START + timedelta(seconds=29)) is None
    again = store.starts.claim(awaited, START + timedelta(seconds=30))
    assert again is not None
    assert not again.doubtful


def test_a_told_start_is_looked_at_for_an_hour_and_is_not_waited_for_any_more(store: Store) -> None:
    awaited = noted(store)
    store.starts.claim(awaited, LATER)
    store.starts.told(awaited, LATER)
    [left] = store.starts.all("T1")
    assert (left.started_at, left.until, left.news) == (START, LATER + SOON, None)
    assert store.starts.of(ANA) == ()
    assert store.starts.claim(left, LATER) is None
    store.starts.forget(left)
    assert store.starts.all("T1") == ()


def test_whatever_else_was_told_ends_the_wish(store: Store) -> None:
    awaited = noted(store, ENDED)
    store.starts.told(awaited, LATER)
    assert store.starts.all("T1") == ()
    store.starts.told(awaited, LATER)


def test_a_job_that_started_may_be_wished_for_anew_and_its_old_news_is_dropped(
    store: Store,
) -> None:
    store.starts.told(noted(store), LATER)
    [started] = store.starts.all("T1")
    assert store.starts.note(started, ENDED)
    claimed = store.starts.claim(started, LATER)
    assert claimed is not None
    got = store.starts.wish(ANA, JOB, LATER)
    assert got is not None
    anew, new = got
    assert new
    assert (anew.started_at, anew.news, anew.until) == (None, None, LATER + LASTS)
    store.starts.told(claimed.awaited, LATER)
    assert store.starts.all("T1") == (anew,), "what was being told is not the new wish's end"


def test_telling_of_a_stopped_wish_changes_nothing(store: Store) -> None:
    awaited = noted(store)
    store.starts.stop(ANA, "uid-1")
    assert store.starts.claim(awaited, START) is None
    store.starts.later(awaited, START, doubtful=True)
    store.starts.told(awaited, START)
    store.starts.forget(awaited)
    assert store.starts.all("T1") == ()


def test_of_many_at_once_one_keeps_notes_and_tells(store: Store) -> None:
    wishes = at_once(6, lambda n: store.starts.wish(ANA, JOB, START))
    assert sum(new for _, new in wishes) == 1
    [awaited] = store.starts.of(ANA)
    assert sum(at_once(6, lambda n: store.starts.note(awaited, NEWS))) == 1
    claims = at_once(6, lambda n: store.starts.claim(awaited, START))
    assert sum(claim is not None for claim in claims) == 1


def test_the_cap_holds_for_clicks_at_the_same_moment(store: Store) -> None:
    for n in range(MOST - 1):
        kept(store, job=replace(JOB, uid=f"uid-{n}"))
    got = at_once(6, lambda n: store.starts.wish(ANA, replace(JOB, uid=f"more-{n}"), START))
    assert sum(isinstance(one, Conflict) for one in got) == 5
    assert len(store.starts.of(ANA)) == MOST


def test_wishes_and_news_outlive_the_process(store: Store, store_url: str) -> None:
    awaited = noted(store)
    again = open_store(store_url)
    assert again.starts.all("T1") == (awaited,)
    again.close()


def test_a_database_of_the_first_version_gets_the_table(store_url: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    engine = create_engine(_with_driver(store_url))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        assert not inspect(connection).has_table("awaited")
    engine.dispose()
    store = open_store(store_url)
    assert kept(store) == store.starts.of(ANA)[0]
    store.close()
