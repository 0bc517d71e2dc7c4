"""Tests of the shared library through Python's ctypes: test_gemwire.py LIBRARY SAMPLES

They speak the interface with another compiler's idea of its structs, and call it
from threads and callbacks that Python makes.
"""

import ctypes as c
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

LIBRARY, SAMPLES = sys.argv[1:3]
OK, BAD_HANDLE, BAD_ARGUMENT, CANCELLED, BUSY, NOT_FOUND, BAD_MEDIA = 0, 2, 3, 4, 5, 7, 9
CPU = 2
PREFILL, TEXT, THINKING, TOOL_CALL, MALFORMED, DONE = range(1, 7)
CAPITAL, PARIS = b"What is the capital of France?", "The capital of France is Paris."


class Sized(c.Structure):
    """A struct of gemwire.h, which begins with its size."""

    def __init__(self, **values):
        super().__init__(size=c.sizeof(type(self)), **values)


class OpenOptions(Sized):
    _fields_ = [
        ("size", c.c_size_t), ("device", c.c_int), ("context", c.c_int32), ("gpu_memory", c.c_int64),
        ("gpu_name", c.c_char_p), ("projector", c.c_char_p), ("image_budget", c.c_int32), ("reserved", c.c_int32),
        ("on_progress", c.c_void_p), ("user", c.c_void_p), ("kv_cache", c.c_int), ("reserved2", c.c_int32),
        ("assistant", c.c_char_p),
    ]


class LogProb(c.Structure):
    _fields_ = [("token", c.c_int32), ("log_prob", c.c_float)]


class Choice(c.Structure):
    _fields_ = [("chosen", LogProb), ("top", c.POINTER(LogProb)), ("top_count", c.c_size_t)]


class LogitBias(c.Structure):
    _fields_ = [("token", c.c_int32), ("bias", c.c_float)]


class Event(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("kind", c.c_int), ("reserved", c.c_int32), ("text", c.c_char_p), ("text_length", c.c_size_t),
        ("call_id", c.c_char_p), ("call_name", c.c_char_p), ("call_arguments", c.c_char_p), ("error", c.c_char_p),
        ("done", c.c_int64), ("total", c.c_int64), ("tokens", c.POINTER(c.c_int32)), ("token_count", c.c_size_t),
        ("choices", c.POINTER(Choice)), ("repairs", c.c_char_p),
    ]


EventFn = c.CFUNCTYPE(c.c_int32, c.POINTER(Event), c.c_void_p)
LogFn = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)


class AnswerOptions(Sized):
    _fields_ = [
        ("size", c.c_size_t), ("temperature", c.c_float), ("top_p", c.c_float), ("min_p", c.c_float), ("top_k", c.c_int32),
        ("repetition_penalty", c.c_float), ("presence_penalty", c.c_float), ("frequency_penalty", c.c_float),
        ("repeat_last_n", c.c_int32), ("seed", c.c_uint64), ("max_tokens", c.c_int32), ("thinking", c.c_int32),
        ("stop", c.POINTER(c.c_char_p)), ("stop_count", c.c_size_t), ("tools_json", c.c_char_p), ("on_event", EventFn), ("user", c.c_void_p),
        ("drafts", c.c_int32), ("assistant_drafts", c.c_int32), ("logit_bias", c.POINTER(LogitBias)), ("logit_bias_count", c.c_size_t),
        ("log_probs", c.c_int32), ("reserved", c.c_int32),
        ("forget", c.c_int32), ("preserve_thinking", c.c_int32),
        ("form_json", c.c_char_p), ("tool_choice", c.c_char_p), ("single_call", c.c_int32), ("reserved2", c.c_int32),
        ("thinking_budget", c.c_int32), ("repetition_guard", c.c_int32), ("typical_p", c.c_float), ("top_n_sigma", c.c_float),
        ("dynatemp_range", c.c_float), ("dynatemp_exponent", c.c_float), ("xtc_probability", c.c_float), ("xtc_threshold", c.c_float),
        ("dry_multiplier", c.c_float), ("dry_base", c.c_float), ("dry_allowed_length", c.c_int32), ("dry_penalty_last_n", c.c_int32),
        ("dry_sequence_breakers", c.POINTER(c.c_char_p)), ("dry_sequence_breakers_count", c.c_size_t),
    ]


class Medium(Sized):
    _fields_ = [
        ("size", c.c_size_t), ("kind", c.c_int), ("image_budget", c.c_int32), ("data", c.c_char_p), ("length", c.c_size_t),
        ("split", c.c_int32), ("reserved", c.c_int32), ("path", c.c_char_p), ("frames", c.c_int32), ("sound", c.c_int32),
        ("fps", c.c_double), ("width", c.c_int32), ("height", c.c_int32), ("indices", c.POINTER(c.c_int32)),
    ]


class Result(Sized):
    _fields_ = [
        ("size", c.c_size_t), ("reason", c.c_int), ("prompt_tokens", c.c_int32), ("computed_tokens", c.c_int32),
        ("answer_tokens", c.c_int32), ("media", c.c_int32), ("reserved", c.c_int32),
        ("media_seconds", c.c_double), ("prefill_seconds", c.c_double), ("decode_seconds", c.c_double),
        ("drafted_tokens", c.c_int32), ("right_tokens", c.c_int32), ("assisted_tokens", c.c_int32), ("assisted_right_tokens", c.c_int32),
        ("forgotten_messages", c.c_int32), ("in_call", c.c_int32),
    ]


class BenchOptions(Sized):
    _fields_ = [
        ("size", c.c_size_t), ("path", c.c_char_p), ("prompt", c.c_char_p), ("prompt_tokens", c.c_int32), ("decode_tokens", c.c_int32),
        ("repeats", c.c_int32), ("reserved", c.c_int32), ("open", c.POINTER(OpenOptions)), ("thermal", c.c_void_p),
        ("on_progress", c.c_void_p), ("user", c.c_void_p),
    ]


def load(path):
    lib = c.CDLL(path)
    handle, text = c.c_uint64, c.c_char_p
    for name, result, arguments in [
        ("abi_version", c.c_uint32, []), ("version", text, []), ("last_error", text, [handle]), ("last_status", c.c_int, [handle]),
        ("free", None, [c.c_void_p]), ("set_log", None, [LogFn, c.c_void_p]),
        ("open", c.c_int, [text, c.POINTER(OpenOptions), c.POINTER(handle)]), ("close", c.c_int, [handle]), ("cancel", c.c_int, [handle]),
        ("model_info", c.c_void_p, [handle]), ("session_open", c.c_int, [handle, c.c_int32, c.POINTER(handle)]),
        ("say", c.c_int, [handle, text, c.POINTER(Medium), c.c_size_t, c.POINTER(AnswerOptions), c.POINTER(Result)]),
        ("chat", c.c_int, [handle, text, c.POINTER(Medium), c.c_size_t, c.POINTER(AnswerOptions), c.POINTER(Result)]),
        ("answer_text", c.c_void_p, [handle]), ("answer_options_init", c.c_int, [c.POINTER(AnswerOptions), c.c_size_t]),
        ("run_bench", c.c_void_p, [c.POINTER(BenchOptions)]),
    ]:
        function = getattr(lib, "gemwire_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = load(LIBRARY)


def owned(pointer):
    """The text of a string that the library hands over."""
    if not pointer:
        return None
    text = c.string_at(pointer).decode()
    lib.gemwire_free(pointer)
    return text


def read(name):
    with open(f"{SAMPLES}/{name}", "rb") as file:
        return file.read()


class Layouts(unittest.TestCase):
    """A C compiler holds the structs above against the header."""

    def test_layouts(self):
        lines = ['#include "gemwire.h"']
        for name, struct in {"open_options": OpenOptions, "log_prob": LogProb, "choice": Choice, "logit_bias": LogitBias,
                             "event": Event, "answer_options": AnswerOptions, "medium": Medium, "result": Result,
                             "bench_options": BenchOptions}.items():
            lines.append(f'_Static_assert(sizeof(gemwire_{name}) == {c.sizeof(struct)}, "size of {name}");')
            for field, *_ in struct._fields_:
                lines.append(f'_Static_assert(offsetof(gemwire_{name}, {field}) == {getattr(struct, field).offset}, '
                             f'"{name}.{field}");')
        include = pathlib.Path(__file__).parent.parent / "include"
        checked = subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-fsyntax-only", "-I", include, "-xc", "-"],
                                 input="\n".join(lines) + "\n", text=True, capture_output=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)


class Desk(unittest.TestCase):
    def setUp(self):
        self.model, self.session = self.open()

    def open(self):
        model, session = c.c_uint64(), c.c_uint64()
        options = OpenOptions(device=CPU, context=512)
        self.assertEqual(lib.gemwire_open(f"{SAMPLES}/nano.gguf".encode(), c.byref(options), c.byref(model)), OK, lib.gemwire_last_error(0))
        self.assertEqual(lib.gemwire_session_open(model, 0, c.byref(session)), OK, lib.gemwire_last_error(model))
        return model, session

    def tearDown(self):
        self.assertIn(lib.gemwire_close(self.model), (OK, BAD_HANDLE))

    def say(self, text, media=(), **options):
        array = (Medium * len(media))(*media)
        return lib.gemwire_say(self.session, text, array, len(media), c.byref(AnswerOptions(**options)), None)

    def text(self):
        return owned(lib.gemwire_answer_text(self.session))

    def test_an_answer(self):
        heard = []

        @EventFn
        def hear(event, _):
            heard.append((event.contents.kind, event.contents.text.decode()))
            return 0

        result, options = Result(), AnswerOptions(on_event=hear)
        self.assertEqual(lib.gemwire_say(self.session, CAPITAL, None, 0, c.byref(options), c.byref(result)), OK)
        self.assertEqual("".join(text for kind, text in heard if kind == TEXT), PARIS)
        self.assertEqual((heard[-1][0], result.reason, result.answer_tokens), (DONE, 1, 7))
        self.assertGreater(result.decode_seconds, 0)

    def test_a_conversation(self):
        self.assertEqual(self.say(b"My name is Ada."), OK)
        self.assertEqual(self.say(b"What is my name?"), OK)
        self.assertEqual(self.text(), "Your name is Ada.")

    def test_messages(self):
        messages = json.dumps([{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is in this picture?"}]}])
        picture = read("scene3.png")
        medium = Medium(kind=1, data=picture, length=len(picture))
        self.assertEqual(lib.gemwire_chat(self.session, messages.encode(), c.byref(medium), 1, c.byref(AnswerOptions()), None), OK)
        self.assertEqual(self.text(), "A black square and a yellow triangle on a green background.")

    def test_damaged_media(self):
        for data in (b"no picture", read("scene0.png")[:200], b"\0" * 1000):
            self.assertEqual(self.say(b"x", [Medium(kind=1, data=data, length=len(data))]), BAD_MEDIA)

    def test_recommended_options(self):
        options = AnswerOptions()
        self.assertEqual(lib.gemwire_answer_options_init(c.byref(options), c.sizeof(options)), OK)
        self.assertEqual((options.temperature, options.top_k, round(options.top_p, 3)), (1, 64, 0.95))

    def test_log_probabilities_and_bias(self):
        chosen, likeliest, second = [], [], []

        @EventFn
        def hear(event, _):
            e = event.contents
            for i in range(e.token_count):
                choice = e.choices[i]
                self.assertEqual((e.tokens[i], choice.top_count), (choice.chosen.token, 2))
                self.assertLessEqual(choice.top[1].log_prob, choice.top[0].log_prob)
                chosen.append((choice.chosen.token, choice.chosen.log_prob))
                likeliest.append((choice.top[0].token, choice.top[0].log_prob))
                second.append(choice.top[1].token)
            return 0

        self.assertEqual(self.say(CAPITAL, on_event=hear, log_probs=2), OK)
        self.assertEqual(self.text(), PARIS)
        self.assertEqual(chosen, likeliest)
        lib.gemwire_session_reset(self.session)
        first, rival = chosen[0][0], second[0]
        chosen.clear()
        forbidden = LogitBias(token=first, bias=float("-inf"))
        self.assertEqual(self.say(CAPITAL, on_event=hear, log_probs=2, max_tokens=1, logit_bias=c.pointer(forbidden), logit_bias_count=1), OK)
        self.assertEqual([token for token, _ in chosen], [rival])
        twice = (LogitBias * 2)(forbidden, forbidden)
        self.assertEqual(self.say(CAPITAL, logit_bias=twice, logit_bias_count=2), BAD_ARGUMENT)
        self.assertEqual(self.say(CAPITAL, log_probs=257), BAD_ARGUMENT)
        self.assertIn(b"log-probs is 257; wanted a whole number from 0 to 256", lib.gemwire_last_error(self.session))

    def test_a_callback_that_calls_back_in(self):
        statuses = []

        @EventFn
        def call_in(event, _):
            if event.contents.kind == TEXT and not statuses:
                statuses.append(lib.gemwire_say(self.session, b"Hi", None, 0, None, None))
                statuses.append(lib.gemwire_cancel(self.session))
            return 0

        self.assertEqual(self.say(b"Tell me a story about a dog.", on_event=call_in), CANCELLED)
        self.assertEqual(statuses, [BUSY, OK])

    def test_cancelled_by_another_thread(self):
        begun = threading.Event()

        @EventFn
        def hear(event, _):
            if event.contents.kind == TEXT:
                begun.set()
            return 0

        def cancel():
            begun.wait()
            lib.gemwire_cancel(self.model)

        thread = threading.Thread(target=cancel)
        thread.start()
        self.assertEqual(self.say(b"Tell me a story about a dog.", on_event=hear), CANCELLED)
        thread.join()

    def test_threads(self):
        answers = []

        def live():
            model, session = self.open()
            status = lib.gemwire_say(session, CAPITAL, None, 0, c.byref(AnswerOptions()), None)
            answers.append((status, owned(lib.gemwire_answer_text(session)), lib.gemwire_close(model)))

        threads = [threading.Thread(target=live) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [(OK, PARIS, OK)] * 3)

    def test_closed_handles(self):
        self.assertEqual(lib.gemwire_close(self.model), OK)
        self.assertEqual(lib.gemwire_close(self.model), BAD_HANDLE)
        self.assertEqual(self.say(b"Hi"), BAD_HANDLE)
        self.assertIsNone(self.text())
        self.assertEqual(lib.gemwire_last_status(self.model), BAD_HANDLE)
        self.assertIn(b"is no open session", lib.gemwire_last_error(self.session))

    def test_a_file_that_is_not_there(self):
        model = c.c_uint64(7)
        self.assertEqual(lib.gemwire_open(b"none.gguf", None, c.byref(model)), NOT_FOUND)
        self.assertEqual(model.value, 0)
        self.assertIn(b"none.gguf", lib.gemwire_last_error(0))

    def test_the_log(self):
        lines = []
        log = LogFn(lambda level, line, _: lines.append(line.decode()))
        lib.gemwire_set_log(log, None)
        model, _ = self.open()
        lib.gemwire_close(model)
        lib.gemwire_set_log(LogFn(), None)
        self.assertIn("Nano is open on CPU", lines[0])

    def test_a_bench(self):
        options = BenchOptions(prompt_tokens=40, decode_tokens=4, repeats=2, open=c.pointer(OpenOptions(device=CPU, context=256)))
        report = json.loads(owned(lib.gemwire_run_bench(c.byref(options))))
        self.assertEqual((report["prefill"]["tokens"], len(report["decode"]["seconds"])), (40, 2))
        self.assertGreater(report["memory"]["processPeak"], 1 << 20)
        self.assertGreater(report["load"]["seconds"], 0)

    def test_an_assistant(self):
        model, session, result = c.c_uint64(), c.c_uint64(), Result()
        options = OpenOptions(device=CPU, context=256, assistant=f"{SAMPLES}/../assistant/assistant.gguf".encode())
        self.assertEqual(lib.gemwire_open(f"{SAMPLES}/../e2b.gguf".encode(), c.byref(options), c.byref(model)), OK)
        self.assertEqual(lib.gemwire_session_open(model, 0, c.byref(session)), OK)
        answer = AnswerOptions(max_tokens=40, drafts=5)
        self.assertEqual(lib.gemwire_say(session, b"Hi", None, 0, c.byref(answer), c.byref(result)), OK)
        self.assertGreater(result.assisted_tokens, 0)
        self.assertLessEqual(result.right_tokens, result.drafted_tokens)
        lib.gemwire_session_reset(session)
        answer.assistant_drafts = -1
        self.assertEqual(lib.gemwire_say(session, b"Hi", None, 0, c.byref(answer), c.byref(result)), OK)
        self.assertEqual(result.assisted_tokens, 0)
        lib.gemwire_close(model)

    def test_info(self):
        info = json.loads(owned(lib.gemwire_model_info(self.model)))
        self.assertEqual((info["device"], info["context"], info["audio"]), ("cpu", 512, True))
        self.assertEqual(lib.gemwire_abi_version() >> 16, 1)


if __name__ == "__main__":
    run = unittest.main(argv=sys.argv[:1], exit=False, verbosity=0).result
    failed = len(run.failures) + len(run.errors)
    print(f"{run.testsRun - failed} passed, {failed} failed")
    sys.exit(failed > 0 or run.testsRun == 0)
