"""Makes questions whose answer is JSON: records told in a sentence, with the fields or the schema that are wanted.

What a text does not say is null, or an empty list. Keys go by many names, so that they are copied from the question.
The answer has blanks behind commas and colons, unless the question asks for compact JSON or shows it.
"""

import json

from pools import article, upper
from values import schema_of, tidy

# Of each sort of thing: the field that names it, the beginning of a sentence about it, and its other fields as (key,
# kind, what is said). Booleans have two sayings: for true and for false.
SORTS = {
    "person": ("name:name", "{}", [
        ("age", "int(1,99)", "is {} years old|is {}|is {} years of age"),
        ("city", "city", "lives in {}|comes from {}|is in {}"),
        ("job", "job", "works as a {}|is a {} by trade|has the job of a {}"),
        ("hobby", "hobby", "likes {}|loves {}|spends the weekend with {}"),
        ("email", "email", "has the email {}|can be reached at {}"),
        ("phone", "phone", "has the phone number {}|has the number {}"),
        ("married", "bool", "is married|is not married"), ("pets", "list(pet)", "has pets called {}|has the pets {}"),
        ("country", "country", "was born in {}|is from {}"), ("food", "food", "likes to eat {}|eats {}"),
        ("height", "num(100,210)", "is {} centimeters tall"), ("member", "bool", "is a member|is no member"),
        ("friends", "list(name)", "has the friends {}|is a friend of {}"),
        ("color", "color", "likes {} best|wears {}"),
        ("address", "obj(street=address,city=city)", "lives at {}|has the address {}")]),
    "product": ("product:thing", "The {}", [
        ("price", "num(1,900)", "costs {} dollars|is {} dollars"), ("color", "color", "is {}|comes in {}"),
        ("in_stock", "bool", "is in stock|is sold out"), ("quantity", "int(1,200)", "is there {} times"),
        ("company", "company", "is made by {}|comes from {}"), ("code", "code", "has the code {}"),
        ("weight", "num(1,40)", "weighs {} kilos"), ("sizes", "list(int(1,60))", "comes in the sizes {}"),
        ("new", "bool", "is new|is used"), ("size", "obj(width=int(2,200),height=int(2,200))", "measures {}")]),
    "event": ("event:title", "The event {}", [
        ("date", "date", "is on {}|takes place on {}"), ("time", "time", "starts at {}|begins at {}"),
        ("place", "place", "is at {}"), ("guests", "list(name)", "has the guests {}|is visited by {}"),
        ("price", "num(1,90)", "costs {} dollars"), ("city", "city", "is in {}"),
        ("free", "bool", "is free|is not free"), ("host", "name", "is hosted by {}"),
        ("seats", "int(10,900)", "has {} seats")]),
    "book": ("title:title", "{}", [
        ("author", "name", "was written by {}|is a book by {}"),
        ("year", "int(1900,2025)", "came out in {}|is from {}"), ("pages", "int(40,900)", "has {} pages"),
        ("publisher", "company", "was published by {}"), ("rating", "num(1,5)", "has a rating of {}"),
        ("topics", "list(hobby)", "is about {}"), ("translated", "bool", "is translated|is not translated")]),
    "animal": ("name:pet", "{}", [
        ("species", "animal", "is a {}"), ("age", "int(1,20)", "is {} years old"), ("owner", "name", "belongs to {}"),
        ("color", "color", "is {}"), ("weight", "num(1,60)", "weighs {} kilos"),
        ("vaccinated", "bool", "is vaccinated|is not vaccinated"), ("food", "food", "eats {}|likes {}"),
        ("city", "city", "lives in {}")]),
    "trip": ("traveler:name", "{}", [
        ("from", "city", "starts in {}|leaves from {}"), ("to", "city", "travels to {}|goes to {}"),
        ("date", "date", "leaves on {}"), ("nights", "int(1,30)", "stays {} nights"),
        ("hotel", "company", "sleeps at {}"), ("price", "num(50,3000)", "pays {} dollars"),
        ("luggage", "list(thing)", "takes along {}"), ("alone", "bool", "travels alone|does not travel alone")]),
    "order": ("order:code", "Order {}", [
        ("customer", "name", "is from {}"), ("items", "list(thing)", "has the items {}|contains {}"),
        ("total", "num(3,900)", "costs {} dollars in all"), ("date", "date", "was made on {}"),
        ("paid", "bool", "is paid|is not paid"), ("address", "obj(street=address,city=city)", "goes to {}"),
        ("lines", "list(obj(count=int(1,20),article=thing))", "is for {}")]),
    "company": ("company:company", "{}", [
        ("city", "city", "is based in {}|sits in {}"), ("employees", "int(2,9000)", "has {} employees"),
        ("founder", "name", "was founded by {}"), ("founded", "int(1850,2024)", "was founded in {}"),
        ("website", "url", "has the website {}"), ("public", "bool", "is public|is private"),
        ("boss", "obj(name=name,age=int(20,80))", "has the boss {}")]),
    "thing": ("name:made", "The {}", None),  # of made-up fields
}  # fmt: skip
OTHER = dict(
    name="fullName first_name person who customer", age="years age_years ageInYears",
    city="town place location home residence", job="occupation profession work",
    email="mail emailAddress e_mail contact", phone="phone_number tel telephone", product="item article name",
    price="cost amount price_usd", quantity="count amount qty number", title="name book heading", date="day when on",
    time="start startTime at", color="colour paint", event="name title what", owner="belongs_to human",
    company="name firm business", order="id order_id number", customer="buyer client name",
    traveler="name who passenger", to="destination target", hobby="interest likes pastime")  # fmt: skip


def shown(v):
    return v if isinstance(v, str) else json.dumps(v)


class Records:
    def __init__(self, r, values, pair):
        self.r, self.v, self.ask = r, values, pair

    def key(self, key, style):
        r, x = self.r, self.r.random()
        if x < 0.15 and key in OTHER:
            key = r.choice(OTHER[key].split())
        elif x < 0.2:
            key = r.choice(["main", "given", "my", "user", "full"]) + "_" + key
        if style == "camel":
            first, *rest = key.split("_")
            key = first + "".join(map(upper, rest))
        return upper(key) if style == "upper" else key

    def fields(self, sort, count, style):
        """Fields of a sort, as [key, kind, sayings], the naming one first; and the beginning of a sentence."""
        r = self.r
        (name, kind), start, more = SORTS[sort][0].split(":"), *SORTS[sort][1:]
        if more is None:
            more = [
                (self.v.made_up().lower(), r.choice("int num word color made city date code".split()), None)
                for _ in range(5)
            ]
            more = [(key, kind, f"has {article(key)} of {{}}") for key, kind, _ in more]
        out, keys = [], set()
        for key, kind, say in [(name, kind, ""), *r.sample(more, min(len(more), count))]:
            new = self.key(key, style)
            if new not in keys:
                out.append((new, kind, say))
                keys.add(new)
        return out, start

    def record(self, fields, start, silent=0.0):
        """A sentence, and what it says; a field may stay unsaid."""
        r, out, said = self.r, {}, []
        for key, kind, say in fields:
            text, v = self.v.draw(kind)
            if not say:
                subject = start.format(text)
            elif r.random() < silent:
                v = [] if kind.startswith("list") else None
            elif kind == "bool":
                said.append(say.split("|")[0 if v else 1])
            else:
                said.append(r.choice(say.split("|")).format(text))
            out[key] = v
        if r.random() < 0.3:
            r.shuffle(said)
        if not said:
            return (
                f"There is {subject[0].lower() + subject[1:] if subject.startswith(('The ', 'Order ')) else subject}.",
                out,
            )
        if len(said) > 2 and r.random() < 0.4:
            at = r.randint(1, len(said) - 1)
            they = "This person" if fields[0][1] == "name" else r.choice(["It", "It also"])
            return tidy(f"{subject} {self.v.joined(said[:at])}. {they} {self.v.joined(said[at:])}."), out
        return tidy(f"{subject} {self.v.joined(said)}."), out

    @staticmethod
    def schema(kind, nullable=False):
        schema = schema_of(kind)
        if nullable and schema["type"] not in ("array", "object"):
            schema["type"] = [schema["type"], "null"]
        return schema

    def written(self, v, compact):
        return json.dumps(v, separators=(",", ":")) if compact else json.dumps(v)

    def described(self, fields):
        """The fields in words, with their types."""
        r, types = self.r, "string integer number boolean array object".split()
        named = [(k, self.schema(kind)["type"]) for k, kind, _ in fields]
        assert all(t in types for _, t in named)
        form = r.choice(["{} ({})", "{}: {}", "{} as {}", '"{}" ({})'])
        return ", ".join(form.format(k, t) for k, t in named)

    def listed(self):
        """A list of words or numbers."""
        r = self.r
        kind = r.choice("color animal food city name made int(1,99) num(1,50) hobby thing title".split())
        said, some = self.v.draw(f"list({kind})")
        if r.random() < 0.3:
            key = r.choice(["items", "list", "values", "names", "results", self.v.made_up().lower()])
            return r.choice([f"Give me JSON with the list {said} under the key {key}.",
                f"A JSON object with {key}: {said}.",
                f'JSON with the key "{key}" and these values: {said}']), self.written({key: some}, False)  # fmt: skip
        compact = r.random() < 0.15
        q = r.choice([f"Write {said} as a JSON list.", f"Give me a JSON array of {said}.", f"JSON array: {said}",
            f"Make a JSON list of {said}.", f"{upper(said)} as JSON.", f"Put {said} into a JSON array."])  # fmt: skip
        return q + " Compact, without blanks." * compact, self.written(some, compact)

    def spoken(self):
        """Keys and values said one after the other."""
        r = self.r
        fields, _ = self.fields(r.choice(list(SORTS)), r.randint(1, 4), "snake")
        fields = [f for f in fields if "obj" not in f[1]] or fields[:1]
        out, said = {}, []
        for key, kind, _ in fields:
            text, out[key] = self.v.draw(kind)
            said.append(f"{key}{r.choice([' ', ' ', ' = ', ': '])}{json.dumps(out[key]) if kind == 'bool' else text}")
        text, compact = self.v.joined(said), r.random() < 0.12
        q = r.choice([f"Give me JSON with {text}.", f"Write a JSON object with {text}.", f"Answer in JSON: {text}",
            f"Make JSON of this: {text}",
            f"JSON, please: {text}.", f"As JSON: {text}.", f"Turn this into JSON: {text}"])  # fmt: skip
        return q + (" No blanks." if compact else ""), self.written(out, compact)

    def answered(self):
        """An ordinary question, with the answer under a key."""
        r, (q, a) = self.r, self.ask()
        key = r.choice(["answer", "answer", "result", "reply", "text", "response", "output", self.v.made_up().lower()])
        return r.choice([f"{q} Answer as JSON with the key {key}.", f'{q} Reply in JSON: {{"{key}": "..."}}',
            f"{q} Give the answer as a JSON object, field {key}.",
            f"Answer in JSON with the field {key}: {q}"]), json.dumps({key: a}, ensure_ascii=False)  # fmt: skip

    def extracted(self, apart=False):
        """What is wanted, the text, and the JSON; or, apart, the wish and the text separately."""
        r = self.r
        sort, style = r.choice([*SORTS, "person", "person"]), r.choice(["snake", "snake", "snake", "camel", "upper"])
        fields, start = self.fields(sort, r.choice([1, 2, 2, 3, 3, 4, 5]), style)
        silent = r.choice([0, 0, 0.3])
        many = r.random() < 0.15
        keys, compact = [f[0] for f in fields], r.random() < 0.12
        if many:
            some = [self.record(fields, start) for _ in range(r.randint(2, 3))]
            text, out = " ".join(t for t, _ in some), [o for _, o in some]
        else:
            text, out = self.record(fields, start, silent)
            if r.random() < 0.1:  # there is more in the text than is wanted
                keys = r.sample(keys, r.randint(1, len(keys)))
                fields = [f for k in keys for f in fields if f[0] == k]
                out = {k: out[k] for k in keys}
        unsaid = not many and None in out.values()
        hint = (
            r.choice([" Use null for what is not said.", " What is missing is null.", " Unknown is null."])
            if unsaid and r.random() < 0.7
            else ""
        )
        names = r.choice([", ".join(keys), self.v.joined(keys), ", ".join(f'"{k}"' for k in keys)])
        array = "a JSON array of objects with" if many else "JSON with"
        x = r.random()
        if x < 0.35:  # a schema
            told = {k: {"description": f"the {k.lower().replace('_', ' ')}"} if r.random() < 0.15 else {} for k in keys}
            of = {k: told[k] | self.schema(kind, unsaid and out[k] is None) for k, kind, _ in fields}
            schema = {"type": "object", "properties": of, "required": keys}
            if r.random() < 0.2:
                schema["additionalProperties"] = False
            schema = {"type": "array", "items": schema} if many else schema
            indent = r.random() < 0.15
            compact = compact or r.random() < 0.2
            shown = json.dumps(schema, indent=2) if indent else self.written(schema, compact)
            compact = compact and not indent
            wish = r.choice([f"Answer with JSON of this schema: {shown}", f"JSON schema: {shown}",
                f"Use this JSON schema:\n{shown}", f"Reply only with JSON that fits this schema: {shown}",
                f"Extract the data as JSON.\nSchema: {shown}",
                f"Your answer must be JSON that follows this schema:\n{shown}"])  # fmt: skip
        elif x < 0.5:
            empty = {"string": "...", "integer": 0, "number": 0.0, "boolean": True, "array": [], "object": {}}
            example = {k: empty[self.schema(kind)["type"]] for k, kind, _ in fields}
            example = self.written([example] if many else example, compact)
            wish = r.choice(
                [
                    f"Answer in this form: {example}",
                    f"Fill this JSON: {example}",
                    f"Give me JSON like {example}",
                    f"Format: {example}",
                ]
            )
        elif x < 0.75:
            wish = r.choice([f"Give me {array} the fields {self.described(fields)}",
                f"Answer with {array} these fields: {self.described(fields)}",
                f"I need {array} {self.described(fields)}"])  # fmt: skip
        else:
            wish = r.choice(
                [
                    f"Extract {names} as JSON{' array' if many else ''}",
                    f"Give me {array} {names}",
                    f"Return {array} the keys {names}",
                    f"Find {names}. Answer in JSON{' as an array' if many else ''}",
                ]
            )
        if compact and x >= 0.5:
            wish += r.choice([", compact", ", without blanks", ", minified"])
        answer = self.written(out, compact)
        if apart:
            return wish + (".\n" if x >= 0.5 and hint else "") + hint, text, answer
        if x >= 0.5:
            q = r.choice(
                [
                    f"{wish} for: {text}{hint}",
                    f"{wish}.{hint} Text: {text}",
                    f"{text} {wish}.{hint}",
                    f"{wish}:{hint}\n{text}",
                    f'{wish} from "{text}"{hint}',
                ]
            )
        else:
            q = r.choice([f"{wish}\n{text}{hint}", f"{text}\n{wish}{hint}", f"{wish}\n\nText: {text}{hint}"])
        return q, answer

    def bare(self):
        """Only the word JSON: the usual keys, in the order of the text."""
        r = self.r
        sort = r.choice([s for s in SORTS])
        (name, kind), start, more = SORTS[sort][0].split(":"), *SORTS[sort][1:]
        fields = [
            (name, kind, ""),
            *(r.sample(more, r.randint(1, 4)) if more else self.fields(sort, 2, "snake")[0][1:]),
        ]
        said, out = [], {}
        for key, kind, say in fields:
            text, out[key] = self.v.draw(kind)
            if not say:
                subject = start.format(text)
            else:
                said.append(say.split("|")[0 if out[key] is True or kind != "bool" else 1].format(text))
        text, compact = tidy(f"{subject} {self.v.joined(said)}."), r.random() < 0.1
        q = r.choice([f"{text} Reply in JSON.", f"{text} Answer in JSON.", f"{text} As JSON, please.",
            f"Turn this into JSON: {text}", f"Make JSON of this: {text}",
            f"JSON for: {text}", f"{text} Give me that as JSON."])  # fmt: skip
        return q + (" Compact." if compact else ""), self.written(out, compact)

    def pair(self):
        """A question and JSON."""
        make = self.r.choices(
            [self.extracted, self.bare, self.spoken, self.listed, self.answered], [50, 17, 15, 10, 8]
        )[0]
        return make()

    def chat(self):
        """A chat whose system text says which JSON is wanted, or one with a question or two for JSON."""
        if self.r.random() < 0.6:
            wish, text, answer = self.extracted(apart=True)
            return wish, [(text, answer)]
        if self.r.random() < 0.4:
            q, a = self.ask()
            key = self.r.choice(["answer", "reply", "text", "result"])
            return self.r.choice([f"Answer in JSON with the key {key}.", f'Always reply as {{"{key}": "..."}}.',
                f"All answers are JSON objects with the field {key}."]), [
                (q, json.dumps({key: a}, ensure_ascii=False))]  # fmt: skip
        turns = [self.pair() for _ in range(self.r.choice([1, 1, 2]))]
        return None, turns + [self.ask()] * (self.r.random() < 0.3)
