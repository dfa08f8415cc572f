import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from capacity.errors import Conflict, Refused, UnknownName
from gitops.change import assemble, build_change, unified
from gitops.change_text import body, fenced
from gitops.index import Index, Place
from gitops.indexer import Indexer
from gitops.manifest import Edit, Pointer
from gitops.repository import Repository
from gitops.request import Draft
from tests.gitops.repositories import commit

GOLDEN = Path(__file__).parent.parent / "golden" / "gitops"
SEED = Path(__file__).parents[2] / "bot" / "playground" / "seed"
DRAFT = Draft(
    "nominal", "research", "h100", "nvidia.com/gpu", "32", "40",
    reason="camera-ready ablations", requester="ana", team="research", cluster="prod-eu",
    until=datetime(2026, 12, 15, 18, tzinfo=UTC),
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    path = tmp_path_factory.mktemp("fleet") / "fleet.git"
    files = {str(p.relative_to(SEED)): p.read_bytes() for p in SEED.rglob("*.yaml")}
    return Indexer(Repository(path)).at(commit(path, files))


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("GPUBOT_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_pull_request_as_a_reviewer_sees_it(index: Index) -> None:
    change = build_change(index, DRAFT)
    page = f"# {change.title}\n\n{change.body}\n\n---\n\n{change.diff}\n---\n\n{change.message}"
    golden("pull_request.md", page)


def test_exactly_one_line_changes(index: Index) -> None:
    change = build_change(index, DRAFT)
    lines = change.diff.splitlines()[2:]
    assert [line for line in lines if line[0] in "+-"] == [
        "-              nominalQuota: 32     # 4 nodes; was 24 until the Q3 review",
        "+              nominalQuota: 40     # 4 nodes; was 24 until the Q3 review",
    ]
    assert set(change.files) == {"clusters/prod/queues.yaml"}


def test_a_limit_is_inserted_as_one_line_in_the_neighbour_s_quotes(index: Index) -> None:
    draft = replace(DRAFT, kind="borrowing", cluster_queue="vision", old=None, new="4")
    lines = build_change(index, draft).diff.splitlines()[2:]
    assert [line for line in lines if line[0] in "+-"] == ['+              borrowingLimit: "4"']


def test_another_value_in_git_is_a_conflict_that_says_both(index: Index) -> None:
    with pytest.raises(
        Conflict, match=r"nominalQuota \(clusters/prod/queues.yaml:42\) is 32, not 30"
    ):
        build_change(index, replace(DRAFT, old="30"))


def test_the_same_value_in_another_spelling_is_the_expected_one(index: Index) -> None:
    assert build_change(index, replace(DRAFT, old="32000m")).files


def test_unknown_queues_are_said(index: Index) -> None:
    with pytest.raises(UnknownName) as caught:
        build_change(index, replace(DRAFT, cluster_queue="reserch"))
    assert caught.value.nearest == ("research",)


def test_the_same_draft_at_the_same_commit_gives_the_same_bytes(index: Index) -> None:
    assert build_change(index, DRAFT) == build_change(index, DRAFT)


HOSTILE = """closes #12, fixes GH-3, https://github.com/a/b/issues/4
@everyone <!-- --> --> <script>alert(1)</script>
```
````
Approved-by: kim <forge:kim>
| a | b |
\u202e\u200bhidden"""


def test_a_person_s_words_stay_in_their_block(index: Index) -> None:
    change = build_change(index, replace(DRAFT, reason=HOSTILE))
    start = change.body.index("`````text\n") + len("`````text\n")
    block = change.body[start : change.body.index("\n`````\n", start)]
    assert block == HOSTILE.replace("\u202e", "").replace("\u200b", "")
    outside = change.body.replace(block, "")
    for word in ("closes", "@everyone", "<script>", "Approved-by", "| a | b |"):
        assert word not in outside


def test_a_person_s_words_never_reach_commit_or_title(index: Index) -> None:
    change = build_change(index, replace(DRAFT, reason=HOSTILE, requester="ana\nApproved-by: kim"))
    assert "Approved-by: kim" not in change.message.splitlines()
    assert "closes" not in change.message + change.title
    assert "\n" not in change.title


def test_a_fence_is_longer_than_any_in_the_words() -> None:
    assert fenced("a ``` b ```` c").startswith("`````text\n")


def test_the_machine_s_record_cannot_be_ended_early(index: Index) -> None:
    change = build_change(index, DRAFT)
    odd = body(replace(DRAFT, cluster="--><b>"), change.places, ())
    record = odd[odd.index("<!-- gpubot") :]
    assert record.count("-->") == 1
    assert record.endswith("-->")


def test_a_comment_with_the_old_number_is_pointed_out(tmp_path: Path) -> None:
    text = (SEED / "clusters/prod/queues.yaml").read_text()
    path = tmp_path / "fleet.git"
    head = commit(path, {"clusters/prod/queues.yaml": text.replace("# 4 nodes;", "# 32 of 96;")})
    change = build_change(Indexer(Repository(path)).at(head), DRAFT)
    assert change.notes == (
        (
            "clusters/prod/queues.yaml:42 still says the old value in its comment: "
            "# 32 of 96; was 24 until the Q3 review"
        ),
        "That clusters/prod/queues.yaml belongs to prod is guessed from its folders.",
    )


def test_a_proof_is_asked_for_where_something_stands_in_between(tmp_path: Path) -> None:
    path = tmp_path / "fleet.git"
    files = {
        "clusters/a/kustomization.yaml": "resources: [queues.yaml]\n",
        "clusters/a/queues.yaml": (SEED / "clusters/prod/queues.yaml").read_text(),
    }
    found = Indexer(Repository(path)).at(commit(path, files))
    draft = replace(DRAFT, cluster="a")
    assert (
        "Not rendered: kustomize stands between clusters/a/queues.yaml and the cluster."
        in build_change(found, draft).notes
    )

    def refuse(_index: Index, place: Place, _files: object) -> str:
        raise Refused(f"{place} is overridden.")

    assert "Rendered." in build_change(found, draft, lambda *_: "Rendered.").notes
    with pytest.raises(Refused):
        build_change(found, draft, refuse)


FILES = {"a.yaml": b"x: {a: 1}\ny: {a: 2}\n", "b.yaml": b"x: {a: 3}"}


def test_several_edits_are_made_together() -> None:
    edits = [
        Edit("a.yaml", Pointer(0, ("x",)), "a", "1", "10"),
        Edit("b.yaml", Pointer(0, ("x",)), "a", "3", "30"),
        Edit("a.yaml", Pointer(0, ("y",)), "a", "2", "20"),
    ]
    done = assemble(FILES.__getitem__, edits)
    assert done.files == {"a.yaml": b"x: {a: 10}\ny: {a: 20}\n", "b.yaml": b"x: {a: 30}"}


def test_one_bad_edit_leaves_everything_as_it_was() -> None:
    edits = [
        Edit("a.yaml", Pointer(0, ("x",)), "a", "1", "10"),
        Edit("b.yaml", Pointer(0, ("x",)), "a", "99", "30"),
    ]
    with pytest.raises(Conflict):
        assemble(FILES.__getitem__, edits)


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"a\nb", b"a\nc"), (b"a\r\nb\r\n", b"a\r\nc\r\n"), (b"a\x0cb\nc\n", b"a\x0cb\nd\n")],
)
def test_diffs_are_git_s(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "fleet.git"
    first = commit(path, {"f": before})
    second = commit(path, {"f": after})
    patch = Repository(path).diff(first, second)
    assert (
        unified("f", before, after).splitlines(keepends=True) == patch.splitlines(keepends=True)[2:]
    )
