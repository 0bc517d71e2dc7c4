"""Where the server is, and what it is asked."""

import os
import pathlib

URL = os.environ["GEMWIRE_SERVER"].rstrip("/")
MODEL = "nano"
QUESTION = "What is the capital of France?"
PARIS = "Paris is the capital of France."

_cases = pathlib.Path(__file__).parents[4] / "testdata" / "conformance" / "nano"
PICTURE = (_cases / "scene0.png").read_bytes()
SPEECH = (_cases / "speech0.wav").read_bytes()
