from pathlib import Path

import pygit2
import pytest

from capacity.errors import SourceDown
from gitops.repository import Remote, Repository
from tests.gitops.repositories import commit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "fleet.git"
    commit(made, {"a.yaml": "1\n", "deep/er/b.yaml": "2\n", "README": "x"}, message="First\n\nwhy")
    return made


def test_files_are_read_at_a_commit(path: Path) -> None:
    repository = Repository(path)
    first = repository.head()
    second = commit(path, {"a.yaml": "9\n", "README": None})
    assert repository.read("a.yaml", first) == b"1\n"
    assert repository.read("a.yaml", second) == b"9\n"
    assert repository.read("README", second) is None
    assert repository.read("deep/er", second) is None
    assert repository.head() == second


def test_files_lists_regular_files_with_their_blobs(path: Path) -> None:
    git = pygit2.Repository(str(path))
    index = pygit2.Index()
    index.read_tree(git.head.peel().tree)
    link = git.create_blob(b"a.yaml")
    index.add(pygit2.IndexEntry("link.yaml", link, pygit2.enums.FileMode.LINK))
    who = pygit2.Signature("T", "t@example.org")
    head = git.create_commit(
        "refs/heads/main", who, who, "m", index.write_tree(git), [git.head.target]
    )
    repository = Repository(path)
    files = repository.files(str(head))
    assert sorted(files) == ["README", "a.yaml", "deep/er/b.yaml"]
    assert repository.blob(files["deep/er/b.yaml"]) == b"2\n"


def test_moved_names_what_differs_between_any_two_commits(path: Path) -> None:
    repository = Repository(path)
    first = repository.head()
    second = commit(path, {"a.yaml": "9\n", "README": None, "new.yaml": "n\n"})
    moved = repository.moved(first, second)
    assert {name: blob is not None for name, blob in moved.items()} == {
        "a.yaml": True,
        "README": False,
        "new.yaml": True,
    }
    assert set(repository.moved(second, first)) == set(moved)


def test_changed_is_measured_from_where_the_branch_left(path: Path) -> None:
    repository = Repository(path)
    left = repository.head()
    branch = commit(path, {"a.yaml": "9\n"}, branch="gpubot/request-1", start=left)
    commit(path, {"deep/er/b.yaml": "other\n"})
    assert repository.changed(repository.head(), branch) == {"a.yaml": b"9\n"}
    assert repository.diff(repository.head(), branch).endswith("@@ -1 +1 @@\n-1\n+9\n")


def test_a_deletion_shows_as_none(path: Path) -> None:
    repository = Repository(path)
    left = repository.head()
    branch = commit(path, {"a.yaml": None}, branch="gone", start=left)
    assert repository.changed(left, branch) == {"a.yaml": None}


def test_the_log_is_newest_first(path: Path) -> None:
    commit(path, {"a.yaml": "2\n"}, message="Second")
    subjects = [entry["subject"] for entry in Repository(path).log(5)]
    assert subjects == ["Second", "First"]


def test_a_mirror_follows_its_origin_and_forgets_what_is_gone(path: Path, tmp_path: Path) -> None:
    commit(path, {"a.yaml": "b\n"}, branch="gpubot/request-1")
    mirror = Repository(tmp_path / "mirror.git", remote=Remote(path.as_uri()), every=0)
    assert mirror.read("a.yaml", mirror.head()) == b"1\n"
    assert mirror.tip("gpubot/request-1")
    pygit2.Repository(str(path)).references.delete("refs/heads/gpubot/request-1")
    second = commit(path, {"a.yaml": "2\n"})
    assert mirror.head() == second
    assert mirror.tip("gpubot/request-1") is None


def test_a_mirror_is_not_asked_more_often_than_told(path: Path, tmp_path: Path) -> None:
    mirror = Repository(tmp_path / "mirror.git", remote=Remote(path.as_uri()), every=3600)
    first = mirror.head()
    commit(path, {"a.yaml": "2\n"})
    assert mirror.head() == first


def test_a_lost_origin_is_said_with_when_it_was_last_heard(path: Path, tmp_path: Path) -> None:
    mirror = Repository(tmp_path / "mirror.git", remote=Remote(path.as_uri()), every=0)
    head = mirror.head()
    path.rename(tmp_path / "moved.git")
    with pytest.raises(SourceDown) as caught:
        mirror.head()
    assert caught.value.since is not None
    assert mirror.read("a.yaml", head) == b"1\n"


def test_a_repository_here_that_goes_away_is_down_since_it_was_last_read(path: Path) -> None:
    repository = Repository(path)
    repository.head()
    for part in path.iterdir():
        part.rename(path.parent / f"gone-{part.name}")
    with pytest.raises(SourceDown, match=r"since \d\d:\d\d UTC"):
        repository.head()


def test_a_missing_repository_branch_or_commit_is_a_source_down(path: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceDown):
        Repository(tmp_path / "nowhere.git").head()
    with pytest.raises(SourceDown):
        Repository(path, base="trunk").head()
    for unknown in ("f" * 40, "not a commit"):
        with pytest.raises(SourceDown):
            Repository(path).read("a.yaml", unknown)


def test_a_token_is_never_in_the_remote_that_is_stored(path: Path, tmp_path: Path) -> None:
    remote = Remote(path.as_uri(), token=lambda: "s3cret-t0ken")
    mirror = Repository(tmp_path / "mirror.git", remote=remote)
    mirror.head()
    kept = b"".join(p.read_bytes() for p in (tmp_path / "mirror.git").rglob("*") if p.is_file())
    assert b"s3cret-t0ken" not in kept
    assert "s3cret-t0ken" not in repr(remote)
