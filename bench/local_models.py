"""Measure how often a model's replies are valid at the first try, by task and by mode of requesting JSON.

    python -m llama_cpp.server --model qwen.gguf --model_alias qwen --n_ctx 16384
    python bench/local_models.py SET --base-url http://127.0.0.1:8000/v1 --model qwen --calls 50 --mode json_schema

SET: a folder with corpus.jsonl and queries.jsonl. Each call takes another question with its passages. Resumes: calls
recorded in OUT are skipped. json_schema includes the variant that the server accepts instead.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "llm"))

from every_task import SHAPES, task, values

from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import reply_schema, shaped
from kgrag.models.prompts import load_prompt
from kgrag.settings import ChatSettings
from kgrag.values.errors import ModelError
from kgrag.values.results import Passage


def read_set(folder: Path) -> list[tuple[str, str, list[Passage]]]:
    """Return the questions that have an answer, each with the answer and its gold passages."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    corpus = {row["id"]: Passage(row["id"], row["id"], row["title"], row["text"]) for row in rows}
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    found = [(q["question"], (q.get("answers") or ["unknown"])[0], [corpus[id] for id in q["gold"]]) for q in queries]
    return [each for each in found if len(each[2]) > 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--mode", default="json_schema", choices=["json_schema", "json_object", "none"])
    parser.add_argument("--calls", type=int, default=50, help="of each task")
    parser.add_argument("--prompt", action="append", help="of these prompts alone")
    parser.add_argument("--out", type=Path, default=Path("build/local_models.jsonl"))
    options = parser.parse_args()
    questions = read_set(options.set)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(r["model"], r["mode"], r["prompt"], r["call"]): r for r in rows}
    settings = ChatSettings(
        base_url=options.base_url,
        model=options.model,
        json_mode=options.mode,
        cache=False,
        timeout=900,
        max_tokens=1024,
    )
    with OpenAIChat(settings) as model, options.out.open("a") as out:
        for call in range(options.calls):
            for prompt in options.prompt or SHAPES:
                if (options.model, options.mode, prompt, call) in done:
                    continue
                row = {"model": options.model, "mode": options.mode, "prompt": prompt, "call": call}
                row |= _asked(model, prompt, *questions[call % len(questions)])
                done[options.model, options.mode, prompt, call] = row
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
    _print([row for row in done.values() if row["model"] == options.model])


def _asked(model: OpenAIChat, prompt: str, question: str, answer: str, passages: list[Passage]) -> dict[str, Any]:
    messages = load_prompt(prompt).messages(**values(prompt, question, answer, passages))
    began = time.perf_counter()
    try:
        reply = model.chat(messages, task=task(prompt), json=reply_schema(SHAPES[prompt]))
    except ModelError as error:
        return {
            "valid": False,
            "problem": str(error),
            "seconds": time.perf_counter() - began,
            "written": 0,
            "cut": False,
        }
    found, problem = shaped(reply, SHAPES[prompt])
    return {
        "valid": found is not None, "problem": problem, "seconds": round(time.perf_counter() - began, 2),
        "written": reply.usage.completion_tokens, "cut": reply.cut, "text": "" if found else reply.text,
    }  # fmt: skip


def _print(rows: list[dict[str, Any]]) -> None:
    by: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by[row["mode"], row["prompt"]].append(row)
    print(f"{'mode':<13}{'prompt':<20}{'calls':>6}{'valid %':>9}{'cut':>5}{'written':>9}{'seconds':>9}")
    for (mode, prompt), its in sorted(by.items()):
        valid, cut = sum(row["valid"] for row in its), sum(row["cut"] for row in its)
        means = (sum(row[name] for row in its) / len(its) for name in ("written", "seconds"))
        written, seconds = means
        print(
            f"{mode:<13}{prompt:<20}{len(its):>6}{100 * valid / len(its):>9.0f}{cut:>5}{written:>9.0f}{seconds:>9.1f}"
        )


if __name__ == "__main__":
    main()
