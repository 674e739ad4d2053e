"""No outcome of another system is read: what has changed since is played anew, and shows what it does now."""

from __future__ import annotations

import os

import pytest

from pytest_swapgate.identity import files

GATE = """
import os
import random
from pathlib import Path

HERE = Path(__file__).parent


def passes(share):
    return lambda task, seed: random.Random(f"{task} {seed} {share()}").random() < float(share())


@pytest.mark.swap_penalty(score=0.25)
def test_gate(paired_runner, REQUESTED):
    paired_runner(passes(lambda: "0.9"), passes(lambda: CANDIDATE), range(60))
"""
GREEN, RED = "0.9", "0.3"
READ = "120 read from evidence"


@pytest.fixture
def gate(written):
    """Return a project whose candidate is as good as an expression says; its source does not tell."""

    def gate(candidate, requested="tmp_path"):
        return written(GATE.replace("REQUESTED", requested).replace("CANDIDATE", candidate))

    return gate


@pytest.fixture
def reads(gate):
    """Return a project whose candidate is as good as a file says."""
    return lambda name: gate(f"(HERE / {name!r}).read_text().strip()")


def is_read_and_played_anew(run, example, change, *args, **env):
    """Check that a second run reads, and that after the change another one shows what is true then."""
    run(example, *args, **env).assert_ends(0, passed=1).assert_silent_about(READ)
    run(example, *args, **env).assert_ends(0, passed=1).assert_says(READ).assert_silent_about(
        "swapgate remark"
    )
    change()
    run(example, *args, **env).assert_ends(1, failed=1).assert_silent_about(READ)


KINDS = [
    *(
        "a.csv",
        "a.tsv",
        "a.html",
        "a.xml",
        "a.sql",
        "a.sh",
        "a.js",
        "a.ipynb",
        "a.mdx",
        "a.prompty",
        "a.liquid",
    ),
    *(
        "a.bin",
        "a.npy",
        "a.parquet",
        "a.pyc",
        "p.env",
        ".env",
        "Modelfile",
        "no suffix",
        "dist/a.txt",
        "build/a.txt",
    ),
    *(".prompts/system.txt", ".claude/skills/kind.md", "prompts/deep/er/.hidden"),
]


def test_any_file_of_the_project_counts(gate, run, folder):
    example = gate(f"min((HERE / name).read_text() for name in {KINDS!r})")
    paths = [folder / name for name in KINDS]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GREEN)
    run(example).assert_ends(0, passed=1)
    for path in paths:
        path.write_text(RED)
        assert run(example).assert_silent_about(READ).exit_code == 1, path
        path.write_text(GREEN)
    run(example).assert_ends(0, passed=1).assert_says(READ)


@pytest.mark.parametrize("name", ["prompts/system.txt", "system.txt"])
def test_what_a_link_leads_to_counts(reads, run, folder, name):
    example = reads(name)
    outside = folder.parent / "shared"
    (outside / "deep").mkdir(parents=True)
    (outside / "system.txt").write_text(GREEN)
    (outside / "deep" / "back").symlink_to(outside)  # a loop
    folder.mkdir()
    (folder / name.partition("/")[0]).symlink_to(outside / "system.txt" if name == "system.txt" else outside)
    is_read_and_played_anew(run, example, lambda: (outside / "system.txt").write_text(RED))


def test_a_link_that_leads_elsewhere_counts_where_both_ends_are_known(reads, run, folder):
    example = reads("prompts/system.txt")
    for name, share in (("a", GREEN), ("b", RED)):
        (folder / name).mkdir(parents=True)
        (folder / name / "system.txt").write_text(share)
    (folder / "prompts").symlink_to("a")

    def change():
        (folder / "prompts").unlink()
        (folder / "prompts").symlink_to("b")

    is_read_and_played_anew(run, example, change)


def test_a_module_on_the_import_path_outside_of_the_project_counts(gate, run, folder, monkeypatch):
    example = gate("__import__('importlib').reload(__import__('elsewhere_share')).SHARE")
    library = folder.parent / "library"
    library.mkdir()
    example = example.with_files({"conftest.py": f"import sys\n\nsys.path.insert(0, {str(library)!r})\n"})
    module = library / "elsewhere_share.py"
    module.write_text(f"SHARE = '{GREEN}'\n")
    is_read_and_played_anew(run, example, lambda: module.write_text(f"SHARE = '{RED}'  # other\n"))


def test_what_relative_paths_lead_to_counts(gate, run, folder):
    example = gate("Path('share.txt').read_text()", "moved")
    work = folder.parent / "work"
    work.mkdir()
    (work / "share.txt").write_text(GREEN)
    moved = (
        f"import pytest\n\n\n@pytest.fixture\ndef moved(monkeypatch):\n    monkeypatch.chdir({str(work)!r})\n"
    )
    example = example.with_files({"conftest.py": moved})
    is_read_and_played_anew(run, example, lambda: (work / "share.txt").write_text(RED))


def test_a_large_file_counts_by_its_size_its_time_and_its_ends(gate, run, folder):
    example = gate("(HERE / 'big.bin').read_bytes()[5_000_000:5_000_003].decode()")
    folder.mkdir()
    path = folder / "big.bin"
    filler = b"." * (files.LARGE + 1_000_000)
    path.write_bytes(filler + GREEN.encode() + filler)

    def change():
        before = path.stat().st_mtime_ns
        path.write_bytes(filler + RED.encode() + filler)
        os.utime(path, ns=(before, before + 1))

    is_read_and_played_anew(run, example, change)


SET = """
import pytest
from pathlib import Path


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setenv("MODEL_Q", Path("SOURCE").read_text())
"""
FIRST = """
@pytest.mark.swap_penalty(score=0.25)
def test_another_gate_before_it(paired_runner):
    paired_runner(passes(lambda: "0.9"), passes(lambda: "0.91"), range(60))
"""


def test_a_variable_counts_as_it_is_when_the_comparison_begins(gate, run, folder):
    example = gate("os.environ['MODEL_Q']", "model")
    source = folder.parent / "source.txt"  # outside of the project
    source.write_text(GREEN)
    body = example.files["test_gate.py"]
    first, gate_itself = body.split("@pytest.mark", 1)
    example = example.with_files(
        {
            "conftest.py": SET.replace("SOURCE", source.as_posix()),
            "test_gate.py": f"{first}{FIRST}\n\n@pytest.mark{gate_itself}",
        }
    )
    run(example).assert_ends(0, passed=2)
    run(example).assert_ends(0, passed=2)
    source.write_text(RED)
    again = run(example).assert_ends(1, passed=1, failed=1)
    assert sum(READ in line for line in again.lines) == 1, "the gate that no variable concerns is still read"


def test_a_variable_counts_for_teams_too(teams, run, folder):
    source = folder.parent / "source.txt"
    source.write_text("one")
    example = teams("naive()")
    example = example.edited("test_gate.py", "test_gate(", "test_gate(model, ")
    settings = SET.replace("SOURCE", source.as_posix()) + example.files["conftest.py"]
    example = example.with_files({"conftest.py": settings})
    run(example)
    run(example).assert_says("96 episodes (96 read from evidence)")
    source.write_text("two")
    run(example).assert_silent_about("read from evidence")


RERUN = {
    "github": {
        "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "17", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_TOKEN": "ghs_b",
        "GITHUB_TRIGGERING_ACTOR": "b", "GITHUB_NEW_ONE": "2", "RUNNER_NAME": "runner 2", "RUNNER_TRACKING_ID": "2",
        "ACTIONS_RUNTIME_TOKEN": "b", "HOSTNAME": "b",
    },
    "gitlab": {"CI_JOB_ID": "2", "CI_JOB_TOKEN": "b", "CI_PIPELINE_ID": "2", "GITLAB_USER_ID": "2"},
    "jenkins": {"BUILD_NUMBER": "2", "BUILD_TAG": "2", "JENKINS_SERVER_COOKIE": "b", "NODE_NAME": "b"},
    "azure": {"TF_BUILD": "True", "SYSTEM_JOBATTEMPT": "2", "BUILD_BUILDID": "2", "AGENT_NAME": "agent 2"},
    "others": {
        "BUILDKITE_BUILD_ID": "2", "CIRCLE_BUILD_NUM": "2", "TRAVIS_JOB_ID": "2", "TEAMCITY_BUILD_PROPERTIES_FILE": "b",
        "DRONE_BUILD_NUMBER": "2", "BITBUCKET_BUILD_NUMBER": "2", "CODEBUILD_BUILD_ID": "2", "PYTHONHASHSEED": "7",
    },
}  # fmt: skip


@pytest.mark.parametrize("service", RERUN)
def test_a_red_job_that_is_run_again_is_not_played_again(gate, run, service):
    example = gate(f"'{RED}'")
    again = RERUN[service]
    fixed = {name: value for name, value in again.items() if name in ("GITHUB_ACTIONS", "TF_BUILD")}
    run(example, **{**dict.fromkeys(again, "1"), **fixed}).assert_ends(1, failed=1).assert_silent_about(READ)
    run(example, **again).assert_ends(1, failed=1).assert_says(READ)


@pytest.mark.parametrize(
    "name", ["AGENT_NAME", "SYSTEM_PROMPT", "GITHUB_MODEL", "BUILD_VARIANT", "CI_TARGET"]
)
def test_a_variable_of_the_user_counts_however_much_it_looks_like_one_of_a_service(gate, run, name):
    example = gate(f"os.environ[{name!r}]")
    run(example, **{name: GREEN}).assert_ends(0, passed=1)
    run(example, **{name: RED}).assert_ends(1, failed=1).assert_silent_about(READ)


UNKNOWN = {
    "current": ("import os\n\nos.chdir('/')\n", "the current folder (/) is the root of the file system"),
    "import path": (
        "import sys\nfrom pathlib import Path\n\nsys.path.append(str(Path.home()))\n",
        "a folder of the import path ({home}) is the home folder",
    ),
    "link": (
        "",
        "the root folder of the tests has a link ({folder}/all) to /, which is the root of the file system",
    ),
}


@pytest.mark.parametrize("how", UNKNOWN)
def test_where_nobody_can_tell_what_has_changed_every_run_plays_and_says_so_once(gate, run, folder, how):
    conftest, why = UNKNOWN[how]
    example = gate("os.environ['SHARE']").with_files({"conftest.py": conftest})
    body = example.files["test_gate.py"]
    other = body[body.index("@pytest.mark") :].replace("test_gate", "test_other")
    example = example.with_files({"test_gate.py": f"{body}\n\n{other}"})
    if how == "link":
        folder.mkdir()
        (folder / "all").symlink_to("/")
    run(example, "test_gate.py", SHARE=GREEN).assert_ends(0, passed=2)
    again = run(example, "test_gate.py", SHARE=GREEN).assert_ends(0, passed=2).assert_silent_about(READ)
    again.assert_says(
        why.format(home=os.path.expanduser("~"), folder=folder), "fingerprint='commit and model version'"
    )
    assert sum("swapgate remark" in line for line in again.lines) == 1


def test_too_many_files_are_not_hashed_but_played_anew_until_the_system_is_named(
    gate, run, folder, monkeypatch
):
    monkeypatch.setattr(files, "MOST_FILES", 30)
    example = gate(f"'{GREEN}'")
    (folder / "data").mkdir(parents=True)
    for number in range(31):
        (folder / "data" / f"{number}.txt").touch()
    run(example).assert_ends(0, passed=1)
    run(example).assert_silent_about(READ).assert_says(
        "holds more than 30 files and folders. Run pytest in the folder"
    )
    named = example.edited("test_gate.py", "range(60))", "range(60), fingerprint='v1')")
    run(named).assert_silent_about("swapgate remark")
    run(named).assert_says(READ).assert_silent_about("swapgate remark")


NOTES = """
def noted():
    with (HERE / "state.db").open("a") as file:
        file.write("called ")
    return "0.9"


@pytest.mark
"""


def test_a_system_that_writes_into_its_project_is_told_that_it_is_played_anew(gate, run):
    example = gate("noted()").edited("test_gate.py", "@pytest.mark", NOTES.strip())
    run(example).assert_ends(0, passed=1)
    result = run(example).assert_ends(0, passed=1).assert_silent_about(READ)
    result.assert_says("files changed while its tests ran (state.db): that is taken for another system, and")


LEFT = {
    "junit.xml": ("--junitxml=junit.xml",),
    "out/log.txt": ("--log-file=out/log.txt",),
    "mine.db": ("--swapgate-evidence=mine.db",),
    "app.log": (),
    ".git/index": (),
    "node_modules/a/index.js": (),
    "venv/lib/a.py": (),
    "a/__pycache__/b.pyc": (),
    ".coverage.host.1.2": (),
    ".swapgate/other.db": (),
}


@pytest.mark.parametrize("name", LEFT)
def test_artifacts_do_not_count(gate, run, folder, name):
    example = gate(f"'{GREEN}'")
    path = folder / name
    if not LEFT[name]:
        path.parent.mkdir(parents=True)
        path.write_text("1")
    if name.startswith("venv"):
        (folder / "venv" / "pyvenv.cfg").touch()
    run(example, *LEFT[name]).assert_ends(0, passed=1)
    if not LEFT[name]:
        path.write_text("2")
    assert path.exists()
    run(example, *LEFT[name]).assert_ends(0, passed=1).assert_says(READ).assert_silent_about(
        "swapgate remark"
    )


def test_the_same_project_in_another_folder_is_the_same_system(gate, run, folder):
    example = gate(f"'{GREEN}'")
    run(example, "--swapgate-evidence=../kept.db", PYTHONPATH=f"{folder}/src").assert_ends(0, passed=1)
    folder.rename(folder.with_name("moved"))
    moved = type(example)(folder.with_name("moved"), example.files)
    args = ("--swapgate-evidence=../kept.db",)
    run(moved, *args, PYTHONPATH=f"{moved.folder}/src").assert_ends(0, passed=1).assert_says(READ)
