"""MCP: the program as tools and resources for Claude, Cursor, VS Code, Open WebUI and any other client of the Model Context Protocol.

    finexpert mcp --library filings      over stdio, for one person
    mount(app, desk)                     under /mcp of a server, for many

The tools are the same. Behind them stands a `Backend`: sessions of this process, or a server's desk. A client writes whatever a model
says, so no argument names a file or an address, each has a bound, and an error holds no path and no value.
"""

from finexpert.app.mcp.http import mount

__all__ = ["mount"]
