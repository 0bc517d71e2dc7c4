"""Makes chats with tools, and questions for JSON, of so many tools and fields that none can be learned by heart.

Tools come from banks/tools.txt, renamed in many ways, or are composed at random; what is asked for holds names, places,
times and made-up words to be copied into the call. Calls.next is a chat, Calls.json a question for JSON. Declarations,
calls and responses are spelt as gemma4/chat renders them. A turn with calls is (q, call, response, ..., answer).

python calls.py [--count 5] [--seed 1] prints some chats.
"""

import argparse
import json
import random
import re
from collections import namedtuple

import records
from chats import Maker
from pools import article, lines, upper
from spelling import called, declare, responded
from values import FAILURES, MENTIONS, NOUNS, SMALL, SYSTEMS, USUAL, VERBS, Values, schema_of, tidy

# A tool: fields and results are {name: Field}; asks and answers are forms with {field}, {field=value} and [parts that
# may stay out].
Tool = namedtuple("Tool", "group name description fields results asks answers missing cannot relay")
Field = namedtuple("Field", "kind optional description")
# Tools of these groups do what the model does by itself, so that plain questions do not go with them.
OWN = {"math", "language", "knowledge", "clock", "random"}
# Words of plain questions that tools of a group might be for, beside those of the tool itself.
NEAR = dict(
    weather="rain snow sunny warm umbrella cold outside", music="song sing", photo="draw paint picture",
    food="cook recipe eat", library="book author", calendar="day date plan", knowledge="look search", timer="minutes",
    phone="phone", message="message", sky="sunrise sunset", space="space", pets="animal", garden="plant garden",
    sports="sport team", health="doctor weight", money="money", robot="robot", game="game play", movie="movie film",
    map="distance far way", sea="tide sea")  # fmt: skip


# --- the bank ---


def fields_of(line):
    found = [re.match(r"(\w+)(\??):(\w+(?:\(\S*\))?)(?: (.*))?$", part.strip()) for part in line.split(";")]
    return {m[1]: Field(m[3], bool(m[2]), m[4] or "") for m in found}


def bank():
    """The tools of tools.txt; its form is told there."""
    tools = []
    for line in lines("tools.txt"):
        if m := re.match(r"\[(\w+)\] ([\w.-]+): (.*)$", line):
            tools.append(Tool(m[1], m[2], m[3], {}, {}, [], [], [], [], []))
            continue
        mark, rest, t = line[:2], line[2:], tools[-1]
        if mark in ("= ", "< "):
            (t.fields if mark == "= " else t.results).update(fields_of(rest))
        elif mark == "- ":
            t.missing.append(tuple(part.strip() for part in rest.split(" => ")))
        else:
            {"? ": t.asks, "> ": t.answers, "~ ": t.cannot, "& ": t.relay}[mark].extend(
                p.strip() for p in rest.split(" | ")
            )
    return tools


SYNONYMS = dict(
    city="location place town cityName city_name where", name="person full_name who userName",
    to="recipient receiver target", text="message body content msg", time="at when clock_time",
    date="day on_date when", query="q search_text term keywords", title="name heading label",
    room="area location roomName", minutes="duration mins duration_minutes", count="n amount number quantity",
    song="track title songName", amount="sum value total", address="location where street_address",
    language="lang target_language", file="path filename document", topic="subject about theme",
    person="name who contact", id="code number ref", item="thing product name", people="guests persons party_size",
    level="value amount strength", message="text note body")  # fmt: skip
SWAPS = dict(
    get="fetch read query lookup show check", set="change update configure", create="add make new",
    send="post deliver", delete="remove erase", search="find lookup", add="create insert put",
    find="search locate get", book="reserve order", start="begin run launch", play="start", turn="switch",
    show="get display")  # fmt: skip
PREFIXES = "api home my app svc acme mcp tool v2 user do smart assistant cloud local fn core ext".split()
ORDERS = set(
    """set turn add book send play find show get create make start stop call remind order delete remove open
close look search tell give put check pay move save read write cancel schedule track reserve rent buy
post print scan lock unlock dim block invite switch record convert translate calculate pick roll draw
list count change update rename share upload log feed water mark assign archive approve register label
release inspect submit load merge ship refill clean rotate repair publish""".split()
)


def low(q):
    """The text for the middle of a sentence, if its first word is one that is written small there."""
    word = re.match(r"\w*", q)[0].lower()
    small = word in ORDERS or word in "what how when who where is do which can could please".split()
    return q[0].lower() + q[1:] if small else q


COMMON = set(
    "get set find the look read show make of in a to into from up at with your one tell city time name people".split()
)


class Offer:
    """A tool as one chat offers it: under names of its own, with the descriptions that it happens to have."""

    def __init__(self, calls, tool, style):
        r = self.r = calls.r
        self.tool, self.v, self.upper = tool, calls.v, r.random() < 0.12
        self.number = r.choice(["integer", "number"])
        told, odd = r.random() < 0.55, r.random() < 0.06
        self.name, description = self.renamed(tool.name, style, odd), tool.description
        x = r.random()
        if x < 0.1:
            description = (
                r.choice(["Use this to ", "Call this to ", "A tool to ", "This function can "])
                + description[0].lower()
                + description[1:]
            )
        elif x < 0.16 and not odd:
            description = ""
        elif x < 0.5:
            description += "."
        self.keys, properties = {}, {}
        for key, field in tool.fields.items():
            new = self.key(key, style)
            self.keys[key] = new = key if new in self.keys.values() or new in tool.fields else new
            about = field.description or f"The {' '.join(split(key))}"
            alike = set(split(key)) & set(split(new)) or new in SYNONYMS.get(key, "").split()
            properties[new] = ({"description": about} if told or not alike else {}) | self.schema(field.kind)
            if field.optional and r.random() < 0.08:
                properties[new]["nullable"] = True
        required = [self.keys[k] for k, f in tool.fields.items() if not f.optional]
        schema = {"type": "object", "properties": properties, "required": required}
        if not properties:
            schema = r.choice([None, {"type": "object", "properties": {}}])
        self.declared, self.text = (self.name, description, schema), declare(self.name, description, schema)

    def renamed(self, name, style, odd):
        r, some = self.r, split(name)
        if odd:
            return r.choice(["_", ""]).join(self.v.made_up().lower() for _ in range(r.randint(1, 2))) + r.choice(
                ["", "", "_1"]
            )
        if r.random() < 0.3:
            return name
        if some[0] in SWAPS and r.random() < 0.3:
            some[0] = r.choice(SWAPS[some[0]].split())
        if r.random() < 0.1 and len(some) == 2:
            some = some[::-1]
        name = styled(some, style)
        if r.random() < 0.25:
            prefix = r.choice([r.choice(PREFIXES), self.tool.group, self.v.made_up().lower()])
            name = prefix + r.choice(["_", "__", ".", "-"]) + name
        return name + (r.choice(["_tool", "_v2", "2", "_now", "_fn"]) if r.random() < 0.06 else "")

    def key(self, key, style):
        r, x = self.r, self.r.random()
        if x < 0.18 and key in SYNONYMS:
            return r.choice(SYNONYMS[key].split())
        if x < 0.24:
            return self.v.made_up().lower()
        if x < 0.32:
            return styled([*split(key), r.choice(["value", "name", "param", "input"])], style.replace("kebab", "snake"))
        return styled(split(key), style.replace("kebab", "snake")) if x < 0.6 else key

    def schema(self, kind):
        return schema_of(kind, self.number, lambda v: v.upper() if self.upper else v)

    def cased(self, v, kind):
        if isinstance(v, list):
            return [self.cased(x, kind[5:]) for x in v] if kind.startswith("list(enum") else v
        return v.upper() if self.upper and kind.startswith("enum") and isinstance(v, str) else v

    def draw(self):
        """Values for the fields and the results."""
        values = {}
        for k, f in {**self.tool.fields, **self.tool.results}.items():
            if f.kind.startswith("calc("):
                n = eval(f.kind[5:-1], {}, {k: v for k, (_, v) in values.items()})  # such as a+b, of the bank
                values[k] = str(n), n
            else:
                values[k] = self.v.draw(f.kind)
        return values

    def fill(self, form, values, used):
        """A question of the form; what it tells goes into used."""
        form = re.sub(r"\[(.*?)\]", lambda m: m[1] if self.r.random() < 0.5 else "", form)

        def field(m):
            key, given = m.groups()
            if given is not None:
                used[key] = given if not re.fullmatch(r"true|false|-?\d+", given) else json.loads(given)
                return ""
            plain = key if key in values else key[0].lower() + key[1:]
            said, used[plain] = values[plain]
            return said if key == plain else upper(said)

        return tidy(re.sub(r"\{(\w+)(?:=([^}]*))?\}", field, form))

    def told(self, form, values, used):
        """An answer of the form, without the optional parts of which nothing is known."""
        known = {**{k: values[k][0] for k in self.tool.results}, **{k: values[k][0] for k in used if k in values}}
        known |= {k: v.replace("_", " ") for k, v in used.items() if isinstance(v, str) and k not in self.tool.results}

        def plain(key):
            return key if key in known else key[0].lower() + key[1:]

        form = re.sub(
            r"\[(.*?)\]", lambda m: m[1] if all(plain(k) in known for k in re.findall(r"\{(\w+)\}", m[1])) else "", form
        )
        form = re.sub(r"\{(\w+)\}", lambda m: known[m[1]] if m[1] in known else upper(known[plain(m[1])]), form)
        return tidy(form)

    def ask(self):
        """A question as people put it, the values and what of them it tells."""
        r, values, used = self.r, self.draw(), {}
        q, x = self.fill(r.choice(self.tool.asks), values, used), r.random()
        if x < 0.05 and not any(isinstance(v, (list, dict)) for v in used.values()):  # all in small letters, copied so
            for k, v in used.items():
                if isinstance(v, str) and v in q and not self.tool.fields[k].kind.startswith("enum"):
                    used[k] = v.lower()
                    values[k] = v.lower(), v.lower()
            q = q.lower()
        elif q.split()[0].lower() in ORDERS and q[-1] == ".":
            q = r.choice([q] * 5 + [f"Please {low(q)}", f"Can you {low(q[:-1])}?", f"Could you {low(q[:-1])}, please?",
                f"I want you to {low(q)}", f"{q[:-1]}, please."])  # fmt: skip
        elif x < 0.12 and q[-1] == "?":
            q = r.choice(["Can you tell me: ", "Tell me: ", "Hey, ", "I need to know: "]) + low(q)
        return (q[:-1] if r.random() < 0.06 else q), values, used

    def call(self, used):
        kinds = {k: f.kind for k, f in self.tool.fields.items()}
        return called(self.name, {self.keys[k]: self.cased(v, kinds[k]) for k, v in used.items()})

    def answered(self, values, used):
        """The response and the answer."""
        r = self.r
        if r.random() < 0.1:
            return self.failed(used)
        answer = self.told(r.choice(self.tool.answers), values, used)
        result = {k: values[k][1] for k in self.tool.results}
        if not result:
            result = r.choice(["ok", "done", "OK", "success", True, None, {"status": "ok"}, {"success": True}, {}, 1,
                "created", {"ok": True, "id": r.randint(1, 9999)}, '{"status": "ok"}', {"result": "done"}])  # fmt: skip
            return responded(self.name, result), answer
        if r.random() < 0.2:
            result |= r.choice(
                [
                    {"id": r.randint(1, 9999)},
                    {"source": self.v.made_up()},
                    {"status": "ok"},
                    {"cached": False},
                    {"took_ms": r.randint(2, 900)},
                ]
            )
        shapes = [result] * 4 + [json.dumps(result)] * 3 + [json.dumps(result, separators=(",", ":")),
            {"result": result},
            json.dumps({"data": result}), ", ".join(f"{k}: {records.shown(v)}" for k, v in result.items())]  # fmt: skip
        if len(result) == 1:
            only = next(iter(result.values()))
            shapes += [only] * 4 + [str(only) if not isinstance(only, (list, dict)) else only, {"result": only}]
        return responded(self.name, r.choice(shapes)), answer

    def failed(self, used):
        r = self.r
        error = r.choice(FAILURES)
        if used and r.random() < 0.4:
            key = r.choice(list(used))
            if isinstance(used[key], (str, int)) and not isinstance(used[key], bool):
                error = r.choice(
                    [f"unknown {self.keys[key]}: {used[key]}", f"{used[key]} not found", f"no data for {used[key]}"]
                )
        result = r.choice([{"error": error}, f"Error: {error}", f"error: {error}", {"status": "error",
            "message": error},
            {"success": False, "error": error}, json.dumps({"error": error}),
                {"error": {"message": error}}])  # fmt: skip
        return responded(self.name, result), r.choice([f"That did not work: {error}.", f"Sorry, that failed: {error}."])


def split(name):
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def styled(some, style):
    if style in ("camel", "pascal"):
        name = "".join(map(upper, some))
        return name if style == "pascal" else name[0].lower() + name[1:]
    return {"snake": "_", "kebab": "-", "flat": ""}[style].join(some)


class Calls:
    """Chats with tools, or with the wish for one, and questions for JSON."""

    def __init__(self, r, pair):
        self.r, self.pair, self.tools = r, pair, bank()
        self.v = Values(r)
        self.records = records.Records(r, self.v, pair)
        self.groups = {}
        for tool in self.tools:
            self.groups.setdefault(tool.group, []).append(tool)

    def json(self):
        """A question and JSON."""
        return self.records.pair()

    # --- tools ---

    def composed(self, noun=None, but=()):
        """A tool that nobody has, with fields of any name."""
        r = self.r
        noun = noun or (self.v.made_up().lower() if r.random() < 0.3 else r.choice(NOUNS))
        verb, past = r.choice([v for v in VERBS if v not in but]).split()
        fields, form = {}, []
        for i in range(r.choice([1, 1, 2, 2, 3, 4])):
            kind = r.choice(list(USUAL))
            key = self.v.made_up().lower() if r.random() < 0.3 else r.choice(USUAL[kind].split())
            if key in fields or key == noun:
                continue
            if kind == "list":
                kind = "list(made)"
            elif kind == "made" and r.random() < 0.4:
                kind = f"enum({','.join(self.v.made_up().lower() for _ in range(3))})"
            fields[key] = Field(kind, kind == "bool" or i > 0 and r.random() < 0.4, "")
            if kind == "bool":
                form.append([f"{{{key}=true}}{key}", f"{{{key}=false}}not {key}"])
            else:
                form.append([f'{key} "{{{key}}}"' if kind in ("text", "title") else f"{key} {{{key}}}"])
        asks = []
        for _ in range(4):
            some = [r.choice(f) for f, (k, x) in zip(form, fields.items()) if not x.optional or r.random() < 0.6]
            r.shuffle(some)
            with_ = f" with {self.v.joined(some)}" if some else ""
            asks.append(upper(r.choice([f"{verb} the {noun}{with_}.", f"{verb} a {noun}{with_}.",
                f"Please {verb} the {noun}{with_}.",
                f"I need to {verb} a {noun}{with_}."] + [f"{verb} {noun}: {', '.join(some)}.",
                f"{verb} one {noun}, {', '.join(some)}."] * bool(some))))  # fmt: skip
        needed, missing = [k for k, x in fields.items() if not x.optional], []
        if len(needed) == 1:
            missing.append(
                (
                    upper(f"{verb} the {noun}."),
                    f"Which {needed[0]}?",
                    f"{{{needed[0]}}}. | {upper(needed[0])} {{{needed[0]}}}.",
                )
            )
        results, answers = {}, [f"The {noun} is {past}.", f"Done: the {noun} is {past}.", f"I {past} the {noun}."]
        if r.random() < 0.4:
            kind = r.choice("int num code name date city made".split())
            key = self.v.made_up().lower() if r.random() < 0.3 else r.choice(USUAL[kind].split())
            if key not in fields:
                results, answers = (
                    {key: Field(kind, False, "")},
                    [f"Done. The {key} is {{{key}}}.", f"The {noun} is {past}; {key}: {{{key}}}."],
                )
        description = f"{upper(verb)} {r.choice([article(noun), f'the {noun}', f'{article(noun)} of the system'])}"
        return Tool(
            noun, f"{verb}_{noun}", description, fields, results, asks, answers, missing, [f"{verb} a {noun}"], []
        )

    def some_tools(self):
        """One to six tools, now and then of one kind."""
        r, count = self.r, self.r.choice([1, 1, 1, 2, 2, 3, 3, 4, 5, 6])
        some, x = [], r.random()
        if x < 0.25:
            some = r.sample(*(lambda g: (g, min(len(g), count)))(r.choice(list(self.groups.values()))))
        elif x < 0.4:
            some = [self.composed()]
            some += [
                self.composed(some[0].group, [v for v in VERBS if some[0].name.startswith(v.split()[0] + "_")])
            ] * (count > 1)
        while len(some) < count:
            tool = self.composed() if r.random() < 0.3 else r.choice(self.tools)
            if all(tool.name != t.name and (tool.group != t.group or r.random() < 0.2) for t in some):
                some.append(tool)
        style = r.choice(["snake", "snake", "snake", "camel", "camel", "kebab", "pascal", "flat"])
        offers, names = [], set()
        for tool in some:
            offer = Offer(self, tool, style if r.random() < 0.75 else r.choice(["snake", "camel"]))
            if offer.name not in names:
                offers.append(offer)
                names.add(offer.name)
        r.shuffle(offers)
        return offers

    # --- turns ---

    def called(self, offers):
        offer = self.r.choice(offers)
        q, values, used = offer.ask()
        turns = [(q, offer.call(used), *offer.answered(values, used))]
        tool = offer.tool
        if tool.missing and tool.results and self.r.random() < 0.12:  # the same of something else
            values, used = offer.draw(), {}
            q = offer.fill(self.r.choice(tool.missing[0][2].split(" | ")), values, used)
            if all(f.optional or k in used for k, f in tool.fields.items()):
                if re.match(r"(In|For|To|On|From|The) ", q):
                    q = q[0].lower() + q[1:]
                turns.append((f"And {q.rstrip('.')}?", offer.call(used), *offer.answered(values, used)))
        return turns

    def twice(self, offers):
        """Two things at once, of two tools or of one."""
        r = self.r
        two = r.sample(offers, 2) if len(offers) > 1 and r.random() < 0.8 else [r.choice(offers)] * 2
        (q, v, u), (q2, v2, u2) = (o.ask() for o in two)
        if u == u2 and two[0] is two[1]:
            return self.called(offers)
        (a, b), (a2, b2) = two[0].answered(v, u), two[1].answered(v2, u2)
        end = "" if q[-1] in ".?!" else "."
        q = r.choice([f"{q}{end} {q2}", f"{q}{end} And {low(q2)}", f"{q.rstrip('.?!')} and {low(q2)}",
            f"{q}{end} Then {low(q2)}",
            f"Two things: {low(q.rstrip('.?!'))}, and {low(q2)}", f"{q}{end} Also, {low(q2)}"])  # fmt: skip
        return [(q, two[0].call(u) + two[1].call(u2), a + a2, f"{b} {b2}")]

    def chained(self, offers):
        """What one tool says goes into the call of another."""
        r = self.r
        sources, sinks = [o for o in offers if o.tool.results], [o for o in offers if o.tool.relay]
        if not sources or not sinks:
            return self.called(offers)
        source, sink = r.choice(sources), r.choice(sinks)
        if source is sink:
            return self.called(offers)
        q, values, used = source.ask()
        (response, answer), more, passed = source.answered(values, used), sink.draw(), {}
        q2 = sink.fill(r.choice(sink.tool.relay), more, passed)
        q = f"{q}{'' if q[-1] in '.?!' else '.'} {q2}"
        if answer.startswith(("That did", "Sorry")):
            return [(q, source.call(used), response, answer)]
        key = next(k for k, v in passed.items() if v == "ANSWER")
        passed[key] = answer
        more[key] = answer, answer
        return [(q, source.call(used), response, sink.call(passed), *sink.answered(more, passed))]

    def missing(self, offers):
        """A value is missing: it is asked for, and then mostly given."""
        r, some = self.r, [o for o in offers if o.tool.missing]
        if not some:
            return self.called(offers)
        offer = r.choice(some)
        asked, back, follow = r.choice(offer.tool.missing)
        values, used = offer.draw(), {}
        asked, back = offer.fill(asked, values, used), offer.told(back, values, used)
        if r.random() < 0.12:
            return [
                (asked, back),
                r.choice(
                    [
                        ("Never mind.", "All right."),
                        ("Forget it.", "All right."),
                        ("I don't know.", "Then I cannot do that."),
                    ]
                ),
            ]
        q = offer.fill(r.choice(follow.split(" | ")), values, used)
        return [(asked, back), (q, offer.call(used), *offer.answered(values, used))]

    def refused(self, offers):
        """Something in the world that no tool here does."""
        r, here = self.r, {o.tool.group for o in offers}
        while True:
            tool = self.composed() if r.random() < 0.08 else r.choice(self.tools)
            if tool.group in here or tool.group in ("math", "language", "random"):
                continue
            if any(self.near(f"{tool.description} {' '.join(split(tool.name))}", o) for o in offers):
                continue
            other = Offer(self, tool, "snake")
            some = tool.missing and r.random() < 0.3
            q = other.fill(r.choice(tool.missing)[0], other.draw(), {}) if some else other.ask()[0]
            if low(q) != q or "?" in q or re.match(r"Please|I need|I want|Can |Could ", q):  # no mere statement
                break
        what = r.choice(tool.cannot)
        if not offers:
            return [
                (
                    q,
                    r.choice(
                        [f"I cannot {what} here: I have no tool for that."] * 3
                        + [f"I cannot {what}: I have no tool for that."]
                    ),
                )
            ]
        return [(q, r.choice(["I have no tool for that.", f"I cannot {what}: I have no tool for that.",
            f"I cannot {what}: none of my tools does that."]))]  # fmt: skip

    @staticmethod
    def near(text, offer):
        """Whether a text has a word in common with what a tool is for, so that one might take the tool for it."""
        t = offer.tool
        of = {*split(t.name), *" ".join(t.cannot).split(), t.group, *NEAR.get(t.group, "").split()} - COMMON
        return any(w in of or w.rstrip("s") in of or w + "s" in of for w in re.findall(r"[a-z]{3,}", text.lower()))

    def plain(self, offers):
        """Ordinary talk, which no tool is for."""
        r = self.r
        while True:
            x = r.random()
            if x < 0.15:
                q, a = r.choice(SMALL).split(" => ")
            elif x < 0.25:
                said = {
                    k: self.v.draw(k)[0] for k in "name city food country job hobby thing color pet title made".split()
                }
                q, a = (part.format(**said) for part in r.choice(MENTIONS).split(" => "))
            elif x < 0.35:
                a, b = r.randint(0, 20), r.randint(0, 20)
                q, a = r.choice([(f"What is {a} plus {b}?", f"{a} + {b} = {a + b}."), (f"{a} + {b}",
                    f"{a} + {b} = {a + b}."),
                    (f"What is {a + b} minus {b}?", f"{a + b} - {b} = {a}."), (f"{a} times {b}?",
                    f"{a} × {b} = {a * b}.")])  # fmt: skip
            else:
                q, a = self.pair()
            if not any(self.near(q, o) or o.tool.group in OWN and x >= 0.25 for o in offers) or r.random() < 0.005:
                return [(q, a)]

    def system(self):
        said = {k: self.v.draw(k)[0] for k in ("name", "company", "date", "city")}
        return self.r.choice(SYSTEMS).format(**said)

    def next(self):
        """A chat, as (system text or None, turns)."""
        r, x = self.r, self.r.random()
        if x < 0.1:
            return self.records.chat()
        if x < 0.18:  # no tool at all
            turns = []
            for _ in range(r.choice([1, 1, 1, 2, 3])):
                turns += self.refused([]) if r.random() < 0.7 or not turns else self.plain([])
            return (self.system() if r.random() < 0.25 else None), turns
        while True:
            offers = self.some_tools()
            if x >= 0.48 or not any(o.tool.group in OWN for o in offers):
                break
        turns = []
        if x < 0.45:  # none fits
            for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
                turns += (self.refused if r.random() < 0.35 else self.plain)(offers)
        else:
            if x > 0.93:
                offers = self.with_relay(offers)
            if r.random() < 0.12:
                turns += self.plain(offers)
            first = self.chained if x > 0.93 else r.choices([self.called, self.twice, self.missing], [70, 15, 15])[0]
            turns += first(offers)
            while r.random() < 0.45 and len(turns) < 7:
                turns += r.choices(
                    [self.called, self.twice, self.missing, self.plain, self.refused], [34, 5, 6, 40, 15]
                )[0](offers)
                if r.random() < 0.05:
                    turns.append(
                        (r.choice(["Say that again.", "What was that again?", "Once more, please."]), turns[-1][-1])
                    )
        text = "".join(o.text for o in offers)
        return (self.system() if r.random() < 0.3 else "") + text, turns

    def with_relay(self, offers):
        """The tools with a source and with one that takes an answer."""
        source = self.r.choice([t for t in self.tools if t.results])
        sink = self.r.choice([t for t in self.tools if t.relay])
        some = [o for o in offers if o.tool.group not in (source.group, sink.group)][:3]
        some += [Offer(self, t, "snake") for t in {source.name: source, sink.name: sink}.values()]
        some = list({o.name: o for o in some}.values())
        self.r.shuffle(some)
        return some


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--count", type=int, default=5)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    r = random.Random(a.seed)
    maker = Maker(r)
    calls = Calls(r, maker.fact)
    for _ in range(a.count):
        system, turns = calls.next()
        print(f"--- {system}")
        for turn in turns:
            print(*turn, sep="\n    ")
        print("---", *calls.json(), sep="\n    ")


if __name__ == "__main__":
    main()
