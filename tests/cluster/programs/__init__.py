"""What is built: one Go module per program, and the binaries and data files that are taken from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KUBERNETES_VERSION = "v1.36.3"

# Programs built without their makefiles don't know their version, which clients ask for: Kueue even exits when the
# API server has none.
_STAMPS = {
    "kubernetes": f"-X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}"
    " -X k8s.io/component-base/version.gitMajor=1"
    " -X k8s.io/component-base/version.gitMinor=36"
    f" -X k8s.io/client-go/pkg/version.gitVersion={KUBERNETES_VERSION}",
    "kueue": "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v0.19.2",
    "prometheus": "-X github.com/prometheus/common/version.Version=3.16.0",
    "kube-state-metrics": "-X github.com/prometheus/common/version.Version=v2.18.0",
    "gitea": "-X main.Version=1.26.0",
}


@dataclass(frozen=True, slots=True)
class Data:
    """Files of a Go module that its program needs at run time, copied beside the binaries."""

    module: str
    source: str
    """A path inside the module: a folder (copied whole) or a glob pattern for files."""
    target: str


@dataclass(frozen=True, slots=True)
class Program:
    """One Go module under this folder, and what is taken out of it."""

    name: str
    binaries: tuple[tuple[str, str], ...]
    """Pairs of (file name, Go package)."""
    data: tuple[Data, ...] = ()
    tags: str = ""
    cgo: bool = False

    @property
    def folder(self) -> Path:
        """Where its go.mod and go.sum are kept."""
        return HERE / self.name

    @property
    def build_flags(self) -> tuple[str, ...]:
        """The flags of `go build` that decide what the binary is."""
        linker = " ".join(part for part in ("-s -w", _STAMPS.get(self.name)) if part)
        flags = ["-trimpath", "-buildvcs=false", f"-ldflags={linker}"]
        return tuple(flags + ([f"-tags={self.tags}"] if self.tags else []))


def _kubernetes(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, f"k8s.io/kubernetes/cmd/{name}") for name in names)


def _flux(name: str) -> Program:
    module = f"github.com/fluxcd/{name}"
    return Program(name, ((name, module),), (Data(module, "config/crd/bases", "crds"),))


_KUEUE = "sigs.k8s.io/kueue"
_KWOK = "sigs.k8s.io/kwok"
_GITEA = "code.gitea.io/gitea"
_PROMETHEUS = "github.com/prometheus/prometheus/cmd"

# In order of need: what the most tests wait for is built first.
PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        Program("etcd", (("etcd", "go.etcd.io/etcd/server/v3"),)),
        Program(
            "kubernetes",
            _kubernetes("kube-apiserver", "kubectl", "kube-controller-manager", "kube-scheduler"),
        ),
        Program(
            "kueue",
            (("kueue", f"{_KUEUE}/cmd/kueue"),),
            (
                Data(_KUEUE, "config/components/crd/bases", "crds"),
                Data(_KUEUE, "config/components/webhook/manifests.yaml", "webhook"),
            ),
        ),
        Program(
            "prometheus",
            (("prometheus", f"{_PROMETHEUS}/prometheus"), ("promtool", f"{_PROMETHEUS}/promtool")),
            tags="remove_all_sd netgo",
        ),
        Program(
            "kwok",
            (("kwok", f"{_KWOK}/cmd/kwok"),),
            (
                Data(_KWOK, "kustomize/stage/node/fast/node-*.yaml", "stages/node"),
                Data(_KWOK, "kustomize/stage/pod/fast/pod-*.yaml", "stages/pod"),
            ),
        ),
        Program("kube-state-metrics", (("kube-state-metrics", "k8s.io/kube-state-metrics/v2"),)),
        Program(
            "gitea",
            (("gitea", _GITEA),),
            tuple(
                Data(_GITEA, name, f"static/{name}") for name in ("templates", "options", "public")
            ),
            tags="sqlite sqlite_unlock_notify",
            cgo=True,
        ),
        _flux("source-controller"),
        _flux("kustomize-controller"),
        Program("helm", (("helm", "helm.sh/helm/v3/cmd/helm"),)),
        Program("kustomize", (("kustomize", "sigs.k8s.io/kustomize/kustomize/v5"),)),
    )
}
