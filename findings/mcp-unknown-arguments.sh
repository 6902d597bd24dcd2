#!/usr/bin/env bash
# A tool of the MCP Python SDK silently drops unknown arguments and answers as if it had used them: a filter with a
# misspelt name filters nothing. Its published schema does not forbid additional arguments either.
# mcp 2.3.0.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install mcp==2.3.0
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
import asyncio

from mcp.server.mcpserver import MCPServer

server = MCPServer("demo", log_level="ERROR")


@server.tool()
def search(question: str, where: str = "") -> str:
    return f"{question} where={where!r}"


async def main() -> None:
    (tool,) = await server.list_tools()
    reply = await server.call_tool("search", {"question": "ice", "wher": "year=1897"})
    print(tool.input_schema.get("additionalProperties"), reply)
    assert tool.input_schema.get("additionalProperties") is None
    assert "ice where=''" in str(reply)


asyncio.run(main())
PY
