"""A pull request of the local forge as it is kept in the repository: a small JSON note.

[pure]
"""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from gitops.forge import PullState, Review


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; ``key`` tells a repeat from a new one."""

    key: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that is kept about a pull request.

    ``head_sha`` is kept once it is merged or closed; while it is open, the branch's tip counts.
    """

    number: int
    branch: str
    title: str
    body: str
    state: PullState = "open"
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    head_sha: str = ""
    base_sha: str = ""
    merge_sha: str | None = None
    merged_by: str = ""
    comments: tuple[Comment, ...] = field(default=())
    reviews: tuple[Review, ...] = field(default=())

    def with_comment(self, comment: Comment) -> "Record":
        """Return the record with one more comment, or as it is when the key is there."""
        if any(c.key == comment.key for c in self.comments):
            return self
        return replace(self, comments=(*self.comments, comment))

    def with_review(self, review: Review) -> "Record":
        """Return the record with one more review; its id is given here."""
        numbered = replace(review, id=f"{self.number}-{len(self.reviews) + 1}")
        return replace(self, reviews=(*self.reviews, numbered))


def dump(record: Record) -> bytes:
    """Write a record as JSON."""
    text = json.dumps(asdict(record), default=datetime.isoformat, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def load(data: bytes) -> Record:
    """Read a record that ``dump`` wrote."""
    kept: dict[str, Any] = json.loads(data)
    comments = tuple(
        Comment(c["key"], c["text"], datetime.fromisoformat(c["at"])) for c in kept["comments"]
    )
    reviews = tuple(Review(**{**r, "at": datetime.fromisoformat(r["at"])}) for r in kept["reviews"])
    lists = {"labels": tuple(kept["labels"]), "reviewers": tuple(kept["reviewers"])}
    return Record(**{**kept, **lists, "comments": comments, "reviews": reviews})
