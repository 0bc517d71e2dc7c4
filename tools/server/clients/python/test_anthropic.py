"""Anthropic's own client."""

import base64
import unittest

import anthropic

from here import MODEL, PARIS, PICTURE, QUESTION, URL

client = anthropic.Anthropic(base_url=URL, api_key="none", max_retries=0)
ask = [{"role": "user", "content": QUESTION}]
cold = {"temperature": 0}  # which the API has and this client no longer names
tool = {
    "name": "add",
    "description": "adds",
    "input_schema": {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False},
}


class Smoke(unittest.TestCase):
    def test_answer(self):
        answer = client.messages.create(model=MODEL, max_tokens=50, messages=ask, extra_body=cold)
        self.assertEqual((answer.content[0].text, answer.stop_reason), (PARIS, "end_turn"))


class Messages(unittest.TestCase):
    def test_stream(self):
        with client.messages.stream(model=MODEL, max_tokens=50, messages=ask, extra_body=cold) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.assertEqual((text, final.content[0].text, final.stop_reason), (PARIS, PARIS, "end_turn"))
        self.assertGreater(final.usage.output_tokens, 3)

    def test_thinking(self):
        with client.messages.stream(
            model=MODEL, max_tokens=2000, messages=ask, thinking={"type": "enabled", "budget_tokens": 1024}
        ) as stream:
            final = stream.get_final_message()
        self.assertEqual([b.type for b in final.content], ["thinking", "text"])
        again = [*ask, {"role": "assistant", "content": final.content}, {"role": "user", "content": "And of Sweden?"}]
        self.assertTrue(client.messages.create(model=MODEL, max_tokens=20, messages=again).content)

    def test_tools(self):
        with client.messages.stream(model=MODEL, max_tokens=100, messages=ask, tools=[tool], tool_choice={"type": "any"}) as stream:
            final = stream.get_final_message()
        call = final.content[0]
        self.assertEqual((call.type, call.name, final.stop_reason), ("tool_use", "add", "tool_use"))
        self.assertIn(call.input["a"], (1, 2))
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "2"}
        again = [*ask, {"role": "assistant", "content": final.content}, {"role": "user", "content": [result]}]
        client.messages.create(model=MODEL, max_tokens=20, messages=again, tools=[tool])

    def test_picture_stop_and_count(self):
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PICTURE).decode()}
        parts = [{"type": "image", "source": source}, {"type": "text", "text": "What is in this picture?"}]
        answer = client.messages.create(model=MODEL, max_tokens=50, messages=[{"role": "user", "content": parts}], extra_body=cold)
        self.assertIn("circle", answer.content[0].text)
        answer = client.messages.create(model=MODEL, max_tokens=50, messages=ask, extra_body=cold, stop_sequences=[" of"])
        self.assertEqual((answer.stop_reason, answer.stop_sequence), ("stop_sequence", " of"))
        self.assertGreater(client.messages.count_tokens(model=MODEL, messages=ask, system="Be brief.").input_tokens, 10)

    def test_errors(self):
        with self.assertRaises(anthropic.NotFoundError):
            client.messages.create(model="claude", max_tokens=5, messages=ask)
        with self.assertRaises(anthropic.BadRequestError):
            client.messages.create(model=MODEL, max_tokens=0, messages=ask)


if __name__ == "__main__":
    unittest.main()
