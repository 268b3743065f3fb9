"""The doors of a server: a web page, REST, an OpenAI-compatible API and MCP, all over one `Desk`.

    finexpert serve                       a server on 127.0.0.1, without a login
    desk.ask(person, conversation, "When did the latest recession start?")

The extra `serve` installs what they need. Nothing here is imported by `import finexpert`.
"""
