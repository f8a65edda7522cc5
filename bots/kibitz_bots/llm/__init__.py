"""A bot that asks a language model: any endpoint of the chat-completions interface.

settings   the parameters in a bot's name: ``connect-four/llm:model=NAME,prompt=reasons``
endpoint   one question to the endpoint, with its errors
prompts    the messages to the model
reading    finding the move in an answer
bot        the bot: retries, fallback, budgets of tokens and time

It needs the extra ``kibitz[llm]``. The key is read from the environment only.
"""
