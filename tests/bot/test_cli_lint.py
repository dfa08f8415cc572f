"""`gpubot lint` in the GitOps repository's own CI: exit codes, annotations, what was so before."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot.playground.seeding import seed_files

ROOT = Path(__file__).resolve().parents[2]
QUEUES = "clusters/prod/queues.yaml"


def lint(folder: Path, *more: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bot", "lint", str(folder), *more]
    found = {"PATH": "/usr/bin:/bin", "HOME": str(folder), **environ}
    return subprocess.run(
        command, cwd=ROOT, env=found, capture_output=True, text=True, check=False, timeout=60
    )


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path, data in seed_files().items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "seed")
    return tmp_path


def replace(checkout: Path, old: str, new: str) -> None:
    path = checkout / QUEUES
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_good_manifests_end_with_0(checkout: Path) -> None:
    assert lint(checkout).returncode == 0


def test_what_kueue_would_refuse_ends_with_1_and_names_the_place(checkout: Path) -> None:
    replace(checkout, 'lendingLimit: "16"', 'lendingLimit: "25"')
    done = lint(checkout)
    assert done.returncode == 1
    assert "must be less than or equal to the nominalQuota" in done.stdout
    assert QUEUES in done.stdout


def test_on_github_findings_are_annotations_of_the_line(checkout: Path) -> None:
    replace(checkout, 'lendingLimit: "16"', 'lendingLimit: "25"')
    done = lint(checkout, GITHUB_ACTIONS="true")
    assert done.returncode == 1
    line = next(line for line in done.stdout.splitlines() if line.startswith("::error "))
    assert QUEUES in line
    assert ",line=" in line


def test_what_was_so_at_the_base_does_not_fail_a_change_of_something_else(checkout: Path) -> None:
    replace(checkout, 'lendingLimit: "16"', 'lendingLimit: "25"')
    git(checkout, "commit", "-am", "broken before")
    replace(checkout, "nominalQuota: 32 ", "nominalQuota: 33 ")
    assert lint(checkout).returncode == 1
    assert lint(checkout, "--base", "HEAD").returncode == 0
    assert lint(checkout, "--base", "HEAD~1").returncode == 1


def test_a_folder_or_a_revision_that_is_not_there_ends_with_2(checkout: Path) -> None:
    assert lint(checkout / "nowhere").returncode == 2
    done = lint(checkout, "--base", "nowhere")
    assert done.returncode == 2
    assert "no revision nowhere" in done.stderr
