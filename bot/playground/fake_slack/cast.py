"""Who lives in the playground's workspace, and some who test what must be refused. [pure]."""

from bot.playground.fake_slack.people import BOT_USER, Channel, User, UserGroup

USERS = (
    User("U0ANA", "ana", "Ana Ruiz", "requester, in research", "Europe/Lisbon", 0),
    User("U0LI", "li", "Li Wei", "owner of serving, lends", "Europe/Berlin", 3600),
    User("U0KIM", "kim", "Kim Larsen", "platform admin", "Europe/Prague", 3600, admin=True),
    User("U0VERA", "vera", "Vera Novak", "owner of vision", "America/New_York", -18000),
    User("U0RAE", "rae", "Rae Cohen", "owner of research", "Europe/Stockholm", locale="sv-SE"),
    User("U0OTTO", "otto", "Otto Brandt", "outsider, in no team", "Europe/Vienna", 3600),
    User("U0TOM", "tom", "Tom Okafor", "owner of serving", "Africa/Lagos", 3600),
    User("U0PAT", "pat", "Pat Singh", "platform admin", "Europe/Paris", 3600),
    User("U0GUS", "gus", "Gus Guest", "guest", restricted=True),
    User("U0UMA", "uma", "Uma Ultra", "single-channel guest", ultra_restricted=True),
    User("U0STEN", "sten", "Sten Stranger", "from another company", team="T0OTHER", stranger=True),
    User("U0DANA", "dana", "Dana Departed", "left the company", deleted=True),
    User(BOT_USER, "gpubot", "Gpubot", "app", "UTC", 0, bot=True),
)

ON_STAGE = ("U0ANA", "U0LI", "U0KIM", "U0VERA", "U0RAE", "U0OTTO")
"""Whom a visitor of the page can be, in the order of the switcher."""

GROUPS = (UserGroup("S0PLATFORM", "platform", "Platform", ("U0KIM", "U0PAT")),)

_EVERYONE = tuple(u.id for u in USERS if not u.deleted)

CHANNELS = (
    Channel("C0REQUESTS", "gpu-requests", "Every request for capacity, decided here", _EVERYONE),
    Channel("C0RESEARCH", "research", "Team research", _EVERYONE),
    Channel("C0PLATFORM", "ml-platform", "The platform team and its weekly digest", _EVERYONE),
    Channel(
        "C0RANDOM", "random", "Gpubot is not here", tuple(u for u in _EVERYONE if u != BOT_USER)
    ),
    Channel("G0SECRET", "secret", "", ("U0KIM", BOT_USER), private=True),
    Channel("C0OLD", "old-gpus", "", _EVERYONE, archived=True),
)


def direct_messages() -> tuple[Channel, ...]:
    """Return one direct-message channel with the bot for each living person."""
    people = [u for u in USERS if not u.bot and not u.deleted]
    return tuple(Channel(f"D{u.id[1:]}", members=(u.id, BOT_USER), im_with=u.id) for u in people)
