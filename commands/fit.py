"""/gpu-fit: whether a job of some shape would fit, before it is submitted.

[pure]
"""

from capacity.errors import UnknownName, UsageError
from capacity.model import ClusterQueue, Fleet, quotas
from commands.command import Ask, Command, World
from commands.fit_data import FitAnswer, Fitting, answer_fit
from commands.fit_page import fit_page
from commands.fit_shape import GPU, Shape, Words, narrowed, read_words, shape_from
from commands.manifest_ask import shape_of
from commands.nearest import nearest
from commands.page import Page
from commands.queue_data import line_of
from commands.scope import Scope, find, lookup, scope_of
from commands.words import is_gpu


def answer(ask: Ask, world: World) -> FitAnswer:
    """Answer for a size in words, or for the attached manifest, in the named or own queue."""
    fleet = world.fleet()
    if ask.attachment:
        shape = shape_of(ask.attachment)
        queue = _manifest_queue(shape, ask, fleet, world)
        shape = narrowed(shape, _flavor(ask.options.get("flavor", ""), queue))
    else:
        words = read_words(ask.args)
        queue, words = _words_queue(words, ask, fleet, world)
        flavors = dict.fromkeys(p.flavor for p in quotas(queue))
        shape = shape_from(words, flavors, _resource(ask.options.get("resource", ""), queue))
        shape = narrowed(shape, _flavor(ask.options.get("flavor", ""), queue))
    priority = _priority(ask.options.get("priority", "") or shape.priority_class, fleet)
    ahead = sum(w.priority >= priority for w in line_of(queue.name, fleet, world).workloads)
    return answer_fit(Fitting(shape, queue, priority), fleet, ahead, world.now())


def _words_queue(words: Words, ask: Ask, fleet: Fleet, world: World) -> tuple[ClusterQueue, Words]:
    """Take the queue from --queue, from a name among the words, or from the asker's team."""
    if "queue" in ask.options:
        return _only(find(ask.options["queue"], fleet, world.people(), cohorts=False), fleet), words
    known = {flavor.casefold() for flavor in fleet.flavors}
    for name in words.names:
        if name.casefold() in known:
            continue
        scope = lookup(name, fleet, world.people(), cohorts=False)
        if scope is not None:
            rest = tuple(n for n in words.names if n != name)
            return _only(scope, fleet), Words(words.pods, words.each, rest)
    return _own(ask, fleet, world), words


def _own(ask: Ask, fleet: Fleet, world: World) -> ClusterQueue:
    bare = Ask(ask.word, (), {}, ask.asker)
    return _only(scope_of(bare, fleet, world.people()), fleet)


def _only(scope: Scope, fleet: Fleet) -> ClusterQueue:
    if len(scope.queues) != 1:
        names = ", ".join(scope.queues[:8])
        raise UsageError(
            f"{scope.name} has {len(scope.queues)} queues.",
            f"Say which: --queue {names}" if names else "Name a queue: --queue NAME",
        )
    return fleet.cluster_queues[scope.queues[0]]


def _manifest_queue(shape: Shape, ask: Ask, fleet: Fleet, world: World) -> ClusterQueue:
    named = ask.options.get("queue", "") or next(iter(ask.args), "")
    if named:
        return _only(find(named, fleet, world.people(), cohorts=False), fleet)
    if not shape.queue_name:
        return _own(ask, fleet, world)
    local = [
        lq
        for lq in fleet.local_queues.values()
        if lq.name == shape.queue_name and shape.namespace in ("", lq.namespace)
    ]
    queues = tuple(dict.fromkeys(lq.cluster_queue for lq in local))
    known = tuple(q for q in queues if q in fleet.cluster_queues)
    if not known:
        names = {lq.name for lq in fleet.local_queues.values()}
        raise UnknownName("LocalQueue", shape.queue_name, nearest(shape.queue_name, names))
    return _only(Scope("team", shape.queue_name, known), fleet)


def _flavor(name: str, queue: ClusterQueue) -> str:
    if not name:
        return ""
    known = {p.flavor.casefold(): p.flavor for p in quotas(queue)}
    if name.casefold() not in known:
        near = nearest(name, known.values())
        raise UnknownName(f"kind of card in {queue.name}", name, near)
    return known[name.casefold()]


def _resource(name: str, queue: ClusterQueue) -> str:
    """Return the GPU resource that is meant: the named one, else the queue's first."""
    known = list(dict.fromkeys(p.resource for p in quotas(queue) if is_gpu(p.resource)))
    if name and name not in known:
        raise UnknownName(f"GPU resource in {queue.name}", name, nearest(name, known))
    return name or next(iter(known), GPU)


def _priority(asked: str, fleet: Fleet) -> int:
    """Return the number of a priority class, or the number itself; 0 when none is named."""
    if not asked:
        default = fleet.priority_classes.get("default")
        return default.value if default else 0
    if asked.lstrip("-").isascii() and asked.lstrip("-").isdigit() and len(asked) < 12:
        return int(asked)
    found = fleet.priority_classes.get(asked)
    if found is None:
        raise UnknownName("priority class", asked, nearest(asked, fleet.priority_classes))
    return found.value


def page(found: FitAnswer) -> Page:
    """Show the verdict per kind of card."""
    return fit_page(found)


COMMAND = Command(
    word="fit",
    usage="/gpu-fit SIZE [card] [--queue NAME], or a pasted manifest; alone, it asks",
    summary="whether a job would fit: now, by stopping others, or never",
    examples=("/gpu-fit 2x8 h100 --queue vision", "/gpu-fit 16 h100", "/gpu-fit 4x8"),
    answer=answer,
    page=page,
    options=("queue", "flavor", "priority", "resource"),
)
