"""pytest's options: all count, except those that choose, order, run or print tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_swapgate.environments.plain import plain_value

# The names are those of the parsed options: they hold for the command line, for addopts and for workers alike.
_HARMLESS = frozenset(
    """
    allure_report_clean allure_report_dir anyio_mode assertmode asyncio_debug asyncio_mode basetemp cacheclear
    cacheshow capture code_highlight collect_in_virtualenv collectonly color confcutdir
    continue_on_collection_errors cov_append cov_branch cov_context cov_fail_under cov_report cov_source debug
    deselect disable_plugin_autoload disable_warnings dist distload durations durations_min durations_path
    failedfirst fail_on_flaky file_or_dir fold_skipped force_reruns force_short_summary fulltrace help htmlpath
    ignore ignore_glob importmode inifilename json_report json_report_file json_report_indent junitprefix
    keepduplicates keyword last_failed_no_failures lf loadgroup loadscopereorder looponfail markers markexpr
    max_suite_reruns max_warnings maxfail maxprocesses maxschedchunk maxworkerrestart md_report md_report_output
    newfirst no_cov no_header no_summary numprocesses only_rerun pastebin plugins px pyargs pythonwarnings quiet
    report_log reportchars rerun_except rerun_exclude_path rerun_show_tracebacks reruns reruns_delay
    reruns_delay_backoff_factor reruns_mode rootdir rsyncdir rsyncignore runxfail self_contained_html
    session_timeout setuponly setupplan setupshow show_fixtures_per_test showcapture showfixtures showlocals stepwise
    stepwise_reset stepwise_skip store_durations strict strict_config strict_markers tbstyle testrunuid timeout
    timeout_disable_debugger_detection timeout_method trace traceconfig tx usepdb usepdb_cls verbose version
    xfail_tb xmlpath
    """.split()  # noqa: SIM905
)
_HARMLESS_PREFIXES = ("doctest", "hypothesis_", "log_", "logger_", "randomly_", "swapgate_")
# A user's own fixtures may build a candidate from these.
_TELLING = ("swapgate_model", "swapgate_replace")
# Where a run is told to write.
_WRITTEN = (
    "allure_report_dir", "basetemp", "durations_path", "htmlpath", "json_report_file", "log_file",
    "md_report_output", "report_log", "xmlpath",
)  # fmt: skip


def told(options: Mapping[str, Any]) -> Any:
    """Return the options that are not known to be harmless, as JSON."""
    return plain_value(
        {
            name: value
            for name, value in options.items()
            if name in _TELLING or not (name in _HARMLESS or name.startswith(_HARMLESS_PREFIXES))
        }
    )


def written_by(options: Mapping[str, Any], folders: Iterable[Path]) -> set[Path]:
    """Return the reports that a run was told to write, in whichever folder their names are meant."""
    names = [options.get(name) for name in _WRITTEN]
    reports = options.get("cov_report")
    names += reports.values() if isinstance(reports, Mapping) else []
    places = list(folders)
    return {
        folder / name for name in names if isinstance(name, str | Path) and str(name) for folder in places
    }
