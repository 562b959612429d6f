#!/usr/bin/env python3
"""Asks `relax-spec mcp` with the client of the public Python SDK, as an agent does.

    python3 -m venv target/tools/mcp && target/tools/mcp/bin/pip install mcp==2.3.0
    target/tools/mcp/bin/python tools/check_mcp.py target/release/relax-spec [ADAPTER]

Lists the tools and calls each; `blame` with an adapter such as `tvm@0.27`, else with one that cannot start.
"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = {}
            R.output(y)
        return y
"""


def program(body):
    return {"text": PROGRAM.format(body)}


#: Tool, arguments, and the verdict.
CALLS = [
    ("check", {"program": program("R.add(x, x)")}, "accepted"),
    ("check", {"program": program("R.ad(x, x)")}, "rejected"),
    ("run", {"program": program("R.add(x, x)"), "arguments": ["[1, 2]:float32"]}, "value"),
    ("refine", {"before": program("R.add(x, x)"), "after": program('R.multiply(x, R.const(2.0, "float32"))')}, "allowed"),
    ("refine", {"before": program("R.add(x, x)"), "after": program("R.multiply(x, x)")}, "not allowed"),
    ("explain", {"id": "SUB.TENSOR.RANK"}, "explained"),
]


async def asked(command, adapter):
    calls = list(CALLS)
    verdict = "no pass is to blame" if adapter else "unavailable"
    calls.append(("blame", {"program": program("R.add(x, x)"), "adapter": adapter or "tvm@/no/such/python"}, verdict))
    wrong = 0
    async with (
        stdio_client(StdioServerParameters(command=command, args=["mcp"])) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == {"check", "run", "refine", "blame", "explain"}, tools
        assert tools == {tool for tool, _, _ in calls}
        for tool, arguments, expected in calls:
            result = (await session.call_tool(tool, arguments)).model_dump(by_alias=True)
            given = (result["structuredContent"] or {}).get("verdict")
            wrong += given != expected
            print(f"{tool}: {given}" + ("" if given == expected else f", not {expected}: {result}"))
    return wrong


def main():
    wrong = asyncio.run(asked(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
    print(f"{wrong} unexpected")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
