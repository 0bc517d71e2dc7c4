"""Reads the chats that were written by hand, banks/answers, and fills their places from the pools.

A line is one chat: questions that mean the same, "=>", answers that fit each of them; " | " stands between them, " / " is
a line break, " >> " begins the next turn, and a system message stands in brackets in front. {name}, {city} and the like
take the same value all through a line.
"""

import os
import re

from pools import BANKS, article, lines, pools, upper

PLACE = re.compile(r"(?:\b([Aa])n? )?\{([A-Za-z]+)(2?)\}")


def low(place):
    """What a place is known by."""
    return place[2].lower() + place[3]


class Answers:
    """The chats of all files, in the order of their names."""

    def __init__(self, r, name, secret=lambda question: False):
        self.r, self.name, self.pools, self.chats = r, name, pools(), []
        for file in sorted(os.listdir(os.path.join(BANKS, "answers"))):
            for line in lines("answers", file):
                if chat := self.read(line, secret):
                    self.chats.append(chat)
        self.plain = [turns for system, turns in self.chats if system is None]
        self.led = [chat for chat in self.chats if chat[0] is not None]

    @staticmethod
    def read(line, secret):
        """(system or None, [(questions, answers)]), or None for a line that has no question left."""
        system, turns = None, []
        if found := re.match(r"\[(.+?)\] (.+)", line):
            system, line = found.groups()
        for turn in line.split(" >> "):
            asks, _, replies = turn.partition(" => ")
            asks = [q.strip().replace(" / ", "\n") for q in asks.split(" | ") if q.strip() and not secret(q)]
            replies = [a.strip().replace(" / ", "\n") for a in replies.split(" | ") if a.strip()]
            if not asks or not replies:
                return None
            turns.append((asks, replies))
        return system, turns

    def value(self, kind, known, second):
        """A value of the pool; a second one differs from the first."""
        low = kind.lower()
        if low + second not in known:
            for _ in range(20):
                drawn = self.name() if low == "name" else self.r.choice(self.pools[low]) if low in self.pools else None
                if drawn is None or drawn not in known.values():
                    break
            known[low + second] = drawn
        value = known[low + second]
        return upper(value) if value and kind[0].isupper() else value

    def fill(self, text, known):
        def of(m):
            value = self.value(m[2], known, m[3])
            if value is None:  # braces of code or JSON
                return m[0]
            if m[1]:
                return article(value, m[1])
            begins = m.start() == 0 or re.search(r"[.!?\n] ?$", text[: m.start()])
            return upper(value) if begins else value

        return PLACE.sub(of, text)

    def filled(self, turns, known):
        return [self.turn(asks, replies, known) for asks, replies in turns]

    def turn(self, asks, replies, known):
        """A question and an answer. The answer has no place that nothing before it has: it would be made up."""
        ask = self.fill(self.r.choice(asks), known)
        some = [a for a in replies if all(low(m) in known for m in PLACE.finditer(a) if m[2].lower() in self.pools)]
        if not some:  # this way of asking is too short for its answers
            ask = self.fill(max(asks, key=lambda q: len(PLACE.findall(q))), known)
        return ask, self.fill(self.r.choice(some or replies), known)

    def draw(self):
        """The turns of a chat without a system message."""
        return self.filled(self.r.choice(self.plain), {})

    def draw_led(self):
        """A chat with a system message."""
        system, turns = self.r.choice(self.led)
        known = {}
        system = self.fill(system, known)
        return system, self.filled(turns, known)
