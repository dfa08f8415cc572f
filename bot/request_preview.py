"""[pure] What a draft would do, for the modal: what changes, who must approve, what is odd."""

from bot.cards import who_may
from bot.wishes import amount, thing_of
from commands.page import Bold, Bullets, Line, Page, Paragraph, Part
from gitops.needs import unmet
from gitops.ports import Preview


def preview_page(preview: Preview) -> Page:
    """Say what would be after the change, and what it takes; a refusal comes first."""
    draft = preview.draft
    if preview.refused:
        return Page((Bold(preview.refused),), _then(preview.next_step))
    step = f"{amount(draft.old)} → {amount(draft.new)}"
    return Page(
        (Bold("After this: "), f"{draft.cluster_queue}'s {thing_of(draft)} {step}."),
        (*_approvals(preview), *_findings(preview)),
    )


def _approvals(preview: Preview) -> tuple[Part, ...]:
    verdict = preview.verdict
    if verdict is None:
        return ()
    needs = unmet(verdict.need)
    if not needs:
        return (Paragraph((verdict.why or "Nobody has to approve it.",)),)
    said: Line = ("Must approve: ",)
    for i, need in enumerate(needs):
        said = (*said, *((" and ",) if i else ()), *who_may(need))
    return (Paragraph(said),)


def _findings(preview: Preview) -> tuple[Part, ...]:
    found = tuple((finding.sentence,) for finding in preview.findings)
    notes = tuple((note,) for note in preview.change.notes) if preview.change else ()
    return (Bullets((*found, *notes)),) if found or notes else ()


def _then(next_step: str) -> tuple[Part, ...]:
    return (Paragraph((next_step,)),) if next_step else ()
