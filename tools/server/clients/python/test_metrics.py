"""What Prometheus reads, by its own parser."""

import json
import unittest
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from here import MODEL, PARIS, QUESTION, URL


def families():
    with urllib.request.urlopen(URL + "/metrics") as reply:
        return {f.name: f for f in text_string_to_metric_families(reply.read().decode())}


def of(family, name, model=MODEL):
    return [s for s in family.samples if s.name == name and s.labels.get("model", model) == model]


class Smoke(unittest.TestCase):
    def setUp(self):
        body = {"model": MODEL, "temperature": 0, "messages": [{"role": "user", "content": QUESTION}]}
        with urllib.request.urlopen(URL + "/v1/chat/completions", json.dumps(body).encode()) as reply:
            self.answer = json.load(reply)
        self.assertEqual(self.answer["choices"][0]["message"]["content"], PARIS)
        self.families = families()

    def test_kinds(self):
        for name, kind in {
            "gemwire_answers": "counter",
            "gemwire_tokens_generated": "counter",
            "gemwire_tokens_prompt": "counter",
            "gemwire_http_requests": "counter",
            "gemwire_requests_waiting": "gauge",
            "gemwire_answers_running": "gauge",
            "gemwire_models_bytes": "gauge",
            "process_resident_memory_bytes": "gauge",
            "gemwire_batch_size": "histogram",
            "gemwire_time_to_first_token_seconds": "histogram",
            "gemwire_time_per_token_seconds": "histogram",
            "gemwire_answer_seconds": "histogram",
            "gemwire_http_request_seconds": "histogram",
        }.items():
            with self.subTest(name):
                self.assertEqual(self.families[name].type, kind)
                self.assertTrue(self.families[name].samples)

    def test_histograms(self):
        for name in ("gemwire_batch_size", "gemwire_time_to_first_token_seconds", "gemwire_answer_seconds"):
            buckets = of(self.families[name], name + "_bucket")
            (count,) = of(self.families[name], name + "_count")
            (total,) = of(self.families[name], name + "_sum")
            bounds = [float(b.labels["le"]) for b in buckets]
            values = [b.value for b in buckets]
            self.assertEqual((bounds, values), (sorted(bounds), sorted(values)), name)
            self.assertEqual((bounds[-1], values[-1]), (float("inf"), count.value), name)
            self.assertGreater(total.value, 0, name)

    def test_values(self):
        usage = self.answer["usage"]
        (tokens,) = of(self.families["gemwire_tokens_generated"], "gemwire_tokens_generated_total")
        self.assertGreaterEqual(tokens.value, usage["completion_tokens"])
        (prompt,) = of(self.families["gemwire_tokens_prompt"], "gemwire_tokens_prompt_total")
        self.assertGreaterEqual(prompt.value, usage["prompt_tokens"])
        (waiting,) = self.families["gemwire_requests_waiting"].samples
        self.assertEqual(waiting.value, 0)
