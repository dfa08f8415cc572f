"""Names that the API server takes.

[pure]
"""

import re

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def is_name(text: str) -> bool:
    """Tell whether a text is a name of an object: an RFC 1123 subdomain."""
    return len(text) <= 253 and _NAME.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    """Tell whether a text is a label key, which resource names are: ``[prefix/]name``."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_name(prefix)) and _LABEL_NAME.fullmatch(name) is not None
