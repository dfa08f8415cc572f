"""The in-memory API server speaks as the real one does: pages, watches, versions, refusals."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from bot.playground.cluster.apiserver import ApiServer
from bot.playground.cluster.objects import ObjectStore

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


def cohort(name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": "Cohort", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def server() -> Iterator[ApiServer]:
    store = ObjectStore(window=5)
    for name in ("a", "b", "c"):
        store.put("cohorts", cohort(name))
    made = ApiServer(store, token="t", bookmark_seconds=0.1)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def pool() -> urllib3.PoolManager:
    return urllib3.PoolManager(retries=False, headers={"Authorization": "Bearer t"})


def get(pool: urllib3.PoolManager, server: ApiServer, path: str, **more: Any) -> tuple[int, Any]:
    response = pool.request("GET", server.url + path, **more)
    return response.status, response.json()


def watch(
    pool: urllib3.PoolManager, server: ApiServer, version: str, seconds: int = 1
) -> list[dict[str, Any]]:
    path = f"{KUEUE}/cohorts?watch=1&resourceVersion={version}&timeoutSeconds={seconds}"
    response = pool.request("GET", f"{server.url}{path}&allowWatchBookmarks=true")
    return [json.loads(line) for line in response.data.splitlines()]


def test_discovery_lists_what_is_served(pool: urllib3.PoolManager, server: ApiServer) -> None:
    status, group = get(pool, server, "/apis/kueue.x-k8s.io")
    assert (status, group["preferredVersion"]["version"]) == (200, "v1beta2")
    _, listed = get(pool, server, KUEUE)
    assert {"cohorts", "workloads"} <= {r["name"] for r in listed["resources"]}
    _, groups = get(pool, server, "/apis")
    assert [g["name"] for g in groups["groups"]] == ["kueue.x-k8s.io"]


def test_pages_come_from_one_moment(pool: urllib3.PoolManager, server: ApiServer) -> None:
    _, first = get(pool, server, f"{KUEUE}/cohorts?limit=2")
    server.store.put("cohorts", cohort("aa"))
    server.store.delete("cohorts", "", "c")
    token = first["metadata"]["continue"]
    _, second = get(pool, server, f"{KUEUE}/cohorts?limit=2&continue={token}")
    names = [i["metadata"]["name"] for i in first["items"] + second["items"]]
    assert names == ["a", "b", "c"]
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
    assert "continue" not in second["metadata"]
    assert first["kind"] == "CohortList"


def test_an_old_continue_token_is_gone(pool: urllib3.PoolManager, server: ApiServer) -> None:
    _, first = get(pool, server, f"{KUEUE}/cohorts?limit=1")
    server.forget()
    token = first["metadata"]["continue"]
    status, body = get(pool, server, f"{KUEUE}/cohorts?limit=1&continue={token}")
    assert (status, body["reason"]) == (410, "Expired")


def test_a_watch_tells_what_came_after_a_version(
    pool: urllib3.PoolManager, server: ApiServer
) -> None:
    _, listed = get(pool, server, f"{KUEUE}/cohorts")
    server.store.put("cohorts", cohort("d"))
    server.store.put("cohorts", cohort("d", parentName="a"))
    server.store.delete("cohorts", "", "d")
    events = watch(pool, server, listed["metadata"]["resourceVersion"])
    changes = [e for e in events if e["type"] != "BOOKMARK"]
    assert [e["type"] for e in changes] == ["ADDED", "MODIFIED", "DELETED"]
    versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in changes]
    assert versions == sorted(set(versions))
    marks = [e for e in events if e["type"] == "BOOKMARK"]
    assert len(marks) > 3
    assert marks[-1]["object"]["metadata"]["resourceVersion"] == str(versions[-1])


def test_a_watch_hears_of_changes_at_once(pool: urllib3.PoolManager, server: ApiServer) -> None:
    _, listed = get(pool, server, f"{KUEUE}/cohorts")
    version = listed["metadata"]["resourceVersion"]
    path = f"{KUEUE}/cohorts?watch=1&resourceVersion={version}"
    response = pool.request("GET", server.url + path, preload_content=False)
    threading.Timer(0.1, server.store.put, ("cohorts", cohort("new"))).start()
    began = time.monotonic()
    event = json.loads(next(response.stream()))
    assert event["object"]["metadata"]["name"] == "new"
    assert time.monotonic() - began < 0.5
    response.close()


def test_a_watch_from_a_forgotten_version_gets_410(
    pool: urllib3.PoolManager, server: ApiServer
) -> None:
    for number in range(9):
        server.store.put("cohorts", cohort(f"n{number}"))
    events = watch(pool, server, "101")
    assert [e["type"] for e in events] == ["ERROR"]
    assert events[0]["object"]["code"] == 410


def test_a_watch_without_a_version_starts_with_everything(
    pool: urllib3.PoolManager, server: ApiServer
) -> None:
    events = watch(pool, server, "")
    added = [e["object"]["metadata"]["name"] for e in events if e["type"] == "ADDED"]
    assert added == ["a", "b", "c"]


def test_storing_the_same_again_is_no_event(server: ApiServer) -> None:
    before = server.store.version
    assert not server.store.put("cohorts", cohort("a"))
    assert server.store.version == before


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{KUEUE}/cohorts/a", 200),
        (f"{KUEUE}/cohorts/zz", 404),
        (f"{KUEUE}/unknowns", 404),
        ("/apis/kueue.x-k8s.io/v1alpha9/cohorts", 404),
        ("/apis/other.io", 404),
        ("/nothing", 404),
        ("/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/q/pendingworkloads", 404),
    ],
)
def test_addresses(pool: urllib3.PoolManager, server: ApiServer, path: str, status: int) -> None:
    found, body = get(pool, server, path)
    assert found == status
    assert status == 200 or body["kind"] == "Status"


def test_no_token_is_unauthorized_and_writing_is_forbidden(
    pool: urllib3.PoolManager, server: ApiServer
) -> None:
    status, body = get(pool, server, KUEUE, headers={})
    assert (status, body["reason"]) == (401, "Unauthorized")
    response = pool.request("POST", f"{server.url}{KUEUE}/cohorts", body=b"{}")
    assert response.status == 403
    assert pool.request("GET", f"{server.url}/readyz", headers={}).data == b"ok"


def test_a_stopped_server_refuses_and_comes_back_on_its_port(
    pool: urllib3.PoolManager, server: ApiServer
) -> None:
    url = server.url
    server.stop()
    with pytest.raises(urllib3.exceptions.HTTPError):
        pool.request("GET", f"{url}/readyz")
    server.start()
    assert server.url == url
    assert pool.request("GET", f"{url}/readyz").status == 200
