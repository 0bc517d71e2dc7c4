"""Draws values for calls and JSON: names from everywhere and made up, places, times, amounts, short texts."""

import re

from chats import Maker
from pools import DAYS, MONTHS, pools, upper


def cut(text):
    """The parts of a text between semicolons."""
    return [part.strip() for part in text.replace("\n", " ").split(";")]


def tidy(text):
    """Without "on" before days that do not take it, without a second full stop, and with "an" where it belongs."""
    text = re.sub(r"\ba (?=[aeio]\w|u[^n])", "an ", text)
    return re.sub(r"\b([Oo])n (tomorrow|today|next )", lambda m: m[2], text).replace("..", ".")


ROOMS = cut("""kitchen;bedroom;living room;bathroom;hall;office;garage;attic;cellar;nursery;dining room;guest room""")
SKIES = cut("""sunny;cloudy;rainy;windy;foggy;snowy;clear;stormy;partly cloudy;light rain;hazy""")
TEXTS = cut("""I will be {n} minutes late;Dinner is at {time};Please buy {food};The {thing} is broken;See you at
{place};Happy birthday, {name};Call me back;The meeting is moved to {day};I love {food};{name} is at {place};Bring
the {thing};We leave at {time};Thank you for the {thing};I found your {thing};There is no milk left;Good luck in
{city};The {animal} is hungry;{name} called;I am home;The train is late;Lunch at {place} on {day};My {thing} was
stolen;I need {n} eggs;The code is {code};Good night;{name} likes {hobby};Welcome to {city};Feed the {animal};Wash
the {thing};Everything went well;Room {n} is free;I miss you;Ask {name} about {company}""")
TOPICS = cut("""cheap flights;old bridges;green tea;solar panels;space travel;electric cars;garden birds;jazz music;
chess openings;wild flowers;ancient Rome;deep sea fish;bread recipes;history of maps;steam engines;night trains;stamp
prices;back pain;new laws;paper planes;tax forms;winter tires;knitting patterns;rare coins;beach hotels;street food""")
# For tools that are composed: what they do, to what, and the usual names of fields by kind.
VERBS = cut("""assign assigned;archive archived;approve approved;register registered;update updated;move moved;label
labeled;check checked;start started;stop stopped;rename renamed;schedule scheduled;release released;inspect inspected;
reserve reserved;submit submitted;lock locked;track tracked;load loaded;merge merged;close closed;open opened;ship
shipped;scan scanned;refill refilled;clean cleaned;rotate rotated;repair repaired;mark marked;publish published""")
NOUNS = cut("""invoice;crate;badge;pump;valve;report;parcel;contract;session;server;drone;locker;sample;
shipment;permit;claim;profile;order;tank;satellite;greenhouse;turbine;vehicle;coupon;folder;ledger;robot;camera;
printer;lease;panel;boat;elevator;furnace;survey;queue;beacon;gate;pipeline""")
USUAL = dict(
    name="owner person customer author worker user", city="city town destination base",
    int="count level priority size number", num="amount weight width price limit", code="code id key serial",
    made="label tag group brand", date="date day deadline", time="time start", text="note message comment",
    room="room area", color="color", email="email contact", address="address", thing="item object part",
    topic="topic subject", bool="urgent locked private hidden", country="country region", list="tags labels members",
    title="title heading", file="file document")  # fmt: skip
# What system texts say, and talk as (said, answer).
SYSTEMS = cut("""You are a helpful assistant.;You are Nano, a small assistant.;Be brief.;Answer in short sentences.;
You help people with their everyday tasks.;Use the tools where they help.;You are a friendly assistant. Use a tool
only if it fits.;You work for {company}.;You are the assistant of {name}.;Today is {date}.;The user is called {name}.;
Call a function if one is needed, else answer directly.;You can call functions.;You are {name}, an assistant of
{company}.;The user lives in {city}.""")
MENTIONS = cut("""My name is {name}. => Nice to meet you, {name}!;I live in {city}. => {city} is a beautiful city.;I
like {food}. => That sounds tasty!;I am from {country}. => {country} is a beautiful country.;I am {name}. => Hello
{name}! How can I help you?;I work as a {job}. => That is an important job.;My hobby is {hobby}. => That sounds like
fun.;{name} is my friend. => It is good to have a friend.;I was in {city}. => I hope you had a good time in {city}.;I
bought a {thing}. => I hope it serves you well.;My favorite color is {color}. => That is a lovely color.;I have a pet
called {pet}. => {pet} is a good name.;I am reading {title}. => I hope you like it.;Say {made}. => {made};Is {name} a
name? => Yes, {name} is a name.;Repeat: {made} => {made}""")
SMALL = cut("""Thanks! => You're welcome!;Thank you. => You're welcome!;Never mind. => All right.;OK. => Good. Is
there anything else?;Great! => I am glad.;Hello! => Hello! How can I help you?;Hi. => Hello! How can I help you?;How
are you? => I'm fine, thank you.;Sing a song. => La la la, the sun is up, la la la, so fill your cup!;Are you there?
=> Yes, I am here.;Forget it. => All right.;That is all. => Good. Have a nice day!;Wait. => All right, I will wait.;
Perfect. => I am glad.;What can you do? => I can answer questions, talk, and use the tools that I am given.;Nice. =>
I am glad.;Hmm. => What can I do for you?;I am bored. => Shall I tell you a joke or a story?;Good morning. => Good
morning! How can I help you?;Goodbye. => Goodbye!;No, thanks. => All right.;You are great. => Thank you!;Cancel that.
=> All right, never mind.;I changed my mind. => All right. What do you want instead?""")
FAILURES = cut("""not found;timeout;no connection;permission denied;service unavailable;the server is down;access
denied;internal error;too many requests;the device is offline;nothing found;rate limit reached;bad request;the
battery is empty;not allowed;out of memory""")


class Values:
    """Draws values of a kind: what people say, and what a call has for it."""

    made_up = Maker.made_up

    def __init__(self, r):
        self.r, self.pools = r, pools()

    def name(self):
        r = self.r
        name = self.made_up() if r.random() < 0.35 else r.choice(self.pools["name"])
        if r.random() < 0.15:
            name += " " + (self.made_up() if r.random() < 0.6 else r.choice(self.pools["name"]))
        return name

    def text(self):
        said = {k: self.draw(k)[0] for k in "time food thing place name day city animal code hobby company".split()}
        return self.r.choice(TEXTS).format(n=self.r.randint(2, 60), **said)

    def date(self):
        r, month, day = self.r, self.r.choice(MONTHS), self.r.randint(1, 28)
        return r.choice([f"{month} {day}", f"{day} {month}",
            f"{r.randint(2024, 2031)}-{r.randint(1, 12):02d}-{day:02d}",
            r.choice(DAYS), f"next {r.choice(DAYS)}", "tomorrow", "today",
                f"{month} {day}, {r.randint(2024, 2031)}"])  # fmt: skip

    def time(self):
        r, hour, minute = self.r, self.r.randint(0, 23), self.r.choice([0, 15, 30, 45, self.r.randint(0, 59)])
        return r.choice([f"{hour:02d}:{minute:02d}", f"{hour}:{minute:02d}",
            f"{hour % 12 + 1} {r.choice(['am', 'pm'])}",
            f"{hour % 12 + 1}:{minute:02d} {r.choice(['am', 'pm'])}"])  # fmt: skip

    def string(self, kind):
        r, made = self.r, self.made_up
        if kind in ("name", "text", "date", "time"):
            return getattr(self, kind)()
        if kind == "word":
            kind = r.choice(["thing", "animal", "food", "color", "hobby", "made", "made"])
        if kind == "topic" and r.random() < 0.75:
            return (
                r.choice(TOPICS)
                if r.random() < 0.4
                else self.string(r.choice(["animal", "food", "city", "name", "hobby"]))
            )
        if kind == "title" and r.random() < 0.4:
            return r.choice(
                [f"The {made()}", f"{made()} and {made()}", f"{upper(self.string('color'))} {made()}", made()]
            )
        if kind in ("city", "company") and r.random() < 0.2 or kind in ("made", "topic"):
            return made() if kind != "made" or r.random() < 0.5 else made().lower()
        low, first = made().lower(), r.choice(self.pools["name"]).lower()
        special = dict(
            address=f"{r.randint(1, 199)} {r.choice(self.pools['street'])}", day=r.choice(DAYS),
            month=r.choice(MONTHS), room=r.choice(ROOMS), sky=r.choice(SKIES),
            phone=f"{r.randint(100, 999)}-{r.randint(1000, 9999)}",
            email=f"{r.choice([low, first])}@{r.choice(['mail', low, 'post'])}.{r.choice(['com', 'org', 'net'])}",
            url=f"{low}.{r.choice(['com', 'org', 'net', 'io'])}",
            file=f"{low}.{r.choice(['txt', 'pdf', 'csv', 'png', 'md', 'doc'])}",
            folder=r.choice([low, "photos", "work", "inbox", "music", "taxes", "old"]),
            code=r.choice([f"{low[:2].upper()}{r.randint(10, 999)}", f"{r.randint(1000, 99999)}",
                f"{low[:3].upper()}-{r.randint(1, 99)}"]))  # fmt: skip
        return special[kind] if kind in special else r.choice(self.pools[kind])

    def draw(self, kind):
        r, (name, of) = self.r, split_kind(kind)
        if name == "int":
            low, high = map(int, (of or "1,99").split(","))
            n = r.randint(low, high)
        elif name == "num":
            low, high = map(int, (of or "1,99").split(","))
            n = r.choice([r.randint(low, high), round(r.uniform(low, high), 1), round(r.uniform(low, high), 2)])
        elif name == "bool":
            n = r.random() < 0.5
            return ("yes" if n else "no"), n
        elif name == "enum":
            value = r.choice(of.split(","))
            return value.replace("_", " "), value
        elif name == "list":
            some = [self.draw(of) for _ in range(r.choice([1, 2, 2, 3, 3, 4]))]
            some = list({said: v for said, v in some}.items())
            return self.joined([said for said, _ in some]), [v for _, v in some]
        elif name == "obj":
            some = {k: self.draw(v) for k, v in parts(of)}
            mark = " x " if isinstance(next(iter(some.values()))[1], int) else ", "
            return mark.join(said for said, _ in some.values()), {k: v for k, (_, v) in some.items()}
        else:
            n = self.string(name)
        return str(n), n

    @staticmethod
    def joined(some):
        return ", ".join(some[:-1]) + " and " + some[-1] if len(some) > 1 else some[0]


def split_kind(kind):
    """A kind's name, and what stands in its parentheses."""
    return re.match(r"(\w+)(?:\((.*)\))?$", kind).groups()


def schema_of(kind, integer="integer", spelt=lambda value: value):
    """The JSON schema of a kind. Values of an enum are spelt as a caller wants them."""
    name, of = split_kind(kind)
    if name == "enum":
        return {"type": "string", "enum": [spelt(v) for v in of.split(",")]}
    if name == "list":
        return {"type": "array", "items": schema_of(of, integer, spelt)}
    if name == "obj":
        some = dict(parts(of))
        fields = {k: schema_of(v, integer, spelt) for k, v in some.items()}
        return {"type": "object", "properties": fields, "required": list(some)}
    return {"type": {"int": integer, "num": "number", "bool": "boolean"}.get(name, "string")}


def parts(of):
    """The fields of an obj kind, as (name, kind)."""
    return re.findall(r"(\w+)=(\w+(?:\([^()]*\))?)", of)
