"""What a job last said of itself: `report.json` in its directory, which any process of the job may have written."""

import os

from . import limits
from .capabilities import Report
from .job_files import is_natural, read_record, write_record

_WRITTEN_BYTES_MAX = limits.ESCAPED_BYTES * limits.REPORT_TEXT_BYTES_MAX + limits.RECORD_BYTES


def read(job: str) -> Report | None:
    """What the job in the directory `job` last said; `None` where it has said nothing, or the file is damaged."""
    try:
        record = read_record(_path(job), _WRITTEN_BYTES_MAX)
        percent, text, at = record.get("percent"), record.get("text"), record.get("at")
        if not (percent is None or is_natural(percent, 100)) or not is_natural(at) or not isinstance(text, str):
            return None
        return Report(percent, _bounded(text), at)
    except (OSError, ValueError):
        return None


def write(job: str, report: Report) -> None:
    """Say it, in one step: the last one stays."""
    draft = f"{_path(job)}.draft-{os.getpid()}"
    try:
        write_record(draft, {"percent": report.percent, "text": _bounded(report.text), "at": report.at})
        os.rename(draft, _path(job))
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def _path(job: str) -> str:
    return os.path.join(job, "report.json")


def _bounded(text: str) -> str:
    """As much as fits, without half a character at its end. Raises `ValueError` where it is no text."""
    return text.encode()[: limits.REPORT_TEXT_BYTES_MAX].decode(errors="ignore")
