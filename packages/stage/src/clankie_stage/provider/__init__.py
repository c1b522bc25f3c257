"""A loopback model provider: OpenAI's chat completions, strict as the real ones, scripted or rehearsing."""
