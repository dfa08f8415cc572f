"""Pasted manifests: what they ask for, and that no text of any kind does harm."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.demand import selects
from capacity.errors import GpubotError, UnknownName, UsageError
from capacity.model import ResourceFlavor
from capacity.placement import Taint
from commands.fit_data import total
from commands.manifest_ask import MOST_BYTES, shape_of
from commands.parse import parse
from commands.table import run
from tests.builders import ANA, GPU, FakeWorld
from tests.commands.stories import MANIFEST

CONTAINER = "containers: [{name: m, resources: {limits: {nvidia.com/gpu: 8}, requests: {cpu: 4}}}]"

JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: eval, labels: {{kueue.x-k8s.io/queue-name: vision}}}}
spec:
  parallelism: 4
  completions: 3
  template: {{spec: {{{CONTAINER}}}}}
"""
PYTORCH = f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: ddp}}
spec:
  pytorchReplicaSpecs:
    Master: {{replicas: 1, template: {{spec: {{{CONTAINER}}}}}}}
    Worker: {{replicas: 3, template: {{spec: {{{CONTAINER}}}}}}}
"""
RAY = f"""\
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: ray}}
spec:
  rayClusterSpec:
    headGroupSpec: {{template: {{spec: {{containers: [{{name: h}}]}}}}}}
    workerGroupSpecs:
    - {{groupName: gpu, replicas: 2, numOfHosts: 2, template: {{spec: {{{CONTAINER}}}}}}}
"""
WORKLOAD = f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: w, namespace: research}}
spec:
  queueName: research
  podSets:
  - {{name: main, count: 2, template: {{spec: {{{CONTAINER}}}}}}}
"""
TRAIN = """\
kind: TrainJob
metadata: {name: t}
spec: {trainer: {numNodes: 3, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}}
"""


@pytest.mark.parametrize(
    ("text", "gpus", "pods"),
    [
        (JOB, 24, 3),
        (MANIFEST, 16, 2),
        (PYTORCH, 32, 4),
        (RAY, 32, 5),
        (WORKLOAD, 16, 2),
        (TRAIN, 12, 3),
    ],
)
def test_the_size_is_what_kueue_would_count(text: str, gpus: int, pods: int):
    shape = shape_of(text)
    assert total(shape)[GPU] == gpus
    assert sum(s.count for s in shape.pod_sets) == pods


def test_requests_beside_limits_count_too():
    assert total(shape_of(JOB))["cpu"] == 3 * 4000


def test_queue_namespace_and_selector_are_taken_from_the_manifest():
    shape = shape_of(MANIFEST)
    assert (shape.queue_name, shape.namespace) == ("research", "research")
    assert shape.pod_sets[0].node_selector == {"gpu.example.com/card": "h100"}
    assert shape_of(WORKLOAD).queue_name == "research"


SPOT = """\
kind: Job
spec:
  template:
    spec:
      tolerations: [{key: spot, operator: Exists}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: card, operator: In, values: [h100]}]}]
      containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]
"""


def test_taints_and_node_affinity_are_held_against_the_manifest():
    (spot,) = shape_of(SPOT).pod_sets
    taint = (Taint("spot", "", "NoSchedule"),)
    h100, a100 = ({"card": card} for card in ("h100", "a100"))
    assert selects(spot, ResourceFlavor("f", h100, taint))
    assert not selects(spot, ResourceFlavor("f", a100))
    assert not selects(shape_of(MANIFEST).pod_sets[0], ResourceFlavor("f", {}, taint))


def test_other_documents_are_passed_over_and_further_jobs_are_counted():
    text = f"kind: Service\n---\n{JOB}---\n{PYTORCH}"
    shape = shape_of(text)
    assert shape.title == "Job eval"
    assert shape.notes == ("1 more job in the manifest not looked at.",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kind: Service",
        "just words",
        "kind: Job\nspec: [1, 2]",
        "kind: Job\nspec: {parallelism: many}",
        "kind: Job\nspec: {parallelism: -3}",
        "kind: Job\nspec: {template: {spec: {containers: [{resources: {limits: {cpu: '-1'}}}]}}}",
        "kind: Job\nspec: {template: {spec: {containers: [{resources: {limits: {cpu: x}}}]}}}",
        "kind: JobSet\nspec: {}",
        "kind: TrainJob\nspec: {}",
        "kind: Job\nmetadata: !!python/object/apply:os.system [ls]",
        "kind: Job\nspec: {a: &a 1, b: *a}",
        "kind: Job\nwhen: 2026-99-99",
        "kind: Job\nspec: " + "[" * 200,
        "kind: Job\n" + "x" * (MOST_BYTES + 1),
        "{ kind: Job",
        "kind: Job\n\x07: bell",
        "kind: [Job]\n",
        "kind: {Job: 1}\n",
        "? {a: b}\n: kind\n",
    ],
)
def test_what_is_no_job_is_refused_with_a_sentence(text: str):
    with pytest.raises(UsageError):
        shape_of(text)


def test_the_manifests_own_queue_is_asked_unless_another_is_named():
    answer, _ = run(parse(f"fit\n{JOB}", ANA), FakeWorld())
    assert answer.queue == "vision"
    assert answer.ignored == ("cpu",)
    answer, _ = run(parse(f"fit --queue serving\n{JOB}", ANA), FakeWorld())
    assert answer.queue == "serving"


def test_a_manifest_for_a_queue_that_does_not_exist_gets_the_nearest():
    with pytest.raises(UnknownName) as caught:
        run(parse("fit\n" + JOB.replace("vision", "visoin"), ANA), FakeWorld())
    assert caught.value.nearest == ("vision",)


yamls = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["Job", "JobSet", "PyTorchJob", "RayJob", "Workload", "TrainJob", "Pod"]),
    st.sampled_from(
        ["parallelism", "replicatedJobs", "pytorchReplicaSpecs", "rayClusterSpec", "podSets"]
    ),
    yamls,
)
def test_any_value_at_any_place_gives_a_shape_or_a_sentence(kind: str, key: str, value):
    import json

    assert attempt(json.dumps({"kind": kind, "spec": {key: value}, "metadata": value}))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=" \n\t:-[]{}#&*!|>'\"%@`kindJob,?\x00é", max_size=80))
def test_any_text_gives_a_shape_or_a_sentence(text: str):
    assert attempt("kind: Job\n" + text)


def attempt(text: str) -> str:
    try:
        return shape_of(text).title
    except GpubotError as error:
        return error.sentence


@pytest.mark.parametrize(
    "line",
    [
        "x: !!bool foo",
        'x: !!int ""',
        'x: !!float ""',
        "x: !!timestamp foo",
        "x: !local {a: 1}",
        "x: " + "1:" * 3000 + "1.0",
        "kind2: {1: x}",
    ],
)
def test_yaml_that_breaks_a_parser_is_a_sentence_or_read(line: str):
    with contextlib.suppress(UsageError):
        assert shape_of(f"{JOB_TEXT}{line}\n").title == "Job eval"


def test_a_key_that_is_no_string_breaks_nothing():
    with pytest.raises(UsageError):
        shape_of("kind: PyTorchJob\nspec: {1: x, null: y}\n")


def test_a_quantity_of_thousands_of_digits_is_refused():
    with pytest.raises(UsageError):
        shape_of(JOB_TEXT.replace("gpu: 8", "gpu: 0x" + "f" * 40_000))


def test_two_negative_counts_make_no_positive_one():
    role = (
        "{replicas: -2, template: {spec: {parallelism: -3, template: {spec: {containers: ["
        "{name: a, resources: {requests: {nvidia.com/gpu: 1}}}]}}}}}"
    )
    with pytest.raises(UsageError):
        shape_of(f"kind: JobSet\nspec: {{replicatedJobs: [{role}]}}\n")


def test_a_name_longer_than_kubernetes_allows_is_not_echoed():
    with pytest.raises(UsageError) as caught:
        shape_of(JOB_TEXT.replace("name: eval", "name: " + "a" * 50_000))
    assert len(caught.value.sentence) < 200


@pytest.mark.parametrize(
    "fenced", ["```{}```", "```yaml\n{}```\n", "\n```json\n{}\n```", "---\n```yml\n{}"]
)
def test_a_code_fence_is_not_part_of_the_manifest(fenced: str):
    assert shape_of(fenced.format(JOB_TEXT)).title == "Job eval"


def test_a_fence_inside_a_manifest_stays():
    assert shape_of(f"{JOB_TEXT}# use ```kubectl``` for it\n").title == "Job eval"


JOB_TEXT = """kind: Job
metadata: {name: eval}
spec:
  template: {spec: {containers: [{name: a, resources: {requests: {nvidia.com/gpu: 8}}}]}}
"""
