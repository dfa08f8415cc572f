"""The way of a change through a fake forge: the story, who may what, and what happens by hand."""

import contextlib
import subprocess
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from capacity.errors import Conflict, Denied, Refused, UnknownName, UsageError
from gitops.audit import verify
from gitops.people import Actor
from gitops.request import State
from tests.gitops.flow_fakes import (
    ANA,
    KIM,
    LI,
    OTTO,
    PAT,
    QUEUES,
    RAE,
    TOM,
    VERA,
    Finding,
    World,
    a_draft,
    queue_file,
)


@pytest.fixture
def world() -> World:
    return World()


def test_the_main_story_from_asking_to_live(world: World) -> None:
    request = world.submit()
    world.ticks()
    assert world.get(request).state is State.OPEN
    outcome = world.decide(request, KIM, reason="fine with me")
    assert outcome.done
    assert outcome.verdict.met
    world.settle()
    merged = world.get(request)
    assert merged.state is State.MERGED
    assert world.repo.trees[world.repo.head()][QUEUES] == queue_file(a_draft(), "40")
    world.apply(40)
    world.settle()
    assert world.get(request).state is State.LIVE
    assert world.get(request).settled
    assert world.kinds() == ["submitted", "opened", "voted", "approved", "merged", "live"]
    assert merged.branch not in world.repo.branches
    assert verify(world.store.audit) is None


def test_an_approval_may_come_before_the_pull_request(world: World) -> None:
    request = world.submit()
    world.decide(request, LI)
    world.settle()
    assert world.get(request).state is State.MERGED


def test_the_requesters_teammate_without_a_role_cannot_approve(world: World) -> None:
    request = world.submit()
    with pytest.raises(Denied, match=r"it needs one of platform or an owner of serving or vision"):
        world.decide(request, RAE)


def test_the_requester_cannot_approve_their_own_request_whatever_their_role(world: World) -> None:
    request = world.submit(by=KIM)
    with pytest.raises(Denied, match="your own request"):
        world.decide(request, KIM)
    assert not world.get(request).votes


def test_somebody_who_is_not_in_people_yaml_can_neither_ask_nor_decide(world: World) -> None:
    with pytest.raises(Denied, match="don't know you"):
        world.submit(by=OTTO)
    request = world.submit()
    with pytest.raises(Denied, match="don't know you"):
        world.decide(request, OTTO)
    with pytest.raises(Denied):
        world.decide(request, Actor("forge", "otto"))


def test_refusals_are_audited_with_the_account_that_tried(world: World) -> None:
    request = world.submit()
    with pytest.raises(Denied):
        world.decide(request, OTTO)
    last = world.store.audit[-1].entry
    assert (last.action, last.account, last.person) == ("approve", "slack:U0OTTO", "")
    assert "don't know you" in last.outcome
    assert last.request == request.id


def test_nobody_asks_for_another_teams_queue(world: World) -> None:
    with pytest.raises(Denied, match="not in its team"):
        world.submit(a_draft(cluster_queue="vision"), by=ANA)


def test_the_platform_may_ask_for_any_queue(world: World) -> None:
    request = world.submit(a_draft(cluster_queue="vision", old="24", new="28"), by=KIM)
    assert request.draft.team == "vision"
    assert request.draft.requester == "kim"


def test_the_draft_cannot_say_who_asks(world: World) -> None:
    request = world.submit(a_draft(requester="li", team="serving"))
    assert (request.draft.requester, request.draft.team) == ("ana", "research")


def test_a_click_on_an_outdated_card_records_nothing(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.forge.push_by_hand(128, {QUEUES: b"research h100 nominalQuota: 400\n"})
    world.settle()
    with pytest.raises(Conflict, match="has changed since that card"):
        world.decide(request, KIM)
    assert not world.get(request).votes


def test_a_repeated_key_is_done_once(world: World) -> None:
    first, again = world.submit(key="k1"), world.submit(key="k1")
    assert first == again
    assert world.decide(first, LI, key="k2").done
    assert not world.decide(first, LI, key="k2").done
    assert len(world.get(first).votes) == 1


def test_a_double_click_with_another_key_counts_once(world: World) -> None:
    request = world.submit(a_draft(new="64"))
    assert world.decide(request, LI).done
    again = world.decide(request, LI)
    assert not again.done
    assert len(world.get(request).votes) == 1
    assert world.kinds().count("voted") == 1


def test_a_large_raise_needs_two_different_people(world: World) -> None:
    request = world.submit(a_draft(new="64"))
    world.settle()
    assert not world.decide(request, LI).verdict.met
    assert not world.decide(request, TOM).verdict.met
    world.settle()
    assert world.get(request).state is State.OPEN
    assert world.decide(request, PAT).verdict.met
    world.settle()
    assert world.get(request).state is State.MERGED


def test_a_rejection_ends_it_and_the_pull_request_is_closed(world: World) -> None:
    request = world.submit(a_draft(new="64"))
    world.settle()
    world.decide(request, LI)
    with pytest.raises(UsageError, match="needs a reason"):
        world.decide(request, PAT, "reject")
    world.decide(request, PAT, "reject", "not before the new nodes")
    world.settle()
    ended = world.get(request)
    assert ended.state is State.REJECTED
    assert ended.settled
    assert world.forge.pulls[128].state == "closed"
    assert world.forge.statuses[world.forge.pulls[128].head_sha] == ("failure", "Rejected by pat")
    assert "not before the new nodes" in world.forge.comments[128, "end"]
    with pytest.raises(Conflict, match="was rejected by pat"):
        world.decide(ended, TOM)


def test_an_approver_may_still_change_their_mind_until_it_is_merged(world: World) -> None:
    request = world.submit()
    world.decide(request, KIM)
    world.decide(request, KIM, "reject", "I misread it")
    assert world.get(request).state is State.REJECTED


def test_cancelling_before_the_pull_request_leaves_nothing_behind(world: World) -> None:
    request = world.submit()
    world.flow.cancel(request.id, ANA, "found another way", "c1", world.now)
    world.settle()
    assert world.get(request).state is State.CANCELLED
    assert world.get(request).settled
    assert not world.forge.pulls


def test_only_the_requester_or_an_owner_of_the_queue_withdraws(world: World) -> None:
    request = world.submit()
    with pytest.raises(Denied):
        world.flow.cancel(request.id, LI, "", "c1", world.now)
    assert world.flow.cancel(request.id, RAE, "", "c2", world.now).done
    with pytest.raises(Conflict, match="was cancelled by rae"):
        world.flow.cancel(request.id, ANA, "", "c3", world.now)


def test_one_value_has_one_open_request(world: World) -> None:
    world.submit()
    with pytest.raises(Conflict):
        world.submit(a_draft(new="36"))


def test_what_cannot_be_changed_is_refused_with_nothing_recorded(world: World) -> None:
    for draft, error in (
        (a_draft(old="30"), Conflict),
        (a_draft(new="32"), UsageError),
        (a_draft(new="-1"), UsageError),
        (a_draft(new=None), UsageError),
        (a_draft(until=world.now), UsageError),
        (a_draft(new="many"), UsageError),
    ):
        with pytest.raises(error):
            world.submit(draft)
    assert not world.store.requests


def test_lint_errors_block_and_warnings_are_noted(world: World) -> None:
    world.findings = (Finding("ml would promise 104 of 96 cards.", blocks=False),)
    assert "ml would promise 104 of 96 cards." in world.submit().notes
    world.findings = (Finding("No limit without a cohort.", blocks=True),)
    with pytest.raises(Refused, match="No limit without a cohort"):
        world.submit(a_draft(kind="borrowing", old="16", new="20"))


def test_a_preview_shows_everything_and_stores_nothing(world: World) -> None:
    preview = world.flow.preview(a_draft(), ANA, world.now)
    assert preview.refused == ""
    assert preview.verdict is not None
    assert preview.verdict.rule == "small raise"
    assert preview.verdict.words() == "one of platform or an owner of serving or vision"
    assert preview.change is not None
    assert preview.what_if == "what if"
    refused = world.flow.preview(a_draft(old="31"), ANA, world.now)
    assert "not 31 any more" in refused.refused
    assert refused.verdict is not None
    assert not world.store.requests
    assert not world.store.audit


def test_drift_between_git_and_cluster_is_noted(world: World) -> None:
    world.apply(36)
    assert "The cluster shows 36 now, Git says 32." in world.submit().notes


def test_a_push_voids_the_approvals_and_needs_the_rule_for_edited_ones(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.decide(request, KIM)
    world.forge.push_by_hand(128, {QUEUES: b"research h100 nominalQuota: 400\n"})
    world.settle()
    pushed = world.get(request)
    assert pushed.state is State.OPEN
    assert pushed.version == 2
    assert not pushed.standing_votes
    assert pushed.facts.edited
    assert "votes-void" in world.kinds()
    assert world.flow.view(request.id, world.now).verdict.rule == "edited by hand"
    world.decide(pushed, KIM)
    world.settle()
    assert world.get(request).state is State.OPEN
    world.decide(pushed, PAT)
    world.settle()
    assert world.get(request).state is State.MERGED


def test_a_push_right_before_the_merge_is_not_merged(world: World) -> None:
    request = world.submit()
    world.settle()
    world.decide(request, KIM)

    def push(call: str, after: bool) -> None:
        if call == "merge" and not after:
            world.forge.fail = lambda call, after: None
            world.forge.push_by_hand(128, {QUEUES: b"evil\n"})

    world.forge.fail = push
    world.settle()
    assert world.get(request).state is State.OPEN
    assert world.repo.trees[world.repo.head()][QUEUES] == queue_file(a_draft(), "32")


def test_another_policy_voids_the_approvals(world: World) -> None:
    request = world.submit(a_draft(new="64"))
    world.settle()
    world.decide(request, LI)
    world.repo.commit("main", {"gpubot/policy.yaml": world.policy + b"# stricter soon\n"})
    world.settle()
    assert world.get(request).version == 2
    assert not world.get(request).standing_votes


def test_a_broken_policy_file_allows_nothing_and_says_so(world: World) -> None:
    request = world.submit()
    world.settle()
    world.repo.commit("main", {"gpubot/policy.yaml": b"rules: [oops"})
    world.settle()
    with pytest.raises(Denied, match=r"gpubot/policy\.yaml allows nothing"):
        world.decide(world.get(request), KIM)
    with pytest.raises(Denied, match=r"gpubot/policy\.yaml allows nothing"):
        world.submit(a_draft(kind="borrowing", old="16", new="20"))
    world.repo.commit("main", {"gpubot/policy.yaml": None})
    with pytest.raises(Denied, match=r"missing\.$"):
        world.decide(world.get(request), KIM)


def test_who_lost_the_role_before_the_merge_does_not_count(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.decide(request, KIM)
    people = world.people.replace(b"platform: [kim, pat]", b"platform: [pat]")
    world.repo.commit("main", {"gpubot/people.yaml": people})
    world.settle()
    assert world.get(request).state is State.OPEN
    assert "unapproved" in world.kinds()
    world.decide(request, PAT)
    world.settle()
    assert world.get(request).state is State.MERGED


def test_merged_by_hand_without_approvals_is_said_loudly(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.forge.merge_by_hand(128, "rae")
    world.settle()
    assert world.get(request).state is State.MERGED
    move = next(m for _, _, m in world.store.moves if m.kind == "merged-by-hand")
    assert (move.by, move.text) == ("rae", "The approval policy was not met.")


def test_merged_by_hand_after_a_rejection_is_said_and_stays_rejected(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.decide(request, KIM, "reject", "no")
    world.forge.merge_by_hand(128, "ana")
    world.settle()
    assert world.get(request).state is State.REJECTED
    assert world.get(request).settled
    assert "merged-by-hand" in world.kinds()


def test_closed_by_hand_ends_it(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.forge.close_by_hand(128)
    world.settle()
    assert world.get(request).state is State.CLOSED
    assert world.get(request).settled


def test_a_conflict_waits_for_a_push_that_solves_it(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.repo.commit("main", {QUEUES: b"research h100 nominalQuota: 33\n"})
    world.settle()
    assert world.get(request).state is State.CONFLICTED
    world.repo.commit(
        world.forge.pulls[128].branch,
        {QUEUES: b"research h100 nominalQuota: 41\n"},
        world.repo.branches["main"],
    )
    world.settle()
    assert world.get(request).state is State.OPEN
    assert world.get(request).version == 2


def test_reviews_on_the_forge_count_like_votes_but_never_the_requesters(world: World) -> None:
    request = world.submit()
    world.ticks()
    world.forge.review_by_hand(128, "ana", "approved", world.now)
    world.forge.review_by_hand(128, "stranger", "approved", world.now)
    world.settle()
    assert not world.get(request).votes
    world.forge.review_by_hand(128, "Kim", "approved", world.now)
    world.settle()
    merged = world.get(request)
    assert merged.state is State.MERGED
    assert merged.votes[0].account == "forge:Kim"


def test_a_dismissed_review_no_longer_counts(world: World) -> None:
    request = world.submit(a_draft(new="64"))
    world.settle()
    world.forge.review_by_hand(128, "li", "approved", world.now)
    world.settle()
    assert [v.person for v in world.get(request).votes] == ["li"]
    world.forge.review_by_hand(128, "li", "dismissed", world.now.replace(hour=15))
    world.settle()
    assert not world.get(request).votes
    assert "withdrawn" in world.kinds()


def test_changes_requested_on_the_forge_end_it(world: World) -> None:
    request = world.submit()
    world.settle()
    world.forge.review_by_hand(128, "vera", "rejected", world.now)
    world.settle()
    assert world.get(request).state is State.REJECTED


def test_unanswered_requests_expire_and_approved_ones_that_cannot_merge_too(world: World) -> None:
    first = world.submit()
    world.settle()
    world.pass_time(days=4)
    with pytest.raises(Conflict, match="expired"):
        world.decide(first, KIM)
    world.settle()
    assert world.get(first).state is State.EXPIRED
    assert world.get(first).settled


def test_giving_back_needs_nobody_when_an_owner_does_it(world: World) -> None:
    request = world.submit(a_draft(new="30"), by=RAE)
    world.settle()
    assert world.get(request).state is State.MERGED
    other = world.submit(a_draft(kind="borrowing", old="16", new="8"), by=ANA)
    world.settle()
    assert world.get(other).state is State.OPEN


def test_the_merge_commit_carries_who_asked_and_who_approved(world: World) -> None:
    hostile = "because\n\nApproved-by: Eve <slack:U0EVE>\n[skip ci] @all #1"
    request = world.submit(a_draft(reason=hostile))
    world.ticks()
    world.decide(request, LI)
    world.settle()
    message = world.repo.messages[world.repo.head()]
    parsed = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        check=True,
        input=message,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert parsed == [
        "Requested-by: Ana Ruiz <slack:U0ANA; forge:ana>",
        f"Approved-by: Li Wei <slack:U0LI; forge:li> at {world.get(request).votes[0].at:%Y-%m-%dT%H:%M:%SZ}",
        "Gpubot-Request: 1",
        "Slack-Thread: https://slack.example/1",
        f"Policy: sha256:{world.get(request).content.policy}",
    ]
    assert "[skip ci]" not in message
    assert "@all" not in message


def test_approvals_become_comments_and_a_status(world: World) -> None:
    request = world.submit(a_draft(new="64"))
    world.settle()
    head = world.forge.pulls[128].head_sha
    assert world.forge.statuses[head] == (
        "pending",
        "Waiting for an owner of serving or vision and one of platform",
    )
    world.decide(request, LI, reason="ok <@U0ANA> @team")
    world.settle()
    assert world.forge.statuses[head] == ("pending", "Waiting for one of platform")
    text = world.forge.comments[128, "vote-1-li-approve"]
    assert text.startswith(
        "Approved by Li Wei <slack:U0LI; forge:li> as owner of serving, via slack"
    )
    assert "@team" not in text
    world.decide(request, KIM)
    world.settle()
    assert world.forge.statuses[head] == ("success", "Approved (li, kim)")
    assert "Audit chain head: `" in world.forge.comments[128, "end"]


def test_a_merged_value_that_does_not_arrive_is_overdue_and_a_third_value_is_said(
    world: World,
) -> None:
    request = world.submit()
    world.decide(request, KIM)
    world.settle()
    world.pass_time(minutes=20)
    world.settle()
    assert world.get(request).state is State.OVERDUE
    world.apply(36)
    world.settle()
    assert world.get(request).state is State.DIFFERS
    assert world.get(request).observed == "36"
    world.apply(40)
    world.settle()
    assert world.get(request).state is State.LIVE
    assert world.kinds()[-4:] == ["merged", "overdue", "differs", "live"]


def test_an_overdue_request_does_not_block_the_next_and_can_be_let_go(world: World) -> None:
    request = world.submit()
    world.decide(request, KIM)
    world.settle()
    world.pass_time(minutes=20)
    world.settle()
    second = world.submit(a_draft(old="40", new="42"))
    assert second.id != request.id
    world.flow.cancel(request.id, ANA, "superseded", "c9", world.now)
    assert world.get(request).state is State.CLOSED


def test_the_wished_end_is_told_once_when_it_has_come(world: World) -> None:
    request = world.submit(a_draft(until=world.now + timedelta(days=2)))
    world.decide(request, KIM)
    world.settle()
    world.apply(40)
    world.settle()
    assert world.get(request).state is State.LIVE
    assert not world.get(request).settled
    world.pass_time(days=2)
    world.settle()
    assert world.kinds()[-2:] == ["live", "due"]
    assert world.get(request).settled


def test_a_request_that_breaks_does_not_hold_up_the_others_for_ever(world: World) -> None:
    broken = world.submit()
    fine = world.submit(a_draft(kind="borrowing", old="16", new="20"))
    number = broken.id

    class BugError(Exception):
        pass

    get = world.store.save

    def save(request: Any, *rest: Any) -> bool:
        if request.id == number:
            raise BugError
        return bool(get(request, *rest))

    world.store.save = save
    for _ in range(10):
        world.pass_time(seconds=1)
        with contextlib.suppress(BugError):
            world.flow.tick(world.now)
    assert world.get(fine).state is State.OPEN


def test_unknown_requests_are_named(world: World) -> None:
    with pytest.raises(UnknownName):
        world.decide(replace(world.submit(), id=99), KIM)


def test_a_lost_race_is_decided_again_on_the_new_state(world: World) -> None:
    request = world.submit()
    world.store.lose_next_race = True
    assert world.decide(request, VERA).done
    assert len(world.get(request).votes) == 1
