"""Where the pods of an admitted pod set stand, from Kueue's compressed list of domains.

Upstream: TopologyAssignment in apis/kueue/v1beta2/workload_types.go; v1beta1 lists each domain.

[pure]
"""

from collections.abc import Iterator
from itertools import chain, islice
from sys import intern

from capacity.decode_workload_wire import PlacesWire, SliceWire

Places = tuple[tuple[str, int], ...]
MOST = 64


def places(wire: PlacesWire | None) -> Places:
    """Return (domain, pods), the first 64; a domain is its levels' values joined by "/"."""
    if wire is None:
        return ()
    listed = (("/".join(d.values), d.count) for d in wire.domains or ())
    told = (place for part in wire.slices or () for place in _slice(part))
    return tuple((intern(name), pods) for name, pods in islice(chain(listed, told), MOST))


def _slice(wire: SliceWire) -> Iterator[tuple[str, int]]:
    """Yield the domains of a slice; a list that is too short for them ends it."""
    for at in range(wire.domain_count):
        names = []
        for level in wire.values_per_level:
            own = level.individual
            if level.universal is not None:
                names.append(level.universal)
            elif own is not None and at < len(own.roots):
                names.append(f"{own.prefix}{own.roots[at]}{own.suffix}")
            else:
                return
        counts = wire.pod_counts
        each = counts.individual or ()
        pods = counts.universal if counts.universal is not None else each[at : at + 1]
        yield "/".join(names), pods if isinstance(pods, int) else next(iter(pods), 0)
