"""BDTR: dual thoughts widen the pool of passages, and a chain of reasoning decides which of them are read.

BDTR, section 3 and appendix A.3. Each round asks for a fast thought (a short, direct follow-up question) and a slow one
(which names a bridge), and searches for both. A passage keeps its best score over all queries (3.1). Then a model
writes a chain of reasoning, and the passages that a verifier finds to support it move to the top (3.2). The scores
determine the number of passages to read.
"""

from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from kgrag.agents.answering import AnswerOptions
from kgrag.agents.pool import Pool
from kgrag.agents.strategy import Episode, Outcome, QuestionContext, StepQuery, Strategy
from kgrag.models.prompted import numbered
from kgrag.retrieval.base import Scored
from kgrag.runtime.options import Count
from kgrag.values.events import Chained, Verified


class Thoughts(BaseModel):
    """A reply with two thoughts, and with a chain of reasoning if the prompt asks for it."""

    fast: str = Field(min_length=1)
    slow: str = ""
    chain: str = ""


class Covered(BaseModel):
    """A reply that lists the numbers of the passages that support a chain, the strongest support first."""

    covered_doc_indices: list[int]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        return {"covered_doc_indices": value} if isinstance(value, list) else value


class BdtrOptions(AnswerOptions):
    """Options of BDTR."""

    rounds: int = Field(2, ge=0, le=20, description="rounds of thoughts (section 4.1)")
    pool: int = Field(200, ge=5, le=10_000, description="passages that each query ranks (figure 4 goes to 200)")
    read: Count = Field(5, description="best passages that the thoughts and the chain are made from")
    dual: bool = Field(True, description="both thoughts; false: the fast one alone (table 5)")
    calibrate: bool = Field(True, description="verify by a chain of reasoning; false: the best `evidence` (table 5)")
    chain: Literal["pool", "thoughts"] = Field(
        "pool", description="the chain is made from the last pool (algorithm 1), or with the last thoughts (3.2)"
    )
    verify: Count = Field(30, description="best passages that the verifier is shown (section 3.2)")
    promoted: Literal["kept", "scored"] = Field(
        "kept", description="passages that support the chain are always read, or only those whose score suffices"
    )
    spread: Count = Field(50, description="best passages whose scores' mean + deviation is the bar (equation 6)")
    least: Count = Field(5, description="passages that are read in any case (section 3.2)")


class Bdtr(Strategy):
    """Two thoughts a round, and a chain of reasoning that calibrates which passages are read.

    Source: BDTR, section 3 and appendix A.3.

    Example:
        >>> system = Bdtr(PathRank(collection.context), rounds=1)
        >>> print(system.ask("Where was the designer of the Fram born?").text)
    """

    name = "bdtr"
    summary = "searches for a fast and a slow thought a round, then keeps what supports a chain of reasoning; BDTR"
    paper = "BDTR, section 3"
    calls = (1, 3)
    options = BdtrOptions
    settings: BdtrOptions

    def begin(self, inquiry: QuestionContext) -> Episode:
        """See Strategy."""
        return _Bdtr(inquiry, self.settings)


class _Bdtr(Episode):
    """One question in progress; `earlier`: the thoughts of earlier rounds."""

    settings: BdtrOptions

    def __init__(self, inquiry: QuestionContext, settings: BdtrOptions) -> None:
        super().__init__(inquiry, settings)
        self.steps = 1 + settings.rounds
        self.pool = settings.pool
        self.candidates = Pool(inquiry.retriever.scale)
        self.earlier: list[str] = []
        self.chain = ""
        self._round = 0

    def next_queries(self) -> Sequence[str | StepQuery]:
        """See Episode; the question itself, then the thoughts (section 3.1, equations 1 to 3)."""
        self._round += 1
        if self._round == 1:
            return [StepQuery(self.inquiry.question.text, "question")]
        last = self.settings.chain == "thoughts" and self._round == self.steps and self.settings.calibrate
        thoughts = self.inquiry.llm.structured(
            "dual-thought",
            Thoughts,
            prompt="dual-thought-chain" if last else "dual-thought",
            passages=self._numbered_best(self.settings.read),
            question=self.inquiry.question.wording,
            thoughts="\n".join(self.earlier) or "(none)",
        )
        self.chain = thoughts.chain
        searches = [StepQuery(thoughts.fast, "fast")]
        if self.settings.dual and thoughts.slow:
            searches.append(StepQuery(thoughts.slow, "slow"))
        self.earlier += [search.text for search in searches]
        return searches

    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """See Episode (section 3.1, equation 4)."""
        self.candidates.add(ranking)

    def finalise(self) -> list[Scored]:
        """See Episode."""
        return self.candidates.ranking()

    def conclude(self) -> Outcome:
        """See Episode; passages that support the chain come first (section 3.2, equations 5 and 6; algorithm 1)."""
        ranking = self.finalise()
        if not self.settings.calibrate or not ranking:
            return Outcome(ranking)
        promoted = self._verified(ranking)
        first = {x.id for x in promoted}
        ranking = [*promoted, *(x for x in ranking if x.id not in first)]
        scores = [x.score for x in ranking[: self.settings.spread]]
        bar = fmean(scores) + pstdev(scores)
        always = first if self.settings.promoted == "kept" else set[str]()
        read = [x for x in ranking if x.score >= bar or x.id in always]
        evidence = {x.id for x in read}
        read += [x for x in ranking if x.id not in evidence][: max(0, self.settings.least - len(read))]
        evidence = {x.id for x in read}
        return Outcome([*read, *(x for x in ranking if x.id not in evidence)], len(read))

    def _verified(self, ranking: Sequence[Scored]) -> list[Scored]:
        """Return the top passages that support a chain of reasoning according to a model. Raises ModelError."""
        question, llm = self.inquiry.question.wording, self.inquiry.llm
        chain = self.chain or llm.text("chain", passages=self._numbered_best(self.settings.read), question=question)
        self.emit(Chained(text=" ".join(chain.split())))
        candidates = ranking[: self.settings.verify]
        reply = llm.structured(
            "verify", Covered, passages=self._numbered_best(self.settings.verify), question=question, chain=chain
        )
        numbers = dict.fromkeys(n for n in reply.covered_doc_indices if 1 <= n <= len(candidates))
        promoted = [candidates[n - 1] for n in numbers]
        self.emit(Verified(ids=tuple(x.id for x in promoted)))
        return promoted

    def _numbered_best(self, count: int) -> str:
        return numbered(self.inquiry.passages(self.finalise()[:count])) or "(nothing was found)"
