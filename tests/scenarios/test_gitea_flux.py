"""The whole story on a real Gitea, a real Flux and a real Kueue, and all that goes wrong on the way.

Only Slack is a fake. Main is protected on Gitea: nobody pushes, and ``gpubot/approvals`` must be
green before a merge.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from capacity.errors import SourceDown
from gitops.request import State
from tests.cluster.flux import Flux
from tests.cluster.forge import Gitea
from tests.cluster.kueue import Kueue
from tests.cluster.web import RefusedError
from tests.scenarios.gitea_stage import QUEUES, Hands, Stage, wait

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]


@pytest.fixture
def stage(tmp_path: Path, gitea: Gitea, flux: Flux, kueue_cluster: Kueue) -> Iterator[Stage]:
    made = Stage(tmp_path, gitea, flux, kueue_cluster)
    try:
        made.follow()
        made.begin()
        yield made
    finally:
        made.end()


def test_eight_more_gpus_from_question_to_live(stage: Stage) -> None:
    card = stage.ask()
    wait(lambda: stage.status()[0] == "pending", "the pending status")
    pull = stage.pull()
    with pytest.raises(RefusedError, match="405"):
        stage.repository.merge(pull["number"], pull["head"]["sha"])

    stage.person("U0KIM").click(card, "approve")
    thread = stage.told(card, "Live in prod-eu")

    merged = stage.pull()
    assert merged["merged"]
    assert stage.status()[0] == "success"
    assert f"Flux applied {merged['merge_commit_sha'][:7]}" in thread
    told = (
        "opened",
        "@kim approved",
        "The policy is met",
        "Merged",
        "Flux applied",
        "Live in prod-eu",
    )
    places = [thread.index(words) for words in told]
    assert places == sorted(places)
    assert stage.nominal() == "40"
    message = stage.gitea.api_as().get(
        f"{stage.repository.path}/git/commits/{merged['merge_commit_sha']}"
    )["commit"]["message"]
    assert "Approved-by: Kim Larsen <slack:U0KIM; forge:bob>" in message
    changed = stage.repository.read(QUEUES)
    assert "nominalQuota: 40     # 4 nodes; was 24 until the Q3 review" in changed


def test_a_push_to_the_branch_voids_the_approvals(stage: Stage) -> None:
    card = stage.ask("research h100 nominal 64")
    stage.person("U0LI").click(card, "approve")
    stage.told(card, "approved")
    stage.push(stage.pull()["head"]["ref"], "nominalQuota: 64", "nominalQuota: 640", "alice")
    stage.told(card, "1 approval no longer counts")
    stage.person("U0KIM").click(stage.person("U0KIM").wait_for_text("camera-ready"), "approve")
    stage.told(card, "approved")
    wait(lambda: stage.status()[0] == "pending", "the pending status at the new head")
    assert not stage.pull()["merged"]
    assert stage.nominal() == "32"


def test_the_same_line_changed_on_main_is_a_conflict(stage: Stage) -> None:
    card = stage.ask()
    text = stage.repository.read(QUEUES)
    other = stage.repository.commit(
        {QUEUES: text.replace("nominalQuota: 32", "nominalQuota: 33")},
        "Another way",
        branch="other",
        user="bob",
    )
    number = stage.repository.open_pull("other", "Another way", user="bob")["number"]
    stage.repository.set_status(other, "gpubot/approvals", "success")
    wait(lambda: merged(stage, number, other), "the other pull request's merge")
    stage.told(card, "In conflict")
    assert not stage.pulls()[-1]["merged"]
    assert stage.request().state is State.CONFLICTED


def merged(stage: Stage, number: int, head: str) -> bool:
    """Merge; Gitea says "try again" while it looks at the pull request."""
    try:
        stage.repository.merge(number, head)
    except RefusedError as refused:
        if "try again" not in refused.body.lower():
            raise
        return False
    return True


def test_a_review_by_hand_counts_for_everybody_but_the_requester(stage: Stage) -> None:
    card = stage.ask()
    pull = stage.pull()
    review(stage, pull["number"], "alice")
    review(stage, pull["number"], "bob")
    thread = stage.told(card, "Live in prod-eu")
    assert "@kim approved" in thread
    assert "@ana approved" not in thread
    assert [vote.account for vote in stage.request().votes] == ["forge:bob"]


def review(stage: Stage, number: int, user: str) -> None:
    path = f"{stage.repository.path}/pulls/{number}/reviews"
    stage.gitea.api_as(user).post(path, {"event": "APPROVED", "body": "fine"})


def test_closed_by_hand_is_the_end(stage: Stage) -> None:
    card = stage.ask()
    path = f"{stage.repository.path}/pulls/{stage.pull()['number']}"
    stage.gitea.api_as("bob").patch(path, {"state": "closed"})
    stage.told(card, "Closed")
    wait(lambda: stage.request().settled, "the branch to be removed")
    with pytest.raises(RefusedError, match="404"):
        stage.repository.head(stage.request().branch)
    assert stage.nominal() == "32"


def test_what_flux_says_of_a_broken_manifest_is_in_the_thread(stage: Stage) -> None:
    card = stage.ask()
    broken = QUEUES.replace("queues", "broken")
    text = stage.repository.read(QUEUES).split("---")[1].replace("StrictFIFO", "Whatever")
    head = stage.repository.commit(
        {broken: text.replace("name: research\n", "name: broken\n", 1)},
        "Break it",
        branch="break",
        user="bob",
    )
    number = stage.repository.open_pull("break", "Break it", user="bob")["number"]
    stage.repository.set_status(head, "gpubot/approvals", "success")
    wait(lambda: merged(stage, number, head), "the broken manifest's merge")

    stage.person("U0KIM").click(card, "approve")
    thread = stage.told(card, "Flux can't bring it into the cluster")
    said = condition(stage)
    assert 'Unsupported value: "Whatever"' in said
    assert "spec.queueingStrategy" in thread
    assert said.split("\n")[0][:60] in thread
    assert stage.nominal() == "32"

    fixed = stage.repository.commit({broken: "# nothing\n"}, "Mend it", branch="mend", user="bob")
    number = stage.repository.open_pull("mend", "Mend it", user="bob")["number"]
    stage.repository.set_status(fixed, "gpubot/approvals", "success")
    wait(lambda: merged(stage, number, fixed), "the mended manifest's merge")
    thread = stage.told(card, "Live in prod-eu")
    assert "Flux applied" in thread
    assert stage.nominal() == "40"


def condition(stage: Stage) -> str:
    """Flux's own words in the Kustomization's Ready condition."""
    found = stage.flux.status(stage.name).get("conditions", ())
    return next((c["message"] for c in found if c["type"] == "Ready"), "")


def test_drift_is_told_from_gitea_and_the_cluster(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    ana.slash("/gpu-drift")
    ana.wait_for_text("Flux")
    ana.wait_for_text("agree on")


STEPS = ("open", "status", "comment", "merge", "close")


def test_gitea_away_at_every_step_loses_nothing_and_doubles_nothing(stage: Stage) -> None:
    """The bot of this test is ticked by hand, so that each step meets a stopped Gitea once."""
    stage.stop_bot()
    hands = Hands(stage)
    request = hands.submit()
    met: list[str] = []
    for _ in range(60):
        step = hands.next_step()
        if step in STEPS and step not in met:
            met.append(step)
            stage.gitea.process.stop()
            hands.tick()
            stage.gitea.process.start()
            hands.later()
        hands.tick()
        request = hands.request()
        if step is None and not request.standing_votes and request.state is State.OPEN:
            stage.gitea.process.stop()
            with suppress(SourceDown):  # the policy was read a moment ago, or it can't be: both do
                hands.approve()
            stage.gitea.process.start()
            hands.later()
            hands.approve()
        if request.settled:
            break
    assert request.state is State.LIVE
    assert set(met) == set(STEPS)
    assert stage.nominal() == "40"
    (pull,) = stage.pulls()
    assert pull["merged"]
    path = f"{stage.repository.path}/issues/{pull['number']}/comments"
    comments = [c["body"] for c in stage.gitea.api_as().get(path)]
    assert len(comments) == len(set(comments)) == len(request.chores.comments)
    kinds = hands.kinds()
    once = ("submitted", "opened", "voted", "approved", "merged", "applied", "live")
    assert [kind for kind in kinds if kind in once] == list(once)
    assert kinds.count("trouble") == len(STEPS)
    assert request.trouble is None
    hands.end()


def test_gitea_away_after_the_merge_is_told_by_flux_and_ends_well(stage: Stage) -> None:
    card = stage.ask()
    stage.plane.kubectl(
        "-n",
        "flux-system",
        "patch",
        "gitrepository",
        stage.name,
        "--type=merge",
        "-p",
        '{"spec":{"suspend":true}}',
    )
    stage.person("U0KIM").click(card, "approve")
    stage.told(card, "suspended")
    stage.gitea.process.stop()
    stage.plane.kubectl(
        "-n",
        "flux-system",
        "patch",
        "gitrepository",
        stage.name,
        "--type=merge",
        "-p",
        '{"spec":{"suspend":false}}',
    )
    thread = stage.told(card, "failed to checkout")
    assert f"GitRepository flux-system/{stage.name}" in thread
    stage.gitea.process.start()
    thread = stage.told(card, "Live in prod-eu", 120)
    assert "Flux applied" in thread
