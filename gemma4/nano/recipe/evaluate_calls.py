"""Judges calls of tools and structured output: heldout/tools.jsonl and heldout/json.jsonl.

A line of tools.jsonl has what is asked, the tools on offer and the call that is right. The call is null where no tool
fits ("unfit") or none is on offer ("without"). A line of json.jsonl has what is asked, the schema that the answer is
held to, and the values that are right. In both, {"any": […]} has several right values. Strings are compared without
regard to case, spaces around them and a full stop.
"""

import json

NAMES = ["right", "wrong", "no call", "called without need"]


def same(want, got):
    if isinstance(want, dict) and set(want) == {"any"}:
        return any(same(w, got) for w in want["any"])
    if isinstance(want, dict):
        return isinstance(got, dict) and set(want) == set(got) and all(same(want[k], got[k]) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, str):
        return isinstance(got, str) and want.casefold().strip(" .") == got.casefold().strip(" .")
    return isinstance(want, bool) == isinstance(got, bool) and want == got


def tool_request(case):
    body = {"messages": [{"role": "user", "content": case["ask"]}], "max_tokens": 120}
    return {**body, "tools": case["tools"]} if case["tools"] else body


def judge_call(case, message):
    """One of NAMES, or "rightly none"."""
    calls = message.get("tool_calls") or []
    called = bool(calls) or "tool_call" in (message["content"] or "")
    if not case["call"]:
        return "called without need" if called else "rightly none"
    if not called:
        return "no call"
    try:
        made = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]
    except json.JSONDecodeError:
        return "wrong"
    good = len(made) == 1 and made[0][0] == case["call"]["name"] and same(case["call"]["arguments"], made[0][1])
    return "right" if good else "wrong"


def json_request(case):
    schema = {"name": "answer", "schema": case["schema"], "strict": True}
    return {
        "messages": [{"role": "user", "content": case["ask"]}],
        "max_tokens": 160,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }


def judge_json(case, message):
    """How many values are right, of how many."""
    try:
        got = json.loads(message["content"] or "")
    except json.JSONDecodeError:
        got = {}
    want = case["expected"]
    return sum(k in got and same(want[k], got[k]) for k in want), len(want)


def said(message):
    """The answer as one text, for reading."""
    calls = [f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls") or []]
    return " ".join([*calls, (message["content"] or "").strip()]).strip()
