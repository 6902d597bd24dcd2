"""Count and estimate the cost of calls, and keep them within a budget."""

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from kgrag.settings import ChatSettings
from kgrag.values.errors import BudgetError, ConfigurationError

Prices = Mapping[str, tuple[float, float]]
"""Model -> price of a million input tokens, and of a million output tokens."""

LOW, HIGH = 4.5, 3.0
"""Bytes of a token of usual text: the least and the most of common tokenizers."""
FEWEST = 2.0
"""Bytes of a token if the server does not count: fewer than in any usual text, so that the budget holds."""


class Budget:
    """Counts the cost of calls, and reserves the highest cost of a call before it. Safe to share between threads.

    The price of replies that are lost on the way is unknown and not counted.
    """

    def __init__(self, prices: Prices, limit: float | None, models: set[str]) -> None:
        """Set the limit; None: no limit.

        Raises ConfigurationError if there is a limit, but a model without a price.
        """
        unknown = sorted(models - prices.keys())
        if limit is not None and unknown:
            raise ConfigurationError(
                f"A budget is set, but no price of {', '.join(unknown)}.",
                f"Set it, per million tokens read and written: KGRAG_CHAT__PRICES='{{\"{unknown[0]}\": [0.15, 0.6]}}'.",
            )
        self._prices, self._limit = prices, limit
        self._changed = threading.Condition()
        self._spent = self._aside = 0.0

    @property
    def spent(self) -> float:
        """The cost of the calls so far; calls without a known price cost nothing."""
        return self._spent

    def cost(self, model: str, read: int, completion: int) -> float | None:
        """Return the cost of tokens; None if the price of the model is unknown."""
        if model not in self._prices:
            return None
        price_read, price_written = self._prices[model]
        return (read * price_read + completion * price_written) / 1_000_000

    @contextmanager
    def set_aside(self, most: float | None) -> Iterator["Spending"]:
        """Reserve `most` for a call; the caller records the actual cost in the Spending.

        Waits while running calls may still leave enough. Raises BudgetError if the rest of the budget is too small.
        """
        amount = most or 0.0
        with self._changed:
            while self._limit is not None and self._spent + self._aside + amount > self._limit:
                if self._spent + amount > self._limit:
                    raise BudgetError(
                        f"The next call could cost {amount:.4f}, and {self._spent:.4f} of the budget of "
                        f"{self._limit:g} is spent.",
                        "Raise KGRAG_CHAT__BUDGET and run it again: replies that were received are kept and free.",
                    )
                self._changed.wait()
            self._aside += amount
        spending = Spending()
        try:
            yield spending
        finally:
            with self._changed:
                self._aside -= amount
                self._spent += spending.cost
                self._changed.notify_all()


class Spending:
    """The actual cost of a call."""

    cost = 0.0


SPREAD = 1.5
"""Factors by which the mean length of replies differs between models."""
_TEMPLATE = 16
"""Maximum tokens that a chat template adds to the messages of a request."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of calls if none fails. `model` and `cost` are None if unknown.

    Tokens and cost are (minimum, maximum), since tokenizers and the length of replies differ.
    """

    calls: int = 0
    prompt_tokens: tuple[int, int] = (0, 0)
    completion_tokens: tuple[int, int] = (0, 0)
    model: str | None = None
    cost: tuple[float, float] | None = None

    def lines(self, budget: float | None = None) -> Iterator[str]:
        """Yield the estimate in words; `budget`: the limit of the cost."""
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        yield f"{calls} of {self.model or 'a model that is not set yet'}, if none fails"
        read, completion = (
            " to ".join(f"{n:,}" for n in ends) for ends in (self.prompt_tokens, self.completion_tokens)
        )
        yield f"{read} tokens in, {completion} out"
        if self.cost is None:
            yield "Cost: unknown price (KGRAG_CHAT__PRICES sets it)"
            return
        least, most = self.cost
        over = ""
        if budget is not None and most > budget:
            over = f", {'' if least > budget else 'perhaps '}more than the budget of {budget:g}"
        yield f"Cost: {money(least)} to {money(most)}{over}"


def money(cost: float) -> str:
    """Format an amount of money; small amounts to a hundredth of a cent."""
    return f"{cost:.2f}" if cost >= 1 else f"{cost:.4f}"


def estimate_calls(chat: ChatSettings, task: str, calls: int, size: int, reply: int, share: float = 1.0) -> Estimate:
    """Estimate the calls of a task: messages of `size` bytes in total, and a mean of `reply` tokens a call.

    `share`: the share of the price that is charged.
    """
    read = (math.ceil(size / LOW), math.ceil(size / HIGH) + calls * _TEMPLATE)
    completion = (round(calls * reply / SPREAD), round(calls * reply * SPREAD))
    model = chat.models.get(task, chat.model)
    price = chat.prices.get(model) if model is not None else None
    if price is None:
        return Estimate(calls, read, completion, model)
    least, most = (share * (r * price[0] + w * price[1]) / 1e6 for r, w in zip(read, completion, strict=True))
    return Estimate(calls, read, completion, model, (least, most))
