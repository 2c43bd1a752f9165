"""CrewAI."""

from agent import Framework
from expectations import WANTS_NO_PROGRESS, cut_below, no_picture, says


class CrewAi(Framework):
    name = "crewai"
    pypi = {"crewai-tools[mcp]": "1.15.30", "crewai": "1.15.30", "mcp": "1.30.0"}
    differs = {
        # It keeps the rest as an artifact.
        "large": cut_below(5_000),
        "slow": WANTS_NO_PROGRESS,
        # It takes only the texts of a result.
        "picture": no_picture(),
        "text_and_file": says("The report is ready"),
    }
    script = "turn_crewai.py"

    def environment(self, turn):
        return {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_STORAGE_DIR": str(turn.home)}


AGENT = CrewAi()
