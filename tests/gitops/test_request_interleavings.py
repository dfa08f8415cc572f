"""Any interleaving of people, pushes, failures and ticks keeps the promises of a request.

Promises: one pull request; the bot merges only a head for which the policy is met at that moment;
the requester and strangers never count; an end stays the end; the audit chain holds; and when
everything works again, the request comes to rest by itself.
"""

import contextlib
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from capacity.errors import GpubotError
from gitops.audit import verify
from gitops.book import read_book
from gitops.forge import ForgeConflict, ForgeDenied, ForgeDown, PullRequest
from gitops.moves import MoveKind
from gitops.request import IN_GIT, TERMINAL, State
from tests.gitops.flow_fakes import ANA, KIM, LI, OTTO, PAT, QUEUES, RAE, TOM, VERA, World, a_draft
from tests.gitops.test_flow_trouble import CALLS, Crash, once

EVERYBODY = (ANA, RAE, LI, TOM, VERA, KIM, PAT, OTTO)
LOGINS = ("ana", "rae", "li", "tom", "vera", "kim", "pat", "stranger")
ENDS = ("rejected", "cancelled", "expired", "closed")
PEOPLE = st.sampled_from(EVERYBODY)
RARELY = st.sampled_from([False, False, False, False, True])  # else everything ends at once


class Interleavings(RuleBasedStateMachine):
    """One request, and whatever may happen to it."""

    @initialize(small=st.booleans(), by=st.sampled_from([ANA, ANA, KIM]))
    def submit(self, small: bool, by: Any) -> None:
        self.world = World()
        self.request = self.world.submit(a_draft(new="40" if small else "64"), by)
        self.ended: State | None = None
        self.merges = 0
        self.pushes = 0
        merge = self.world.forge._merge

        def watched(number: int, head: str, message: str, by: str) -> PullRequest:
            known = self.world.forge.pulls[number].state
            pull = merge(number, head, message, by)
            if by == "gpubot" and known == "open":
                self.merges += 1
                self.assert_allowed(head)
            return pull

        self.world.forge._merge = watched  # type: ignore[method-assign]

    def assert_allowed(self, head: str) -> None:
        """Look at the votes themselves, not at what the machine made of them."""
        now = self.world.get(self.request)
        assert now.content.head_sha == head
        assert now.content.policy == read_book(self.world.repo).policy.hash
        voters = {
            v.person
            for v in now.votes
            if v.choice == "approve"
            and v.content.version == now.version
            and v.content.head_sha in (None, head)
        }
        assert not any(v.choice == "reject" for v in now.standing_votes)
        voters -= {now.draft.requester}
        lenders, platform = voters & {"li", "tom", "vera"}, voters & {"kim", "pat"}
        if now.facts.edited:
            assert len(platform) == 2
        elif now.draft.new == "40":
            assert lenders | platform
        else:
            assert lenders
            assert platform

    def attempt(self, act: Any) -> None:
        """People's clicks may be refused, and the process may die: both are ordinary."""
        with contextlib.suppress(GpubotError, Crash):
            act()

    @rule(who=st.sampled_from((*EVERYBODY, KIM, LI, PAT, KIM, LI, PAT)), back=RARELY)
    def approve(self, who: Any, back: bool) -> None:
        now = self.world.get(self.request)
        key = self.world.key()
        for _ in range(2):  # a double delivery
            self.attempt(
                lambda: self.world.flow.decide(
                    now.id, now.version - back, "approve", who, "", key, self.world.now
                )
            )

    @precondition(lambda self: self.world.get(self.request).state not in TERMINAL)
    @rule(who=PEOPLE, really=RARELY)
    def reject(self, who: Any, really: bool) -> None:
        if not really:
            return
        now = self.world.get(self.request)
        self.attempt(lambda: self.world.decide(now, who, "reject", "no"))

    @rule(who=PEOPLE, really=RARELY)
    def cancel(self, who: Any, really: bool) -> None:
        if not really:
            return
        self.attempt(
            lambda: self.world.flow.cancel(
                self.request.id, who, "", self.world.key(), self.world.now
            )
        )

    @precondition(lambda self: self.pull() and self.pull().state == "open")
    @rule(evil=st.booleans())
    def push(self, evil: bool) -> None:
        self.pushes += 1
        data = b"evil %d\n" % self.pushes if evil else None
        own = self.world.repo.trees[self.pull().head_sha][QUEUES]
        self.world.forge.push_by_hand(self.pull().number, {QUEUES: data or own})

    @precondition(lambda self: self.pull() and self.pull().state == "open")
    @rule(by=st.sampled_from(LOGINS), really=RARELY)
    def merge_by_hand(self, by: str, really: bool) -> None:
        if not really:
            return
        with contextlib.suppress(ForgeConflict):
            self.world.forge.merge_by_hand(self.pull().number, by)

    @precondition(lambda self: self.pull() and self.pull().state == "open")
    @rule(really=RARELY)
    def close_by_hand(self, really: bool) -> None:
        if not really:
            return
        self.world.forge.close_by_hand(self.pull().number)

    @precondition(lambda self: self.pull() and self.pull().state == "open")
    @rule(
        by=st.sampled_from(LOGINS),
        state=st.sampled_from(["approved", "approved", "approved", "rejected", "dismissed"]),
    )
    def review(self, by: str, state: str) -> None:
        self.world.pass_time(seconds=1)
        self.world.forge.review_by_hand(self.pull().number, by, state, self.world.now)

    @rule(really=RARELY)
    def change_main(self, really: bool) -> None:
        if not really:
            return
        self.world.repo.commit("main", {QUEUES: b"other %d\n" % len(self.world.repo.trees)})

    @rule(really=RARELY)
    def change_policy(self, really: bool) -> None:
        if not really:
            return
        comment = b"# %d\n" % len(self.world.repo.trees)
        self.world.repo.commit("main", {"gpubot/policy.yaml": self.world.policy + comment})

    @rule(value=st.sampled_from([32, 36, 40, 64]))
    def cluster(self, value: int) -> None:
        self.world.apply(value)

    @rule(
        call=st.sampled_from(CALLS),
        after=st.booleans(),
        error=st.sampled_from([ForgeDown("GitHub"), ForgeDenied("403"), Crash()]),
    )
    def will_fail(self, call: str, after: bool, error: Any) -> None:
        self.world.forge.fail = once(call, after, error)

    @rule(count=st.integers(1, 12))
    def tick(self, count: int) -> None:
        for _ in range(count):
            self.world.pass_time(seconds=3)
            self.attempt(lambda: self.world.flow.tick(self.world.now))

    @rule(long=RARELY)
    def wait(self, long: bool) -> None:
        self.world.pass_time(hours=30 if long else 1)

    def pull(self) -> Any:
        pulls = self.world.forge.pulls
        return self.world.forge._now(128) if pulls else None

    @invariant()
    def promises_hold(self) -> None:
        now = self.world.get(self.request)
        assert len(self.world.forge.pulls) <= 1
        assert self.merges <= 1
        assert not {v.person for v in now.votes} & {now.draft.requester, "ana", "rae", ""}
        assert now.state not in IN_GIT or now.merge_sha
        for kind in (*ENDS, "opened", "merged", "merged-by-hand", "live"):
            assert self.world.kinds().count(kind) <= 1, self.world.kinds()
        if self.ended:
            assert now.state is self.ended
        if now.state in TERMINAL:
            self.ended = now.state
        assert verify(self.world.store.audit) is None

    @invariant()
    def cards_and_threads_go_forward(self) -> None:
        revisions = [revision for _, revision, _ in self.world.store.moves]
        assert revisions == sorted(revisions)
        assert revisions[-1] <= self.world.get(self.request).revision

    def teardown(self) -> None:
        """Everything works again: the request comes to rest, and its branch is gone."""
        if not hasattr(self, "world"):
            return
        self.world.forge.fail = lambda call, after: None
        for _ in range(6):
            self.world.pass_time(days=1)
            self.world.settle()
        now = self.world.get(self.request)
        assert now.settled or now.state in IN_GIT - TERMINAL, now
        assert now.chores.tidy
        assert now.branch not in self.world.repo.branches
        pull = self.pull()
        assert pull is None or pull.state != "open"
        merged = any(
            m.kind in (MoveKind.MERGED, MoveKind.MERGED_BY_HAND)
            for _, _, m in self.world.store.moves
        )
        assert merged == bool(pull and pull.state == "merged")


Interleavings.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestInterleavings = Interleavings.TestCase
