"""/gpu-usage: the account in words, what it costs, and what can't be said."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from bot.blocks import render
from bot.json_ import to_json
from bot.playground.fake_slack.validate_blocks import message_errors
from bot.text import render as render_text
from capacity.errors import Gap, SourceDown, UnknownName, UsageError
from capacity.model import LocalQueue
from commands.page import Chart
from commands.parse import parse
from commands.table import run
from commands.usage_jobs import job_of
from gitops.people import People, PersonEntry, Team
from gitops.prices import Prices
from tests.builders import ANA, OTTO, FakeWorld, a_fleet, ago
from tests.commands.meters import FakeMeter, Run
from tests.golden_files import check

EUR = Prices("EUR", None, {"h100": Decimal("2.00")})
RUNS = (
    Run("research", "llm-pretrain-0-x7k2p", 190, 0.88),
    Run("research", "llm-pretrain-1-b8d4q", 190, 0.86),
    Run("research", "eval-1-0", 120, 0.61),
    Run("research", "notebook-ana-0", 110, 0.04),
    Run("research", "sweep-2-0", 134, 0.4, unseen=20),
    Run("vision", "detector-0", 60, 0.9),
    Run("vision", "labels-0", 48, 0.1),
    Run("serving", "chat-0", 300, 0.5),
)
BEFORE = tuple(replace(r, hours=r.hours * 0.92) for r in RUNS)


def world(**changes) -> FakeWorld:
    changes = {"the_meter": FakeMeter(RUNS, BEFORE), "the_prices": EUR, **changes}
    return FakeWorld(**changes)


def ask(text: str, of: FakeWorld, asker=ANA):
    return run(parse(text, asker), of)


WORLDS = {
    "usage-research": ("usage research last week", world),
    "usage-own": ("usage", world),
    "usage-cohort": ("usage ml yesterday", world),
    "usage-all": ("usage all this week", world),
    "usage-no-prices": ("usage vision 2026-W48", lambda: world(the_prices=None)),
    "usage-bad-prices": (
        "usage vision 24h",
        lambda: world(the_prices=Prices(problems=("line 2: must be a price",))),
    ),
    "usage-low-coverage": (
        "usage research last week",
        lambda: world(the_meter=FakeMeter(RUNS, exporter=0.71)),
    ),
    "usage-nothing": ("usage research yesterday", lambda: world(the_meter=FakeMeter(()))),
    "usage-unseen-nothing": (
        "usage research yesterday",
        lambda: world(the_meter=FakeMeter((), exporter=0.4)),
    ),
    "usage-partial": (
        "usage research last week",
        lambda: world(
            the_meter=FakeMeter(
                (*RUNS, Run("research", "slice-0", 24, 0.5, profile="9g.x")),
                warnings=("store-1 timed out",),
            )
        ),
    ),
    "usage-down": ("usage research last week", lambda: world(the_meter=None)),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_the_page_is_the_golden_one(name: str) -> None:
    text, make = WORLDS[name]
    answer, page = ask(text, make())
    message = render(page, who={"ana": "U0ANA"}.get)
    check(f"pages/{name}.txt", render_text(page))
    assert message_errors(message.blocks) == []
    shown = {"answer": to_json(answer), "text": message.text, "blocks": message.blocks}
    check(f"pages/{name}.json", json.dumps(shown, indent=1, ensure_ascii=False) + "\n")


def test_idle_costs_what_the_card_costs() -> None:
    answer, _ = ask("usage vision last week", world())
    assert answer.ledger.total.idle == pytest.approx(7 * (6 + 48 * 0.9))
    assert answer.cost.idle == pytest.approx(Decimal(str(round(14 * (6 + 48 * 0.9), 2))))


def test_nobody_is_called_idle_below_ninety_percent() -> None:
    _, page = ask("usage research last week", world(the_meter=FakeMeter(RUNS, exporter=0.899)))
    first = render_text(page).split("\n\n")[0]
    assert "were idle and" not in first
    assert "can't be said" in first


def test_the_days_are_those_of_the_asker() -> None:
    _, page = ask("usage research last week", world())
    (chart,) = (part for part in page.parts if isinstance(part, Chart))
    assert chart.labels == ("Mon 23", "Tue 24", "Wed 25", "Thu 26", "Fri 27", "Sat 28", "Sun 29")
    assert [name for name, _ in chart.series] == ["busy", "idle", "unknown"]
    assert all(label in chart.alt for label in chart.labels)


def test_pods_are_added_up_by_job() -> None:
    answer, _ = ask("usage research last week", world())
    assert {job.job for job in answer.jobs} == {"llm-pretrain", "eval-1", "notebook-ana", "sweep-2"}


@pytest.mark.parametrize(
    ("pod", "job"),
    [
        ("llm-ft-7-0-abcde", "llm-ft-7"), ("llm-ft-7-0", "llm-ft-7"), ("eval-1", "eval-1"),
        ("other-0-abcde", "other"), ("other-abcde", "other"), ("other", "other"), ("x-1-2", "x-1"),
        ("abcde", "abcde"),
    ],
)  # fmt: skip
def test_a_pod_is_named_after_its_job(pod: str, job: str) -> None:
    assert job_of(pod, {"llm-ft-7", "eval-1"}) == job


def test_namespaces_come_from_the_local_queues_where_people_yaml_has_none() -> None:
    fleet = a_fleet()
    local = {("lab", "research"): LocalQueue("lab", "research", "research")}
    people = People(
        {"ana": PersonEntry("ana", "Ana")},
        {"research": Team("research", ("ana",), (), ("research",))},
    )
    it = world(the_fleet=replace(fleet, local_queues=local), the_people=people)
    assert ask("usage research", it)[0].whose.namespaces == ("lab",)


def test_a_namespace_that_feeds_another_queue_too_is_said() -> None:
    fleet = a_fleet()
    local = {**fleet.local_queues, ("research", "x"): LocalQueue("research", "x", "vision")}
    _, page = ask("usage research", world(the_fleet=replace(fleet, local_queues=local)))
    assert "In it too: jobs of vision" in render_text(page)


def test_without_kueue_a_known_team_is_still_counted() -> None:
    answer, page = ask("usage research last week", world(down=SourceDown("Kueue", ago(minutes=5))))
    assert answer.ledger.total.held > 1000
    assert "I can't reach Kueue" in render_text(page)


def test_without_both_it_says_so() -> None:
    it = world(the_meter=None, down=SourceDown("Kueue", None))
    with pytest.raises(SourceDown):
        ask("usage research", it)


def test_prometheus_down_says_since_when_and_what_is_known() -> None:
    class Down:
        def hours(self, *_):
            raise SourceDown("Prometheus", ago(minutes=5))

    answer, page = ask("usage research", world(the_meter=Down()))
    assert answer.gaps == (Gap("Prometheus", ago(minutes=5), "held, busy and idle hours"),)
    first = render_text(page).split("\n\n")[0]
    assert first.startswith("I can't reach Prometheus since 13:58 UTC.")
    assert "44 H100 reserved now" in first.replace("\n", " ")


@pytest.mark.parametrize(
    "text", ["usage research nonsense", "usage research next week", "usage 90d"]
)
def test_a_time_that_is_none_is_told_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as told:
        ask(text, world())
    assert "last week" in told.value.next_step


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownName) as told:
        ask("usage reserch last week", world())
    assert told.value.nearest[0] == "research"


def test_a_stranger_must_name_a_team() -> None:
    with pytest.raises(UsageError, match="don't know you"):
        ask("usage last week", world(), OTTO)
