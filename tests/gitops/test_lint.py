from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from capacity.model import (
    ClusterQueue,
    Condition,
    FlavorQuotas,
    FlavorResource,
    Fleet,
    Quota,
    ResourceFlavor,
    ResourceGroup,
)
from gitops.index import Index
from gitops.indexer import Indexer
from gitops.lint import Finding, Platform, lint, lint_draft, lint_object
from gitops.piece import Unquoted
from gitops.repository import Repository
from gitops.request import Draft
from tests.gitops.lint_cases import (
    CASES,
    GPU,
    Case,
    changed,
    cohort,
    flavor,
    group,
    local,
    manifest,
    one,
    queue,
    quota,
    quotas,
)
from tests.gitops.repositories import commit

PAIR = FlavorResource("h100", GPU)
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def findings(
    *after: Mapping[str, Any],
    before: tuple[Mapping[str, Any], ...] | None = None,
    fleet: Fleet | None = None,
    platform: Platform | None = None,
) -> list[Finding]:
    old = None if before is None else [manifest(data) for data in before]
    return list(lint([manifest(data) for data in after], old, fleet, platform))


def rules(found: list[Finding]) -> set[str]:
    return {finding.rule for finding in found}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_lint_refuses_what_kueue_refuses(case: Case) -> None:
    before = None if case.before is None else (case.before,)
    blocking = [f for f in findings(case.object, before=before) if f.blocks]
    if not case.rule:
        assert not blocking
    else:
        assert any(f.rule == case.rule and case.says in f.sentence for f in blocking), blocking


def test_every_case_of_one_object_alone_says_its_field_and_place() -> None:
    for case in CASES:
        for finding in lint_object(manifest(case.object)):
            assert finding.field or finding.rule == "K17"
            assert finding.sentence.endswith(" (queues.yaml:1).")


def test_the_sentence_reads_like_the_api_server_s() -> None:
    (found,) = findings(one(quota(nominal="24", lendingLimit="25")))[:1]
    assert found.sentence == (
        "ClusterQueue q spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: "
        'Invalid value: "25": must be less than or equal to the nominalQuota (queues.yaml:1).'
    )


def test_what_was_wrong_before_does_not_block() -> None:
    bad = one(quota(lendingLimit=9))
    found = findings(changed(bad, queueingStrategy="StrictFIFO"), before=(bad,))
    assert [(f.rule, f.known, f.blocks) for f in found if f.rule == "K7"] == [("K7", True, False)]


def test_unchanged_objects_are_not_looked_at_again() -> None:
    bad, good = one(quota(lendingLimit=9)), queue("good")
    after = changed(good, stopPolicy="Hold")
    assert "K7" not in rules(findings(bad, after, before=(bad, good)))


def test_templates_are_left_alone() -> None:
    spec = {"cohortName": "{{ .Values.cohort }}", "queueingStrategy": "{{ .Values.strategy }}"}
    held = quota("{{ .Values.resource }}", "${gpus}", lendingLimit="{{ .x }}")
    assert not [f for f in findings(one(held, **spec)) if f.blocks]


def test_the_fields_of_the_other_version_are_refused() -> None:
    new = queue(cohort="ml")
    old = {**queue(), "apiVersion": "kueue.x-k8s.io/v1beta1"}
    assert "spec.cohort: unknown field in v1beta2" in findings(new)[0].sentence
    assert "spec.cohortName: unknown field in v1beta1" in findings(old)[0].sentence


def test_v1beta1_takes_its_cohort_and_its_fungibility_words() -> None:
    spec = {"cohort": "ml", "cohortName": ..., "flavorFungibility": {"whenCanBorrow": "Borrow"}}
    old = {**one(quota(borrowingLimit=4), **spec), "apiVersion": "kueue.x-k8s.io/v1beta1"}
    assert not [f for f in findings(old) if f.blocks]


@pytest.mark.parametrize(
    ("text", "read"),
    [("1e3", "1000"), ("0x10", "16"), ("010", "8"), ("0.5", "0.5"), ("1_000", "1000")],
)
def test_unquoted_numbers_are_pointed_out_with_what_they_are_read_as(text: str, read: str) -> None:
    (found,) = (f for f in findings(one(quota(nominal=Unquoted(text)))) if f.rule == "K25")
    assert f"{text} without quotes is read as {read}" in found.sentence
    assert not found.blocks


def test_a_missing_flavor_makes_a_queue_inactive() -> None:
    assert "K16" in rules(findings(queue(), flavor()))
    assert "K16" not in rules(findings(queue()))


def test_a_cycle_of_parents_blocks() -> None:
    found = findings(cohort("a", parentName="b"), cohort("b", parentName="a"))
    assert any(f.rule == "K17" and f.blocks for f in found)


def test_a_cohort_that_nobody_declares_may_be_a_typing_error() -> None:
    assert "K18" in rules(findings(queue(cohortName="mll"), cohort("ml")))
    assert "K18" in rules(findings(queue(cohortName="mll")))
    assert "K18" not in rules(findings(queue("a"), queue("b")))
    assert "K18" not in rules(findings(queue(), cohort("ml")))


def a_fleet(reserved: int = 0, **queue_fields: Any) -> Fleet:
    groups = (ResourceGroup((GPU,), (FlavorQuotas("h100", {GPU: Quota(8)}),)),)
    live = ClusterQueue("q", "ml", groups, reserved={PAIR: reserved} if reserved else {})
    return Fleet(
        "prod",
        NOW,
        {"q": replace(live, **queue_fields)},
        {},
        {},
        {"h100": ResourceFlavor("h100")},
        {},
        NO_WORK,
    )


class NoWork(tuple):
    __slots__ = ()

    def reserving(self, _name):
        return ()

    def pending(self, _name):
        return ()

    def named(self, _name):
        return ()

    def names(self):
        return ()


NO_WORK = NoWork()


def test_lowering_below_what_jobs_hold_is_said() -> None:
    found = findings(one(quota(nominal=4)), before=(queue(),), fleet=a_fleet(reserved=6))
    (said,) = (f for f in found if f.rule == "K19")
    assert "holds 6 nvidia.com/gpu of h100, more than its own 4 then" in said.sentence
    assert "K19" not in rules(findings(one(quota(nominal=7)), before=(queue(),), fleet=a_fleet(6)))


def test_a_higher_limit_above_what_can_be_lent_has_no_effect() -> None:
    other = queue("other")
    before = (one(quota(borrowingLimit=8)), other)
    assert "K20" in rules(findings(one(quota(borrowingLimit=16)), other, before=before))
    lower = (one(quota(borrowingLimit=4)), other)
    assert "K20" not in rules(findings(one(quota(borrowingLimit=6)), other, before=lower))


def test_what_others_lose_is_said_with_before_and_after() -> None:
    other = one(quota())
    other["metadata"]["name"] = "other"
    found = findings(one(quota(lendingLimit=2)), other, before=(queue(), other))
    (said,) = (f for f in found if f.rule == "K21")
    assert said.subject == "ClusterQueue other"
    assert "falls from 16 to 10" in said.message


def test_removing_quota_in_use_is_said() -> None:
    without = queue(resourceGroups=[group(quotas("a100"))])
    assert "K22" in rules(findings(without, before=(queue(),), fleet=a_fleet(reserved=2)))
    assert "K22" not in rules(findings(without, before=(queue(),), fleet=a_fleet()))
    gone = findings(before=(queue(),), fleet=a_fleet(reserved=2))
    assert "is removed while jobs hold its quota" in gone[0].sentence


def test_another_order_of_flavors_is_another_preference() -> None:
    both = queue(resourceGroups=[group(quotas("h100"), quotas("a100"))])
    turned = queue(resourceGroups=[group(quotas("a100"), quotas("h100"))])
    more = queue(resourceGroups=[group(quotas("h100"), quotas("a100"), quotas("t4"))])
    assert "K23" in rules(findings(turned, before=(both,)))
    assert "K23" in rules(findings(queue(), before=(both,)))
    assert "K23" not in rules(findings(more, before=(both,)))


def test_quota_that_the_cluster_sets_is_not_in_force() -> None:
    groups = (ResourceGroup((GPU,), (FlavorQuotas("h100", {GPU: Quota(6)}),)),)
    effective = a_fleet(effective_resource_groups=groups)
    condition = Condition("MultiKueueManagerQuotaAutomation", "True", "", "", NOW)
    automated = a_fleet(conditions=(condition,))
    after = one(quota(nominal=9))
    assert "K24" in rules(findings(after, before=(queue(),), fleet=effective))
    assert "K24" in rules(findings(after, before=(queue(),), fleet=automated))
    assert "K24" not in rules(findings(after, before=(queue(),), fleet=a_fleet()))


def test_an_enormous_quota_counts_as_unlimited() -> None:
    assert "K27" in rules(findings(one(quota(nominal="10E"))))


def test_draining_asks_for_a_confirmation() -> None:
    after = queue(stopPolicy="HoldAndDrain")
    (found,) = (f for f in findings(after, before=(queue(),)) if f.rule == "K28")
    assert found.blocks
    confirmed = findings(after, before=(queue(),), platform=Platform(drain_confirmed=True))
    assert not [f for f in confirmed if f.blocks]
    assert "K28" not in rules(findings(after, before=(after,)))


def test_promising_more_than_there_is_shows_or_blocks() -> None:
    two = (
        one(quota(nominal=90)),
        cohort("ml", resourceGroups=[group(quotas("h100", quota(nominal=10)))]),
    )
    for blocks in (False, True):
        platform = Platform(capacity={PAIR: 96}, overcommit_blocks=blocks)
        (found,) = (f for f in findings(*two, platform=platform) if f.rule == "P1")
        assert "100 nvidia.com/gpu of h100 would be promised, but only 96 exist" in found.sentence
        assert found.blocks is blocks
    assert "P1" not in rules(findings(*two, platform=Platform(capacity={PAIR: 100})))


def test_a_guaranteed_minimum_is_kept() -> None:
    platform = Platform(minimum={("q", PAIR): 8})
    assert "P2" in rules(findings(one(quota(nominal=7)), platform=platform))
    assert "P2" not in rules(findings(queue(), platform=platform))


def test_local_queues_of_the_same_name_in_two_namespaces_are_two() -> None:
    one_, other = local(clusterQueue="a"), local(clusterQueue="b")
    other["metadata"] = {**other["metadata"], "namespace": "other"}
    assert not [f for f in findings(one_, other, before=(one_, other)) if f.blocks]


def test_errors_come_first() -> None:
    found = findings(one(quota(lendingLimit=9)), queue("b", cohortName="alone"), cohort("x"))
    blocking = [finding.blocks for finding in found]
    assert blocking == sorted(blocking, reverse=True)


def test_a_draft_is_judged_by_what_it_changes(seed_index: Index) -> None:
    lower = Draft("nominal", "vision", "h100", GPU, "24", "8", cluster="prod-eu")
    (blocking,) = (f for f in lint_draft(seed_index, lower, None) if f.blocks)
    assert blocking.rule == "K7"
    assert "clusters/prod/queues.yaml" in blocking.sentence
    more = Draft("nominal", "research", "h100", GPU, "32", "40", cluster="prod-eu")
    assert not lint_draft(seed_index, more, None)


@pytest.fixture(scope="module")
def seed_index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = Path(__file__).parents[2] / "bot" / "playground" / "seed"
    files = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.yaml")}
    path = tmp_path_factory.mktemp("fleet") / "fleet.git"
    return Indexer(Repository(path)).at(commit(path, files))
