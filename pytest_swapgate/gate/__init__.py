"""From a marker's tolerance and a study's result to a verdict.

`tolerances` validates what a marker declares, `planning` sizes it before anything is spent, `judge` decides,
`verdicts` holds what is reported, `paired_runner` is what a test calls. Nothing here knows pytest.
"""
