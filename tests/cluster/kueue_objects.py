"""The objects that connect a Kueue outside of the cluster to the API server: webhooks and the visibility API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tests.cluster.build import path_of

NAMESPACE = "kueue-system"
GROUP = "kueue.x-k8s.io"
VISIBILITY_GROUP = "visibility.kueue.x-k8s.io"


def webhooks(port: int, bundle: str) -> Iterator[dict[str, Any]]:
    """Kueue's own webhook objects, pointed at its port and without the frameworks that aren't here."""
    for manifest in yaml.safe_load_all(
        (path_of("kueue", "webhook") / "manifests.yaml").read_text()
    ):
        kept = [hook for hook in manifest["webhooks"] if _is_served_here(hook)]
        for hook in kept:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
        manifest["metadata"]["name"] = f"kueue-{manifest['metadata']['name']}"
        yield {**manifest, "webhooks": kept}


def _is_served_here(hook: Mapping[str, Any]) -> bool:
    return all(
        GROUP in rule["apiGroups"]
        or (rule["apiGroups"] == ["batch"] and "jobs" in rule["resources"])
        for rule in hook["rules"]
    )


def visibility_service(port: int) -> Iterator[dict[str, Any]]:
    """The objects that put Kueue's visibility API behind the API server.

    A service of loopback addresses is refused as endpoints, but may be an external name.
    """
    service = {"name": "kueue-visibility-server", "namespace": NAMESPACE, "port": port}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service["name"], "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
    }
    for version in ("v1beta1", "v1beta2"):
        yield {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{version}.{VISIBILITY_GROUP}"},
            "spec": {
                "group": VISIBILITY_GROUP,
                "groupPriorityMinimum": 100,
                "insecureSkipTLSVerify": True,
                "service": service,
                "version": version,
                "versionPriority": 100,
            },
        }
