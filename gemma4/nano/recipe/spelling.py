"""Spells declarations of tools, their calls and responses, as gemma4/chat renders them."""

import json

QUOTE = '<|"|>'


def by_key(d):
    return sorted(d.items(), key=lambda item: item[0].lower())


def value(v, quoted=False):
    """Any value; keys are quoted in schemas alone."""
    if isinstance(v, str):
        return QUOTE + v + QUOTE
    if isinstance(v, dict):
        return "{" + ",".join(f"{QUOTE + k + QUOTE if quoted else k}:{value(x, quoted)}" for k, x in by_key(v)) + "}"
    if isinstance(v, list):
        return "[" + ",".join(value(x, quoted) for x in v) + "]"
    return json.dumps(v)


def kind_of(schema):
    kind = schema["type"] if "type" in schema else ""
    return "type:" + value((str(kind) if isinstance(kind, list) else kind).upper())


def properties_of(properties):
    out = []
    for key, schema in by_key(properties):
        kind, some = schema.get("type"), []
        if schema.get("description"):
            some.append("description:" + value(schema["description"]))
        if kind == "string" and schema.get("enum"):
            some.append("enum:" + value(schema["enum"], True))
        if kind == "array" and schema.get("items"):
            some.append("items:{" + ",".join(map(item_of, by_key(schema["items"]))) + "}")
        if schema.get("nullable"):
            some.append("nullable:true")
        if kind == "object":
            some.append("properties:{" + properties_of(schema.get("properties", {})) + "}")
            if schema.get("required"):
                some.append("required:" + value(schema["required"]))
        out.append(f"{key}:{{{','.join([*some, kind_of(schema)])}}}")
    return ",".join(out)


def item_of(pair):
    key, v = pair
    if key == "properties":
        return "properties:{" + properties_of(v) + "}"
    return f"{key}:{value(v.upper() if key == 'type' else v, True)}"


def declare(name, description, schema):
    """A declaration; the schema is that of the parameters, or None."""
    out = f"<|tool>declaration:{name}{{description:{value(description)}"
    if schema:
        some = []
        if schema.get("properties"):
            some.append("properties:{" + properties_of(schema["properties"]) + "}")
        if schema.get("required"):
            some.append("required:" + value(schema["required"]))
        out += ",parameters:{" + ",".join([*some, kind_of(schema)]) + "}"
    return out + "}<tool|>"


def called(name, arguments):
    return f"<|tool_call>call:{name}{value(arguments)}<tool_call|>"


def responded(name, result):
    fields = result if isinstance(result, dict) else {"value": result}
    return f"<|tool_response>response:{name}{value(fields)}<tool_response|>"
