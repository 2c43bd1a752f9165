"""Questions about the builds of a CI service: three tools, a resource, a family of resources and a prompt."""

import csv
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from _bars import bars
from mcp_bash import Field, Image, NotFound, ToolError, instructions, keep, log, progress, prompt, resource, tool

instructions("Begin with slowest_jobs. Times are in seconds.")

BUILDS = Path(__file__).parent.parent / "data" / "builds.csv"


class Job(TypedDict):
    job: str
    runs: int
    mean_seconds: float
    longest_seconds: int


class Trend(TypedDict):
    job: str
    first_seconds: float
    last_seconds: float
    grows: bool


@keep
def database() -> Iterator[sqlite3.Connection]:
    """The builds, read once: every call of this process finds them here, and they are closed with it."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE builds (build INTEGER, day TEXT, branch TEXT, job TEXT, seconds INTEGER, result TEXT)")
    with BUILDS.open(newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    connection.executemany("INSERT INTO builds VALUES (?, ?, ?, ?, ?, ?)", rows)
    log.debug("read the builds", rows=len(rows))
    yield connection
    connection.close()


def seconds_of(job: str) -> list[int]:
    """How long each run of a job took, in their order."""
    found = database().execute("SELECT seconds FROM builds WHERE job = ? ORDER BY build", (job,))
    return [seconds for (seconds,) in found]


def jobs() -> list[str]:
    return [name for (name,) in database().execute("SELECT DISTINCT job FROM builds ORDER BY job")]


@tool(read_only=True, open_world=False)
def slowest_jobs(
    branch: str = "any",
    result: Literal["passed", "failed", "any"] = "any",
    limit: Annotated[int, Field(minimum=1, maximum=50)] = 5,
) -> list[Job]:
    """The jobs that take longest, slowest first. Use it to find where the time of a build goes.

    Args:
        branch: Only builds of this branch, for example main
        result: Only runs that ended so
        limit: How many jobs at most
    """
    rows = database().execute(
        """SELECT job, count(*), round(avg(seconds), 1), max(seconds) FROM builds
           WHERE (:branch = 'any' OR branch = :branch) AND (:result = 'any' OR result = :result)
           GROUP BY job ORDER BY avg(seconds) DESC LIMIT :limit""",
        {"branch": branch, "result": result, "limit": limit},
    )
    return [Job(job=job, runs=runs, mean_seconds=mean, longest_seconds=longest) for job, runs, mean, longest in rows]


@tool(read_only=True, open_world=False)
def job_chart(job: str):
    """How long each run of a job took, as a picture and in words.

    Args:
        job: The name of the job, as slowest_jobs has it
    """
    seconds = seconds_of(job)
    if not seconds:
        raise ToolError(f"There is no job {job}", hint=f"There are: {', '.join(jobs())}")
    return [f"{job}: {len(seconds)} runs, {min(seconds)} to {max(seconds)} s, oldest first", Image(bars(seconds))]


@tool(read_only=True, open_world=False)
def trends() -> list[Trend]:
    """Whether jobs get slower: the mean of the first five runs beside that of the last five, for each job."""
    found = []
    for job in progress.each(jobs(), message="{}"):
        seconds = seconds_of(job)
        first, last = (round(sum(some) / len(some), 1) for some in (seconds[:5], seconds[-5:]))
        found.append(Trend(job=job, first_seconds=first, last_seconds=last, grows=last > 1.2 * first))
    return found


@resource("builds://summary")
def summary() -> dict[str, int]:
    """How many builds, runs and failures there are."""
    query = "SELECT count(DISTINCT build), count(*), sum(result = 'failed') FROM builds"
    builds, runs, failed = database().execute(query).fetchone()
    return {"builds": builds, "runs": runs, "failed": failed}


@resource("builds://build/{number}", mime_type="text/csv")
def build(number: int) -> str:
    """All jobs of one build."""
    rows = database().execute("SELECT job, seconds, result FROM builds WHERE build = ?", (number,)).fetchall()
    if not rows:
        raise NotFound(f"There is no build {number}")
    return "job,seconds,result\n" + "".join(f"{job},{seconds},{result}\n" for job, seconds, result in rows)


@prompt
def speed_up(job: str) -> str:
    """Asks how to make a job faster.

    Args:
        job: The name of the job
    """
    return f"The job {job} took {seconds_of(job)} seconds in its last runs. What should I look at first to make it faster?"
