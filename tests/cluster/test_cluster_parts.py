"""The parts of the test cluster do what the tests that build on them take for granted.

Not tested: Kueue's own behaviour, which is upstream's business.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.cluster.build import path_of
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fixtures import require
from tests.cluster.kueue import Kueue
from tests.cluster.monitoring import REPOSITORY
from tests.cluster.objects import cluster_queue, flavor, local_queue, namespace, quota
from tests.cluster.process import Process, ProcessError, running_pids, wait_until
from tests.cluster.prometheus import Prometheus
from tests.cluster.users import GPUBOT

pytestmark = pytest.mark.cluster


def test_a_restricted_user_is_known_and_may_do_nothing(control_plane: ControlPlane) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        control_plane.kubectl("get", "namespaces", user=GPUBOT.name)
    assert 'User "system:serviceaccount:gpubot:gpubot" cannot list' in caught.value.stderr


def test_the_api_server_keeps_its_port_and_its_objects_over_a_restart(
    control_plane: ControlPlane,
) -> None:
    control_plane.apply(namespace("survivor"))
    control_plane.api_server.stop()
    with pytest.raises(OSError, match="refused"):
        control_plane.api.get("/api/v1/namespaces")
    control_plane.api_server.start()
    assert control_plane.api.get("/api/v1/namespaces/survivor")["metadata"]["name"] == "survivor"


def test_kueue_refuses_a_lending_limit_above_the_quota(kueue_cluster: Kueue) -> None:
    queue = cluster_queue("lender", {"h100": quota(4, lending=5)}, cohort="all")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        kueue_cluster.control_plane.apply(queue)
    assert "vclusterqueue.kb.io" in caught.value.stderr


def test_visibility_is_served_through_the_api_server(kueue_cluster: Kueue) -> None:
    control_plane = kueue_cluster.control_plane
    control_plane.apply(namespace("seen"), flavor("h100", {}), cluster_queue("seen", {"h100": 1}))
    control_plane.apply(local_queue("main", "seen", "seen"))
    path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/seen/pendingworkloads"
    wait_until(lambda: "items" in control_plane.api.get(path), "the pending workloads of seen")
    assert kueue_cluster.visibility_api.get(path)["items"] == []


def test_kueue_is_restarted_on_its_port(kueue_cluster: Kueue) -> None:
    kueue_cluster.process.stop()
    kueue_cluster.process.start()
    assert "kueue_build_info" in kueue_cluster.metrics()


def test_history_is_there_before_the_first_scrape(prometheus_program: None, tmp_path: Path) -> None:
    lines = [
        "# TYPE busy gauge",
        *(f"busy 1 {1_700_000_000 + 30 * step}" for step in range(240)),
        "# EOF",
        "",
    ]
    (tmp_path / "history.txt").write_text("\n".join(lines))
    with Prometheus(tmp_path / "prometheus", history=tmp_path / "history.txt") as prometheus:
        question = "sum_over_time(busy[1h])"
        assert prometheus.value(question, at=1_700_003_600) == 120
        prometheus.process.stop()
        prometheus.process.start()
        assert prometheus.value(question, at=1_700_003_600) == 120


def test_helm_and_kustomize_render(
    helm_program: Path, kustomize_program: Path, tmp_path: Path
) -> None:
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("{apiVersion: v2, name: quotas, version: 1.0.0}\n")
    (tmp_path / "templates/one.yaml").write_text(config_map.replace("NAME", "'{{ .Values.team }}'"))
    (tmp_path / "plain.yaml").write_text(config_map.replace("NAME", "vision"))
    (tmp_path / "kustomization.yaml").write_text("{namePrefix: prod-, resources: [plain.yaml]}\n")
    chart: list[str | Path] = [
        helm_program,
        "template",
        "release",
        tmp_path,
        "--set",
        "team=speech",
    ]
    folder: list[str | Path] = [kustomize_program, "build", tmp_path]
    for command, name in ((chart, "speech"), (folder, "prod-vision")):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"name: '{name}'" in done.stdout or f"name: {name}" in done.stdout


def test_a_program_that_fails_says_so_with_its_log(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", "print('no such port'); raise SystemExit(3)"]
    process = Process("broken", arguments, tmp_path / "log", ready=lambda: False)
    with pytest.raises(ProcessError, match=r"(?s)broken exited before it was ready.*no such port"):
        process.start()
    assert process.pid is None


def test_a_stopped_process_is_gone(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", "import time; time.sleep(60)"]
    process = Process("sleeper", arguments, tmp_path / "log", ready=lambda: True).start()
    pid = process.pid
    assert pid in running_pids()
    process.stop()
    assert pid not in running_pids()
    assert pid is not None
    assert not is_alive(pid)


def test_nothing_outlives_a_killed_owner(tmp_path: Path) -> None:
    require("etcd")
    program = textwrap.dedent(f"""
        import pathlib, os, signal
        from tests.cluster.process import Process
        argument = [{str(path_of("etcd"))!r}, "--data-dir", {str(tmp_path / "etcd")!r}]
        argument += ["--listen-client-urls", "http://127.0.0.1:0", "--listen-peer-urls", "http://127.0.0.1:0"]
        argument += ["--advertise-client-urls", "http://127.0.0.1:1"]
        process = Process("etcd", argument, pathlib.Path({str(tmp_path / "log")!r}), ready=lambda: True).start()
        print(process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    wait_until(lambda: not is_alive(int(done.stdout)), "etcd ends with its owner", 5)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped doesn't."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_an_interrupted_session_leaves_nothing_running(tmp_path: Path) -> None:
    require("etcd", "kubernetes")
    (tmp_path / "test_waits.py").write_text(
        "import pathlib, time\n"
        "def test_waits(control_plane):\n"
        "    pathlib.Path(__file__).with_name('pids').write_text(\n"
        "        f'{control_plane.etcd.pid} {control_plane.api_server.pid}')\n"
        "    time.sleep(60)\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-c",
        os.devnull,
        "-p",
        "tests.cluster.fixtures",
    ]
    command += ["--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "base"), str(tmp_path)]
    log = (tmp_path / "log").open("w")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    # What a shell starts in the background inherits that SIGINT is ignored: not this session.
    command = ["env", "--default-signal=INT", *command]
    session = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    wait_until(lambda: len((tmp_path / "pids").read_text().split()) == 2, "the test waits", 60)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(map(is_alive, pids))
    session.send_signal(signal.SIGINT)
    assert session.wait(30) == pytest.ExitCode.INTERRUPTED
    assert not any(map(is_alive, pids))
