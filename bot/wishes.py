"""[pure] A draft in words: what somebody wishes for, the same on card, Home, modal and terminal."""

from capacity.model import FlavorResource
from commands.words import card
from gitops.request import Draft


def wish(draft: Draft) -> str:
    """Say in words what the draft asks for: "research wants 8 more H100 of its own (32 → 40)"."""
    old, new = amount(draft.old), amount(draft.new)
    thing, step = thing_of(draft), f"({old} → {new})"
    match draft.kind:
        case "nominal":
            return _own(draft, thing, step)
        case "borrowing" if draft.new is None:
            return f"{draft.cluster_queue} wants to borrow {thing} without a limit {step}"
        case "borrowing":
            return f"{draft.cluster_queue} wants to borrow at most {new} {thing} {step}"
        case "lending" if draft.new is None:
            return f"{draft.cluster_queue} would lend all its {thing} {step}"
        case "lending":
            return f"{draft.cluster_queue} would lend at most {new} {thing} {step}"


def _own(draft: Draft, thing: str, step: str) -> str:
    if not (_whole(draft.old) and _whole(draft.new)):
        return f"{draft.cluster_queue} wants {amount(draft.new)} {thing} of its own {step}"
    more = int(draft.new or 0) - int(draft.old or 0)
    if more < 0:
        return f"{draft.cluster_queue} gives up {-more} {thing} of its own {step}"
    return f"{draft.cluster_queue} wants {more} more {thing} of its own {step}"


def outcome(draft: Draft) -> str:
    """Say what holds once the wish is fulfilled: "research now has 40 H100 of its own."."""
    new, thing = amount(draft.new), thing_of(draft)
    match draft.kind:
        case "nominal":
            return f"{draft.cluster_queue} now has {new} {thing} of its own."
        case "borrowing":
            return f"{draft.cluster_queue} may now borrow {_up_to(draft)} {thing}."
        case "lending":
            return f"{draft.cluster_queue} now lends {_up_to(draft)} {thing}."


def _up_to(draft: Draft) -> str:
    return "without a limit:" if draft.new is None else f"at most {draft.new}"


def thing_of(draft: Draft) -> str:
    """Name what is counted: a GPU by its flavor ("H100"), anything else by its resource."""
    return card(FlavorResource(draft.flavor, draft.resource))


def amount(quantity: str | None) -> str:
    """Spell a quantity; None is no limit."""
    return "no limit" if quantity is None else quantity


def _whole(quantity: str | None) -> bool:
    return quantity is not None and quantity.isdigit()
