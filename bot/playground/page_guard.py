"""Keeps other web sites out of the playground: DNS rebinding, cross-site requests, framing."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@web.middleware
async def only_this_machine(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a foreign Host; for the page's own API also a foreign or missing Origin."""
    if urlsplit(f"//{request.host}").netloc.rpartition(":")[0] not in HOSTS:
        return web.Response(status=421, text="This playground is only for this machine.\n")
    if request.path.startswith("/play/") and not _from_our_page(request):
        return web.Response(status=403, text="Only the playground's own page may do this.\n")
    return await handler(request)


def _from_our_page(request: web.Request) -> bool:
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        return False
    if request.method == "GET":
        return True
    ours = request.headers.get("Origin") == f"http://{request.host}"
    return ours and request.content_type == "application/json"
