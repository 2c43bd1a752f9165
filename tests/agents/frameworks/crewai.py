"""CrewAI."""

from agent import Framework


class CrewAi(Framework):
    name = "crewai"
    pypi = {"crewai-tools[mcp]": "1.15.30", "crewai": "1.15.30"}
    script = "turn_crewai.py"

    def environment(self, turn):
        return {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_STORAGE_DIR": str(turn.home)}


AGENT = CrewAi()
