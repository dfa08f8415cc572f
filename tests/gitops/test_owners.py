"""Who is asked to look: CODEOWNERS by its last matching line, OWNERS by the nearest folder."""

from collections.abc import Mapping

import pytest

from gitops.forge import Proposal
from gitops.forge_invite import InvitingForge
from gitops.owners import code_owners, prow_owners, reviewers_of
from tests.gitops.flow_fakes import FakeForge, Repo

CODE = """\
# who looks at what
*                 @everybody
/clusters/        @acme/platform @kim   # the platform
clusters/prod/*   @li someone@example.com
docs/**/*.md      @tom
**/secret?.yaml   @vera
with\\ space.md    @pat
/clusters/lab/
[Section][2]      @ignored
^[Optional]
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ("everybody",)),
        ("clusters/queues.yaml", ("acme/platform", "kim")),
        ("other/clusters/queues.yaml", ("everybody",)),
        ("clusters/prod/queues.yaml", ("li",)),
        ("clusters/prod/deep/queues.yaml", ("acme/platform", "kim")),
        ("docs/a.md", ("tom",)),
        ("docs/b/c/a.md", ("tom",)),
        ("a/b/secret1.yaml", ("vera",)),
        ("secret12.yaml", ("everybody",)),
        ("x/with space.md", ("pat",)),
        ("clusters/lab/queues.yaml", ()),
    ],
)
def test_the_last_matching_line_wins(path: str, owners: tuple[str, ...]) -> None:
    assert code_owners(CODE, path) == owners


def reader(files: Mapping[str, str]):
    return lambda path: files[path].encode() if path in files else None


def test_the_nearest_owners_file_wins() -> None:
    read = reader(
        {
            "OWNERS": "approvers: [kim]\n",
            "clusters/OWNERS": "reviewers:\n- li\n- tom\napprovers: [kim]\n",
            "bad/OWNERS": "reviewers: [\n",
            "odd/OWNERS": "reviewers: ['a b', ok, '@x']\n",
        }
    )
    assert prow_owners("clusters/prod/queues.yaml", read) == ("li", "tom")
    assert prow_owners("docs/a.md", read) == ("kim",)
    assert prow_owners("bad/a.md", read) == ()
    assert prow_owners("odd/a.md", read) == ("ok",)


def test_codeowners_go_before_owners_and_at_most_five_are_asked() -> None:
    many = " ".join(f"@u{n}" for n in range(9))
    files = {".github/CODEOWNERS": f"* {many}\n", "OWNERS": "approvers: [kim]\n"}
    assert reviewers_of(["a", "b"], reader(files)) == ("u0", "u1", "u2", "u3", "u4")
    assert reviewers_of(["a"], reader({"OWNERS": "approvers: [kim]\n"})) == ("kim",)
    assert reviewers_of(["a"], reader({})) == ()


def test_what_is_opened_invites_the_owners_at_its_base() -> None:
    repo = Repo()
    base = repo.commit("main", {"CODEOWNERS": b"* @kim\n", "a": b"1"})
    repo.commit("main", {"CODEOWNERS": b"* @eve\n"})
    seen: list[Proposal] = []

    class Recording(FakeForge):
        def open_pull_request(self, proposal: Proposal):
            seen.append(proposal)
            return super().open_pull_request(proposal)

    forge = InvitingForge(Recording(repo), repo, ("gpu-quota",))
    forge.open_pull_request(Proposal("gpubot/1", base, {"a": b"2"}, "T", "B", "M"))
    named = Proposal("gpubot/2", base, {"a": b"2"}, "T", "B", "M", ("l",), ("li",))
    forge.open_pull_request(named)
    assert [(p.labels, p.reviewers) for p in seen] == [
        (("gpu-quota",), ("kim",)),
        (("l",), ("li",)),
    ]
    assert forge.find("gpubot/1") is not None
