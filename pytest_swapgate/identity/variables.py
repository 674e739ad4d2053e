"""Environment variables: all count, except those that change by themselves and say nothing about a system.

They are the one place where a re-run of a red job could get another identity, and with it another roll of the dice. So
what a shell, a tool or a CI service sets anew in every session or job is left out, by its documented name; a name that
ends in ``*`` stands for all that begin so, and is used only where the service keeps that beginning for itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple


class LeftOut(NamedTuple):
    """Names, and why they say nothing; with ``where``, only when that variable is set."""

    reason: str
    names: str
    where: str = ""


LEFT_OUT = (
    LeftOut(
        "pytest and its workers set them; what they ask for is in the options",
        "PYTEST_*",
    ),
    LeftOut(
        "our own options: the model and replacements count as options, the others do not change the system",
        "SWAPGATE_*",
    ),
    LeftOut(
        "set by this package, or by litellm when it is imported",
        "LITELLM_LOCAL_MODEL_COST_MAP LITELLM_OFFLINE_MODE",
    ),
    LeftOut(
        "measuring, and what tox and nox draw or name anew for a run",
        "COV_CORE_* COVERAGE_* TOX_* NOX_CURRENT_SESSION PYTHONHASHSEED",
    ),
    LeftOut(
        "the terminal, shell or login that pytest happens to run in",
        """_ SHLVL PWD OLDPWD COLUMNS LINES TERM COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION TERM_SESSION_ID
        ITERM_SESSION_ID WT_SESSION KITTY_WINDOW_ID WINDOWID GNOME_TERMINAL_SCREEN STY TMUX TMUX_PANE PS1 LS_COLORS
        PY_COLORS NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_AUTH_SOCK
        SSH_AGENT_PID GPG_AGENT_INFO DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS XDG_SESSION_ID
        XDG_VTNR VSCODE_PID VSCODE_IPC_HOOK VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE SECURITYSESSIONID
        INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID""",
    ),
    LeftOut("the name of the machine or container: new for every job", "HOSTNAME COMPUTERNAME"),
    LeftOut(
        "credentials that a job is handed anew: they say who pays, not what answers",
        """AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SECURITY_TOKEN AWS_CREDENTIAL_EXPIRATION
        GOOGLE_GHA_CREDS_PATH CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE""",
        where="CI",
    ),
    LeftOut(
        "GitHub Actions: run, attempt, actor, files and tokens of a job (docs: variables reference)",
        """GITHUB_* ACTIONS_RUNTIME_* ACTIONS_CACHE_* ACTIONS_RESULTS_URL ACTIONS_ID_TOKEN_REQUEST_*
        ACTIONS_ORCHESTRATION_ID ACTIONS_RUNNER_* ACTIONS_STEP_DEBUG ImageOS ImageVersion
        RUNNER_ARCH RUNNER_DEBUG RUNNER_ENVIRONMENT RUNNER_NAME RUNNER_OS
        RUNNER_PERFLOG RUNNER_TEMP RUNNER_TOOL_CACHE RUNNER_TRACKING_ID RUNNER_USER RUNNER_WORKSPACE""",
    ),
    LeftOut(
        "GitLab: job, pipeline, runner, commit, who started it (docs: predefined variables reference)",
        """CI_JOB_* CI_PIPELINE_* CI_RUNNER_* CI_CONCURRENT_* CI_COMMIT_* CI_BUILD_* CI_NODE_* CI_REGISTRY_*
        CI_DEPENDENCY_PROXY_* CI_MERGE_REQUEST_* CI_OPEN_MERGE_REQUESTS CI_REPOSITORY_URL CI_BUILDS_DIR
        CI_PROJECT_* CI_SERVER_* CI_SHARED_ENVIRONMENT CI_DISPOSABLE_ENVIRONMENT CI_DEPLOY_USER CI_DEPLOY_PASSWORD
        CI_TRIGGER_* GITLAB_USER_* GITLAB_FEATURES""",
    ),
    LeftOut(
        "Jenkins: build, node, workspace (docs: environment variables of a pipeline)",
        """JENKINS_* HUDSON_* BUILD_ID BUILD_NUMBER BUILD_TAG BUILD_URL BUILD_DISPLAY_NAME BUILD_TIMESTAMP BUILD_CAUSE
        BUILD_USER BUILD_USER_ID BUILD_USER_EMAIL JOB_NAME JOB_BASE_NAME JOB_URL JOB_DISPLAY_URL RUN_DISPLAY_URL
        RUN_CHANGES_DISPLAY_URL RUN_ARTIFACTS_DISPLAY_URL RUN_TESTS_DISPLAY_URL EXECUTOR_NUMBER NODE_NAME NODE_LABELS
        WORKSPACE WORKSPACE_TMP STAGE_NAME GIT_COMMIT GIT_PREVIOUS_COMMIT GIT_PREVIOUS_SUCCESSFUL_COMMIT GIT_BRANCH
        GIT_LOCAL_BRANCH GIT_URL""",
    ),
    LeftOut(
        "Azure Pipelines: build, job, stage, attempt (docs: predefined variables)",
        """BUILD_BUILDID BUILD_BUILDNUMBER BUILD_BUILDURI BUILD_CONTAINERID BUILD_CRONSCHEDULE_DISPLAYNAME
        BUILD_DEFINITIONNAME BUILD_DEFINITIONVERSION BUILD_QUEUEDBY BUILD_QUEUEDBYID BUILD_REASON
        BUILD_REPOSITORY_* BUILD_REQUESTEDFOR BUILD_REQUESTEDFOREMAIL BUILD_REQUESTEDFORID BUILD_SOURCEBRANCH
        BUILD_SOURCEBRANCHNAME BUILD_SOURCEVERSION BUILD_SOURCEVERSIONAUTHOR BUILD_SOURCEVERSIONMESSAGE
        BUILD_SOURCESDIRECTORY BUILD_STAGINGDIRECTORY BUILD_ARTIFACTSTAGINGDIRECTORY BUILD_BINARIESDIRECTORY
        BUILD_TRIGGEREDBY_* SYSTEM_ACCESSTOKEN SYSTEM_ARTIFACTSDIRECTORY SYSTEM_COLLECTIONID SYSTEM_COLLECTIONURI
        SYSTEM_DEFAULTWORKINGDIRECTORY SYSTEM_DEFINITIONID SYSTEM_DEFINITIONNAME SYSTEM_ENABLEACCESSTOKEN
        SYSTEM_HOSTTYPE SYSTEM_ISSCHEDULED SYSTEM_JOBATTEMPT SYSTEM_JOBDISPLAYNAME SYSTEM_JOBID SYSTEM_JOBIDENTIFIER
        SYSTEM_JOBNAME SYSTEM_JOBPARALLELISMTAG SYSTEM_JOBPOSITIONINPHASE SYSTEM_JOBTIMEOUT SYSTEM_OIDCREQUESTURI
        SYSTEM_PARALLELEXECUTIONTYPE SYSTEM_PHASEATTEMPT SYSTEM_PHASEDISPLAYNAME SYSTEM_PHASEID SYSTEM_PHASENAME
        SYSTEM_PIPELINESTARTTIME SYSTEM_PLANID SYSTEM_PULLREQUEST_* SYSTEM_SERVERTYPE SYSTEM_STAGEATTEMPT
        SYSTEM_STAGEDISPLAYNAME SYSTEM_STAGEID SYSTEM_STAGENAME SYSTEM_TASKDEFINITIONSURI SYSTEM_TASKDISPLAYNAME
        SYSTEM_TASKINSTANCEID SYSTEM_TASKINSTANCENAME SYSTEM_TEAMFOUNDATION* SYSTEM_TEAMPROJECT SYSTEM_TEAMPROJECTID
        SYSTEM_TIMELINEID SYSTEM_TOTALJOBSINPHASE SYSTEM_WORKFOLDER AGENT_BUILDDIRECTORY AGENT_CONTAINERMAPPING
        AGENT_HOMEDIRECTORY AGENT_JOBNAME AGENT_JOBSTATUS AGENT_MACHINENAME AGENT_OSARCHITECTURE
        AGENT_ROOTDIRECTORY AGENT_SERVEROMDIRECTORY AGENT_TEMPDIRECTORY AGENT_TOOLSDIRECTORY AGENT_WORKFOLDER""",
    ),
    LeftOut(
        "Azure Pipelines; elsewhere these names may well be those of a user's own agents",
        "AGENT_ID AGENT_NAME AGENT_OS AGENT_VERSION SYSTEM_CULTURE SYSTEM_DEBUG",
        where="TF_BUILD",
    ),
    LeftOut("Buildkite: build, job, agent that runs it, tokens", "BUILDKITE_*"),
    LeftOut("CircleCI: build, workflow, node", "CIRCLE_* CIRCLECI_*"),
    LeftOut("Travis CI: build, job", "TRAVIS_*"),
    LeftOut("TeamCity: build", "TEAMCITY_* BUILD_VCS_NUMBER BUILD_VCS_NUMBER_*"),
    LeftOut("Drone and Woodpecker: build, step", "DRONE_* CI_STEP_* CI_WORKFLOW_* CI_SYSTEM_* CI_PREV_* CI_REPO_*"),
    LeftOut("Bitbucket Pipelines: build, step, tokens", "BITBUCKET_*"),
    LeftOut("AppVeyor, AWS CodeBuild, Cirrus, Semaphore: build, job", "APPVEYOR_* CODEBUILD_* CIRRUS_* SEMAPHORE_*"),
)  # fmt: skip

_TELLING = re.compile(r"MODEL|PROMPT|TEMPERATURE")
"""Whatever a name begins with: with one of these in it, it is about the system."""


def counted(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may change what a system does."""
    exact: set[str] = set()
    beginnings: list[str] = []
    for group in LEFT_OUT:
        if group.where and not environment.get(group.where):
            continue
        for name in group.names.split():
            if name.endswith("*"):
                beginnings.append(name[:-1])
            else:
                exact.add(name)
    begins = tuple(beginnings)
    return {
        name: value
        for name, value in environment.items()
        if name not in exact and (not name.startswith(begins) or _TELLING.search(name))
    }


def hashed(environment: Mapping[str, str], root: str) -> str:
    """Return the SHA-256 of the variables that count; no value is kept or shown anywhere.

    Where a value names the project's root folder, it does not matter where that is: it may be another one in each job.
    """
    lines = sorted(f"{name}={value.replace(root, '{root}')}" for name, value in counted(environment).items())
    return hashlib.sha256("\0".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
