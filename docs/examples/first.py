"""A bot in ten lines: kibitz play line-nim docs/examples/first.py line-nim/random"""

from kibitz import Bot, Turn


class First(Bot):
    def choose(self, turn: Turn) -> dict:
        return turn.legal[0]


if __name__ == "__main__":
    First.main()
