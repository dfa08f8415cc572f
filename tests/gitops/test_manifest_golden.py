"""Golden folders: original, edit, expected. Folders called leave-... must come out unchanged."""

import json
from pathlib import Path
from typing import Any

import pytest

from capacity.errors import GpubotError
from gitops.manifest import Edit, Inside, Named, Pointer, Step, apply
from tests.gitops.oracle import complaint

ROOT = Path(__file__).parent.parent / "golden" / "manifests"
FOLDERS = sorted(folder for folder in ROOT.iterdir() if folder.is_dir())


def step(written: Any) -> Step:
    if written == "|":
        return Inside()
    key, equals, value = written.partition("=") if isinstance(written, str) else ("", "", "")
    return Named(key, value) if equals else written


def edit_of(folder: Path) -> tuple[Edit, str]:
    said = json.loads((folder / "edit.json").read_text(encoding="utf-8"))
    pointer = Pointer(said.get("document", 0), tuple(step(s) for s in said["pointer"]))
    edit = Edit(
        "original.yaml",
        pointer,
        said["field"],
        said["old"],
        said["new"],
        said.get("kind", "quantity"),
    )
    return edit, said.get("refused", "")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_expected_file_comes_out(folder: Path) -> None:
    original = (folder / "original.yaml").read_bytes()
    expected = (folder / "expected.yaml").read_bytes()
    edit, refused = edit_of(folder)
    if refused:
        with pytest.raises(GpubotError) as caught:
            apply("original.yaml", original, [edit])
        assert refused in caught.value.sentence
        assert expected == original
    else:
        assert apply("original.yaml", original, [edit]).data == expected
        assert not complaint(original, expected, edit)


def test_the_folders_have_changes_and_cases_that_must_not_change() -> None:
    left = [folder for folder in FOLDERS if folder.name.startswith("leave-")]
    assert len(left) >= 8
    assert len(FOLDERS) - len(left) >= 10
