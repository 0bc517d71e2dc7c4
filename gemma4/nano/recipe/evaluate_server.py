"""Asks a model through "gemwire serve": it is loaded once, and answers greedily on the CPU."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 1  # several at once differ in near ties


class Server:
    """A model that answers chats, with an adapter if there is one. Use it in a with statement."""

    def __init__(self, gemwire, model=None, adapter=None):
        command = [gemwire, "serve", *([model] if model else []), "--addr", "127.0.0.1:0", "--ollama-addr", "off"]
        command += ["--device", "cpu", "--context", "4096", "--keep-alive", "1h", "--parallel", str(AT_ONCE)]
        command += ["--lora", f"adapter={adapter}"] if adapter else []
        name = os.path.basename(model).removesuffix(".gguf") if model else "nano"
        self.name = f"{name}:adapter" if adapter else name
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip().rstrip("/")
        if not self.address.startswith("http"):
            raise SystemExit(f"gemwire serve did not start: {' '.join(command)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def message(self, body):
        """The answer to one request: a dict with content and maybe tool_calls."""
        body = {"model": self.name, "temperature": 0, "seed": 1, **body}
        request = urllib.request.Request(
            self.address + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=600) as response:
                return json.load(response)["choices"][0]["message"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"gemwire refused {json.dumps(body)}: {error.read().decode()}") from error

    def messages(self, bodies):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(self.message, bodies))

    def texts(self, chats, most):
        """What is answered to each (system, turns), in at most that many tokens."""
        found = self.messages([{"messages": chat(*c), "max_tokens": most} for c in chats])
        return [(m["content"] or "").strip() for m in found]


def chat(system, turns):
    """The user begins, and the model has every other turn."""
    out = [{"role": "system", "content": system}] if system else []
    return out + [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(turns)]
