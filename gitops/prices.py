"""What a GPU-hour costs: ``gpubot/prices.yaml`` of the GitOps repository, read strictly.

::

    currency: EUR
    default: 2.00                    # any other card
    per_gpu_hour:
      h100: 2.50                     # words of DCGM's modelName, the most specific entry wins
      a100 40gb: 1.10

A faulty file gives no prices and says what is wrong: nobody is told a cost by a guess. [pure]
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gitops.strict_yaml import Block, load

PATH = "gpubot/prices.yaml"
_CURRENCY = re.compile(r"[A-Z]{3}")
_PRICE = re.compile(r"\d{1,6}(\.\d{1,4})?")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per hour of a whole card; ``default`` is None when other cards have no price.

    ``problems`` are those of a faulty file, which has no prices.
    """

    currency: str = ""
    default: Decimal | None = None
    by_model: Mapping[str, Decimal] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def of(self, model: str) -> Decimal | None:
        """Return the price for DCGM's modelName ("" if unknown); None if there is none."""
        have = set(_words(model))
        fitting = [name for name in self.by_model if set(_words(name)) <= have]
        if not fitting:
            return self.default
        return self.by_model[max(fitting, key=lambda name: (len(_words(name)), name))]


def parse(raw: bytes | None) -> Prices | None:
    """Return the prices; None when the repository has no such file."""
    if raw is None:
        return None
    top = load(raw, "the file")
    top.only("currency", "default", "per_gpu_hour")
    currency = top.text("currency", None)
    if currency and not _CURRENCY.fullmatch(currency):
        top.wrong(top.line, f"currency {currency!r} is no code of three letters, like EUR")
    by_model = {name: _price(top.block("per_gpu_hour"), name) for name in _models(top)}
    default = _price(top, "default") if "default" in top.values else None
    if default is None and not by_model and not top.problems:
        top.problems.append("the file has no price")
    if top.problems:
        return Prices(problems=tuple(dict.fromkeys(top.problems)))
    return Prices(currency, default, by_model)


def _models(top: Block) -> tuple[str, ...]:
    block = top.block("per_gpu_hour")
    for name, value in block.values.items():
        if not _words(name):
            block.wrong(value.line, f"{name!r} names no card")
    return tuple(block.values)


def _price(block: Block, key: str) -> Decimal:
    return block.read(key, _decimal, Decimal(0))


def _decimal(text: str) -> Decimal:
    if not _PRICE.fullmatch(text):
        raise ValueError(f"must be a price such as 2.50, not {text!r}")
    return Decimal(text)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
