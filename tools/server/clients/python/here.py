"""Where the server is, and what it is asked."""

import json
import os
import pathlib
import urllib.request

URL = os.environ["GEMWIRE_SERVER"].rstrip("/")
MODEL = "nano"
QUESTION = "What is the capital of France?"


def _answer():
    asked = {"model": MODEL, "temperature": 0, "messages": [{"role": "user", "content": QUESTION}]}
    request = urllib.request.Request(URL + "/v1/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


# Every way to ask gives the model's words, which differ from edition to edition.
PARIS = _answer()
assert "Paris" in PARIS, PARIS

_cases = pathlib.Path(__file__).parents[4] / "testdata" / "conformance" / "nano"
PICTURE = (_cases / "scene0.png").read_bytes()
SPEECH = (_cases / "speech0.wav").read_bytes()
