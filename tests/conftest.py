"""What every test may use: pytester, for runs of pytest inside a test."""

pytest_plugins = ["pytester"]
