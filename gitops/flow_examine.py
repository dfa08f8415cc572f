"""A draft looked at from all sides before it becomes a request: who asks, policy, edit, lint."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from capacity.errors import Conflict, Denied, GpubotError, Refused, UsageError
from capacity.model import Fleet
from capacity.quantity import canonical, parse, same
from gitops.book import Book, read_book
from gitops.facts import facts_of
from gitops.flow_text import as_said
from gitops.people import Actor
from gitops.policy import judge, may_ask
from gitops.ports import BuildChange, Finding, Lint, Preview, Source, WhatIf
from gitops.request import Content, Draft, Request, hash_of
from gitops.rollout import NOT_SET, observe, spell


@dataclass(frozen=True, slots=True)
class Examiner:
    """What an examination needs."""

    source: Source
    fleet: Callable[[], Fleet]
    build_change: BuildChange
    lint: Lint
    what_if: WhatIf
    cluster: str

    def examine(self, draft: Draft, by: Actor, now: datetime) -> tuple[Preview, Book]:
        """Return what the draft would do; a refusal is in the preview, not raised.

        Raises SourceDown when the repository or the cluster can't be read.
        """
        book = read_book(self.source)
        fleet = self.fleet()
        preview = Preview(draft)
        try:
            draft = self._settle(draft, book, by, now)
            preview = Preview(draft, facts=facts_of(draft, fleet, now))
            preview = self._look(preview, book, fleet)
        except (Conflict, Denied, Refused, UsageError) as error:
            preview = replace(preview, refusal=error)
        return preview, book

    def _look(self, preview: Preview, book: Book, fleet: Fleet) -> Preview:
        draft = preview.draft
        assert preview.facts is not None
        verdict = judge(book.policy, book.people, draft, preview.facts, ())
        preview = replace(preview, verdict=verdict, what_if=self.what_if(draft, fleet))
        refusal: GpubotError | None = None
        if not verdict.allowed:
            refusal = Denied(verdict.why, "Ask the platform team, or for something else.")
        try:
            change = self.build_change(draft, book.commit)
            findings = self.lint(draft, fleet)
            preview = replace(preview, change=change, findings=findings)
            refusal = refusal or _blocked(findings)
        except (Conflict, Refused, UsageError) as error:
            refusal = refusal or error
        return replace(preview, refusal=refusal)

    def _settle(self, draft: Draft, book: Book, by: Actor, now: datetime) -> Draft:
        """Return the draft with what only the bot may say filled in, or raise."""
        person = book.people.find(by)
        if person is None:
            raise Denied(
                "I don't know you: you are not in gpubot/people.yaml.",
                "Ask the platform team to add your account.",
            )
        if book.policy.problems:
            first = book.policy.problems[0]
            raise Denied(f"gpubot/policy.yaml allows nothing as it stands: {first}.")
        if not may_ask(book.policy, book.people, person.id, draft.cluster_queue):
            raise Denied(f"You can't ask for {draft.cluster_queue}: you are not in its team.")
        team = book.people.team_of_queue(draft.cluster_queue)
        settled = replace(
            draft,
            old=None if draft.old is None else canonical(draft.old),
            new=None if draft.new is None else canonical(draft.new),
            requester=person.id,
            team=team.name if team else "",
            cluster=draft.cluster or self.cluster,
            reason=as_said(draft.reason),
        )
        _check(settled, now)
        return settled


def new_request(preview: Preview, book: Book, fleet: Fleet, key: str, now: datetime) -> Request:
    """Return the request that an accepted preview becomes; its id is the store's to give."""
    assert preview.change is not None
    assert preview.facts is not None
    change, draft = preview.change, preview.draft
    content = Content(1, hash_of(change.files), book.commit, None, book.policy.hash)
    return Request(
        id=0,
        token=hashlib.sha256(key.encode()).hexdigest()[:8],
        draft=draft,
        facts=preview.facts,
        content=content,
        submitted_at=now,
        approve_by=now + book.policy.approve_within,
        title=change.title,
        diff=change.diff,
        notes=(*change.notes, *_warnings(preview.findings), *_drift(draft, fleet)),
    )


def _check(draft: Draft, now: datetime) -> None:
    if draft.new is None and draft.kind == "nominal":
        raise UsageError("A nominal quota can't be without limit.", "Give a number.")
    for quantity in (draft.old, draft.new):
        if quantity is not None and parse(quantity) < 0:
            raise UsageError("A quota can't be negative.", "Give 0 or more.")
    if draft.old == draft.new or (draft.old and draft.new and same(draft.old, draft.new)):
        raise UsageError(f"It is {draft.old or 'without limit'} already.", "Nothing to change.")
    if draft.until is not None and draft.until <= now:
        raise UsageError("The end is not in the future.", "Give a later time, or none.")


def _blocked(findings: tuple[Finding, ...]) -> Refused | None:
    errors = [finding.sentence for finding in findings if finding.blocks]
    if not errors:
        return None
    return Refused(" ".join(errors), "Ask for a value that Kueue and the platform accept.")


def _warnings(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    return tuple(finding.sentence for finding in findings if not finding.blocks)


def _drift(draft: Draft, fleet: Fleet) -> tuple[str, ...]:
    """Say if the cluster shows another value than Git: the change starts from Git's."""
    observed, ours = observe(draft, fleet), spell(draft.resource, draft.old)
    if observed in (ours, NOT_SET):
        return ()
    return (f"The cluster shows {observed} now, Git says {ours}.",)
