"""The main story on real components: control plane, Kueue, nodes, kube-state-metrics, Prometheus.

Only Slack is a fake, and a bare repository stands for the forge. What is asked is compared with the
controller's own status fields, the visibility API and Prometheus' own results.
"""

import time
from typing import Any

import pytest

from bot.playground.fake_slack.person import SlackPerson, everything_said
from tests.cluster.process import wait_until
from tests.lab.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
VISIBLE = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues"


def person(lab: Lab, user: str) -> SlackPerson:
    return SlackPerson(lab.playground.slack, lab.playground.serving, user, "C0REQUESTS")


def status(lab: Lab, queue: str) -> dict[str, Any]:
    return dict(lab.stack.control_plane.api.get(f"{QUEUES}/{queue}")["status"])


def reserved(lab: Lab, queue: str) -> tuple[int, int]:
    flavors = {f["name"]: f for f in status(lab, queue)["flavorsReservation"]}
    row = flavors["h100"]["resources"][0]
    return int(row["total"]), int(row["borrowed"])


def said(who: SlackPerson, command: str, text: str, waited_for: str) -> str:
    who.slash(command, text)
    return everything_said(who.wait_for_text(waited_for))


def thread(who: SlackPerson, card: Any) -> str:
    return "\n".join(everything_said(message) for message in who.see_thread(card))


def test_the_answer_about_a_queue_is_the_controllers_own_status(lab: Lab) -> None:
    total, borrowed = reserved(lab, "research")
    assert (total, borrowed) == (44, 12)
    answer = said(person(lab, "U0ANA"), "/gpu-quota", "research", "research can start 4 more H100")
    assert "32" in answer
    assert str(total) in answer
    assert f"{borrowed} of at most 16" in answer
    for queue, can_start in (("vision", 12), ("serving", 12)):
        said(person(lab, "U0ANA"), "/gpu-quota", queue, f"{queue} can start {can_start} more H100")


def test_the_queue_is_in_the_visibility_apis_order(lab: Lab) -> None:
    answer = said(person(lab, "U0ANA"), "/gpu-queue", "research", "llm-ft-7")
    order = lab.stack.control_plane.api.get(f"{VISIBLE}/research/pendingworkloads")["items"]
    jobs = [item["metadata"]["ownerReferences"][0]["name"] for item in order]
    assert jobs == ["llm-ft-7", "eval-3"]
    assert answer.index("llm-ft-7") < answer.index("eval-3")
    assert "Kueue's own" in answer


def test_the_typical_wait_rests_on_two_weeks_of_finished_workloads(lab: Lab) -> None:
    answer = said(person(lab, "U0KIM"), "/gpu-queue", "research", "Typical wait here for 16 H100")
    assert "20 min to 2 h (middle half, by past waits: last 14 days, 38 jobs of 8 to 32" in answer


def test_eight_more_gpus_go_from_question_to_live(lab: Lab) -> None:
    ana, li = person(lab, "U0ANA"), person(lab, "U0LI")
    before = lab.repository.head()
    ana.slash("/gpu-request", "research h100 nominal 40")
    ana.wait_for(lambda: "32 → 40" in everything_said(ana.modal()))
    assert ana.submit(why="camera-ready ablations")
    card = li.wait_for_text("research wants 8 more H100 of its own (32 → 40)")
    li.click(card, "approve")
    li.wait_for(lambda: "Live in prod-eu" in thread(li, card), seconds=60)

    spec = lab.stack.control_plane.api.get(f"{QUEUES}/research")["spec"]
    assert spec["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] in {40, "40"}
    diff = lab.repository.diff(before, lab.repository.head()).splitlines()
    changed = [line for line in diff if line[:1] in "+-" and line[1:2] not in "+-"]
    assert changed == [
        "-              nominalQuota: 32     # 4 nodes; was 24 until the Q3 review",
        "+              nominalQuota: 40     # 4 nodes; was 24 until the Q3 review",
    ]
    total, borrowed = reserved(lab, "research")
    assert (total, borrowed) == (44, 4)
    said(person(lab, "U0ANA"), "/gpu-quota", "research", "research can start 12 more H100")


def test_a_stopped_prometheus_is_named_at_once_and_recovered_from(lab: Lab) -> None:
    kim, prometheus = person(lab, "U0KIM"), lab.stack.prometheus
    prometheus.wait_for('count(DCGM_FI_DEV_FB_USED{namespace="research"}) == 44')
    said(kim, "/gpu-usage", "research 1h", "research held")
    total, _ = reserved(lab, "research")
    prometheus.stop()
    try:
        asked = time.monotonic()
        answer = said(kim, "/gpu-usage", "research 2h", "I can't reach Prometheus since")
        assert time.monotonic() - asked < 5
        assert f"{total} H100 reserved now" in answer
    finally:
        prometheus.start()
    prometheus.wait_for('count(DCGM_FI_DEV_FB_USED{namespace="research"}) > 0')
    time.sleep(2.1)
    said(kim, "/gpu-usage", "research 3h", "in the last 3 hours")


def test_a_stopped_api_server_is_named_at_once_and_recovered_from(lab: Lab) -> None:
    ana = person(lab, "U0RAE")
    server = lab.stack.control_plane.api_server
    lab.sync.stop()
    lab.warmup.stop()
    server.stop()
    try:
        time.sleep(1.0)
        asked = time.monotonic()
        answer = said(ana, "/gpu-quota", "vision", "can't reach")
        assert time.monotonic() - asked < 5
        assert "since" in answer
        assert "vision can start" in answer
    finally:
        server.start()
    reader = lab.playground.app.backend.sources.reader  # type: ignore[union-attr]
    wait_until(lambda: not reader.fleet().gaps, "the reader to recover", 60)
