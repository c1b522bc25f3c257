"""A loopback model provider: OpenAI's chat completions and Anthropic's messages, strict, scripted or rehearsing."""
