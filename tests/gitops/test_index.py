from pathlib import Path
from textwrap import dedent

import pytest

from capacity.errors import Refused, UnknownName, UsageError
from gitops.index import Index, Wanted
from gitops.indexer import Indexer
from gitops.manifest import apply
from gitops.repository import Repository
from tests.gitops.repositories import commit

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  cohortName: ml
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 32  # half of the 64
        borrowingLimit: "16"
    - name: a100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 8
"""
NOMINAL = Wanted("nominalQuota", "h100", "nvidia.com/gpu")


def index(tmp_path: Path, files: dict[str, str]) -> Index:
    path = tmp_path / "fleet.git"
    head = commit(path, {name: dedent(text) for name, text in files.items()})
    return Indexer(Repository(path)).at(head)


def read(tmp_path: Path, path: str) -> bytes:
    repository = Repository(tmp_path / "fleet.git")
    found = repository.read(path, repository.head())
    assert found is not None
    return found


def test_a_quota_is_found_where_it_stands(tmp_path: Path) -> None:
    found = index(tmp_path, {"clusters/prod/queues.yaml": "# queues\n---\n" + QUEUE}).find(
        "prod", "ClusterQueue", "research", NOMINAL
    )
    assert (str(found), found.held, found.cluster) == ("clusters/prod/queues.yaml:15", "32", "prod")
    assert str(found.pointer) == (
        "spec.resourceGroups[0].flavors[name=h100].resources[name=nvidia.com/gpu]"
    )


def test_a_missing_limit_is_found_as_the_place_to_insert_it(tmp_path: Path) -> None:
    found = index(tmp_path, {"clusters/prod/q.yaml": QUEUE})
    place = found.find(
        "prod", "ClusterQueue", "research", Wanted("lendingLimit", "h100", "nvidia.com/gpu")
    )
    assert place.held is None
    edited = apply(place.path, QUEUE.encode(), [place.edit(None, "4")])
    assert edited.data.decode().splitlines()[12:15] == [
        "        nominalQuota: 32  # half of the 64",
        "        lendingLimit: 4",
        '        borrowingLimit: "16"',
    ]


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        (Wanted("nominalQuota", "a100", "nvidia.com/gpu"), "8"),
        (Wanted("borrowingLimit", "h100", "nvidia.com/gpu"), "16"),
        (Wanted("cohort"), "ml"),
        (Wanted("cohortName"), "ml"),
    ],
)
def test_fields_of_a_queue(tmp_path: Path, wanted: Wanted, held: str) -> None:
    found = index(tmp_path, {"q.yaml": QUEUE}).find("", "ClusterQueue", "research", wanted)
    assert found.held == held


def test_v1beta1_names_the_cohort_as_it_does(tmp_path: Path) -> None:
    old = QUEUE.replace("v1beta2", "v1beta1").replace("cohortName", "cohort")
    found = index(tmp_path, {"q.yaml": old})
    assert found.find("", "ClusterQueue", "research", Wanted("cohortName")).field == "cohort"


def test_unknown_names_come_with_the_nearest(tmp_path: Path) -> None:
    other = QUEUE.replace("research", "vision")
    found = index(tmp_path, {"clusters/prod/q.yaml": QUEUE, "clusters/staging/q.yaml": other})
    for name, wanted, nearest in [
        ("reserch", NOMINAL, "research"),
        ("research", Wanted("nominalQuota", "h10", "nvidia.com/gpu"), "h100"),
        ("research", Wanted("nominalQuota", "h100", "nvidia.com/gpus"), "nvidia.com/gpu"),
    ]:
        with pytest.raises(UnknownName) as caught:
            found.find("prod", "ClusterQueue", name, wanted)
        assert caught.value.nearest[0] == nearest
    with pytest.raises(UnknownName) as caught:
        found.find("staging", "ClusterQueue", "research", NOMINAL)
    assert "research in prod" in caught.value.next_step


def test_the_same_queue_in_two_clusters_is_told_apart(tmp_path: Path) -> None:
    found = index(
        tmp_path,
        {
            "production/east/q.yaml": QUEUE,
            "production/west/q.yaml": QUEUE.replace("32 ", "40 "),
        },
    )
    assert found.clusters == ("east", "west")
    assert found.find("west", "ClusterQueue", "research", NOMINAL).held == "40"
    with pytest.raises(Refused, match="defined in 2 places"):
        found.find("", "ClusterQueue", "research", NOMINAL)


def test_two_files_of_one_cluster_with_the_same_queue_are_refused(tmp_path: Path) -> None:
    found = index(tmp_path, {"clusters/a/one.yaml": QUEUE, "clusters/a/two.yaml": QUEUE})
    with pytest.raises(Refused, match=r"clusters/a/one.yaml:1, clusters/a/two.yaml:1"):
        found.find("a", "ClusterQueue", "research", NOMINAL)


LAYOUT = """\
clusters:
- path: sites/{cluster}/**
- path: "**"
  cluster: prod-eu
generated:
- path: sites/*/made.yaml
  from: host-config.yaml
ignore:
- vendor/**
"""


def test_the_layout_file_says_what_belongs_to_which_cluster(tmp_path: Path) -> None:
    found = index(
        tmp_path,
        {
            "gpubot/layout.yaml": LAYOUT,
            "sites/lyon/q.yaml": QUEUE,
            "other/q.yaml": QUEUE,
            "vendor/q.yaml": QUEUE,
        },
    )
    assert found.clusters == ("lyon", "prod-eu")
    place = found.find("prod-eu", "ClusterQueue", "research", NOMINAL)
    assert (place.path, place.guessed) == ("other/q.yaml", False)


def test_a_single_guessed_cluster_goes_by_any_name(tmp_path: Path) -> None:
    found = index(tmp_path, {"clusters/prod/q.yaml": QUEUE})
    assert found.find("prod-eu", "ClusterQueue", "research", NOMINAL).cluster == "prod"


def test_a_guessed_cluster_says_so(tmp_path: Path) -> None:
    place = index(tmp_path, {"clusters/a/q.yaml": QUEUE}).find(
        "a", "ClusterQueue", "research", NOMINAL
    )
    assert place.guessed


def test_a_broken_layout_is_said_with_every_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown key 'x'.*line 2: name the cluster"):
        index(tmp_path, {"gpubot/layout.yaml": "clusters:\n- path: a/**\nx: 1\n"})


def test_generated_files_are_refused_with_their_source(tmp_path: Path) -> None:
    found = index(tmp_path, {"gpubot/layout.yaml": LAYOUT, "sites/lyon/made.yaml": QUEUE})
    with pytest.raises(Refused) as caught:
        found.find("lyon", "ClusterQueue", "research", NOMINAL)
    assert "sites/lyon/made.yaml:1 is generated" in caught.value.sentence
    assert caught.value.next_step == "Change host-config.yaml instead."


@pytest.mark.parametrize(
    "head",
    [
        "# Code generated by quota-gen. DO NOT EDIT.",
        "# This file is auto-generated",
        "# generated from x",
    ],
)
def test_a_generated_header_is_recognised(tmp_path: Path, head: str) -> None:
    found = index(tmp_path, {"q.yaml": f"{head}\n{QUEUE}"})
    with pytest.raises(Refused, match="is generated"):
        found.find("", "ClusterQueue", "research", NOMINAL)


KUSTOMIZE = {
    "base/kustomization.yaml": "resources: [queue.yaml]\n",
    "base/queue.yaml": QUEUE,
    "overlays/east/kustomization.yaml": "resources: [../../base]\n",
    "overlays/west/kustomization.yaml": "resources: [../../base]\n",
}


def test_a_base_that_clusters_share_is_refused(tmp_path: Path) -> None:
    found = index(tmp_path, KUSTOMIZE)
    assert found.clusters == ("east", "west")
    with pytest.raises(Refused, match=r"base/queue.yaml is a base that east shares with west"):
        found.find("east", "ClusterQueue", "research", NOMINAL)


def test_a_base_of_one_cluster_is_edited(tmp_path: Path) -> None:
    files = {path: text for path, text in KUSTOMIZE.items() if "west" not in path}
    found = index(tmp_path, files).find("east", "ClusterQueue", "research", NOMINAL)
    assert (str(found), found.cluster) == ("base/queue.yaml:13", "east")


STRATEGIC = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 40}
"""


def test_a_strategic_patch_that_sets_the_list_is_the_place(tmp_path: Path) -> None:
    east = "resources: [../../base]\npatches:\n- path: more.yaml\n"
    files = {
        **KUSTOMIZE,
        "overlays/east/kustomization.yaml": east,
        "overlays/east/more.yaml": STRATEGIC,
    }
    found = index(tmp_path, files)
    place = found.find("east", "ClusterQueue", "research", NOMINAL)
    assert (str(place), place.held) == ("overlays/east/more.yaml:11", "40")
    with pytest.raises(UnknownName):
        found.find(
            "east", "ClusterQueue", "research", Wanted("nominalQuota", "a100", "nvidia.com/gpu")
        )
    with pytest.raises(Refused, match="shares with east"):
        found.find("west", "ClusterQueue", "research", NOMINAL)


def test_a_strategic_patch_of_something_else_leaves_the_place_in_the_base(tmp_path: Path) -> None:
    files = {path: text for path, text in KUSTOMIZE.items() if "west" not in path}
    patch = STRATEGIC[: STRATEGIC.index("  resourceGroups")] + "  queueingStrategy: StrictFIFO\n"
    files["overlays/east/kustomization.yaml"] += "patchesStrategicMerge:\n- strict.yaml\n"
    found = index(tmp_path, {**files, "overlays/east/strict.yaml": patch})
    assert found.find("east", "ClusterQueue", "research", NOMINAL).path == "base/queue.yaml"
    (manifest,) = (m for m in found.manifests("east") if m.kind == "ClusterQueue")
    assert manifest.data["spec"]["queueingStrategy"] == "StrictFIFO"
    assert manifest.data["spec"]["cohortName"] == "ml"


INLINE = """\
resources:
- ../../base
patches:
- target:
    kind: ClusterQueue
    name: research
  patch: |-
    - op: replace
      path: /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota
      value: 48
    - op: add
      path: /spec/resourceGroups/0/flavors/1/resources/0/lendingLimit
      value: 2
"""


def test_an_operation_inside_a_kustomization_is_the_place(tmp_path: Path) -> None:
    found = index(tmp_path, {**KUSTOMIZE, "overlays/east/kustomization.yaml": INLINE})
    place = found.find("east", "ClusterQueue", "research", NOMINAL)
    assert (str(place), place.held, place.field) == (
        "overlays/east/kustomization.yaml:10",
        "48",
        "value",
    )
    after = apply(place.path, read(tmp_path, place.path), [place.edit("48", "50")]).data.decode()
    assert after == INLINE.replace("48", "50")
    lending = Wanted("lendingLimit", "a100", "nvidia.com/gpu")
    assert found.find("east", "ClusterQueue", "research", lending).held == "2"


def test_operations_in_a_file_of_their_own(tmp_path: Path) -> None:
    operations = '- op: replace\n  path: "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"\n  value: 48\n'
    east = "resources: [../../base]\npatchesJson6902:\n- target: {kind: ClusterQueue, name: research}\n  path: ops.yaml\n"
    files = {
        **KUSTOMIZE,
        "overlays/east/kustomization.yaml": east,
        "overlays/east/ops.yaml": operations,
    }
    place = index(tmp_path, files).find("east", "ClusterQueue", "research", NOMINAL)
    assert (str(place), place.held) == ("overlays/east/ops.yaml:3", "48")


def test_a_component_and_a_name_prefix_are_followed(tmp_path: Path) -> None:
    files = {
        "base/kustomization.yaml": "resources: [queue.yaml]\n",
        "base/queue.yaml": QUEUE,
        "more/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: more.yaml\n",
        "more/more.yaml": STRATEGIC,
        "clusters/a/kustomization.yaml": "namePrefix: eu-\nresources: [../../base]\ncomponents: [../../more]\n",
    }
    place = index(tmp_path, files).find("a", "ClusterQueue", "eu-research", NOMINAL)
    assert (place.path, place.held) == ("more/more.yaml", "40")


def test_a_patch_written_as_quoted_text_is_refused(tmp_path: Path) -> None:
    east = 'resources: [../../base]\npatches:\n- target: {kind: ClusterQueue}\n  patch: "- op: remove"\n'
    found = index(tmp_path, {**KUSTOMIZE, "overlays/east/kustomization.yaml": east})
    with pytest.raises(
        Refused, match=r"overlays/east/kustomization.yaml:3 patches research with text"
    ):
        found.find("east", "ClusterQueue", "research", NOMINAL)


VALUES = """\
kueue:
  clusterQueues:
  - name: research
    cohort: ml
    resourceGroups:
    - coveredResources: ["nvidia.com/gpu"]
      flavors:
      - name: h100
        resources:
        - name: nvidia.com/gpu
          nominalQuota: "32"
  - name: vision
    spec:
      resourceGroups:
      - coveredResources: ["nvidia.com/gpu"]
        flavors:
        - name: h100
          resources:
          - name: nvidia.com/gpu
            nominalQuota: 24
  cohorts:
    ml:
      resourceGroups:
      - coveredResources: ["nvidia.com/gpu"]
        flavors:
        - name: h100
          resources:
          - name: nvidia.com/gpu
            nominalQuota: 5
"""


@pytest.mark.parametrize(
    ("kind", "name", "held"),
    [("ClusterQueue", "research", "32"), ("ClusterQueue", "vision", "24"), ("Cohort", "ml", "5")],
)
def test_queues_in_a_values_file(tmp_path: Path, kind: str, name: str, held: str) -> None:
    found = index(tmp_path, {"charts/kueue/values.yaml": VALUES})
    assert found.find("", kind, name, NOMINAL).held == held


def test_queues_in_a_values_file_become_whole_objects(tmp_path: Path) -> None:
    manifests = index(tmp_path, {"charts/kueue/values.yaml": VALUES}).manifests("")
    shapes = {m.name: (m.data["apiVersion"], m.data["spec"].get("cohort")) for m in manifests}
    assert shapes == {
        "research": ("kueue.x-k8s.io/v1beta1", "ml"),
        "vision": ("kueue.x-k8s.io/v1beta2", None),
        "ml": ("kueue.x-k8s.io/v1beta2", None),
    }


CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: device-plugin
data:
  a100: |-
    version: v1
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 4
  config.yaml: |
    version: v1
    mig-configs:
      mixed:
      - devices: all
        mig-enabled: true
        mig-devices:
          "1g.10gb": 2
          "3g.40gb": 1
"""


def test_time_slicing_and_mig_inside_text_blocks(tmp_path: Path) -> None:
    found = index(tmp_path, {"gpu.yaml": CONFIG})
    slicing = found.find(
        "", "TimeSlicing", "device-plugin/a100", Wanted("replicas", resource="nvidia.com/gpu")
    )
    mig = found.find(
        "", "MigConfig", "device-plugin/config.yaml", Wanted("mig-devices", "mixed", "1g.10gb")
    )
    assert (slicing.held, slicing.line, mig.held, mig.line) == ("4", 12, "2", 20)
    after = apply("gpu.yaml", CONFIG.encode(), [slicing.edit("4", "8"), mig.edit("2", "4")])
    assert after.data.decode() == CONFIG.replace("replicas: 4", "replicas: 8").replace(
        '10gb": 2', '10gb": 4'
    )


def test_a_text_block_that_an_overlay_patches_is_refused(tmp_path: Path) -> None:
    files = {
        "base/kustomization.yaml": "resources: [gpu.yaml]\n",
        "base/gpu.yaml": CONFIG,
        "clusters/a/kustomization.yaml": "resources: [../../base]\npatches:\n- target: {kind: ConfigMap, name: device-plugin}\n  patch: |-\n    - op: add\n      path: /data\n      value: {}\n",
    }
    with pytest.raises(Refused, match=r"clusters/a/kustomization.yaml:3 may patch the text"):
        index(tmp_path, files).find(
            "a", "TimeSlicing", "device-plugin/a100", Wanted("replicas", resource="nvidia.com/gpu")
        )


def test_the_driver_version_stands_in_the_patch(tmp_path: Path) -> None:
    policy = "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata:\n  name: gpu-cluster-policy\nspec:\n  driver:\n"
    files = {
        "base/kustomization.yaml": "resources: [policy.yaml]\n",
        "base/policy.yaml": policy + "    enabled: true\n    version: 570.1.1\n",
        "overlays/prod/kustomization.yaml": "resources: [../../base]\npatches:\n- path: patch.yaml\n",
        "overlays/prod/patch.yaml": policy + '    version: "580.126.20"\n',
    }
    found = index(tmp_path, files)
    place = found.find("prod", "ClusterPolicy", "gpu-cluster-policy", Wanted("driver.version"))
    assert (str(place), place.held) == ("overlays/prod/patch.yaml:7", "580.126.20")


OTHERS = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: ml}
spec: {parentName: top, fairSharing: {weight: "2"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: h100}
spec: {version: "580.126.20"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
data:
  resources: |
    - name: cpu
      nominalQuota: 0
      borrowingLimit: 4
"""


@pytest.mark.parametrize(
    ("kind", "name", "wanted", "held", "value_kind"),
    [
        ("Cohort", "ml", Wanted("fairSharing.weight"), "2", "quantity"),
        ("Cohort", "ml", Wanted("parentName"), "top", "text"),
        ("WorkloadPriorityClass", "high", Wanted("value"), "1000", "integer"),
        ("NVIDIADriver", "h100", Wanted("version"), "580.126.20", "text"),
        (
            "QuotaList",
            "shared/resources",
            Wanted("borrowingLimit", resource="cpu"),
            "4",
            "quantity",
        ),
    ],
)
def test_fields_of_other_kinds(
    tmp_path: Path, kind: str, name: str, wanted: Wanted, held: str, value_kind: str
) -> None:
    place = index(tmp_path, {"all.yaml": OTHERS}).find("", kind, name, wanted)
    assert (place.held, place.kind) == (held, value_kind)


def test_a_field_whose_mapping_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="There is no fairSharing to put weight in"):
        index(tmp_path, {"q.yaml": QUEUE}).find(
            "", "ClusterQueue", "research", Wanted("fairSharing.weight")
        )


def test_kyverno_s_cluster_policy_is_not_nvidia_s(tmp_path: Path) -> None:
    other = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata:\n  name: x\n# nominalQuota\n"
    assert index(tmp_path, {"p.yaml": other}).entries == ()


TEMPLATE = QUEUE.replace("research", "{{ .Values.name }}").replace("32 ", "{{ .Values.gpus }} ")


def test_a_templated_value_is_refused_at_its_place(tmp_path: Path) -> None:
    found = index(
        tmp_path, {"templates/q.yaml": TEMPLATE.replace("{{ .Values.name }}", "research")}
    )
    with pytest.raises(Refused, match=r"templates/q.yaml:13 takes its value from a template"):
        found.find("", "ClusterQueue", "research", NOMINAL)


def test_files_that_cannot_be_read_are_listed(tmp_path: Path) -> None:
    found = index(tmp_path, {"bad.yaml": "nominalQuota: [1\n", "q.yaml": QUEUE})
    (said,) = found.unreadable
    assert said.startswith("bad.yaml:2 can't be parsed as YAML")
    assert found.find("", "ClusterQueue", "research", NOMINAL)


def test_aliases_that_grow_without_bounds_are_not_followed(tmp_path: Path) -> None:
    bomb = "nominalQuota: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"k{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
    )
    (said,) = index(tmp_path, {"bomb.yaml": bomb}).unreadable
    assert "grows without bounds" in said


def test_deep_nesting_is_not_followed(tmp_path: Path) -> None:
    deep = "nominalQuota: " + "[" * 5000 + "]" * 5000 + "\n"
    (said,) = index(tmp_path, {"deep.yaml": deep}).unreadable
    assert said.startswith("deep.yaml:1")


def test_only_changed_files_are_read_again(tmp_path: Path) -> None:
    class Counted(Repository):
        reads = 0

        def blob(self, blob: str) -> bytes:
            self.reads += 1
            return super().blob(blob)

    path = tmp_path / "fleet.git"
    files = {f"clusters/c{i}/q.yaml": QUEUE.replace("32 ", f"{i + 1} ") for i in range(20)}
    first = commit(path, files)
    repository = Counted(path)
    indexer = Indexer(repository)
    indexer.at(first)
    before = repository.reads
    second = commit(
        path, {"clusters/c3/q.yaml": QUEUE.replace("32 ", "99 "), "clusters/c4/q.yaml": None}
    )
    found = indexer.at(second)
    assert repository.reads == before + 1
    assert found.find("c3", "ClusterQueue", "research", NOMINAL).held == "99"
    assert "c4" not in found.clusters
    assert indexer.at(first).find("c3", "ClusterQueue", "research", NOMINAL).held == "4"
    assert indexer.at(second) is found


def test_an_index_built_step_by_step_equals_one_built_at_once(tmp_path: Path) -> None:
    path = tmp_path / "fleet.git"
    commits = [
        commit(path, {"clusters/a/q.yaml": QUEUE}),
        commit(path, {"clusters/a/q.yaml": None, "clusters/b/q.yaml": QUEUE}),
        commit(path, {"clusters/a/v.yaml": VALUES}),
    ]
    stepwise = Indexer(Repository(path))
    for head in commits:
        grown, fresh = stepwise.at(head), Indexer(Repository(path)).at(head)
        assert grown.manifests("a") == fresh.manifests("a")
        assert grown.clusters == fresh.clusters
