"""[pure] An error as a page: the one place where a failure becomes a person's sentence."""

from capacity.errors import GpubotError, UnknownName
from commands.page import Action, Bold, Code, Line, Page, Paragraph

BUTTONS = 3


def apology(error: GpubotError, asked: str = "") -> Page:
    """Say what happened and what to do now; ``asked`` is the question, to offer it corrected."""
    if isinstance(error, UnknownName):
        return _unknown(error, asked)
    return Page((error.sentence,), _then(error.next_step))


def broken(ref: str) -> Page:
    """Say that the fault is ours, that nothing was changed, and how to find it in the log."""
    return Page(
        ("Something broke; nothing was changed. Ref ", Code(ref)),
        _then("Try again; if it breaks again, give this reference to the platform team."),
    )


def _unknown(error: UnknownName, asked: str) -> Page:
    headline: Line = (f"No {error.kind} is called ", Code(error.name), ".")
    if not error.nearest:
        return Page(headline, _then(error.next_step))
    hint: Line = (" Did you mean ", Bold(error.nearest[0]), "?")
    shown = error.nearest[:BUTTONS] if error.name in asked else ()
    actions = tuple(
        Action(f"Show {name}", "ask", asked.replace(error.name, name, 1)) for name in shown
    )
    return Page((*headline, *hint), (), actions)


def _then(next_step: str) -> tuple[Paragraph, ...]:
    return (Paragraph((next_step,)),) if next_step else ()
