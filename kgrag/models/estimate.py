"""What calls of a language model would take, before any is made."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from kgrag.models.budget import HIGH, LOW
from kgrag.settings import ChatSettings

SPREAD = 1.5
"""How much longer or shorter replies are on average, from model to model."""
_TEMPLATE = 16
"""Tokens that a chat template puts around the messages of a request, at most."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What calls would take if none fails. `model` and `cost` are None where they are not known.

    Tokens and cost are (least, most), since tokenizers and the length of replies differ.
    """

    calls: int = 0
    prompt_tokens: tuple[int, int] = (0, 0)
    completion_tokens: tuple[int, int] = (0, 0)
    model: str | None = None
    cost: tuple[float, float] | None = None

    def lines(self, budget: float | None = None) -> Iterator[str]:
        """Yield the estimate in words; `budget`: the most that may be spent."""
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        yield f"{calls} of {self.model or 'a model that is not set yet'}, if none fails"
        read, written = (" to ".join(f"{n:,}" for n in ends) for ends in (self.prompt_tokens, self.completion_tokens))
        yield f"{read} tokens in, {written} out"
        if self.cost is None:
            yield "Cost: unknown price (KGRAG_CHAT__PRICES sets it)"
            return
        least, most = self.cost
        over = ""
        if budget is not None and most > budget:
            over = f", {'' if least > budget else 'perhaps '}more than the budget of {budget:g}"
        yield f"Cost: {money(least)} to {money(most)}{over}"


def money(cost: float) -> str:
    """Return an amount of money, small ones to a hundredth of a cent."""
    return f"{cost:.2f}" if cost >= 1 else f"{cost:.4f}"


def estimate_calls(chat: ChatSettings, task: str, calls: int, size: int, reply: int, share: float = 1.0) -> Estimate:
    """Estimate the calls of a task: messages of `size` bytes in all, and `reply` tokens a call on average.

    `share`: of the price that is paid.
    """
    read = (math.ceil(size / LOW), math.ceil(size / HIGH) + calls * _TEMPLATE)
    written = (round(calls * reply / SPREAD), round(calls * reply * SPREAD))
    model = chat.models.get(task, chat.model)
    price = chat.prices.get(model) if model is not None else None
    if price is None:
        return Estimate(calls, read, written, model)
    least, most = (share * (r * price[0] + w * price[1]) / 1e6 for r, w in zip(read, written, strict=True))
    return Estimate(calls, read, written, model, (least, most))
