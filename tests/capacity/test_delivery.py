"""Flux's and Argo CD's status in one shape; the rights it takes; a server that doesn't answer."""

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from capacity.delivery import argo, commit_of, flux
from capacity.delivery_read import DeliveryReader
from capacity.kueue import ACCESS, ClusterConfig

NOW = datetime(2026, 12, 1, 14, 0, tzinfo=UTC)
OLD, NEW = "1" * 40, "2" * 40
RBAC = Path(__file__).resolve().parents[2] / "deploy/rbac.yaml"


def a_kustomization(
    ready: str = "True", message: str = "", applied: str = OLD, tried: str = OLD, **spec: Any
) -> dict[str, Any]:
    source = {"kind": "GitRepository", "name": "fleet"}
    return {
        "metadata": {"namespace": "flux-system", "name": "prod"},
        "spec": {"path": "./clusters/prod", "sourceRef": source, **spec},
        "status": {
            "lastAppliedRevision": f"main@sha1:{applied}",
            "lastAttemptedRevision": f"main@sha1:{tried}",
            "conditions": [a_ready(ready, message)],
        },
    }


def a_repository(
    ready: str = "True", message: str = "", fetched: str = OLD, **spec: Any
) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "flux-system", "name": "fleet"},
        "spec": {"url": "https://git.example.com/ml/fleet.git", **spec},
        "status": {
            "artifact": {"revision": f"main@sha1:{fetched}"},
            "conditions": [a_ready(ready, message)],
        },
    }


def a_ready(status: str, message: str) -> dict[str, str]:
    at = "2026-12-01T13:59:58Z"
    return {"type": "Ready", "status": status, "message": message, "lastTransitionTime": at}


def an_application(status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    source = {"repoURL": "https://git.example.com/ml/fleet.git", "path": "clusters/prod"}
    return {
        "metadata": {"namespace": "argocd", "name": "prod"},
        "spec": {"source": source, "syncPolicy": {"automated": {}}, **spec},
        "status": status,
    }


def test_flux_names_what_it_applied() -> None:
    (found,) = flux([a_kustomization()], [a_repository()])
    assert (found.tool, found.name, found.path) == ("Flux", "flux-system/prod", "clusters/prod")
    assert (found.applied, found.attempted, found.fetched) == (OLD, OLD, OLD)
    assert (found.ready, found.message, found.paused) == (True, "", "")


def test_flux_fails_in_its_own_words() -> None:
    (found,) = flux([a_kustomization("False", "dry-run failed", tried=NEW)], [a_repository()])
    assert (found.ready, found.applied, found.attempted) == (False, OLD, NEW)
    assert (found.speaker, found.message) == ("Kustomization flux-system/prod", "dry-run failed")


def test_a_repository_that_cannot_be_fetched_speaks_for_the_kustomization() -> None:
    (found,) = flux([a_kustomization()], [a_repository("False", "failed to checkout: timeout")])
    assert found.speaker == "GitRepository flux-system/fleet"
    assert found.message == "failed to checkout: timeout"


def test_flux_at_work_says_since_when() -> None:
    (found,) = flux([a_kustomization("Unknown", "Building manifests", tried=NEW)], [a_repository()])
    assert (found.ready, found.message) == (None, "")
    assert found.since == datetime(2026, 12, 1, 13, 59, 58, tzinfo=UTC)


def test_suspended_parts_of_flux_are_named() -> None:
    (found,) = flux([a_kustomization(suspend=True)], [a_repository(suspend=True)])
    assert found.paused == (
        "Kustomization flux-system/prod and GitRepository flux-system/fleet suspended"
    )


def test_a_kustomization_from_elsewhere_is_not_of_a_git_repository() -> None:
    bucket = a_kustomization(sourceRef={"kind": "Bucket", "name": "fleet"})
    assert flux([bucket], []) == ()


def test_argo_applies_what_it_has_synced() -> None:
    synced = {
        "sync": {"status": "Synced", "revision": NEW},
        "operationState": {"phase": "Succeeded", "syncResult": {"revision": NEW}},
    }
    (found,) = argo([an_application(synced)])
    assert (found.tool, found.name, found.applied, found.ready) == (
        "Argo CD",
        "argocd/prod",
        NEW,
        True,
    )


def test_argo_fails_in_its_own_words() -> None:
    failed = {
        "sync": {"status": "OutOfSync", "revision": NEW},
        "operationState": {
            "phase": "Failed",
            "message": "one or more objects failed to apply",
            "syncResult": {"revision": NEW},
        },
    }
    (found,) = argo([an_application(failed)])
    assert (found.applied, found.attempted, found.ready) == ("", NEW, False)
    assert found.message == "one or more objects failed to apply"


def test_argos_conditions_tell_what_it_could_not_compare() -> None:
    broken = {
        "sync": {"status": "Unknown"},
        "conditions": [{"type": "ComparisonError", "message": "repository not accessible"}],
    }
    (found,) = argo([an_application(broken)])
    assert found.message == "repository not accessible"


def test_each_source_of_an_argo_application_has_its_own_revision() -> None:
    sources = [{"repoURL": "a", "path": "x"}, {"repoURL": "b", "path": "y"}]
    status = {"sync": {"status": "Synced", "revisions": [OLD, NEW]}}
    found = argo([an_application(status, sources=sources)])
    assert [(one.path, one.applied) for one in found] == [("x", OLD), ("y", NEW)]


def test_an_application_without_automated_sync_is_paused() -> None:
    (found,) = argo([an_application({}, syncPolicy={})])
    assert found.paused == "Application argocd/prod not synced automatically"


@pytest.mark.parametrize(
    "revision", [f"main@sha1:{NEW}", f"main/{NEW}", NEW, f"refs/tags/v1@sha1:{NEW}"]
)
def test_a_revision_ends_with_its_commit(revision: str) -> None:
    assert commit_of(revision) == NEW


@pytest.mark.parametrize("revision", [None, 7, "", "main", "v1.2.3", "sha256:abc"])
def test_what_names_no_commit_has_none(revision: object) -> None:
    assert commit_of(revision) == ""


@pytest.mark.parametrize("item", [{}, {"spec": None}, {"status": {"conditions": "?"}}])
def test_objects_without_their_parts_are_read(item: dict[str, Any]) -> None:
    assert flux([item], [item]) == ()
    assert argo([item]) == ()


class Server:
    """An API server of a few lists; ``status`` refuses everything, ``hangs`` never answers."""

    def __init__(self) -> None:
        self.lists: dict[str, list[Any]] = {}
        self.status = 200
        self.hangs = False
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                if outer.hangs:
                    time.sleep(4)
                    return
                plural = self.path.split("?")[0].rsplit("/", 1)[1]
                status = outer.status if plural in outer.lists else 404
                body = json.dumps({"items": outer.lists.get(plural, []), "message": "no"}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def reader(self) -> DeliveryReader:
        url = f"http://127.0.0.1:{self.http.server_port}"
        return DeliveryReader(ClusterConfig("test", server=url, token="t"), lambda: NOW)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_a_cluster_without_a_controller_has_no_deliveries_and_no_gap(server: Server) -> None:
    found = server.reader().read()
    assert (found.found, found.gaps) == ((), ())


def test_what_is_installed_is_read(server: Server) -> None:
    server.lists = {"kustomizations": [a_kustomization()], "gitrepositories": [a_repository()]}
    (found,) = server.reader().read().found
    assert found.applied == OLD


def test_a_right_that_lacks_is_a_gap(server: Server) -> None:
    server.lists, server.status = {"kustomizations": []}, 403
    (gap,) = server.reader().read().gaps
    assert gap.source == "Flux's status"
    assert "403" in gap.missing


def test_a_server_that_hangs_is_asked_once_and_then_left_alone(server: Server) -> None:
    server.hangs = True
    reader = server.reader()
    began = time.monotonic()
    assert len(reader.read().gaps) == 2
    asked = server.asked
    assert len(reader.read().gaps) == 2
    assert time.monotonic() - began < 6
    assert server.asked == asked


def test_the_deployments_rights_are_those_that_the_code_uses() -> None:
    objects = yaml.safe_load_all(RBAC.read_text("utf-8"))
    (role,) = (item for item in objects if item["kind"] == "ClusterRole")
    written = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    used = {
        (rule.group, name, verb)
        for rule in ACCESS
        for name in rule.resources
        for verb in rule.verbs
    }
    assert written == used
