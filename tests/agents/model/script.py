"""The script of the model: it calls each tool once, in order, and then quotes the results."""

import threading
from .conversation import Answer, Call, Conversation, Result

THE_END = "The turn is over."
# A program may hide tools until the model searches for them. This is how Claude Code names them.
SEARCH_TOOLS = {"ToolSearch": lambda tool: {"query": f"select:mcp__turns__{tool}", "max_results": 5}}
# Arguments that a program adds to the schemas of all tools. A model sends them.
ADDED_ARGUMENTS = {"wait_for_previous": True}


class Script:
    """Calls the steps, pairs of a tool's name and its arguments, and keeps what the model has seen."""

    def __init__(self, steps):
        self.steps = steps
        self.results: dict[str, Result] = {}
        self.pictures: set[str] = set()
        self.offered: dict[str, object] = {}
        self.not_offered: list[str] = []
        self._lock = threading.Lock()

    def reply(self, conversation: Conversation):
        with self._lock:
            return self._reply(conversation)

    def _reply(self, conversation):
        # Programs also ask for titles and summaries, without tools.
        if not conversation.tools:
            return Answer("A turn")
        self.pictures.update(conversation.pictures)
        answered = {result.call_id for result in conversation.results}
        for number, (name, arguments) in enumerate(self.steps):
            tool = self._find(name, conversation.tools)
            result = self._result(f"call_{number}", tool, conversation.results)
            if result:
                # Later requests may show less of it.
                self.results.setdefault(name, result)
            elif tool:
                return Call(f"call_{number}", tool, {**arguments, **self._added(tool)})
            elif name not in self.not_offered:
                search = next((tool for tool in conversation.tools if tool.name in SEARCH_TOOLS), None)
                if search and f"search_{number}" not in answered:
                    return Call(f"search_{number}", search, SEARCH_TOOLS[search.name](name))
                self.not_offered.append(name)
        return Answer(self._quotes())

    def _find(self, name, tools):
        """Programs put the name of the server before the name of a tool, with different characters between them."""
        for tool in tools:
            if tool.name == name or (tool.name.endswith(name) and not tool.name[-len(name) - 1].isalnum()):
                self.offered[name] = tool
                return tool
        return None

    @staticmethod
    def _added(tool):
        known = tool.schema.get("properties", {})
        return {name: value for name, value in ADDED_ARGUMENTS.items() if name in known}

    @staticmethod
    def _result(call_id, tool, results):
        for result in results:
            if result.call_id == call_id or (result.tool and tool and result.tool == tool.name):
                return result
        return None

    def _quotes(self):
        quotes = [f"{name}: {result.text[:80]}" for name, result in self.results.items()]
        return "\n".join([THE_END, *quotes])
