"""Which environment variables count."""

from __future__ import annotations

import pytest

from pytest_swapgate.identity import variables
from pytest_swapgate.identity.variables import LEFT_OUT, counted

NAMED = [(name.replace("*", "ANY"), group.where) for group in LEFT_OUT for name in group.names.split()]


def hashed(environment, root="/builds/1/project"):
    return variables.hashed(environment, root)


def test_every_group_has_a_reason_and_every_name_stands_once():
    names = [name for group in LEFT_OUT for name in group.names.split()]
    assert all(group.reason for group in LEFT_OUT)
    assert len(names) == len(set(names))
    assert not [
        name
        for name in names
        if "*" in name[:-1] or (len(name) < 4 and name not in ("_", "STY", "PWD", "PS1"))
    ]


@pytest.mark.parametrize(("name", "where"), NAMED)
def test_what_is_listed_does_not_count(name, where):
    around = {where: "true"} if where else {}
    assert hashed({name: "1", **around}) == hashed({name: "2", **around}) == hashed(around)


@pytest.mark.parametrize("name", ["AGENT_NAME", "AGENT_VERSION", "AWS_ACCESS_KEY_ID"])
def test_names_that_may_be_the_users_are_left_out_only_where_the_service_runs(name):
    assert hashed({name: "1"}) != hashed({name: "2"})


@pytest.mark.parametrize(
    "name",
    [
        *(
            "MODEL_Q",
            "SYSTEM_PROMPT",
            "AGENT_MODEL",
            "BUILD_FLAVOUR",
            "CI_TARGET",
            "RUNNER_TEMPERATURE",
            "GITHUB_MODEL",
        ),
        *("OPENAI_API_KEY", "OPENAI_BASE_URL", "PATH", "CI", "CI_ENVIRONMENT_NAME", "JOB_KIND", "GIT_MODEL"),
    ],
)
def test_everything_else_counts(name):
    assert hashed({name: "1", "TF_BUILD": "True"}) != hashed({name: "2", "TF_BUILD": "True"})
    assert counted({name: "1"}) == {name: "1"}


def test_name_and_value_cannot_be_taken_for_another_pair():
    assert hashed({"A": "1\nB=2"}) != hashed({"A": "1", "B": "2"})


def test_where_the_project_lies_does_not_count_and_what_is_named_in_it_does():
    assert hashed({"P": "/a/src:/b"}, "/a") == hashed({"P": "/c/src:/b"}, "/c")
    assert hashed({"P": "/a/src:/b"}, "/a") != hashed({"P": "/c/lib:/b"}, "/c")
