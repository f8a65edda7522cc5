"""A bot that plays a language model's moves, from any endpoint with the chat-completions API.

settings   the settings in a bot's name: ``connect-four/llm:model=NAME,prompt=reasons``
endpoint   requests to the endpoint and their errors
prompts    the messages to the model
reading    extracting the move from an answer
bot        the bot: retries, fallback, budgets of tokens and time

Requires the extra ``kibitz[llm]``. The API key is read only from the environment.
"""
