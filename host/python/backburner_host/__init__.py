"""A host for the backburner component in Python: durable shell jobs behind an MCP server.

Modules, from the outside in: `server` speaks MCP over stdio, `guest` calls the component, `imports` gives it what it
imports, `store` and `jobs` are what it gets. `capabilities` says what any store and any jobs have to be.
"""

__version__ = "0.1.0"
