"""What the flow writes on the forge: statuses, comments, and the trailers of the merge commit.

People's own words are made inert first: no mentions, references, directives, markup or trailers
can come from them. [pure]
"""

import re
import unicodedata

from gitops.forge import StatusState
from gitops.people import People
from gitops.policy import Verdict
from gitops.request import IN_GIT, TERMINAL, Request, State, Vote

_BREAK = "\N{WORD JOINER}"
_LONGEST = 500
_LONGEST_REASON = 1000


def status_of(request: Request, verdict: Verdict) -> tuple[StatusState, str] | None:
    """Return the commit status that the request should have now; None leaves it as it is."""
    if request.state in IN_GIT or request.pull is None:
        return None
    if request.state in TERMINAL:
        by = f" by {request.ending.by}" if request.ending and request.ending.by else ""
        return "failure", f"{request.state.value.capitalize()}{by}"
    if not verdict.allowed:
        return "failure", verdict.why
    if request.state in (State.APPROVED, State.MERGING):
        names = ", ".join(v.person for v in approvals(request)) or "policy: nobody needed"
        return "success", f"Approved ({names})"
    return "pending", f"Waiting for {verdict.words()}"


def comments_of(request: Request, people: People, head: str) -> list[tuple[str, str]]:
    """Return the comments that the pull request should have, with their keys, oldest first.

    ``head`` is the audit chain's head hash, for the closing comment.
    """
    found = [(_vote_key(vote), _vote_comment(vote, people)) for vote in request.votes]
    if request.version > 1:
        text = "The approvals so far no longer count: what they were given for has changed."
        found.append((f"void-{request.version}", text))
    if request.merge_sha or request.state in TERMINAL:
        found.append(("end", _end_comment(request, head)))
    return found


def merge_message(request: Request, people: People, thread: str) -> str:
    """Return the merge commit's message: title, reason, and trailers as its last paragraph."""
    draft = request.draft
    trailers = [
        ("Requested-by", _who(draft.requester, people)),
        *(
            ("Approved-by", f"{_who(v.person, people)} at {v.at:%Y-%m-%dT%H:%M:%SZ}")
            for v in approvals(request)
        ),
        ("Gpubot-Request", str(request.id)),
        ("Slack-Thread", thread),
        ("Policy", f"sha256:{request.content.policy}"),
        ("Quota-Expires", f"{draft.until:%Y-%m-%dT%H:%M:%SZ}" if draft.until else ""),
    ]
    last = "\n".join(f"{name}: {_one_line(value)}" for name, value in trailers if value)
    reason = f"Why: {inert(draft.reason)}\n\n" if draft.reason.strip() else ""
    return f"{_one_line(request.title)} (request {request.id})\n\n{reason}{last}\n"


def approvals(request: Request) -> list[Vote]:
    """Return the approvals that are about the present content, one per person."""
    return [v for v in request.standing_votes if v.choice == "approve"]


def as_said(words: str) -> str:
    """Return a person's reason without control and format characters, in up to 1,000 characters."""
    kept = (c for c in words if c == "\n" or unicodedata.category(c)[0] != "C")
    return "".join(kept).strip()[:_LONGEST_REASON]


def inert(words: str) -> str:
    """Return a person's words on one line, unable to act: no mention, reference or markup."""
    flat = re.sub(r"[\[\]<>`]", "'", _one_line(words))
    return re.sub(r"([@#!])(?=\w)", rf"\1{_BREAK}", flat)[:_LONGEST]


def _one_line(words: str) -> str:
    """Collapse white space, and drop control, format (zero-width, bidi) and private characters."""
    kept = (c if unicodedata.category(c)[0] != "C" else " " if c.isspace() else "" for c in words)
    return " ".join("".join(kept).split())


def _who(person: str, people: People) -> str:
    entry = people.people.get(person)
    if entry is None:
        return person
    accounts = [
        f"{kind}:{account}"
        for kind, account in (("slack", entry.slack), ("forge", entry.forge))
        if account
    ]
    name = inert(entry.name).replace("<", "").replace(">", "")
    return f"{name} <{'; '.join(accounts)}>" if accounts else name


def _vote_key(vote: Vote) -> str:
    return f"vote-{vote.content.version}-{vote.person}-{vote.choice}"


def _vote_comment(vote: Vote, people: People) -> str:
    verb = "Approved" if vote.choice == "approve" else "Rejected"
    via = vote.account.partition(":")[0]
    who, at = _who(vote.person, people), f"{vote.at:%Y-%m-%d %H:%M} UTC"
    text = f"{verb} by {who} as {vote.role}, via {via}, {at}."
    return f"{text}\n\n> {inert(vote.reason)}" if vote.reason.strip() else text


def _end_comment(request: Request, head: str) -> str:
    ending = request.ending
    by = f" by {ending.by}" if ending and ending.by else ""
    why = f": {inert(ending.reason)}" if ending and ending.reason else ""
    done = "merged" if request.merge_sha else request.state.value
    return f"Request {request.id} was {done}{by}{why}.\n\nAudit chain head: `{head}`"
