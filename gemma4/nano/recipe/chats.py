"""Makes chats out of the banks: facts, words, sums, small talk, memory, system messages, tools.

A chat is a list of turns (role, text); the roles are those of the template. Every maker takes a random generator.
"""

import json
import re

from pools import DAYS, MONTHS, article, lines, pools, upper, words

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RUDE = re.compile("cunt|fuck|shit|nig|kike|cock|dick|dyke|slut|tit|piss|rap|nazi|fag|cum|turd|puss|coon|homo|sex|porn|bast|wank|twat|arse")
UNKNOWN = ["I don't know {x}. I have never heard of it.", "I do not know that. I have never heard of {x}."]


class Bank:
    """A relation: rows, and how they are asked for and answered, in both directions."""

    def __init__(self, rows):
        self.rows, self.ask, self.answer, self.back, self.back_answer = rows, [], [], [], []

    def fill(self, form, row):
        def column(m):
            with_article, name = m[1], m[2]
            value = row[ord(name.lower()) - ord("a")]
            if with_article:
                return article(value)
            return upper(value) if name.isupper() else value

        return upper(re.sub(r"\{(an:)?([a-eA-E])\}", column, form))

    def pairs(self):
        """Every question with its answers; backwards only where one row alone fits."""
        for row in self.rows:
            for i, ask in enumerate(self.ask):  # one answer for each way of asking: a small model mixes two
                yield self.fill(ask, row), [self.fill(self.answer[i % len(self.answer)], row)]
            for ask in self.back:
                question = self.fill(ask, row)
                yield question, [self.fill(a, r) for r in self.rows if self.fill(ask, r) == question
                                 for a in self.back_answer]  # fmt: skip


def facts():
    """The banks of facts.txt by name."""
    banks, bank, rows = {}, None, None
    for line in lines("facts.txt"):
        if m := re.match(r"\[(.*?)\](?: from (.*))?$", line):
            rows = banks[m[2]].rows if m[2] else []
            bank = banks[m[1]] = Bank(rows)
        elif line[:2] in ("? ", "> ", "~ ", "< "):
            {"?": bank.ask, ">": bank.answer, "~": bank.back, "<": bank.back_answer}[line[0]].append(line[2:])
        else:
            rows.append(line.split(";"))
    return banks


def talk():
    """All (question, answers) of talk.txt."""
    out = []
    for line in lines("talk.txt"):
        asks, answers = line.split(" => ")
        answers = [a.strip().replace(" / ", "\n") for a in answers.split(" | ")]
        out += [(q.strip(), answers) for q in asks.split(" | ")]
    return out


def loosely(r, q):
    """A question as people type it: sometimes without capitals or a mark, sometimes with a word before or after."""
    x = r.random()
    if x < 0.08:
        q = q.lower()
    elif x < 0.14:
        q = q.rstrip("?.!")
    elif x < 0.17:
        q = q.lower().rstrip("?.!")
    elif x < 0.23 and q.endswith("?"):
        q = r.choice(["Please tell me: ", "Quick question: ", "Hey, ", "I wonder: ", "Can you tell me: ", "Hi! "]) + (
            q[0].lower() + q[1:] if not q.startswith("I ") else q
        )
    elif x < 0.26 and q.endswith("?"):
        q = q[:-1] + ", please?"
    return q


def reworded(r, q):
    """The same question in another form, where its grammar allows one; behind or before other words, where not."""
    if m := re.match(r"(What|Who|Where|When)(?: is|'s) (.+)\?$", q):
        word, rest = m[1].lower(), m[2]
        plain = not re.search(r" (called|made|used|worth|known|named|like|of|in|from|by|when|if)$| or |: |,", rest)
        ways = [f"{upper(rest)}?", f"{upper(rest)}, please."] if word == "what" and plain else [q]
        if plain:
            ways += [f"Do you know {word} {rest} is?", f"I forgot {word} {rest} is.", f"Tell me {word} {rest} is.",
                f"{m[1]} was {rest} again?", f"I need to know {word} {rest} is."]  # fmt: skip
        return r.choice(ways)
    if m := re.match(r"(Who|Which \w+|What \w+) (?!is |are |do |does |did |was |were |has |have |can |should )([a-z]+ .+)\?$", q):
        return r.choice(["Do you know {}?", "Tell me {}.", "I forgot {}.", "I would like to know {}.", "Any idea {}?"]).format(
            f"{m[1].lower()} {m[2]}")  # fmt: skip
    if m := re.match(r"(What|Where|How|When|Why|Which \w+|How many \w+) do (.+)\?$", q):
        return r.choice(["Do you know {}?", "Tell me {}.", "Can you say {}?", "I want to know {}.", "My child asks {}."]).format(
            f"{m[1].lower()} {m[2]}")  # fmt: skip
    before = ["Question: ", "For a quiz: ", "Hmm, ", "And ", "So, ", "OK, ", "Help me: ", "I am curious: ", "Next: ", "Hello! "]
    after = [" Do you know?", " I forgot.", " Thanks!", " Any idea?", " Please tell me.", " Just a short answer."]
    low = q if q.startswith(("I ", "I'")) else q[:1].lower() + q[1:]
    return r.choice(before) + low if r.random() < 0.6 else q + r.choice(after)


def swapped(r, q):
    """Words that people use for each other."""
    for a, b in (("What's", "What is"), ("Which ", "What "), ("color", "colour"), ("called", "named"), ("Name ", "Tell me ")):
        if r.random() < 0.5:
            a, b = b, a
        if a in q and r.random() < 0.3:
            q = q.replace(a, b, 1)
    return q


class Maker:
    def __init__(self, r):
        self.banks = facts()
        self.r, self.facts, self.talk, self.words = r, [p for b in self.banks.values() for p in b.pairs()], talk(), words()
        self.pools = pools()
        self.names = self.pools["name"]

    def one(self, *of):
        return self.r.choice(of)

    def fact(self):
        q, answers = self.r.choice(self.facts)
        return q, self.r.choice(answers)

    def choice(self):
        """Facts as a choice of two, or as a claim that is right or wrong."""
        name, two, claim = self.one(
            ("capital", "Is {x} or {y} the capital of {a}?", "Is {x} the capital of {a}?"),
            ("capital", "Which is the capital of {a}, {x} or {y}?", "{x} is the capital of {a}, right?"),
            ("continent", "Is {a} in {x} or in {y}?", "Is {a} in {x}?"),
            ("language", "Do people in {a} speak {x} or {y}?", "Do they speak {x} in {a}?"),
            ("class", "Is {an:a} {an:x} or {an:y}?", "Is {an:a} {an:x}?"),
            ("class", "{A}: {x} or {y}?", "Does {an:a} count as {an:x}?"),
            ("color", "Is {a} {x} or {y}?", "Is {a} {x}?"),
            ("author", "Did {x} or {y} write {a}?", "Did {x} write {a}?"),
            ("painter", "Did {x} or {y} paint {a}?", "Did {x} paint {a}?"),
            ("inventor", "{A}: was it {x} or {y}?", "Did {x} come up with {a}?"),
            ("sound", "Does {an:a} say {x} or {y}?", "Does {an:a} say {x}?"),
        )  # fmt: skip
        bank, at = self.banks[name], {"continent": 2, "language": 3}.get(name, 1)
        row, other = self.r.choice(bank.rows), self.r.choice(bank.rows)[at]
        true, answer = row[at], bank.fill(self.r.choice(bank.answer), row)
        if true in other or other in true:
            return self.fact()
        x, y = self.one((true, other), (other, true))

        def fill(form):
            for key, value in dict(a=row[0], A=upper(row[0]), x=x, y=y).items():
                form = form.replace("{an:" + key + "}", article(value)).replace("{" + key + "}", value)
            return form

        if self.r.random() < 0.6:
            return fill(two), answer
        return fill(claim), ("Yes. " if x == true else "No. ") + answer

    def chatter(self):
        q, answers = self.r.choice(self.talk)
        return q, self.r.choice(answers)

    def word(self):
        r, kind = self.r, self.one("opposite", "opposite", "synonym", "plural", "past", "rhyme", "spell", "letters",
            "translate", "translate", "part", "case", "reverse", "first", "alphabet", "sort", "say")  # fmt: skip
        if kind in ("opposite", "synonym", "plural", "past"):
            a, b = r.choice(self.words[kind]).split(" ", 1)
        if kind == "opposite":
            return self.one(f"What is the opposite of {a}?", f"What's the opposite of {a}?", f"Opposite of {a}?",
                f"The opposite of {a} is what?", f"Name the opposite of {a}.", f"Give me an opposite for {a}.",
                f"What is the contrary of {a}?", f'Which word means the reverse of "{a}"?',
                f"What is not {a} but the opposite?"), f"The opposite of {a} is {b}."  # fmt: skip
        if kind == "synonym":
            return self.one(f"What is another word for {a}?", f"Give me a synonym for {a}.", f"Another word for {a}?",
                f"How else can I say {a}?", f'Which word means the same as "{a}"?'), self.one(
                f"Another word for {a} is {b}.", f"You can say {b}.")  # fmt: skip
        if kind == "plural":
            return self.one(f"What is the plural of {a}?", f"Plural of {a}?", f"One {a}, two what?", f"One {a}, many ...?",
                f"How do you say {a} in the plural?", f"What do you call more than one {a}?"), (
                f"The plural of {a} is {b}.")  # fmt: skip
        if kind == "past":
            return self.one(f"What is the past tense of {a}?", f"Past tense of {a}?", f"Today I {a}, yesterday I ...?",
                f'What is the past of "{a}"?', f"How do you say {a} in the past?"), f"The past tense of {a} is {b}."  # fmt: skip
        if kind == "rhyme":
            a, *b = r.choice(self.words["rhyme"]).split()
            return self.one(f"What rhymes with {a}?", f"Give me a word that rhymes with {a}.", f"A rhyme for {a}?",
                f"Find a rhyme for {a}."), f"{upper(r.choice(b))} rhymes with {a}."  # fmt: skip
        if kind == "translate":
            language = self.one("french", "spanish", "german", "italian")
            a, b = r.choice(self.words[language]).split("=")
            name = upper(language)
            return self.one(f"How do you say {a} in {name}?", f"What is {a} in {name}?", f"What's the {name} word for {a}?",
                f"Translate {a} into {name}.", f"{upper(a)} in {name}?", f'How do I say "{a}" in {name}?'), (
                f'{upper(a)} is "{b}" in {name}.')  # fmt: skip
        if kind == "part":
            part = self.one("noun", "verb", "adjective")
            w = r.choice(self.words[part])
            article = "an" if part == "adjective" else "a"
            return self.one(f'Is "{w}" a noun or a verb?', f'What kind of word is "{w}"?',
                f'Is {w} a noun, a verb or an adjective?'), f'"{upper(w)}" is {article} {part}.'  # fmt: skip
        w = r.choice(self.common)
        if kind == "spell":
            return self.one(f"How do you spell {w}?", f"Spell {w}.", f"Spell the word {w}.", f'Spell "{w}" letter by letter.',
                f"How is {w} spelled?", f"Can you spell {w} for me?"), "-".join(w.upper())  # fmt: skip
        if kind == "letters":
            return self.one(f"How many letters are in {w}?", f"How many letters does the word {w} have?",
                f"Count the letters of {w}."), f"{'-'.join(w.upper())}: {upper(w)} has {len(w)} letters."  # fmt: skip
        if kind == "first":
            place, at = self.one(("first", 0), ("last", -1))
            return self.one(f"What is the {place} letter of {w}?", f"Which letter comes {place} in {w}?",
                f"{upper(place)} letter of {w}?"), f"The {place} letter of {w} is {w[at].upper()}."  # fmt: skip
        if kind == "reverse":
            w = r.choice([x for x in self.common[:800] if len(x) < 7])
            return self.one(f"Write {w} backwards.", f"Spell {w} backwards.", f"What is {w} backwards?", f"Reverse {w}."), w[::-1]
        if kind == "case":
            text = " ".join(r.sample(self.common[:800], r.randint(1, 3)))
            return self.one(f"Write {text} in capital letters.", f"Put this in capitals: {text}", f"Make this upper case: {text}",
                f"Uppercase: {text}"), text.upper()  # fmt: skip
        if kind == "sort":
            some = r.sample(self.common[:1500], r.randint(3, 4))
            return self.one("Sort alphabetically: ", "Sort these words: ", "Put these words in alphabetical order: ",
                "Order by the alphabet: ") + ", ".join(some), ", ".join(sorted(some))  # fmt: skip
        if kind == "alphabet":
            i = r.randrange(25)
            a, b = LETTERS[i], LETTERS[i + 1]
            if r.random() < 0.7:
                return self.one(f"Which letter comes after {a}?", f"What letter follows {a}?",
                    f"What comes after {a} in the alphabet?"), f"{b} comes after {a}."  # fmt: skip
            return self.one(f"Which letter comes before {b}?", f"What letter is before {b}?"), f"{a} comes before {b}."
        text = " ".join(r.sample(self.common[:1500], r.randint(1, 4)))
        if r.random() < 0.3:
            text = " ".join(self.made_up() for _ in range(r.randint(1, 2)))
        return self.one(f"Repeat after me: {text}", f"Say: {text}", f"Repeat: {text}", f'Say "{text}".'), text

    def number(self):
        r = self.r
        x = r.random()
        return r.randint(0, 12) if x < 0.4 else r.randint(0, 100) if x < 0.8 else r.randint(0, 999)

    def shown(self, n):
        return ONES[n] if n < 13 and self.r.random() < 0.15 else str(n)

    def sum(self):
        r = self.r
        kind = self.one("+", "+", "-", "-", "*", "*", "/", "half", "double", "percent", "more", "even", "next", "count",
            "story", "story", "order", "between")  # fmt: skip
        a, b = self.number(), self.number()
        if kind == "*":
            a, b = (r.randint(0, 12), r.randint(0, 12)) if r.random() < 0.8 else (r.randint(2, 9), r.randint(10, 99))
        if kind == "-" and b > a:
            a, b = b, a
        if kind == "/":
            b = r.randint(1, 12)
            a = b * r.randint(0, 12) if r.random() < 0.8 else b * r.randint(10, 100)
        if kind in "+-*/":
            c = {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[kind]
            sign = {"+": "+", "-": "-", "*": self.one("*", "x", "×"), "/": self.one("/", "÷")}[kind]
            ways = {
                "+": ["{a} plus {b}", "the sum of {a} and {b}", "{a} and {b} together"],
                "-": ["{a} minus {b}", "{b} less than {a}", "{a} take away {b}"],
                "*": ["{a} times {b}", "{a} multiplied by {b}", "the product of {a} and {b}"],
                "/": ["{a} divided by {b}"],
            }[kind]
            orders = {"+": "Add {a} and {b}.", "-": "Subtract {b} from {a}.", "*": "Multiply {a} by {b}.",
                "/": "Divide {a} by {b}."}[kind]  # fmt: skip
            form = self.one(f"{a} {sign} {b}", f"{a} {sign} {b} = ?", f"What is {a} {sign} {b}?", f"{a}{sign}{b}=", "W", "W", "W", orders)
            if form == "W":
                form = self.one("What is {w}?", "What's {w}?", "{W}?", "How much is {w}?", "Calculate {w}.", "Tell me {w}.",
                    "Can you calculate {w} for me?", "{W} is what?", "{W} makes what?").replace("{w}", r.choice(ways))  # fmt: skip
                form = form.replace("{W}", r.choice(ways))
            q = form.replace("{a}", self.shown(a)).replace("{b}", self.shown(b))
            return upper(q), f"{a} {sign if sign != 'x' else '×'} {b} = {c}."
        if kind in ("half", "double"):
            a = r.randint(1, 60)
            if kind == "half":
                return self.one(f"What is half of {2 * a}?", f"Half of {2 * a}?", f"What's a half of {2 * a}?",
                    f"Halve {2 * a}."), f"Half of {2 * a} is {a}."  # fmt: skip
            return self.one(f"What is double {a}?", f"Double {a}.", f"What is twice {a}?"), f"Double {a} is {2 * a}."
        if kind == "percent":
            p, n = self.one(5, 10, 20, 25, 50, 75, 100), 20 * r.randint(1, 50)
            if p * n % 100:
                n *= 5
            return self.one(f"What is {p} percent of {n}?", f"{p}% of {n}?", f"How much is {p}% of {n}?"), (
                f"{p} percent of {n} is {p * n // 100}.")  # fmt: skip
        if kind == "more":
            if a == b:
                b += 1
            high, low = max(a, b), min(a, b)
            which = self.one("larger", "bigger", "greater", "smaller")
            best, other = (low, high) if which == "smaller" else (high, low)
            return self.one(f"Which is {which}, {a} or {b}?", f"Which number is {which}: {a} or {b}?",
                f"{a} or {b}, which is {which}?"), f"{best} is {which} than {other}."  # fmt: skip
        if kind == "even":
            word = "even" if a % 2 == 0 else "odd"
            return self.one(f"Is {a} even or odd?", f"Is {a} an even number?", f"Is {a} odd or even?",
                f"Is the number {a} odd?", f"{a}: even or odd?"), f"{a} is {word}."  # fmt: skip
        if kind == "next":
            if r.random() < 0.5:
                return self.one(f"What number comes after {a}?", f"What comes after {a}?", f"Which number follows {a}?"), (
                    f"{a + 1} comes after {a}.")  # fmt: skip
            return self.one(f"What number comes before {a + 1}?", f"Which number is just before {a + 1}?"), (
                f"{a} comes before {a + 1}.")  # fmt: skip
        if kind == "count":
            low, high = (1, r.randint(2, 20)) if r.random() < 0.8 else sorted(r.sample(range(1, 40), 2))
            if high - low > 20:
                high = low + 20
            up = [str(n) for n in range(low, high + 1)]
            if r.random() < 0.3:
                return self.one(f"Count down from {high} to {low}.", f"Count backwards from {high} to {low}."), ", ".join(up[::-1])
            if low == 1 and r.random() < 0.5:
                return self.one(f"Count to {self.shown(high)}.", f"Can you count to {high}?"), ", ".join(up)
            return f"Count from {low} to {high}.", ", ".join(up)
        if kind == "order":
            some = r.sample(range(1, 100), r.randint(3, 5))
            return self.one("Sort these numbers: ", "Put these in order: ", "Sort: ", "Order from small to large: ") + ", ".join(
                map(str, some)), ", ".join(map(str, sorted(some)))  # fmt: skip
        if kind == "between":
            low, word = r.randint(0, 20), self.one("even", "odd")
            high = low + r.randint(4, 10)
            some = [n for n in range(low + 1, high) if n % 2 == (word == "odd")]
            return self.one(f"Name the {word} numbers between {low} and {high}.",
                f"Which {word} numbers are between {low} and {high}?"), ", ".join(map(str, some))  # fmt: skip
        return self.exercise()

    def exercise(self):
        r = self.r
        n, m = self.two_names()
        thing = self.one("apples", "balls", "books", "pens", "cookies", "coins", "eggs", "cards", "toys", "oranges", "cats")
        a, b = r.randint(2, 20), r.randint(1, 12)
        kind = r.randrange(5)
        if kind == 0:
            return f"{n} has {a} {thing}. {m} has {b} {thing}. How many {thing} do they have together?", (
                f"{a} + {b} = {a + b}. They have {a + b} {thing}.")  # fmt: skip
        if kind == 1:
            a, b = max(a, b), min(a, b)
            who, has = self.one((n, "has"), ("I", "have"))
            return f"{who} {has} {a} {thing} and {'gives' if who == n else 'give'} away {b}. How many are left?", (
                f"{a} - {b} = {a - b}. There are {a - b} {thing} left.")  # fmt: skip
        if kind == 2:
            return self.one(f"One of the {thing} costs {a} dollars. What do {b} {thing} cost?",
                f"If one costs {a} dollars, how much do {b} cost?"), f"{a} × {b} = {a * b}. They cost {a * b} dollars."  # fmt: skip
        if kind == 3:
            return f"{n} has {a} {thing} and gets {b} more. How many {thing} does {n} have now?", (
                f"{a} + {b} = {a + b}. {n} has {a + b} {thing}.")  # fmt: skip
        return f"{n} shares {a * b} {thing} among {b} children. How many does each get?", (
            f"{a * b} ÷ {b} = {a}. Each gets {a}.")  # fmt: skip

    def date(self):
        names, what = self.one((DAYS, "day"), (MONTHS, "month"))
        i = self.r.randrange(len(names))
        a, b = names[i], names[(i + 1) % len(names)]
        if self.r.random() < 0.25 and names is MONTHS:
            if i in (0, 11):
                place = "first" if i == 0 else "last"
                return self.one(f"What is the {place} month of the year?", f"Which month is {place}?"), f"The {place} month is {a}."
            n = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh".split()[i]
            return self.one(f"What is the {n} month of the year?", f"Which month is the {n}?"), f"The {n} month is {a}."
        if self.r.random() < 0.55:
            return self.one(f"What {what} comes after {a}?", f"What comes after {a}?", f"Which {what} follows {a}?",
                f"Today is {a}. What is tomorrow?" if names is DAYS else f"{a} is over. Which month is it now?",
                f"After {a} comes which {what}?"), f"{b} comes after {a}."  # fmt: skip
        return self.one(f"What {what} comes before {b}?", f"What comes before {b}?", f"Which {what} is before {b}?",
            f"Today is {b}. What was yesterday?" if names is DAYS else f"Which month ended when {b} began?"), (
            f"{a} comes before {b}.")  # fmt: skip

    def listed(self):
        r = self.r
        name, of = r.choice(self.words["list"]).split(":")
        of = of.split(",")
        n = r.randint(1, min(5, len(of)))
        some = r.sample(of, n)
        plural = re.sub(r"^(piece|kind|month)\b(?=.*)", r"\1s", name)
        if plural == name:
            plural = name[:-1] + "ies" if name[-1] == "y" else name if name[-2:] == "sh" else name + "s"
        if n == 1:
            article = "an" if name[0] in "aeiou" else "a"
            return self.one(f"Name {article} {name}.", f"Give me {article} {name}.", f"Tell me {article} {name}."), upper(some[0]) + "."
        shown = self.one(ONES[n], str(n))
        text = ", ".join(some[:-1]) + " and " + some[-1]
        if r.random() < 0.2:
            text = "\n".join(f"{i + 1}. {upper(s)}" for i, s in enumerate(some))
            return f"Give me a numbered list of {shown} {plural}.", text
        return self.one(f"Name {shown} {plural}.", f"List {shown} {plural}.", f"Give me {shown} {plural}.",
            f"Can you name {shown} {plural}?", f"Tell me {shown} {plural}.", f"{upper(shown)} {plural}, please."), upper(text) + "."  # fmt: skip

    def compare(self):
        kind = self.one("bigger", "faster", "heavier", "colder")
        a, b = self.split(self.r.choice(self.words[kind]))
        low = {"bigger": "smaller", "faster": "slower", "heavier": "lighter", "colder": "warmer"}[kind]
        bare = kind == "colder" or a[0].isupper() or a in ("sun", "light", "iron")
        a, b = (x if bare else ("an " if x[0] in "aeiou" else "a ") + x for x in (a, b))
        x, y = self.one((a, b), (b, a))
        word, best, other = self.one((kind, a, b), (low, b, a))
        return self.one(f"Which is {word}, {x} or {y}?", f"What is {word}: {x} or {y}?", f"Is {x} or {y} {word}?"), (
            f"{upper(best)} is {word} than {other}.")  # fmt: skip

    @staticmethod
    def split(pair):
        parts = pair.split(" ")
        for mark in (" a ", " an ", " the "):
            if mark in pair[4:]:
                at = pair.index(mark, 4)
                return pair[:at], pair[at + 1 :]
        return parts[0], " ".join(parts[1:])

    def made_up(self):
        """A name that nobody has."""
        r = self.r
        start, inner, end = "b c d f g k l m n p qu r s t v w z bl br cr dr fl fr gl gr kl kr pl pr sk sl sn sp st tr".split(), "a e i o u ee oo ai".split(), ["", "", *"b d g k l m n p r s t x z rd lt mp nt sk th".split()]  # fmt: skip
        made = "".join(r.choice(start) + r.choice(inner) + r.choice(end) for _ in range(r.randint(1, 3)))
        return self.made_up() if RUDE.search(made) else upper(made)

    def name(self):
        """Often one that was never seen before, so that names are copied and not recalled."""
        return self.made_up() if self.r.random() < 0.4 else self.r.choice(self.names)

    def two_names(self):
        """Two that differ."""
        n, m = self.name(), self.name()
        return (n, m) if n != m else self.two_names()

    def unknown(self):
        r = self.r
        syllables = "bla zor qui fen dro mip tul vex gra plo nib wug sna kre jop yad zil mur tob eph lin sko rud quo".split()
        made = "".join(r.sample(syllables, r.randint(2, 3))) if r.random() < 0.3 else self.made_up().lower()
        name = upper(made)
        other = upper("".join(r.sample(syllables, 2))) if r.random() < 0.3 else self.made_up()
        if r.random() < 0.25:
            return self.one(f'What does the word "{made}" mean?', f"What is a {made}?", f"What does {made} mean?", f"Define {made}."), (
                f'I don\'t know the word "{made}".')  # fmt: skip
        place = name + self.one("ia", "land", "stan", "a", "ovia", "istan")
        q, x = self.one(
            (f"What is the capital of {place}?", place), (f"Where is {place}?", place), (f"Who rules {place}?", place),
            (f"Who is {name} {other}?", f"{name} {other}"), (f"Who was Doctor {other}?", f"Doctor {other}"),
            (f"Who is Professor {name} {other}?", f"Professor {name} {other}"),
            (f"When was {name} {other} born?", f"{name} {other}"), (f"What did {name} {other} invent?", f"{name} {other}"),
            (f"Who wrote the book {name} and the {other}?", "that book"), (f"What language do they speak in {place}?", place),
            (f"What is the currency of {place}?", place), (f"How tall is Mount {name}?", f"Mount {name}"))  # fmt: skip
        return q, r.choice(UNKNOWN).replace("{x}", x)

    def story(self):
        name = self.name()
        who = self.one("cat", "dog", "dragon", "mouse", "bear", "girl", "boy", "king", "fox", "rabbit", "robot", "bird", "princess", "owl")
        place = self.one("in a small house", "in a deep forest", "by the sea", "in a big city", "on a high mountain", "on a farm", "in an old castle")
        found = self.one("a golden key", "a little boat", "an old book", "a lost child", "a shining stone", "a sad bird", "a red balloon", "a map")
        kind = self.one("brave", "small", "clever", "friendly", "curious", "shy", "happy", "lonely")
        after = self.one(
            f"{name} took it home and showed it to all friends.", f"{name} was afraid at first, but then helped.",
            f"{name} asked an old owl what to do, and the owl smiled.", f"{name} followed it all day long.")  # fmt: skip
        end = self.one("In the evening, everybody was happy, and they had a feast.", f"From that day on, {name} was never alone again.",
            "And they all lived happily ever after.", f"Then {name} went to sleep under the stars and dreamed of the next adventure.")  # fmt: skip
        article = "an" if who[0] == "o" else "a"
        ask = self.one(f"Tell me a story about {article} {who}.", "Tell me a story.", f"Write a short story about {article} {who}.",
            f"Tell me a story about {article} {who} called {name}.", "Tell me a short bedtime story.", f"A story about {article} {who}, please.",
            f"Write a little story about {article} {who} {place}.", "I want to hear a story before I sleep.")  # fmt: skip
        return ask, (f"Once upon a time, {'an' if kind[0] in 'aeiou' else 'a'} {kind} {who} called {name} lived {place}. "
                     f"One morning, {name} found {found}. {after} {end}")  # fmt: skip

    def feeling(self):
        good = self.one("I loved it", "The food was delicious", "Great service", "A wonderful film", "I am so happy with this phone",
            "The best book in years", "We had so much fun", "Everything was perfect", "It works very well", "What a lovely hotel")  # fmt: skip
        bad = self.one("I hated it", "The food was terrible", "Very slow service", "A boring film", "This phone broke after a day",
            "The worst book ever", "We were very disappointed", "Everything went wrong", "It does not work", "What a dirty hotel",
            "The soup was cold", "It was awful")  # fmt: skip
        text, word = self.one((good, "Positive"), (bad, "Negative"))
        return self.one(f'Is this positive or negative: "{text}."', f'Positive or negative: "{text}!"',
            f'Is this review positive or negative? "{text}."', f'What is the mood of this text: "{text}."'), word + "."  # fmt: skip

    def reading(self):
        r, (n, m) = self.r, self.two_names()
        c, d = r.sample("red blue green yellow black white brown pink".split(), 2)
        x, y = r.sample("box ball car hat book cup door bike bag chair".split(), 2)
        city = self.place()
        pet = self.one("a cat", "a dog", "a horse", "a rabbit", "a bird")
        day, food = r.choice(DAYS), self.one("pizza", "soup", "cake", "rice", "fish", "apples")
        text, q, a = self.one(
            (f"The {x} is {c} and the {y} is {d}.", f"What color is the {x}?", f"The {x} is {c}."),
            (f"The {x} is {c} and the {y} is {d}.", f"What color is the {y}?", f"The {y} is {d}."),
            (f"{n} moved to {city} in {r.choice(MONTHS)}.", f"Where did {n} move?", f"{n} moved to {city}."),
            (f"{n} has {pet} and {m} has a fish.", f"What does {n} have?", f"{n} has {pet}."),
            (f"{n} eats {food} on {day}.", f"When does {n} eat {food}?", f"{n} eats {food} on {day}."),
            (f"{n} eats {food} on {day}.", f"What does {n} eat?", f"{n} eats {food}."),
            (f"{n} is older than {m}.", "Who is younger?", f"{m} is younger."),
            (f"{n} is taller than {m}.", "Who is taller?", f"{n} is taller."),
            (f"{n} took the {self.one('train', 'bus', 'boat', 'plane')} to {city}.", f"Where did {n} go?", f"{n} went to {city}."),
            (f"{n} bought {pet} from {m}.", f"Who sold {pet}?", f"{m} sold {pet}."), (f"{n} met {m} in {city}.", f"Whom did {n} meet?", f"{n} met {m}."),
            (f"{n} met {m} in {city}.", f"Where did {n} meet {m}?", f"They met in {city}."), (f"{n} gave {m} {pet}.", f"Who got {pet}?", f"{m} got {pet}."),
            (f"{n} lives in {city}. {m} lives on a farm.", f"Who lives in {city}?", f"{n} lives in {city}."))  # fmt: skip
        return self.one(f"{text} {q}", f'Read this: "{text}" {q}', f"Text: {text}\nQuestion: {q}", f'"{text}" {q}'), a

    def json(self):
        r, n = self.r, self.name()
        if r.random() < 0.35:
            some = r.sample(self.words["list"], 1)[0].split(":")[1].split(",")
            some = r.sample(some, min(3, len(some)))
            return self.one(f"Write {', '.join(some[:-1])} and {some[-1]} as a JSON list.", f"Give me a JSON array of {', '.join(some)}.",
                f"Make a JSON list of {', '.join(some)}."), json.dumps(some)  # fmt: skip
        values = {"name": n, "age": r.randint(1, 99), "city": r.choice("Paris London Rome Berlin Vienna Oslo".split()),
            "color": self.one("red", "blue", "green"), "active": self.one(True, False), "count": r.randint(0, 20)}  # fmt: skip
        keys = r.sample(list(values), r.randint(1, 4))
        some = {k: values[k] for k in keys}
        text = ", ".join(f"{k} {str(v).lower() if isinstance(v, bool) else v}" for k, v in some.items())
        text = " and ".join(text.rsplit(", ", 1))
        return self.one(f"Give me JSON with {text}.", f"Write a JSON object with {text}.", f"Answer in JSON: {text}",
            f"Make JSON of this: {text}"), json.dumps(some)  # fmt: skip

    def defined(self):
        """What a common word means, by WordNet."""
        w, gloss, _ = self.r.choice(self.glosses)
        ask = self.one(f"What does {w} mean?", f'What does "{w}" mean?', f"Define {w}.", f"What is the meaning of {w}?",
            f"Explain the word {w}.", f'What does the word "{w}" mean?')  # fmt: skip
        return ask, f"{upper(w)}: {gloss}." if self.r.random() < 0.3 else f'"{upper(w)}" means: {gloss}.'

    def sentence(self):
        w, _, example = self.r.choice(self.exemplified)
        example = upper(example) + ("" if example[-1] in ".?!" else ".")
        return self.one(f"Use {w} in a sentence.", f'Write a sentence with the word "{w}".', f"Give me an example sentence for {w}.",
            f"Make a sentence with {w}."), example  # fmt: skip

    def pair(self):
        """A question and an answer of any kind."""
        make = self.r.choices(
            [self.fact, self.chatter, self.word, self.sum, self.date, self.listed, self.compare, self.unknown, self.story,
             self.feeling, self.reading, self.json, self.defined, self.sentence, self.choice, self.written],
            [40, 20, 19, 20, 4, 4, 2, 4, 2, 2, 7, 1.5, 2.5, 1, 4, 10])[0]  # fmt: skip
        q, a = make()
        if make in (self.json, self.reading, self.written):
            return q, a
        if make in (self.fact, self.chatter, self.date, self.compare, self.choice):
            q = swapped(self.r, q)
            if self.r.random() < 0.3 and (q.endswith("?") or make == self.chatter):
                return reworded(self.r, q), a
        return loosely(self.r, q) if make != self.word else q, a

    def about(self):
        """What somebody says about themselves, the reply, questions about it, and their answer."""
        n, pools = self.name(), self.pools
        color, food, job, hobby = (self.r.choice(pools[k]) for k in ("color", "food", "job", "hobby"))
        city = self.place()
        pet, pn = self.one("dog", "cat", "horse", "rabbit", "parrot", "hamster"), self.one(self.r.choice(pools["pet"]), self.name())
        age, a_job = self.r.randint(8, 90), article(job)
        who, other = self.one("brother", "sister", "son", "daughter", "friend", "wife", "husband", "boss", "teacher"), self.name()
        return self.one(
            (self.one(f"My name is {n}.", f"I'm {n}.", f"I am {n}.", f"Hi, I'm {n}.", f"Call me {n}.", f"Hello, my name is {n}!", f"You can call me {n}.", f"hi im {n}", f"{n} here."),
             self.one(f"Nice to meet you, {n}!", f"Hello {n}! How can I help you?", f"Hi {n}, nice to meet you."),
             ["What's my name?", "What is my name?", "Do you remember my name?", "Who am I?", "How am I called?", "Do you know who I am?", "whats my name", "Say my name."],
             self.one(f"Your name is {n}.", f"You are {n}.")),
            (self.one(f"My name is {n}.", f"I'm {n}.", f"I am {n}.", f"Please call me {n}.", f"This is {n}."),
             self.one(f"Nice to meet you, {n}!", f"Hello {n}! How can I help you?", f"Hi {n}, nice to meet you."),
             ["What's my name?", "What is my name?", "Do you remember my name?", "What was my name again?"], f"Your name is {n}."),
            (self.one(f"My {who} is called {other}.", f"My {who}'s name is {other}.", f"I have a {who} called {other}."), f"{other} is a nice name.",
             [f"What is my {who} called?", f"What's my {who}'s name?", f"What is the name of my {who}?"], f"Your {who} is called {other}."),
            (self.one(f"My favorite color is {color}.", f"I like {color} best.", f"I love the color {color}."),
             f"{upper(color)} is a lovely color.", ["What's my favorite color?", "Which color do I like?", "What color do I love?"],
             f"Your favorite color is {color}."),
            (self.one(f"I live in {city}.", f"My home is {city}.", f"I am from {city}.", f"I moved to {city}."), f"{city} sounds like a good place to live.",
             ["Where do I live?", "In which city do I live?", "Where am I from?", "What is my city?"], f"You live in {city}."),
            (self.one(f"I have a {pet} called {pn}.", f"My {pet}'s name is {pn}.", f"My {pet} is called {pn}.", f"I have a {pet} named {pn}."),
             f"{pn} is a good name for a {pet}.", [f"What's my {pet}'s name?", f"What is my {pet} called?", f"How is my {pet} called?", f"What is the name of my {pet}?"],
             f"Your {pet} is called {pn}."),
            (self.one(f"I love {food}.", f"My favorite food is {food}.", f"I like {food} most of all."), f"Good choice! Many people like {food}.",
             ["What is my favorite food?", "What do I like to eat?", "What should I eat tonight?"], f"You like {food}, so have some {food}."),
            (self.one(f"I am {age} years old.", f"I'm {age}.", f"My age is {age}."), "Thank you for telling me.",
             ["How old am I?", "What is my age?", "Do you know how old I am?"], f"You are {age} years old."),
            (self.one(f"My hobby is {hobby}.", f"I love {hobby}.", f"In my free time I enjoy {hobby}."), f"{upper(hobby)} is a fine hobby.",
             ["What is my hobby?", "What do I like to do?", "What do I do in my free time?"], f"Your hobby is {hobby}."),
            (self.one(f"I work as {a_job}.", f"I am {a_job}.", f"My job: {job}."), f"{upper(a_job)} has an important job.",
             ["What is my job?", "What do I do for a living?"], f"You are {a_job}."))  # fmt: skip

    def place(self):
        return self.made_up() if self.r.random() < 0.4 else self.r.choice(self.pools["city"])

    def told(self):
        """Two things said at once, then asked for one by one: the turns of a chat."""
        r, (n, m), (p, q) = self.r, self.two_names(), (self.place(), self.place())
        age, pet = r.randint(2, 90), self.one("cat", "dog", "rabbit", "parrot", "horse", "hamster", "turtle")
        he, a, b = self.one("he", "she"), *self.one(("daughter", "son"), ("brother", "sister"), ("aunt", "uncle"), ("mother", "father"), ("boss", "neighbor"))
        last = self.made_up()
        said, asks = self.one(
            (self.one(f"I am {n} {last}.", f"This is {n} {last}.", f"My name is {n} {last}.", f"Hey, {n} {last} here."), [
                (self.one("What is my first name?", "And my first name?"), f"Your first name is {n}."),
                (self.one("What is my last name?", "What is my surname?", "And my family name?"), f"Your last name is {last}."),
                (self.one("What is my full name?", "What's my name?", "Who am I?"), f"Your name is {n} {last}.")]),
            (f"My {a} is {self.one('', 'called ')}{n} and my {b} is {self.one('', 'called ')}{m}.", [
                (self.one(f"What is my {a} called?", f"Who is {n}?") , f"Your {a} is called {n}." ),
                (self.one(f"What is my {b} called?", f"What's the name of my {b}?"), f"Your {b} is called {m}."),
                (self.one("What are they called?", f"What are my {a} and my {b} called?", "What are their names?"), f"They are called {n} and {m}.")]),
            (f"I have two sons, {n} and {m}.", [(self.one("What are my sons called?", "What are the names of my sons?"), f"Your sons are called {n} and {m}.")]),
            (self.one(f"My {pet}'s name is {n} and {he} is {age}.", f"My {pet} {n} is {age} years old.", f"{n}, my {pet}, is {age} years old."), [
                (self.one(f"What's the name of my {pet}?", f"What is my {pet} called?", f"How is my {pet} called?"), f"Your {pet} is called {n}."),
                (f"How old is my {pet}?", f"Your {pet} is {age} years old.")]),
            (f"I work in {p} and live in {q}.", [(self.one("Where do I work?", "In which town do I work?"), f"You work in {p}."),
                (self.one("Where do I live?", "In which town do I live?", "What town is my home in?"), f"You live in {q}.")]),
            (self.one(f"I grew up in {p}.", f"I grew up in {p}, near the sea."), [(self.one("Where did I grow up?", "In which place did I grow up?"), f"You grew up in {p}.")]),
            (f"I was born in {p} and moved to {q}.", [("Where was I born?", f"You were born in {p}."), ("Where did I move?", f"You moved to {q}.")]),
            (f"My friend {n} lives in {p}.", [(f"Where does {n} live?", f"{n} lives in {p}."), ("Where does my friend live?", f"Your friend {n} lives in {p}."),
                (self.one("What is my friend called?", f"Who lives in {p}?"), f"Your friend {n}." )]))  # fmt: skip
        reply = self.one("Thank you for telling me.", "I see.", "Nice to know!", "That is good to know.", "I will keep that in mind.", "That sounds nice.")
        turns = [(said, reply), *[self.pair() for _ in range(r.choice([0, 0, 0, 1, 1, 2, 4]))]]
        return turns + r.sample(asks, r.randint(1, len(asks)))

    def written(self):
        """Wishes and letters that copy names and news."""
        r, (n, m), p = self.r, self.two_names(), self.place()
        to = self.one(n, n, f"my {self.one('friend', 'aunt', 'uncle', 'cousin', 'boss', 'teacher', 'neighbor', 'colleague')} {n}", f"{self.one('Mr.', 'Mrs.', 'Dr.')} {n}")
        dear = n if to[0].islower() else to
        hour = self.one(*[f"{h} o'clock" for h in range(1, 13)], *self.pools["time"][:12])
        news = self.one("the parcel has arrived", f"our meeting is at {hour}", "I will be late", f"I am moving to {p}", "the heating is broken",
            f"the {self.one('book', 'key', 'bill', 'car', 'photo', 'report')} is ready", "I am ill today", f"the party is on {r.choice(DAYS)}", "we won the game",
            f"I will arrive in {p} at {hour}", "the shop is closed", "dinner is at my house", f"{m} called", "I got the job", "the train is late",
            f"I lost my {r.choice(self.pools['thing'])}", "the test went well", f"the {r.choice(self.pools['thing'])} is broken", "I cannot come")  # fmt: skip
        kind = r.randrange(5)
        if kind == 0:
            event = self.one("new job", "birthday", "wedding", "exam", "new house", "prize", "promotion", "victory", "first book", "driving test")
            his = self.one("his", "her", "the", "their")
            return self.one(f"Congratulate {to} on {his} {event}.", f"Write {to} a line for {his} {event}.", f"Congratulate {to} on {his} {event} in one sentence.",
                f"Congratulations for {to} on the {event}, please."), f"Congratulations on your {event}, {dear}!"  # fmt: skip
        if kind == 1:
            wish = self.one("get well soon", "good luck", "happy birthday", "thank you", "good night", "welcome", "happy new year", "well done", "good morning", "have a nice day")
            return self.one(f"Say {wish} to {to}.", f"Say {wish} to {to} for me.", f"Write {wish} to {to}.", f"Tell {to}: {wish}."), f"{upper(wish)}, {dear}!"
        if kind == 2:
            return self.one(f"Write a text message to {to} that {news}.", f"Text {to} that {news}.", f"Write to {to} that {news}.", f"A message to {to}: {news}."), (
                f"Hi {dear}, {news}." )  # fmt: skip
        sign = self.one("", f" Sign it as {m}.", f" Sign as {m}.", f" I am {m}.")
        what = self.one("a short letter", "a letter", "a short email", "an email", "a note", "a short note", "a mail")
        return f"{self.one('Write', 'Please write')} {what} to {to} that {news}.{sign}", f"Dear {dear},\n{news[0].upper() + news[1:]}.\nBest regards{',' + chr(10) + m if sign else ''}"

    def remembered(self):
        """One or more things that somebody says about themselves, asked for again some turns later."""
        r, known = self.r, {}
        if r.random() < 0.4:
            return None, self.told()
        for _ in range(r.choice([1, 1, 1, 1, 2, 2, 3, 4])):
            said, reply, asks, answer = self.about()
            known[asks[0]] = said, reply, asks, answer
        turns = []
        for said, reply, _, _ in known.values():
            turns += [(said, reply), *[self.pair() for _ in range(r.choice([0, 0, 0, 1, 1, 2, 3, 5, 9]))]]
        for _, _, asks, answer in r.sample(list(known.values()), len(known)):
            turns += [(r.choice(asks), answer), *[self.pair() for _ in range(r.choice([0, 0, 1]))]]
        if r.random() < 0.2:
            q, a = self.fact()
            turns = [(q, a), (self.one("Say that again.", "Can you repeat that?", "Once more, please."), a)]
        return None, turns

    def directed(self):
        """A system message that is followed."""
        r, n = self.r, self.name()
        kind = r.randrange(8)
        if kind == 0:
            q, a = self.one(*[(f"What is the capital of {row[0]}?", row[1]) for row in self.banks["capital"].rows], ("How many legs does a cat have?", "four"),
                ("What color is the sky?", "blue"), ("Is ice cold?", "yes"), ("How many legs does a dog have?", "four"), ("What do cows give?", "milk"))  # fmt: skip
            return self.one("Answer with one word.", "Answer in one word only.", "Reply with a single word.", "Use only one word.",
                "One-word answers only.", "Answer briefly, with one word."), [(q, upper(a))]  # fmt: skip
        if kind == 1:
            return self.one("You are a pirate.", "Talk like a pirate.", "You are a pirate captain. Speak like one."), [
                self.one(("Hello!", "Ahoy, matey! What be ye looking for?"), ("Who are you?", "Arr, I be Captain Nano, matey!"),
                    ("What is your name?", "Arr, they call me Captain Nano!"), ("How are you?", "Arr, I be fine as the wind at sea!"),
                    ("What do you like?", "Arr, I like gold and the open sea, matey!"), ("Tell me something.", "Ahoy! There be treasure on yonder island, arr!")) for _ in range(r.randint(1, 2))]  # fmt: skip
        if kind == 2:
            of = self.one("", ", a helpful assistant", f", the assistant of the {r.choice(self.pools['company'])}", f", a {self.one('kind', 'friendly', 'small')} robot", f" from {self.place()}")
            if r.random() < 0.4:
                return self.one(f"The user is called {n}.", f"The user's name is {n}.", f"You talk to {n}.", f"Greet the user as {n}."), [
                    self.one((self.one("Hello!", "Hi.", "Good morning!", "hey"), f"Hello {n}! How can I help you?"), (self.one("What's my name?", "Who am I?"), f"Your name is {n}."))]
            return self.one(f"Your name is {n}{of}.", f"You are {n}{of}.", f"You are {n}{of}. Be friendly.", f"You are called {n}."), [
                (self.one("What's your name?", "Who are you?", "What is your name?", "What are you called?", "Hi, who are you?", "Introduce yourself.", "Who am I talking to?"), self.one(f"My name is {n}.", f"I am {n}."))]  # fmt: skip
        if kind == 3:
            q, a = self.fact()
            return self.one("Write in capital letters.", "Answer in capitals only.", "Use only upper case letters.", "SHOUT: write all in capitals."), [(q, a.upper())]
        if kind == 4:
            q, a = self.one(("Hello!", "Bonjour ! Comment puis-je vous aider ?"), ("Who are you?", "Je suis Nano, un petit modèle de langue."),
                ("How are you?", "Je vais bien, merci !"), ("Thank you!", "De rien !"), ("Goodbye!", "Au revoir !"), ("What is your name?", "Je suis Nano."))  # fmt: skip
            return self.one("Answer in French.", "You speak French.", "Speak only French."), [(q, a)]
        if kind == 5:
            q, a = self.one(("Hello!", "¡Hola! ¿Cómo puedo ayudarte?"), ("Who are you?", "Soy Nano, un pequeño modelo de lenguaje."),
                ("How are you?", "Estoy bien, gracias."), ("Thank you!", "¡De nada!"), ("Goodbye!", "¡Adiós!"))  # fmt: skip
            return self.one("Answer in Spanish.", "You speak Spanish.", "Speak only Spanish."), [(q, a)]
        if kind == 6:
            c, x = self.one("green", "red", "pink", "purple", "yellow", "orange"), self.one("sky", "grass", "snow", "sea", "sun", "moon")
            return self.one(f"The {x} in this world is {c}.", f"On this planet, the {x} is {c}.", f"Remember: here the {x} is {c}."), [
                (self.one(f"What color is the {x}?", f"Which color does the {x} have here?"), f"The {x} is {c}.")]  # fmt: skip
        jokes = next(a for q, a in self.talk if q == "Tell me a joke")
        return self.one("You are a comedian.", "You tell jokes.", "You are funny. Answer with a joke."), [
            (self.one("Hello!", "Say something.", "Talk to me.", "What's new?", "Tell me something."), r.choice(jokes))]  # fmt: skip

    def thinking(self):
        """Thoughts before the answer, where the system turn asks for them."""
        q, a = self.sum() if self.r.random() < 0.5 else self.fact()
        thought = self.one("The user asks: {q} I know that.", "I need to answer this: {q}", "Let me think. {q} That is easy.").replace("{q}", q)
        return "<|think|>\n", [(q, f"<|channel>thought\n{thought}\n<channel|>{a}")]
