/* Answers: simple calls, conversations in JSON, raw text, tools, options, events. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a callback has heard. */
typedef struct heard {
  char text[2000];
  int prefills, dones, events, forgotten, messages;
  size_t tokens;
  int32_t last; /* token */
  char call_id[40], call_name[40], call_arguments[200];
} heard;

static int32_t hear(const gemwire_event *event, void *user) {
  heard *h = user;
  CHECK(event->size == sizeof *event && strlen(event->text) == event->text_length);
  CHECK((event->tokens != NULL) == (event->token_count > 0));
  CHECK_SAYING(h->dones == 0, "an event after the last");
  h->events++;
  h->tokens += event->token_count;
  if (event->token_count > 0) h->last = event->tokens[event->token_count - 1];
  switch (event->kind) {
    case GEMWIRE_EVENT_PREFILL:
      CHECK(event->done <= event->total && event->total > 0);
      h->prefills++;
      break;
    case GEMWIRE_EVENT_TEXT:
      strncat(h->text, event->text, sizeof h->text - strlen(h->text) - 1);
      break;
    case GEMWIRE_EVENT_TOOL_CALL:
      CHECK(event->repairs[0] == 0);
      snprintf(h->call_id, sizeof h->call_id, "%s", event->call_id);
      snprintf(h->call_name, sizeof h->call_name, "%s", event->call_name);
      snprintf(h->call_arguments, sizeof h->call_arguments, "%s", event->call_arguments);
      break;
    case GEMWIRE_EVENT_DONE:
      h->dones++;
      break;
    case GEMWIRE_EVENT_FORGOTTEN:
      CHECK(h->prefills == 0);
      h->forgotten = (int)event->done, h->messages = (int)event->total;
      break;
    default:
      CHECK_SAYING(false, "event %d", event->kind);
  }
  return 0;
}

/* Options for an answer without chance, whose events go into heard. */
static gemwire_answer_options hearing(heard *heard) {
  gemwire_answer_options options = greedy();
  options.on_event = hear, options.user = heard;
  return options;
}

static void one_answer(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  heard heard = {0};
  gemwire_answer_options options = hearing(&heard);
  gemwire_result result = {.size = sizeof result};
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(strcmp(heard.text, PARIS) == 0, "\"%s\"", heard.text);
  CHECK(heard.prefills > 0 && heard.dones == 1);
  CHECK(result.reason == GEMWIRE_REASON_STOP && result.answer_tokens == (int32_t)heard.tokens && result.prompt_tokens == result.computed_tokens);
  CHECK(result.prefill_seconds > 0 && result.decode_seconds > 0 && result.media == 0);
  CHECK_TEXT(gemwire_answer_text(session), PARIS);
  CHECK_TEXT(gemwire_answer_message(session), "{\"role\":\"assistant\",\"content\":\"" PARIS "\"}");
  gemwire_close(model);
}

/* A model that ends its turn at once has answered, with an empty text, and the conversation goes on. */
static void nothing_said(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  heard heard = {0};
  gemwire_answer_options options = hearing(&heard);
  gemwire_result result = {.size = sizeof result};
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_OK, session);
  gemwire_logit_bias turn_end = {.token = heard.last, .bias = 100};
  options.logit_bias = &turn_end, options.logit_bias_count = 1;
  memset(&heard, 0, sizeof heard);
  CHECK_STATUS(gemwire_say(session, "Hello", NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK(result.reason == GEMWIRE_REASON_STOP && heard.dones == 1 && heard.events == heard.prefills + heard.dones);
  CHECK_TEXT(gemwire_answer_text(session), "");
  CHECK_TEXT(gemwire_answer_message(session), "{\"role\":\"assistant\",\"content\":\"\"}");
  memset(&heard, 0, sizeof heard);
  options.logit_bias = NULL, options.logit_bias_count = 0;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), PARIS);
  gemwire_close(model);
}

static void without_options(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, NULL, NULL), GEMWIRE_OK, session);
  char *text = gemwire_answer_text(session);
  CHECK(text && *text);
  gemwire_free(text);
  gemwire_close(model);
}

static void a_conversation(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  gemwire_result result = {.size = sizeof result};
  CHECK_STATUS(gemwire_say(session, "My name is Ada.", NULL, 0, &options, NULL), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_say(session, "What is my name?", NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), "Your name is Ada.");
  CHECK_SAYING(result.computed_tokens < result.prompt_tokens / 2, "%d of %d tokens were computed", result.computed_tokens, result.prompt_tokens);
  CHECK_STATUS(gemwire_session_reset(session), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_session_system(session, "You are brief."), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK(result.computed_tokens > result.prompt_tokens / 2);
  gemwire_close(model);
}

/* A conversation that outgrows the context goes on where it may forget, and fails where it may not. */
static void forgetting(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_close(session), GEMWIRE_OK, model);
  CHECK_STATUS(gemwire_session_open(model, 128, &session), GEMWIRE_OK, model);
  gemwire_answer_options options = greedy();
  gemwire_result result = {.size = sizeof result};
  gemwire_status status = GEMWIRE_OK;
  for (int i = 0; i < 20 && status == GEMWIRE_OK; i++) status = gemwire_say(session, CAPITAL, NULL, 0, &options, &result);
  CHECK_SAYING(status == GEMWIRE_CONTEXT_FULL, "status %d", status);
  heard heard = {0};
  options.forget = 1, options.on_event = hear, options.user = &heard;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(strcmp(heard.text, PARIS) == 0, "\"%s\"", heard.text);
  CHECK(heard.forgotten > 0 && heard.forgotten < heard.messages && result.forgotten_messages == heard.forgotten);
  gemwire_close(model);
}

static void messages_in_json(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  CHECK_STATUS(gemwire_chat(session,
                            "[{\"role\":\"user\",\"content\":\"My name is Ada.\"},{\"role\":\"assistant\",\"content\":\"Nice to meet you, Ada!\"},"
                            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"What is my name?\"}]}]",
                            NULL, 0, &options, NULL),
               GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), "Your name is Ada.");
  const char *broken[] = {"", "{", "[", "{}", "[]", "[1]", "null", "[{}]", "[{\"role\":\"user\",\"content\":[{\"type\":\"smell\"}]}]"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    CHECK_STATUS(gemwire_chat(session, broken[i], NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
}

static void tools(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  heard heard = {0};
  gemwire_answer_options options = hearing(&heard);
  options.tools_json =
      "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"description\":\"Get the weather in a city\",\"parameters\":"
      "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}}}]";
  gemwire_result result = {.size = sizeof result};
  const char *question = "{\"role\":\"user\",\"content\":\"What is the weather in Vienna?\"}";
  char messages[4000];
  snprintf(messages, sizeof messages, "[%s]", question);
  CHECK_STATUS(gemwire_chat(session, messages, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(result.reason == GEMWIRE_REASON_TOOL_CALLS && strcmp(heard.call_name, "get_weather") == 0 && strcmp(heard.call_arguments, "{\"city\":\"Vienna\"}") == 0,
        "%s %s", heard.call_name, heard.call_arguments);
  char *call = gemwire_answer_message(session);
  CHECK_SAYING(call && strstr(call, "\"tool_calls\"") && strstr(call, heard.call_id), "%s", call);
  snprintf(messages, sizeof messages, "[%s,%s,{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":\"sunny\"}]", question, call, heard.call_id);
  gemwire_free(call);
  options.on_event = NULL;
  CHECK_STATUS(gemwire_chat(session, messages, NULL, 0, &options, &result), GEMWIRE_OK, session);
  char *text = gemwire_answer_text(session);
  CHECK_SAYING(result.reason == GEMWIRE_REASON_STOP && text && strstr(text, "Vienna"), "\"%s\"", text);
  gemwire_free(text);
  options.tools_json = "[{}]";
  CHECK_STATUS(gemwire_say(session, "x", NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
}

static void forms(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  gemwire_result result = {.size = sizeof result};
  const char *const wanted[][2] = {
      {"{\"schema\":{\"type\":\"object\",\"properties\":{\"capital\":{\"enum\":[\"Oslo\",\"Bonn\"]}},\"required\":[\"capital\"]," 
       "\"additionalProperties\":false}}", "{\"capital\": \""},
      {"{\"regex\":\"Paris, [a-z]{3}\"}", "Paris, "},
      {"{\"choices\":[\"It is Paris\"]}", "It is Paris"},
      {"{\"grammar\":\"root ::= \\\"It is \\\" [A-Z]\"}", "It is "},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    options.form_json = wanted[i][0];
    CHECK_STATUS(gemwire_say(session, "What is the capital of France?", NULL, 0, &options, &result), GEMWIRE_OK, session);
    char *text = gemwire_answer_text(session);
    CHECK_SAYING(result.reason == GEMWIRE_REASON_STOP && text && strncmp(text, wanted[i][1], strlen(wanted[i][1])) == 0, "\"%s\"", text);
    gemwire_free(text);
  }
  const char *const broken[] = {"{", "[]", "{}", "{\"regex\":\"(\"}", "{\"schema\":{\"type\":\"text\"}}"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    options.form_json = broken[i];
    CHECK_STATUS(gemwire_say(session, "x", NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  }
  heard heard = {0};
  options = hearing(&heard);
  options.tools_json = "[{\"type\":\"function\",\"function\":{\"name\":\"get_time\"}}]";
  options.tool_choice = "get_time", options.single_call = 1;
  CHECK_STATUS(gemwire_say(session, "What is the capital of France?", NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(strcmp(heard.call_name, "get_time") == 0 && strcmp(heard.call_arguments, "{}") == 0, "%s %s", heard.call_name, heard.call_arguments);
  options.tool_choice = "get_whether";
  CHECK_STATUS(gemwire_say(session, "x", NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
}

static void raw_text(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  CHECK_STATUS(gemwire_generate(session, "<|turn>user\n" CAPITAL "<turn|>\n<|turn>model\n", &options, NULL), GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), PARIS);
  gemwire_close(model);
}

/* What was chosen, and what was second, at first. */
typedef struct rivals { int32_t chosen, second; size_t count; } rivals;

static int32_t hear_rivals(const gemwire_event *event, void *user) {
  rivals *r = user;
  CHECK((event->choices != NULL) == (event->token_count > 0));
  for (size_t i = 0; i < event->token_count; i++) {
    const gemwire_choice *choice = &event->choices[i];
    CHECK(choice->chosen.token == event->tokens[i] && choice->top_count == 3 && choice->chosen.log_prob <= 0);
    CHECK(choice->top[0].log_prob >= choice->top[1].log_prob && choice->top[1].log_prob >= choice->top[2].log_prob);
    if (r->count++ == 0) r->chosen = choice->chosen.token, r->second = choice->top[1].token;
  }
  return 0;
}

static void log_probabilities(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  rivals plain = {0}, biased = {0};
  gemwire_answer_options options = greedy();
  options.on_event = hear_rivals, options.user = &plain, options.log_probs = 3;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), PARIS);
  gemwire_session_reset(session);
  gemwire_logit_bias forbidden = {.token = plain.chosen, .bias = -INFINITY};
  options.user = &biased, options.max_tokens = 1, options.logit_bias = &forbidden, options.logit_bias_count = 1;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_OK, session);
  CHECK_SAYING(biased.count == 1 && biased.chosen == plain.second, "%d in place of %d", biased.chosen, plain.chosen);
  options.logit_bias = NULL;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  options = greedy(), options.log_probs = -1;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
}

static void options(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options;
  CHECK_STATUS(gemwire_answer_options_init(&options, sizeof options), GEMWIRE_OK, 0);
  CHECK(options.size == sizeof options && options.temperature == 1 && options.top_k == 64 && options.top_p > 0.94f && options.on_event == NULL);
  gemwire_result result = {.size = sizeof result};
  char *first;
  options.seed = 4, options.temperature = 3, options.top_k = 0, options.max_tokens = 12;
  CHECK_STATUS(gemwire_say(session, STORY, NULL, 0, &options, &result), GEMWIRE_OK, session);
  first = gemwire_answer_text(session);
  gemwire_session_reset(session);
  CHECK_STATUS(gemwire_say(session, STORY, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), first); /* the same seed */
  gemwire_free(first);
  options = greedy();
  options.max_tokens = 3;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK(result.reason == GEMWIRE_REASON_LENGTH && result.answer_tokens == 3);
  gemwire_session_reset(session);
  const char *stop[] = {"nothing", " is"};
  options.max_tokens = 0, options.stop = stop, options.stop_count = 2;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK(result.reason == GEMWIRE_REASON_STOP_STRING);
  CHECK_TEXT(gemwire_answer_text(session), "The capital of France");
  stop[0] = NULL;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_BAD_ARGUMENT, session);
  options = greedy();
  options.top_p = 7;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_BAD_ARGUMENT, session);
  CHECK(result.reason == GEMWIRE_REASON_NONE);
  options = greedy();
  options.max_tokens = 1 << 20;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), PARIS);
  gemwire_close(model);
}

/* What a model says behind a text, as long as its assistant guesses, or not: to be freed. */
static char *assisted(int32_t drafts, gemwire_result *result) {
  char model_path[4096], assistant_path[4096];
  snprintf(model_path, sizeof model_path, "%s/../e2b.gguf", samples_folder);
  snprintf(assistant_path, sizeof assistant_path, "%s/../assistant/assistant.gguf", samples_folder);
  gemwire_open_options open = {.size = sizeof open, .device = device, .context = 256, .assistant = assistant_path};
  gemwire_model model;
  gemwire_session session;
  CHECK_STATUS(gemwire_open(model_path, &open, &model), GEMWIRE_OK, 0);
  CHECK_STATUS(gemwire_session_open(model, 0, &session), GEMWIRE_OK, model);
  char *info = gemwire_model_info(model);
  CHECK_SAYING(info && strstr(info, "\"assistant\":\""), "%s", info);
  gemwire_free(info);
  gemwire_answer_options options = greedy();
  options.max_tokens = 40, options.drafts = drafts;
  CHECK_STATUS(gemwire_generate(session, "Why is the sky blue?", &options, result), GEMWIRE_OK, session);
  char *text = gemwire_answer_text(session);
  gemwire_close(model);
  return text;
}

static void with_an_assistant(void) {
  gemwire_result guessed = {.size = sizeof guessed}, plain = {.size = sizeof plain};
  char *text = assisted(0, &guessed);
  CHECK_TEXT(assisted(-1, &plain), text);
  gemwire_free(text);
  /* It does not guess on a software rasterizer, where a pass over guesses costs more than right ones save. */
  CHECK_SAYING((guessed.assisted_tokens > 0 || device == GEMWIRE_DEVICE_GPU) && guessed.drafted_tokens >= guessed.assisted_tokens && guessed.right_tokens <= guessed.drafted_tokens,
        "%d guessed, %d right, %d the assistant's", guessed.drafted_tokens, guessed.right_tokens, guessed.assisted_tokens);
  CHECK(guessed.assisted_right_tokens <= guessed.assisted_tokens && guessed.answer_tokens == plain.answer_tokens);
  CHECK(plain.drafted_tokens == 0 && plain.assisted_tokens == 0);
  char path[4096]; /* one of another model */
  snprintf(path, sizeof path, "%s/../assistant/assistant.gguf", samples_folder);
  gemwire_open_options open = {.size = sizeof open, .device = device, .assistant = path};
  gemwire_model model;
  CHECK_STATUS(gemwire_open(NULL, &open, &model), GEMWIRE_UNSUPPORTED, 0);
  open.assistant = "nowhere.gguf";
  CHECK_STATUS(gemwire_open(NULL, &open, &model), GEMWIRE_NOT_FOUND, 0);
}

/* Ends an answer by what the callback returns. */
static int32_t enough(const gemwire_event *event, void *user) {
  int *texts = user;
  CHECK_SAYING(*texts > 0, "an event after the end");
  return event->kind == GEMWIRE_EVENT_TEXT && --*texts == 0;
}

static void ended_by_the_callback(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  int texts = 3;
  gemwire_answer_options options = greedy();
  options.on_event = enough, options.user = &texts;
  gemwire_result result = {.size = sizeof result};
  CHECK_STATUS(gemwire_say(session, STORY, NULL, 0, &options, &result), GEMWIRE_CANCELLED, session);
  CHECK(texts == 0 && result.reason == GEMWIRE_REASON_CANCELLED && result.answer_tokens >= 3);
  char *text = gemwire_answer_text(session);
  CHECK(text && *text);
  gemwire_free(text);
  options = greedy();
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(result.computed_tokens < result.prompt_tokens, "what came of the answer is not in the conversation");
  gemwire_close(model);
}

const test answer_tests[] = {
    {"one answer", one_answer, true},
    {"an answer of nothing", nothing_said, false},
    {"without options", without_options, false},
    {"a conversation", a_conversation, false},
    {"forgetting", forgetting, false},
    {"messages in JSON", messages_in_json, false},
    {"tools", tools, false},
    {"forms", forms, false},
    {"raw text", raw_text, false},
    {"options", options, false},
    {"log-probabilities and bias", log_probabilities, false},
    {"with an assistant", with_an_assistant, true},
    {"ended by the callback", ended_by_the_callback, false},
    {0}, /* the end */
};
