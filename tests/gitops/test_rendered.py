"""The rendered proof with the real programs, and what is said without them."""

from dataclasses import replace
from pathlib import Path

import pytest

from capacity.errors import Refused
from gitops.change import build_change
from gitops.index import Index
from gitops.indexer import Indexer
from gitops.rendered import Programs, Renderer
from gitops.rendered_compare import differences, objects
from gitops.repository import Repository
from gitops.request import Draft
from tests.gitops.repositories import commit
from tests.gitops.test_index import INLINE, KUSTOMIZE, QUEUE, STRATEGIC

DRAFT = Draft("nominal", "research", "h100", "nvidia.com/gpu", "32", "40", cluster="east")
OVERLAY = {path: text for path, text in KUSTOMIZE.items() if "west" not in path}


def prepared(tmp_path: Path, files: dict[str, str], programs: Programs) -> tuple[Index, Renderer]:
    path = tmp_path / "fleet.git"
    head = commit(path, files)
    repository = Repository(path)
    return Indexer(repository).at(head), Renderer(repository, programs)


def notes(
    tmp_path: Path, files: dict[str, str], programs: Programs, draft: Draft = DRAFT
) -> tuple[str, ...]:
    index, renderer = prepared(tmp_path, files, programs)
    found = build_change(index, draft, renderer.prove).notes
    return tuple(note for note in found if "ender" in note)


def test_without_the_program_it_says_not_rendered(tmp_path: Path) -> None:
    assert notes(tmp_path, OVERLAY, Programs()) == (
        "Not rendered: kustomize isn't installed here.",
    )


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    program = tmp_path / "kustomize"
    program.write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 3\n")
    program.chmod(0o755)
    (said,) = notes(tmp_path, OVERLAY, Programs(kustomize=program))
    assert said == "Not rendered: kustomize says: no such thing."


def test_a_program_that_hangs_is_given_up(tmp_path: Path) -> None:
    program = tmp_path / "kustomize"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    program.chmod(0o755)
    (said,) = notes(tmp_path, OVERLAY, Programs(kustomize=program, seconds=0.2))
    assert said == "Not rendered: kustomize couldn't be run (TimeoutExpired)."


def test_a_base_from_the_network_is_not_fetched(tmp_path: Path) -> None:
    base = "resources: [queue.yaml, 'https://example.org/base?ref=v1']\n"
    (said,) = notes(
        tmp_path, {**OVERLAY, "base/kustomization.yaml": base}, Programs(kustomize=Path("/nowhere"))
    )
    assert "takes in https://example.org/base?ref=v1 from the network" in said


def test_objects_are_compared_by_their_identity() -> None:
    found = objects(
        b"kind: A\nmetadata: {name: x}\nspec: {n: 1}\n---\nkind: A\nmetadata: {name: x, namespace: y}\n"
    )
    assert set(found) == {("A", "", "x"), ("A", "y", "x")}
    assert list(differences({"a": [1, {"b": 2}], "c": 3}, {"a": [1, {"b": 4}], "d": 3})) == [
        ("a", 1, "b"),
        ("c",),
        ("d",),
    ]


@pytest.mark.cluster
def test_a_base_s_change_is_proved_through_its_overlay(
    tmp_path: Path, kustomize_program: Path
) -> None:
    said = notes(tmp_path, OVERLAY, Programs(kustomize=kustomize_program))
    assert said == (
        "Rendered overlays/east with kustomize: exactly nominalQuota of ClusterQueue research changes.",
    )


@pytest.mark.cluster
@pytest.mark.parametrize("kind", ["strategic", "operation"])
def test_a_patch_s_change_is_proved(tmp_path: Path, kustomize_program: Path, kind: str) -> None:
    strategic = {
        "overlays/east/kustomization.yaml": "resources: [../../base]\npatches:\n- path: more.yaml\n",
        "overlays/east/more.yaml": STRATEGIC,
    }
    files = {
        **OVERLAY,
        **(strategic if kind == "strategic" else {"overlays/east/kustomization.yaml": INLINE}),
    }
    draft = replace(DRAFT, old="40" if kind == "strategic" else "48", new="50")
    (said,) = notes(tmp_path, files, Programs(kustomize=kustomize_program), draft)
    assert said.startswith("Rendered overlays/east with kustomize: exactly nominalQuota")


@pytest.mark.cluster
def test_what_the_index_can_t_see_overriding_is_refused(
    tmp_path: Path, kustomize_program: Path
) -> None:
    """A replacement overrides the value after all patches, which only rendering shows."""
    overlay = """\
resources: [../../base]
configMapGenerator:
- name: numbers
  literals: [gpus=5]
replacements:
- source: {kind: ConfigMap, name: numbers, fieldPath: data.gpus}
  targets:
  - select: {kind: ClusterQueue, name: research}
    fieldPaths: [spec.resourceGroups.0.flavors.0.resources.0.nominalQuota]
"""
    with pytest.raises(Refused, match="doesn't reach the cluster: overlays/east with kustomize"):
        notes(
            tmp_path,
            {**OVERLAY, "overlays/east/kustomization.yaml": overlay},
            Programs(kustomize=kustomize_program),
        )


@pytest.mark.cluster
def test_the_index_and_kustomize_agree_on_the_effective_object(
    tmp_path: Path, kustomize_program: Path
) -> None:
    files = {
        "base/kustomization.yaml": "resources: [queue.yaml]\n",
        "base/queue.yaml": QUEUE,
        "more/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: more.yaml\n",
        "more/more.yaml": STRATEGIC.replace(
            "spec:\n", "  labels: {a: b}\nspec:\n  stopPolicy: Hold\n"
        ),
        "clusters/a/kustomization.yaml": "namePrefix: eu-\nresources: [../../base]\ncomponents: [../../more]\n"
        "patches:\n- target: {kind: ClusterQueue, name: .*research}\n  patch: |-\n"
        "    - {op: add, path: /spec/resourceGroups/0/flavors/-, value: {name: t4, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}}\n"
        "    - {op: remove, path: /spec/cohortName}\n",
    }
    index, renderer = prepared(tmp_path, files, Programs(kustomize=kustomize_program))
    repository = renderer.repository
    content = {path: repository.blob(blob) for path, blob in repository.files(index.commit).items()}
    rendered = objects(renderer._run("kustomize", "clusters/a", [], content))
    (manifest,) = index.manifests("a")
    assert dict(manifest.data)["spec"] == rendered["ClusterQueue", "", "eu-research"]["spec"]
    assert manifest.name == "eu-research"


CHART = {
    "charts/queues/Chart.yaml": "apiVersion: v2\nname: queues\nversion: 0.1.0\n",
    "charts/queues/values.yaml": "clusterQueues:\n- name: research\n  cohortName: ml\n  resourceGroups:\n"
    "  - coveredResources: [nvidia.com/gpu]\n    flavors:\n    - name: h100\n      resources:\n"
    "      - name: nvidia.com/gpu\n        nominalQuota: 32\n",
    "charts/queues/templates/queues.yaml": "{{- range .Values.clusterQueues }}\n---\n"
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: {{ .name }}\nspec:\n"
    "  cohortName: {{ .cohortName }}\n  resourceGroups: {{- toYaml .resourceGroups | nindent 2 }}\n{{- end }}\n",
}


@pytest.mark.cluster
def test_a_chart_s_values_are_proved(tmp_path: Path, helm_program: Path) -> None:
    said = notes(tmp_path, CHART, Programs(helm=helm_program), replace(DRAFT, cluster=""))
    assert said == (
        "Rendered charts/queues with helm: exactly nominalQuota of ClusterQueue research changes.",
    )


@pytest.mark.cluster
def test_values_that_the_chart_does_not_use_are_refused(tmp_path: Path, helm_program: Path) -> None:
    template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"
    files = {**CHART, "charts/queues/templates/queues.yaml": template}
    with pytest.raises(Refused, match="doesn't reach the cluster"):
        notes(tmp_path, files, Programs(helm=helm_program), replace(DRAFT, cluster=""))
