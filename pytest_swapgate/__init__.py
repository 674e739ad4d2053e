"""A pytest release gate for teams of LLM agents."""
