"""Our server with one tool more, which does nothing: what every call costs, whatever it is about.

    python benchmarks/no_op.py [arguments of mcp-memory-server] --toolsets nothing

The tool takes the whole way of a call (transport, SDK, checking of arguments, identity, answer), and reads no memory.
"""

from __future__ import annotations

import mcp_types as types

from mcp_memory_server.__main__ import main
from mcp_memory_server.server.schemas import BOOLEAN, arguments, record_of
from mcp_memory_server.server.tools import TOOLSETS
from mcp_memory_server.server.tools.served import Call, ServedTool, text

NO_OP = "nothing"


async def _nothing(call: Call) -> types.CallToolResult:
    return types.CallToolResult(content=text("Nothing."), structured_content={"done": True})


TOOLSETS[NO_OP] = lambda service: [
    ServedTool(
        types.Tool(
            name=NO_OP,
            description="Does nothing.",
            input_schema=arguments({}),
            output_schema=record_of({"done": BOOLEAN}, required=("done",)),
        ),
        _nothing,
        writes=False,
    )
]

if __name__ == "__main__":
    main()
