"""Who must approve what: matching rules, roles, counting, and the words for it."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from capacity.model import Cohort, FlavorResource
from gitops import people_file, policy_file
from gitops.facts import facts_of
from gitops.needs import Need, fill, leaves, unmet
from gitops.people import People
from gitops.policy import Verdict, judge, may_ask
from gitops.request import Choice, Content, Draft, Facts, Vote
from gitops.rules import Policy
from tests.builders import GPU, a_cluster_queue, a_fleet
from tests.gitops.flow_fakes import SEED, START, a_draft

POLICY = policy_file.parse((SEED / "policy.yaml").read_bytes())
PEOPLE = people_file.parse((SEED / "people.yaml").read_bytes())
CONTENT = Content(1, "d", "b", None, "p")


def votes(*people: str, choice: Choice = "approve") -> tuple[Vote, ...]:
    return tuple(Vote(p, "", choice, "", START, f"slack:{p}", CONTENT) for p in people)


def asks(draft: Draft, *approvers: str, policy: Policy = POLICY, **facts: Any) -> Verdict:
    draft = draft if draft.requester else replace(draft, requester="ana", team="research")
    found = replace(facts_of(draft, a_fleet(), START), **facts)
    return judge(policy, PEOPLE, draft, found, votes(*approvers))


def borrow(new: str | None, **changes: Any) -> Draft:
    return a_draft(kind="borrowing", old="16", new=new, **changes)


def lend(old: str | None, new: str | None, requester: str) -> Draft:
    return a_draft(kind="lending", cluster_queue="serving", old=old, new=new, requester=requester)


# The policy of the playground, rule by rule.


def test_eight_more_need_the_platform_or_a_lender() -> None:
    for approver in ("kim", "pat", "li", "tom", "vera"):
        assert asks(a_draft(), approver).met
    for nobody in ("ana", "rae", "otto"):
        assert not asks(a_draft(), nobody).met
    assert asks(a_draft()).words() == "one of platform or an owner of serving or vision"


def test_nine_more_need_both() -> None:
    assert asks(a_draft(new="41")).rule == "large raise"
    assert not asks(a_draft(new="41"), "li", "tom").met
    assert not asks(a_draft(new="41"), "kim", "pat").met
    assert asks(a_draft(new="41"), "kim", "tom").met


def test_borrowing_for_a_week_needs_one_lender_and_for_ever_every_lender_or_the_platform() -> None:
    week = borrow("20", until=START + timedelta(days=7))
    assert asks(week, "vera").met
    assert not asks(borrow("20"), "vera").met
    assert asks(borrow("20"), "vera", "tom").met
    assert asks(borrow("20"), "vera", "pat").met
    assert not asks(borrow("20"), "li", "tom").met


def test_no_limit_is_larger_than_any_limit() -> None:
    week = borrow(None, until=START + timedelta(days=7))
    assert asks(week).rule == "borrow more"
    assert asks(a_draft(kind="borrowing", old=None, new="16", requester="rae")).rule == "give back"


def test_an_owner_gives_back_alone_a_member_asks_the_owner() -> None:
    assert asks(a_draft(new="30", requester="rae")).met
    by_member = asks(a_draft(new="30"))
    assert by_member.rule == "take back"
    assert by_member.words() == "an owner of research"
    assert not asks(a_draft(new="30", requester="kim")).met


def test_lending_more_is_a_gift_and_lending_less_needs_who_borrows() -> None:
    assert asks(lend("24", "30", "li")).met
    assert asks(lend("24", None, "tom")).met
    less = asks(lend("24", "20", "li"))
    assert less.rule == "lend less"
    assert asks(lend("24", "20", "li"), "rae", "kim").met


def test_a_pull_request_edited_by_hand_falls_under_its_own_rule_only() -> None:
    assert asks(a_draft(), "li", edited=True).rule == "edited by hand"
    assert not asks(a_draft(), "li", "kim", edited=True).met
    assert asks(a_draft(), "pat", "kim", edited=True).met


# Rules in general.


def parse(rules: str) -> Policy:
    policy = policy_file.parse(f"rules:\n{rules}".encode())
    assert not policy.problems
    return policy


def test_no_fitting_rule_denies() -> None:
    policy = parse("- {name: a100 only, when: {flavor: a100}, needs: nobody}")
    verdict = asks(a_draft(), "li", policy=policy)
    assert not verdict.allowed
    assert verdict.why == "No rule of the policy allows this change."
    assert verdict.roles_of("li") == ()


def test_conditions_match_by_name_glob_size_percent_and_duration() -> None:
    for condition, fits in (
        ("queue: research", True),
        ("queue: [vision, 'res*']", True),
        ("queue: vision", False),
        ("team: research", True),
        ("flavor: 'h*'", True),
        (f"resource: {GPU}", True),
        ("cluster: other", False),
        ("kind: [nominal, lending]", True),
        ("kind: borrowing", False),
        ("change: raise", True),
        ("change: lower", False),
        ("at_most: 8", True),
        ("at_most: 7", False),
        ("percent_at_most: 25", True),
        ("percent_at_most: 24", False),
        ("for_at_most: 7d", False),
        ("asked_by: team", True),
        ("asked_by: owner", False),
        ("asked_by: [platform, team]", True),
    ):
        policy = parse(f"- {{name: r, when: {{{condition}}}, needs: nobody}}")
        assert asks(a_draft(), policy=policy).allowed is fits, condition


def test_a_change_from_nothing_has_no_percentage() -> None:
    policy = parse("- {name: r, when: {percent_at_most: 100}, needs: nobody}")
    assert not asks(a_draft(old="0", new="1"), policy=policy).allowed


def test_cpu_amounts_compare_by_value() -> None:
    policy = parse("- {name: r, when: {at_most: 500m}, needs: nobody}")
    cpu = a_draft(resource="cpu", old="1", new="1500m")
    assert asks(cpu, policy=policy).allowed
    assert not asks(replace(cpu, new="1501m"), policy=policy).allowed


def test_the_first_rule_that_fits_decides() -> None:
    policy = parse("- {name: one, needs: {group: platform}}\n- {name: two, needs: nobody}")
    assert asks(a_draft(), policy=policy).rule == "one"


def test_what_only_the_requester_could_approve_is_not_allowed() -> None:
    policy = parse("- {name: r, needs: {owners_of: queue}}")
    verdict = asks(a_draft(requester="rae"), policy=policy)
    assert not verdict.allowed
    assert verdict.why == "Nobody but the requester could approve as an owner of research."


def test_every_lender_without_lenders_is_not_met_by_nobody() -> None:
    policy = parse("- {name: r, needs: {owners_of: every lender}}")
    verdict = asks(a_draft(), policy=policy, lenders=())
    assert not verdict.allowed
    assert not verdict.met


def test_a_group_that_nobody_defined_can_never_approve() -> None:
    policy = parse("- {name: r, needs: {group: board}}")
    assert not asks(a_draft(), "kim", policy=policy).allowed


def test_a_rejection_by_one_who_may_approve_unmeets_it() -> None:
    draft = replace(a_draft(), requester="ana")
    facts = facts_of(draft, a_fleet(), START)
    cast = (*votes("kim"), *votes("vera", choice="reject"))
    verdict = judge(POLICY, PEOPLE, draft, facts, cast)
    assert not verdict.met
    assert verdict.rejected_by is not None
    ignored = judge(POLICY, PEOPLE, draft, facts, (*votes("kim"), *votes("rae", choice="reject")))
    assert ignored.met


def test_the_verdict_explains_who_meets_what() -> None:
    verdict = asks(a_draft(new="64"), "tom")
    lender, platform = leaves(verdict.need)
    assert (lender.met, lender.met_by, lender.text) == (
        True,
        ("tom",),
        "an owner of serving or vision",
    )
    assert (platform.met, platform.candidates) == (False, ("kim", "pat"))
    assert verdict.waiting_for() == (platform,)
    assert verdict.words() == "one of platform"
    assert verdict.all_words() == "an owner of serving or vision and one of platform"
    assert verdict.roles_of("vera") == ("owner of vision",)
    assert verdict.roles_of("ana") == ()


def test_who_may_ask() -> None:
    assert may_ask(POLICY, PEOPLE, "ana", "research")
    assert may_ask(POLICY, PEOPLE, "rae", "research")
    assert may_ask(POLICY, PEOPLE, "kim", "research")
    assert not may_ask(POLICY, PEOPLE, "li", "research")
    assert not may_ask(POLICY, PEOPLE, "otto", "research")
    anyone = replace(POLICY, requesters=("anyone",))
    assert may_ask(anyone, PEOPLE, "li", "research")
    assert not may_ask(anyone, PEOPLE, "otto", "research")


def test_an_empty_people_map_or_policy_denies_everything() -> None:
    draft = replace(a_draft(), requester="ana")
    facts = Facts(raises=True, delta=8)
    for policy, people in (
        (policy_file.parse(None), PEOPLE),
        (policy_file.parse(b""), PEOPLE),
        (POLICY, people_file.parse(None)),
        (POLICY, People()),
    ):
        verdict = judge(policy, people, draft, facts, votes("kim", "li"))
        assert not verdict.allowed
        assert not verdict.met
        assert verdict.why


# Facts.


def test_lenders_and_borrowers_are_the_cohorts_other_queues() -> None:
    facts = facts_of(a_draft(), a_fleet(), START)
    assert facts.lenders == ("serving", "vision")
    assert (facts.delta, facts.percent, facts.raises) == (8, 25, True)
    assert facts_of(a_draft(flavor="nope"), a_fleet(), START).lenders == ()


def test_queues_of_the_whole_cohort_tree_are_relatives_and_those_that_lend_nothing_are_not() -> (
    None
):

    pair = FlavorResource("h100", GPU)
    fleet = a_fleet()
    queues = {
        q.name: q
        for q in (
            a_cluster_queue("research", {pair: (32, None, None)}, cohort="team"),
            a_cluster_queue("cousin", {pair: (8, 0, None)}, cohort="other"),
            a_cluster_queue("stingy", {pair: (8, None, 0)}, cohort="root"),
            a_cluster_queue("far", {pair: (8, None, None)}, cohort="elsewhere"),
            a_cluster_queue("alone", {pair: (8, None, None)}, cohort=None),
        )
    }
    cohorts = {c.name: c for c in (Cohort("team", parent="root"), Cohort("other", parent="root"))}
    facts = facts_of(a_draft(), replace(fleet, cluster_queues=queues, cohorts=cohorts), START)
    assert facts.lenders == ("cousin",)
    assert facts.borrowers == ("stingy",)


def test_a_cycle_of_cohorts_does_not_hang() -> None:
    fleet = a_fleet()
    loop = {c.name: c for c in (Cohort("ml", parent="b"), Cohort("b", parent="ml"))}
    assert facts_of(a_draft(), replace(fleet, cohorts=loop), START).lenders


# Counting, against a brute force.

PERSON = st.sampled_from("abcde")


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> Need:
    op = draw(st.sampled_from(["people", "all", "any"] if depth else ["people"]))
    if op == "people":
        roles = dict.fromkeys(draw(st.lists(PERSON, unique=True)), "r")
        return Need("leaf", count=draw(st.integers(1, 2)), roles=roles)
    children = draw(st.lists(trees(depth=depth - 1), max_size=3))
    return Need(op, op=op, children=tuple(children))  # type: ignore[arg-type]


def brute_force(need: Need, people: tuple[str, ...]) -> bool:
    """Try every order of the people: each takes the next places greedily, on every way."""
    return any(_seats(way, list(order)) for way in ways_of(need) for order in permutations(people))


def ways_of(need: Need) -> list[list[Need]]:
    if need.op == "people":
        return [[need] * need.count]
    parts = [ways_of(child) for child in need.children]
    if need.op == "any":
        return [way for part in parts for way in part]
    found: list[list[Need]] = [[]]
    for part in parts:
        found = [one + other for one in found for other in part]
    return found


def _seats(way: list[Need], order: list[str]) -> bool:
    return len(order) >= len(way) and all(
        who in seat.roles for who, seat in zip(order, way, strict=False)
    )


@given(trees(), st.lists(PERSON, unique=True, max_size=5))
def test_a_tree_is_met_exactly_if_different_people_can_take_all_places(
    need: Need, approvers: list[str]
) -> None:
    filled = fill(need, approvers)
    assert filled.met == brute_force(need, tuple(approvers))
    counted = [who for leaf in leaves(filled) for who in leaf.met_by]
    assert len(counted) == len(set(counted))
    assert set(counted) <= set(approvers)
    assert bool(unmet(filled)) <= (not filled.met)


@given(trees(), st.lists(PERSON, unique=True, max_size=4), PERSON)
def test_one_more_approval_never_unmeets(need: Need, approvers: list[str], more: str) -> None:
    before = fill(need, approvers).met
    assert before <= fill(need, list(dict.fromkeys([*approvers, more]))).met


def test_one_person_never_meets_two_requirements() -> None:
    both = Need(
        "all",
        op="all",
        children=(Need("x", roles={"kim": "x"}), Need("y", roles={"kim": "y", "pat": "y"})),
    )
    assert not fill(both, ["kim"]).met
    assert fill(both, ["kim", "pat"]).met
    assert fill(both, ["pat", "kim"]).met
