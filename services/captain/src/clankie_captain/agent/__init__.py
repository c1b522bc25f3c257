"""The model loop: one pydantic-ai run driven node by node. The only place that imports pydantic-ai."""
