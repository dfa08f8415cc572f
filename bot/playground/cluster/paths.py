"""What a request to the API server asks for, from its address."""

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Target:
    """An address of the Kubernetes API, taken apart; what it doesn't name is empty."""

    path: str
    query: dict[str, str]
    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""

    def number(self, key: str, default: int = 0) -> int:
        """Return a number from the query; the default when it is absent or none."""
        text = self.query.get(key, "")
        return int(text) if text.isdecimal() else default

    @property
    def watch(self) -> bool:
        """Tell whether a watch is asked for."""
        return self.query.get("watch", "") in ("1", "true")


def target(address: str) -> Target:
    """Return what an address asks for; an address that isn't the API's has only its path."""
    split = urlsplit(address)
    query = {key: values[-1] for key, values in parse_qs(split.query).items()}
    parts = [unquote(part) for part in split.path.split("/") if part]
    plain = Target(split.path, query)
    if not parts or parts[0] != "apis":
        return plain
    group, version, *rest = (*parts[1:], "", "")[: max(2, len(parts) - 1)]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest, "", "", "")[:3]
    return Target(split.path, query, group, version, namespace, plural, name, subresource)
