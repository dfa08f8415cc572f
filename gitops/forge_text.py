"""What all forges' adapters say and check in the same way: names, markers, files, messages.

[pure]
"""

import hashlib
import re
from collections.abc import Mapping
from urllib.parse import quote

from gitops.forge import ForgeConflict, ForgeDenied, Proposal

BRANCH = re.compile(r"gpubot/[A-Za-z0-9][A-Za-z0-9_-]*")
DESCRIPTION = 140
_LONGEST_COMMENT = 60_000


def own_branch(name: str) -> str:
    """Return the name of a branch that the bot may make or delete; raises ForgeDenied."""
    if not BRANCH.fullmatch(name):
        raise ForgeDenied(f"{name!r} is no name for a branch of mine.")
    return name


def marker(key: str) -> str:
    """Return the hidden line that tells a repeated comment from a new one."""
    return f"<!-- gpubot: {quote(key, safe='')} -->"


def comment_body(key: str, text: str) -> str:
    """Return a comment with its marker in front, within every forge's length."""
    return f"{marker(key)}\n{text[:_LONGEST_COMMENT]}"


def has_marker(body: str | None, key: str) -> bool:
    """Tell whether a comment is the one with this key."""
    return (body or "").startswith(marker(key))


def description(text: str) -> str:
    """Return a status description in the length that forges take."""
    return text if len(text) <= DESCRIPTION else f"{text[: DESCRIPTION - 1]}…"


def title_and_rest(message: str) -> tuple[str, str]:
    """Split a commit message for the forges that want its first line apart."""
    title, _, rest = message.partition("\n")
    return title, rest.strip("\n")


def blob_sha(data: bytes) -> str:
    """Return the id that Git gives a file's bytes (SHA-1 repositories)."""
    head = f"blob {len(data)}\0".encode()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


def ours(
    proposal: Proposal, parents: list[str], message: str, blobs: Mapping[str, str | None]
) -> None:
    """Check that a branch's one commit is what the proposal asked for; raises ForgeConflict.

    ``blobs`` is what the commit changed: the new blob's id by path, None for a deleted file.
    """
    wanted = {path: None if d is None else blob_sha(d) for path, d in proposal.files.items()}
    same = parents == [proposal.base_sha] and blobs == wanted
    if not same or message.strip() != proposal.message.strip():
        raise taken(proposal.branch)


def taken(branch: str) -> ForgeConflict:
    """Return the failure of a branch that holds something that is not the proposal."""
    return ForgeConflict(
        "branch-taken",
        f"The branch {branch} holds something that is not this change.",
        "Delete the branch, or make the request again.",
    )


def moved(branch: str) -> ForgeConflict:
    """Return the failure of a merge whose head is no longer the expected one."""
    return ForgeConflict("head-moved", f"Somebody pushed to {branch}.")


def disputed() -> ForgeConflict:
    """Return the failure of a merge that needs a person."""
    return ForgeConflict(
        "merge-conflict",
        "The base branch changed the same lines.",
        "Make the request again on the present values.",
    )


def not_open(number: int) -> ForgeConflict:
    """Return the failure of a merge of a closed pull request."""
    return ForgeConflict("not-open", f"Pull request {number} is closed.")
