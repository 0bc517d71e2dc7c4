"""Ollama's own client."""

import json
import unittest

import ollama

from here import MODEL, PARIS, PICTURE, QUESTION, URL

client = ollama.Client(host=URL)
ask = [{"role": "user", "content": QUESTION}]
cold = {"temperature": 0}


class Smoke(unittest.TestCase):
    def test_answer(self):
        answer = client.chat(MODEL, messages=ask, options=cold)
        self.assertEqual((answer.message.content, answer.done_reason), (PARIS, "stop"))


class Chat(unittest.TestCase):
    def test_stream(self):
        pieces = list(client.chat(MODEL, messages=ask, options=cold, stream=True))
        self.assertEqual("".join(p.message.content for p in pieces), PARIS)
        self.assertTrue(pieces[-1].done and pieces[-1].eval_count > 0 and pieces[-1].total_duration > 0)

    def test_format_and_thinking(self):
        schema = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"], "additionalProperties": False}
        for think in (True, False):
            answer = client.chat(MODEL, messages=ask, options=cold, format=schema, think=think)
            self.assertIn(json.loads(answer.message.content)["city"], ("Paris", "Rome"))
            self.assertEqual(bool(answer.message.thinking), think)

    def test_tools(self):
        def get_weather(city: str) -> str:
            """Tell the weather.

            Args:
                city: the city
            """
            return "sunny in " + city

        answer = client.chat(MODEL, messages=[{"role": "user", "content": "What is the weather in Paris?"}], tools=[get_weather], options=cold)
        messages = [*ask, answer.message]
        for call in answer.message.tool_calls or []:
            self.assertEqual(call.function.name, "get_weather")
            messages.append({"role": "tool", "tool_name": call.function.name, "content": get_weather(**call.function.arguments)})
        client.chat(MODEL, messages=messages, tools=[get_weather], options={"num_predict": 10})

    def test_picture(self):
        answer = client.chat(MODEL, messages=[{"role": "user", "content": "What is in this picture?", "images": [PICTURE]}], options=cold)
        self.assertIn("circle", answer.message.content)

    def test_generate(self):
        self.assertEqual(client.generate(MODEL, QUESTION, options=cold).response, PARIS)
        self.assertEqual("".join(p.response for p in client.generate(MODEL, QUESTION, options=cold, stream=True)), PARIS)

    def test_errors(self):
        for status, call in (
            (404, lambda: client.chat("llama3", messages=ask)),
            (400, lambda: client.generate(MODEL, "a", suffix="b")),
            (400, lambda: client.embed(MODEL, "a")),
            (400, lambda: client.pull("gemma4:e2b")),
        ):
            with self.assertRaises(ollama.ResponseError) as caught:
                call()
            self.assertEqual(caught.exception.status_code, status)


class Models(unittest.TestCase):
    def test_embed(self):
        got = client.embed("embedding", ["a text", "another"], dimensions=8)
        self.assertEqual([len(v) for v in got.embeddings], [8, 8])
        one = client.embeddings("embedding", "a text").embedding
        self.assertAlmostEqual(sum(x * x for x in one), 1, places=5)

    def test_models(self):
        self.assertIn(MODEL + ":latest", [m.model for m in client.list().models])
        shown = client.show(MODEL)
        self.assertEqual(shown.details.family, "gemma4")
        self.assertIn("tools", shown.capabilities)
        client.generate(MODEL, "", keep_alive="10m")
        self.assertIn(MODEL + ":latest", [m.model for m in client.ps().models])
        self.assertEqual(client.create("python-rhymes", from_=MODEL, system="Rhyme.", parameters=cold).status, "success")
        client.copy("python-rhymes", "python-copied")
        self.assertEqual(client.chat("python-copied", messages=ask, options={"num_predict": 1}).done_reason, "length")
        for name in ("python-rhymes", "python-copied"):
            self.assertEqual(client.delete(name).status, "success")
        self.assertEqual([p.status for p in client.pull(MODEL, stream=True)][-1], "success")


if __name__ == "__main__":
    unittest.main()
