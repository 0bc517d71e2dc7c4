"""OpenAI's own client."""

import base64
import json
import unittest

import openai
import pydantic

from here import MODEL, PARIS, PICTURE, QUESTION, SPEECH, URL

client = openai.OpenAI(base_url=URL + "/v1", api_key="none", max_retries=0)
ask = [{"role": "user", "content": QUESTION}]


class Smoke(unittest.TestCase):
    def test_answer(self):
        answer = client.chat.completions.create(model=MODEL, messages=ask, temperature=0)
        self.assertEqual(answer.choices[0].message.content, PARIS)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)


class Chat(unittest.TestCase):
    def test_stream(self):
        text, usage, finish = "", None, None
        for chunk in client.chat.completions.create(
            model=MODEL, messages=ask, temperature=0, stream=True, stream_options={"include_usage": True}
        ):
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
                finish = chunk.choices[0].finish_reason or finish
            usage = chunk.usage or usage
        self.assertEqual((text, finish), (PARIS, "stop"))
        self.assertGreater(usage.prompt_tokens, 5)

    def test_parsed(self):
        class City(pydantic.BaseModel):
            model_config = pydantic.ConfigDict(extra="forbid")
            capital: bool
            continent: str = pydantic.Field(pattern="^(Europe|Asia)$")

        answer = client.chat.completions.parse(model=MODEL, messages=ask, response_format=City, temperature=0)
        self.assertIn(answer.choices[0].message.parsed.continent, ("Europe", "Asia"))

    def test_tools(self):
        tool = {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"enum": ["Paris", "Rome"]}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        }
        answer = client.chat.completions.create(
            model=MODEL, messages=ask, tools=[tool], tool_choice="required", parallel_tool_calls=False
        )
        message = answer.choices[0].message
        call = message.tool_calls[0]
        self.assertIn(json.loads(call.function.arguments)["city"], ("Paris", "Rome"))
        more = [*ask, message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
        answer = client.chat.completions.create(model=MODEL, messages=more, tools=[tool], max_tokens=20)
        self.assertIn(answer.choices[0].finish_reason, ("stop", "length", "tool_calls"))
        name, arguments = "", ""
        with client.chat.completions.stream(
            model=MODEL, messages=ask, tools=[tool], tool_choice={"type": "function", "function": {"name": "get_weather"}}
        ) as stream:
            final = stream.get_final_completion()
        name = final.choices[0].message.tool_calls[0].function.name
        arguments = final.choices[0].message.tool_calls[0].function.arguments
        self.assertEqual(name, "get_weather")
        self.assertIn("city", json.loads(arguments))

    def test_log_probabilities_and_several(self):
        answer = client.chat.completions.create(
            model=MODEL, messages=ask, n=2, seed=4, temperature=1.2, max_tokens=8, logprobs=True, top_logprobs=3
        )
        self.assertEqual(len(answer.choices), 2)
        for choice in answer.choices:
            self.assertEqual("".join(t.token for t in choice.logprobs.content), choice.message.content)
            self.assertEqual(len(choice.logprobs.content[0].top_logprobs), 3)

    def test_thinking(self):
        answer = client.chat.completions.create(model=MODEL, messages=ask, reasoning_effort="high", temperature=0)
        self.assertTrue(answer.choices[0].message.reasoning_content)
        self.assertTrue(answer.choices[0].message.content)

    def test_picture_and_sound(self):
        url = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
        parts = [{"type": "image_url", "image_url": {"url": url, "detail": "low"}}, {"type": "text", "text": "What is in this picture?"}]
        answer = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}], temperature=0)
        self.assertIn("circle", answer.choices[0].message.content)
        said = client.audio.transcriptions.create(model=MODEL, file=("speech.wav", SPEECH), temperature=0)
        self.assertTrue(said.text)

    def test_errors(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            client.chat.completions.create(model="gpt-5", messages=ask)
        self.assertEqual(caught.exception.code, "model_not_found")
        with self.assertRaises(openai.BadRequestError):
            client.chat.completions.create(model=MODEL, messages=ask, temperature=-1)
        with self.assertRaises(openai.BadRequestError):
            client.embeddings.create(model=MODEL, input="a")


class Others(unittest.TestCase):
    def test_embeddings(self):
        got = client.embeddings.create(model="embedding", input=["a text", "another"])  # in base64, as it asks
        plain = client.embeddings.create(model="embedding", input="a text", encoding_format="float", dimensions=8)
        self.assertEqual([len(e.embedding) for e in got.data], [96, 96])
        self.assertAlmostEqual(sum(x * x for x in got.data[0].embedding), 1, places=5)
        self.assertEqual(len(plain.data[0].embedding), 8)
        self.assertGreater(got.usage.prompt_tokens, plain.usage.prompt_tokens)

    def test_models(self):
        self.assertIn(MODEL, [m.id for m in client.models.list()])
        self.assertEqual(client.models.retrieve(MODEL).owned_by, "gemwire")

    def test_completion(self):
        answer = client.completions.create(model=MODEL, prompt="The capital of France is", max_tokens=4, logprobs=2, temperature=0)
        self.assertEqual("".join(answer.choices[0].logprobs.tokens), answer.choices[0].text)

    def test_response(self):
        answer = client.responses.create(model=MODEL, input=QUESTION, temperature=0)
        self.assertEqual(answer.output_text, PARIS)
        with client.responses.stream(model=MODEL, input=QUESTION, temperature=0) as stream:
            deltas = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
            final = stream.get_final_response()
        self.assertEqual((deltas, final.output_text, final.status), (PARIS, PARIS, "completed"))
        tool = {
            "type": "function", "name": "add", "strict": True,
            "parameters": {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False},
        }
        answer = client.responses.create(model=MODEL, input=QUESTION, tools=[tool], tool_choice="required", parallel_tool_calls=False)
        call = answer.output[0]
        self.assertEqual((call.type, call.name), ("function_call", "add"))
        items = [{"role": "user", "content": QUESTION}, call, {"type": "function_call_output", "call_id": call.call_id, "output": "2"}]
        again = client.responses.create(model=MODEL, input=items, tools=[tool], max_output_tokens=20)
        self.assertIn(again.status, ("completed", "incomplete"))


if __name__ == "__main__":
    unittest.main()
