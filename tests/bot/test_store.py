"""The store on SQLite and PostgreSQL: nothing is lost, doubled or overwritten by something older."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlmodel import SQLModel

from bot.store import Store, open_store
from bot.store_convert import from_json, from_row, to_json, to_row
from capacity.errors import Conflict, SourceDown, UnknownName
from gitops.audit import Entry, verify
from gitops.moves import Move, MoveKind
from gitops.ports import Told
from gitops.request import Chores, Ending, PullRef, Request, State, Trouble
from tests.gitops.flow_fakes import START, a_draft
from tests.gitops.test_request import a_request, a_vote

NEW = Told(
    (Move(MoveKind.SUBMITTED, START, "ana"),), (Entry(START, "submitted", "slack:U0ANA", "ana", 0),)
)
VOTED = Told((Move(MoveKind.VOTED, START, "li"),), (Entry(START, "voted", "slack:U0LI", "li", 1),))
NOTHING = Told()


def a_new(**changes: Any) -> Request:
    return a_request(State.SUBMITTED, pull=None, **changes)


def full() -> Request:
    """A request with every field set."""
    return a_request(
        State.OVERDUE,
        title="t",
        diff="- 32\n+ 40",
        notes=("one", "zwei ü"),
        votes=(a_vote("li"), a_vote("kim", "reject")),
        merge_by=START,
        merge_sha="m1",
        merged_at=START,
        live_by=START + timedelta(minutes=15),
        observed="36",
        ending=Ending("kim", "because", START),
        trouble=Trouble("read", "no", "wait", 3, START, START + timedelta(seconds=10)),
        chores=Chores("h1 success ok", ("vote-1-li-approve",), START, tidy=True),
        draft=replace(a_draft(), requester="ana", until=START + timedelta(days=7)),
    )


def test_a_request_comes_back_as_it_was(store: Store) -> None:
    stored = store.requests.add(full(), "k1", 5, NEW)
    assert stored == replace(full(), id=stored.id, revision=1)
    assert store.requests.get(stored.id) == stored
    assert store.requests.by_key("k1") == stored


def test_moments_come_back_in_utc_whatever_zone_they_were_given_in(store: Store) -> None:
    berlin = timezone(timedelta(hours=1))
    request = a_new(submitted_at=datetime(2026, 12, 1, 15, 0, tzinfo=berlin))
    found = store.requests.get(store.requests.add(request, "k1", 5, NEW).id)
    assert found is not None
    assert found.submitted_at == START
    assert found.submitted_at.tzinfo == UTC


def test_only_the_expected_revision_is_replaced(store: Store) -> None:
    request = store.requests.add(a_new(), "k1", 5, NEW)
    voted = replace(request, votes=(a_vote(),))
    assert store.requests.save(voted, 1, VOTED, "k2")
    assert not store.requests.save(replace(request, state=State.CANCELLED), 1, VOTED, "k3")
    found = store.requests.get(request.id)
    assert found == replace(voted, revision=2)
    assert store.requests.by_key("k3") is None
    assert [row.move.kind for row in store.outbox.pending_moves()] == ["submitted", "voted"]


def test_a_key_changes_something_once(store: Store) -> None:
    first = store.requests.add(a_new(), "k1", 5, NEW)
    assert store.requests.add(a_new(draft=a_draft(new="50")), "k1", 5, NEW) == first
    assert store.requests.save(first, 1, VOTED, "k2")
    assert not store.requests.save(first, 2, VOTED, "k2")
    assert len(store.outbox.pending_moves()) == 2


def test_one_open_request_per_value_and_the_conflict_names_it(store: Store) -> None:
    first = store.requests.add(a_new(), "k1", 5, NEW)
    with pytest.raises(Conflict, match=f"Request {first.id} by ana is open for the same value"):
        store.requests.add(a_new(), "k2", 5, NEW)
    store.requests.add(a_new(draft=replace(a_draft(flavor="a100"), requester="ana")), "k3", 5, NEW)
    assert store.requests.save(replace(first, state=State.REJECTED), 1, NOTHING)
    assert store.requests.add(a_new(), "k4", 5, NEW).id != first.id


def test_a_person_has_a_limited_number_of_open_requests(store: Store) -> None:
    for n in range(2):
        draft = replace(a_draft(flavor=f"f{n}"), requester="ana")
        store.requests.add(a_new(draft=draft), f"k{n}", 2, NEW)
    third = a_new(draft=replace(a_draft(flavor="f9"), requester="ana"))
    with pytest.raises(Conflict, match="You have 2 open requests"):
        store.requests.add(third, "k9", 2, NEW)
    other = replace(third, draft=replace(third.draft, requester="rae"))
    assert store.requests.add(other, "k9", 2, NEW)


def test_unsettled_and_recent_requests(store: Store) -> None:
    one = store.requests.add(a_new(), "k1", 5, NEW)
    two = store.requests.add(
        a_new(draft=replace(a_draft(flavor="x"), requester="rae")), "k2", 5, NEW
    )
    assert store.requests.unsettled() == (one, two)
    done = replace(one, state=State.REJECTED, chores=Chores(tidy=True))
    assert store.requests.save(done, 1, NOTHING)
    assert store.requests.unsettled() == (two,)
    assert [r.id for r in store.requests.recent("ana")] == [one.id]


def test_the_audit_chain_grows_with_every_change_and_refusal(store: Store) -> None:
    request = store.requests.add(a_new(), "k1", 5, NEW)
    store.requests.save(request, 1, VOTED)
    head = store.requests.record([Entry(START, "approve", "slack:U0OTTO", "", 1, "refused")])
    records = store.audit.records()
    assert [r.entry.action for r in records] == ["submitted", "voted", "approve"]
    assert records[0].entry.request == request.id
    assert verify(records) is None
    assert store.audit.head() == head == store.requests.record([]) == records[-1].hash


def test_a_changed_row_breaks_the_chain(store: Store) -> None:
    store.requests.add(a_new(), "k1", 5, NEW)
    store.requests.record([Entry(START, "approve", "slack:U0OTTO", "", 1, "refused")])
    with store.database.write() as session:
        session.connection().execute(
            text("UPDATE audit SET entry = REPLACE(CAST(entry AS TEXT), 'U0OTTO', 'U0EVE')")
            if session.get_bind().dialect.name == "sqlite"
            else text("UPDATE audit SET entry = REPLACE(entry::text, 'U0OTTO', 'U0EVE')::json")
        )
    assert verify(store.audit.records()) == "Record 2 was changed after it was written."


def test_the_inbox_takes_each_key_once_and_keeps_it_after_it_is_done(store: Store) -> None:
    payload = {"user": "U0ANA", "at": START.isoformat(), "list": [1, "zwei"]}
    assert store.inbox.receive("e1", payload, START)
    assert not store.inbox.receive("e1", {}, START)
    assert store.inbox.receive("e2", {}, START)
    assert [(row.key, row.payload) for row in store.inbox.undone()] == [("e1", payload), ("e2", {})]
    store.inbox.finish("e1")
    assert [row.key for row in store.inbox.undone()] == ["e2"]
    assert not store.inbox.receive("e1", {}, START)


def test_the_inbox_keeps_nothing_whose_person_was_told_no_meanwhile(store: Store) -> None:
    late = threading.Event()
    assert store.inbox.receive("e1", {}, START, late)
    late.set()
    assert not store.inbox.receive("e2", {}, START, late)
    assert [row.key for row in store.inbox.undone()] == ["e1"]


def test_a_database_that_answered_before_is_down_since_then(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'gpubot.db'}")
    (tmp_path / "gpubot.db").unlink()
    (tmp_path / "gpubot.db").mkdir()
    store.inbox._database.close()
    with pytest.raises(SourceDown, match=r"can't reach my database since \d\d:\d\d UTC"):
        store.inbox.undone()
    store.close()


def test_the_outbox_gives_moves_in_order_until_they_are_told(store: Store) -> None:
    request = store.requests.add(a_new(), "k1", 5, NEW)
    assert store.requests.save(request, 1, Told((*VOTED.moves, Move(MoveKind.APPROVED, START))))
    rows = store.outbox.pending_moves()
    assert [(r.request_id, r.revision, r.move.kind) for r in rows] == [
        (request.id, 1, "submitted"),
        (request.id, 2, "voted"),
        (request.id, 2, "approved"),
    ]
    assert rows[0].move == NEW.moves[0]
    store.outbox.moves_done([rows[0].id, rows[1].id])
    assert [r.move.kind for r in store.outbox.pending_moves()] == ["approved"]
    assert store.outbox.pending_moves(0) == ()


def test_an_older_card_never_overwrites_a_newer_one(store: Store) -> None:
    request = store.requests.add(a_new(), "k1", 5, NEW)
    assert store.outbox.card(request.id) is None
    assert store.outbox.thread(request.id) == ""
    assert store.outbox.card_sent(request.id, "C1", "1.0", 3)
    assert not store.outbox.card_sent(request.id, "C1", "1.0", 2)
    card = store.outbox.card(request.id)
    assert card is not None
    assert (card.channel, card.ts, card.revision) == ("C1", "1.0", 3)
    assert store.outbox.thread(request.id) == "C1/1.0"
    assert store.outbox.card_sent(request.id, "C1", "2.0", 1)  # the old message was deleted


def test_a_digest_period_is_claimed_once_and_again_only_if_it_was_never_sent(store: Store) -> None:
    sub = store.digests.subscribe(
        "C1", "digest", cron="0 9 * * mon", time_zone="Europe/Berlin", by="kim", now=START
    )
    assert store.digests.claim(sub.id, "2026-W48", START)
    assert not store.digests.claim(sub.id, "2026-W48", START + timedelta(minutes=1))
    assert store.digests.claim(sub.id, "2026-W48", START + timedelta(minutes=11))
    store.digests.sent(sub.id, "2026-W48")
    assert not store.digests.claim(sub.id, "2026-W48", START + timedelta(days=9))
    assert store.digests.claim(sub.id, "2026-W49", START)


def test_subscriptions_are_one_per_channel_and_question(store: Store) -> None:
    sub = store.digests.subscribe(
        "C1", "digest", cron="0 9 * * mon", time_zone="UTC", by="kim", now=START
    )
    again = store.digests.subscribe(
        "C1", "digest", cron="0 8 * * tue", time_zone="UTC", by="pat", now=START
    )
    assert again == replace(sub, cron="0 8 * * tue")
    assert store.digests.subscriptions() == (again,)
    store.digests.claim(sub.id, "p", START)
    store.digests.unsubscribe(sub.id)
    assert store.digests.subscriptions() == ()
    with pytest.raises(UnknownName):
        store.digests.unsubscribe(sub.id)


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Run ``act`` in as many threads at the same moment, and return what came out."""
    gate = threading.Barrier(count)
    out: list[Any] = [None] * count

    def run(n: int) -> None:
        gate.wait()
        try:
            out[n] = act(n)
        except Conflict as error:
            out[n] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return out


def test_of_many_savers_of_one_revision_exactly_one_wins(store: Store) -> None:
    request = store.requests.add(a_new(), "k1", 5, NEW)
    won = at_once(6, lambda n: store.requests.save(replace(request, observed=str(n)), 1, VOTED))
    assert sorted(won) == [False] * 5 + [True]
    found = store.requests.get(request.id)
    assert found is not None
    assert found.observed == str(won.index(True))
    assert len(store.outbox.pending_moves()) == 2


def test_of_many_requests_for_one_value_exactly_one_is_open(store: Store) -> None:
    made = at_once(6, lambda n: store.requests.add(a_new(), f"k{n}", 9, NEW))
    assert sum(isinstance(found, Request) for found in made) == 1
    assert len(store.requests.unsettled()) == 1


def test_of_many_claims_and_deliveries_exactly_one_wins(store: Store) -> None:
    sub = store.digests.subscribe("C1", "d", cron="* * * * *", time_zone="UTC", by="kim", now=START)
    assert sum(at_once(6, lambda n: store.digests.claim(sub.id, "p", START))) == 1
    assert sum(at_once(6, lambda n: store.inbox.receive("e1", {}, START))) == 1


def test_a_chain_written_by_many_threads_has_no_fork(store: Store) -> None:
    at_once(
        6, lambda n: [store.requests.record([Entry(START, "x", "a", "b", n)]) for _ in range(5)]
    )
    assert len(store.audit.records()) == 30
    assert verify(store.audit.records()) is None


def test_two_replicas_may_start_on_an_empty_database_at_once(store_url: str) -> None:
    stores = at_once(3, lambda n: open_store(store_url))
    for opened in stores:
        assert opened.requests.unsettled() == ()
        opened.close()


def test_the_migrations_make_exactly_the_tables_of_the_rows(store: Store) -> None:
    with store.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    request = store.requests.add(a_new(), "k1", 5, NEW)
    broken = Told(
        VOTED.moves, (Entry(START.replace(tzinfo=None), "x", "a", "b", 1, text=object()),)
    )  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        store.requests.save(replace(request, votes=(a_vote(),)), 1, broken, "k2")
    assert store.requests.get(request.id) == request
    assert store.requests.by_key("k2") is None
    assert len(store.outbox.pending_moves()) == 1


def test_a_database_that_is_not_there_is_a_source_that_is_down() -> None:
    with pytest.raises(SourceDown, match="can't reach my database"):
        open_store("sqlite:////nowhere/at/all.db")
    with pytest.raises(SourceDown, match="can't reach my database"):
        open_store("postgresql://gpubot@127.0.0.1:9/x")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
MOMENTS = st.integers(0, 2**32).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@given(
    st.lists(TEXT, min_size=6, max_size=6),
    MOMENTS,
    st.sampled_from(State),
    st.integers(-(2**62), 2**62),
)
@settings(max_examples=25)
def test_rows_keep_any_words_and_moments(
    words: list[str], at: datetime, state: State, delta: int
) -> None:
    request = replace(
        full(),
        state=state,
        draft=replace(a_draft(), requester=words[0], reason=words[1], until=at),
        facts=replace(full().facts, delta=delta, lenders=tuple(words), lasts=timedelta(hours=5)),
        notes=tuple(words),
        submitted_at=at,
        ending=Ending(words[2], words[3], at),
        pull=PullRef(1, words[4]),
        votes=(),
    )
    assert from_row(to_row(request), ()) == request
    move = Move(MoveKind.VOTED, at, *words[:5])
    assert from_json(to_json(move), Move) == move
