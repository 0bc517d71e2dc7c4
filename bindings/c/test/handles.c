/* Handles: opening, closing, whatever is stale, NULL or of another kind. */
#include "check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void versions(void) {
  CHECK_SAYING(gemwire_abi_version() == GEMWIRE_ABI_VERSION, "%x", (unsigned)gemwire_abi_version());
  CHECK(strlen(gemwire_version()) > 0);
  CHECK(gemwire_version() == gemwire_version());
}

static void closing_twice(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  CHECK(session != model);
  CHECK_STATUS(gemwire_close(session), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_close(session), GEMWIRE_BAD_HANDLE, session);
  CHECK_STATUS(gemwire_close(model), GEMWIRE_OK, model);
  CHECK_STATUS(gemwire_close(model), GEMWIRE_BAD_HANDLE, model);
}

static void model_closes_its_sessions(void) {
  gemwire_model model;
  gemwire_session session, second;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_session_open(model, 128, &second), GEMWIRE_OK, model);
  CHECK_STATUS(gemwire_close(model), GEMWIRE_OK, model);
  CHECK_STATUS(gemwire_say(session, "Hi", NULL, 0, NULL, NULL), GEMWIRE_BAD_HANDLE, session);
  CHECK_STATUS(gemwire_close(second), GEMWIRE_BAD_HANDLE, second);
}

/* Calls everything with handles that name nothing of the kind. */
static void try_all(gemwire_handle handle) {
  gemwire_session opened = 7;
  int32_t ids[4];
  size_t count = 7;
  const char *names[] = {"x"};
  float weights[] = {1};
  CHECK_STATUS(gemwire_session_open(handle, 0, &opened), GEMWIRE_BAD_HANDLE, 0);
  CHECK(opened == 0);
  CHECK(gemwire_model_info(handle) == NULL);
  CHECK_STATUS(gemwire_release_media(handle), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_tokenize(handle, "x", 0, ids, 4, &count), GEMWIRE_BAD_HANDLE, 0);
  CHECK(count == 0);
  CHECK(gemwire_detokenize(handle, ids, 0) == NULL);
  CHECK_STATUS(gemwire_session_reset(handle), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_session_system(handle, "x"), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_say(handle, "x", NULL, 0, NULL, NULL), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_chat(handle, "[{\"role\":\"user\",\"content\":\"x\"}]", NULL, 0, NULL, NULL), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_generate(handle, "x", NULL, NULL), GEMWIRE_BAD_HANDLE, 0);
  CHECK(gemwire_answer_text(handle) == NULL);
  CHECK(gemwire_answer_message(handle) == NULL);
  CHECK_STATUS(gemwire_adapter_load(handle, "x", "x"), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_adapter_unload(handle, "x"), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_adapter_use(handle, names, weights, 1), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_adapter_clear(handle), GEMWIRE_BAD_HANDLE, 0);
  CHECK(gemwire_adapters(handle) == NULL);
  CHECK_STATUS(gemwire_cancel(handle), GEMWIRE_BAD_HANDLE, 0);
  CHECK_STATUS(gemwire_close(handle), GEMWIRE_BAD_HANDLE, 0);
}

static void stale_handles(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_close(model);
  try_all(0);
  try_all(model);
  try_all(session);
  try_all(UINT64_MAX);
}

static void handles_of_another_kind(void) {
  gemwire_model model;
  gemwire_session session, opened;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_session_open(session, 0, &opened), GEMWIRE_BAD_HANDLE, session);
  CHECK_STATUS(gemwire_say(model, "x", NULL, 0, NULL, NULL), GEMWIRE_BAD_HANDLE, model);
  CHECK_STATUS(gemwire_adapter_clear(session), GEMWIRE_BAD_HANDLE, session);
  CHECK(gemwire_adapters(session) == NULL);
  gemwire_close(model);
}

/* What has no meaning yet is 0, or a later library would take it for something else. */
static void reserved_fields(void) {
  gemwire_model model = 1;
  gemwire_session session;
  gemwire_open_options open;
  GEMWIRE_INIT(open);
  open.device = GEMWIRE_DEVICE_CPU, open.reserved = 1;
  CHECK_STATUS(gemwire_open(NULL, &open, &model), GEMWIRE_BAD_ARGUMENT, 0);
  open.reserved = 0, open.reserved2 = 1;
  CHECK_STATUS(gemwire_open(NULL, &open, &model), GEMWIRE_BAD_ARGUMENT, 0);
  gemwire_bench_options bench;
  GEMWIRE_INIT(bench);
  bench.reserved = 1;
  CHECK(gemwire_run_bench(&bench) == NULL && gemwire_last_status(0) == GEMWIRE_BAD_ARGUMENT);
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  options.reserved = 1;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_medium medium;
  GEMWIRE_INIT(medium);
  medium.kind = GEMWIRE_IMAGE, medium.data = "x", medium.length = 1, medium.reserved = 1;
  CHECK_STATUS(gemwire_say(session, CAPITAL, &medium, 1, NULL, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
}

/* A folder is no file of a model. */
static void folders(void) {
  gemwire_model model;
  CHECK_STATUS(gemwire_open(samples_folder, NULL, &model), GEMWIRE_BAD_FILE, 0);
  gemwire_open_options options = {.size = sizeof options, .device = GEMWIRE_DEVICE_CPU, .assistant = samples_folder};
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_BAD_FILE, 0);
}

/* A restored session goes on with its conversation, and computes only what is new. */
static void saved_sessions(void) {
  gemwire_model model;
  gemwire_session session, other;
  open_both(&model, &session);
  char folder[] = "/tmp/gemwire-test-XXXXXX", path[64];
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  snprintf(path, sizeof path, "%s/session", folder);
  gemwire_answer_options options = greedy();
  CHECK_STATUS(gemwire_say(session, "My name is Ada.", NULL, 0, &options, NULL), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_session_save(session, path), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_session_open(model, 0, &other), GEMWIRE_OK, model);
  CHECK_STATUS(gemwire_session_restore(other, path), GEMWIRE_OK, other);
  gemwire_result result, again;
  GEMWIRE_INIT(result);
  GEMWIRE_INIT(again);
  CHECK_STATUS(gemwire_say(other, "What is my name?", NULL, 0, &options, &result), GEMWIRE_OK, other);
  CHECK_STATUS(gemwire_say(session, "What is my name?", NULL, 0, &options, &again), GEMWIRE_OK, session);
  CHECK_SAYING(result.computed_tokens == again.computed_tokens && result.computed_tokens < result.prompt_tokens,
               "%d and %d of %d", result.computed_tokens, again.computed_tokens, result.prompt_tokens);
  CHECK_TEXT(gemwire_answer_text(other), "Your name is Ada.");
  CHECK_STATUS(gemwire_session_save(session, NULL), GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_session_save(session, "/nowhere/at/all"), GEMWIRE_NOT_FOUND, session);
  CHECK_STATUS(gemwire_session_restore(other, "/nowhere/at/all"), GEMWIRE_NOT_FOUND, other);
  FILE *file = fopen(path, "r+b");
  if (!CHECK(file != NULL)) return;
  fseek(file, 40, SEEK_SET);
  fputc('!', file);
  fclose(file);
  CHECK_STATUS(gemwire_session_restore(other, path), GEMWIRE_BAD_FILE, other);
  remove(path);
  rmdir(folder);
  gemwire_close(model);
}

static void null_everything(void) {
  gemwire_model model;
  gemwire_session session;
  size_t count;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_open(NULL, NULL, NULL), GEMWIRE_BAD_ARGUMENT, 0);
  CHECK_STATUS(gemwire_session_open(model, 0, NULL), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_tokenize(model, NULL, 0, NULL, 0, &count), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_tokenize(model, "x", 0, NULL, 0, NULL), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_tokenize(model, "x", 0, NULL, 4, &count), GEMWIRE_BAD_ARGUMENT, model);
  CHECK(gemwire_detokenize(model, NULL, 3) == NULL);
  CHECK_TEXT(gemwire_detokenize(model, NULL, 0), "");
  CHECK_STATUS(gemwire_session_system(session, NULL), GEMWIRE_OK, session);
  CHECK_STATUS(gemwire_say(session, NULL, NULL, 0, NULL, NULL), GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_say(session, "x", NULL, 2, NULL, NULL), GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_chat(session, NULL, NULL, 0, NULL, NULL), GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_generate(session, NULL, NULL, NULL), GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_adapter_load(model, NULL, NULL), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_adapter_unload(model, NULL), GEMWIRE_BAD_ADAPTER, model);
  CHECK_STATUS(gemwire_adapter_use(model, NULL, NULL, 1), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_adapter_use(model, NULL, NULL, 0), GEMWIRE_OK, model);
  const char *names[] = {NULL};
  float weights[] = {1};
  CHECK_STATUS(gemwire_adapter_use(model, names, weights, 1), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_answer_options_init(NULL, 0), GEMWIRE_BAD_ARGUMENT, 0);
  CHECK_TEXT(gemwire_answer_text(session), "");
  CHECK(gemwire_answer_message(session) == NULL);
  gemwire_free(NULL);
  gemwire_set_log(NULL, NULL);
  gemwire_close(model);
}

/* Structs of sizes that this library does not know. */
static void struct_sizes(void) {
  gemwire_model model;
  gemwire_open_options options = {.device = GEMWIRE_DEVICE_CPU};
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_BAD_ARGUMENT, 0); /* size forgotten */
  options.size = SIZE_MAX;
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_BAD_ARGUMENT, 0);
  /* A program of before, which knew the device alone. */
  options.size = offsetof(gemwire_open_options, context);
  options.context = INT32_MAX; /* is not looked at */
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_OK, 0);
  gemwire_close(model);
  /* A program to come, with more behind: fine as long as that is 0. */
  struct {
    gemwire_open_options known;
    int64_t more[2];
  } longer = {.known = {.size = sizeof longer, .device = GEMWIRE_DEVICE_CPU}};
  CHECK_STATUS(gemwire_open(NULL, &longer.known, &model), GEMWIRE_OK, 0);
  gemwire_session session;
  CHECK_STATUS(gemwire_session_open(model, 256, &session), GEMWIRE_OK, model);
  longer.more[1] = 1;
  gemwire_model other;
  CHECK_STATUS(gemwire_open(NULL, &longer.known, &other), GEMWIRE_BAD_ARGUMENT, 0);
  /* A result of before: what lies behind is not written to. */
  struct {
    gemwire_result known;
    uint64_t guard;
  } result = {.known = {.size = offsetof(gemwire_result, answer_tokens), .answer_tokens = 77}, .guard = 77};
  gemwire_answer_options answer = greedy();
  answer.max_tokens = 1;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &answer, &result.known), GEMWIRE_OK, session);
  CHECK(result.known.reason == GEMWIRE_REASON_LENGTH && result.known.prompt_tokens > 0 && result.known.answer_tokens == 77 && result.guard == 77);
  result.known.size = sizeof result;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &answer, &result.known), GEMWIRE_OK, session);
  CHECK(result.known.answer_tokens == 1 && result.guard == 77 && result.known.size == sizeof result);
  result.known.size = 0;
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &answer, &result.known), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
}

static void files_that_do_not_open(void) {
  gemwire_model model = 7;
  gemwire_open_options options = {.size = sizeof options, .device = GEMWIRE_DEVICE_CPU};
  CHECK_STATUS(gemwire_open("no/such/file.gguf", NULL, &model), GEMWIRE_NOT_FOUND, 0);
  CHECK(model == 0);
  CHECK_SAYING(strstr(gemwire_last_error(0), "no/such/file.gguf") != NULL, "%s", gemwire_last_error(0));
  char path[4096] = "";
  strncat(path, samples_folder, sizeof path - 20);
  strcat(path, "/scene0.png");
  CHECK_STATUS(gemwire_open(path, NULL, &model), GEMWIRE_BAD_FILE, 0);
  CHECK_STATUS(gemwire_open("http://127.0.0.1:1/model.gguf", NULL, &model), GEMWIRE_NETWORK, 0);
  options.context = INT32_MAX;
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_UNSUPPORTED, 0);
  options.context = 0, options.device = (gemwire_device)9;
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_BAD_ARGUMENT, 0);
  options.device = GEMWIRE_DEVICE_GPU, options.gpu_name = "no GPU is called so";
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_NO_GPU, 0);
  options.device = GEMWIRE_DEVICE_CPU, options.gpu_name = NULL, options.image_budget = 1;
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_BAD_ARGUMENT, 0);
  options.image_budget = 0, options.kv_cache = (gemwire_kv_cache)9;
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_BAD_ARGUMENT, 0);
  options.kv_cache = GEMWIRE_KV_CACHE_Q8;
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_OK, 0);
  char *info = gemwire_model_info(model);
  CHECK(info && strstr(info, "\"kvCache\":\"q8\""));
  gemwire_free(info);
  CHECK_STATUS(gemwire_close(model), GEMWIRE_OK, 0);
}

static int32_t count_progress(gemwire_phase phase, int64_t done, int64_t total, void *user) {
  int *calls = user;
  CHECK(phase >= GEMWIRE_PHASE_HEADER && phase <= GEMWIRE_PHASE_CHECK && done >= 0 && (total == 0 || done <= total));
  return --*calls == 0;
}

static void progress(void) {
  gemwire_model model;
  int calls = 1000000;
  gemwire_open_options options = {.size = sizeof options, .device = device, .on_progress = count_progress, .user = &calls};
  CHECK_STATUS(gemwire_open("builtin:nano", &options, &model), GEMWIRE_OK, 0);
  CHECK_SAYING(calls < 1000000 - 2, "%d calls", 1000000 - calls);
  gemwire_close(model);
  for (int end = 1; end <= 3; end++) {
    calls = end;
    CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_CANCELLED, 0);
    CHECK_SAYING(model == 0 && calls == 0, "%d calls are left", calls);
  }
}

static void info(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  char *text = gemwire_model_info(model);
  CHECK_SAYING(text && strstr(text, device == GEMWIRE_DEVICE_GPU ? "\"device\":\"gpu\"" : "\"device\":\"cpu\"") && strstr(text, "\"images\":true"), "%s", text);
  gemwire_free(text);
  const char *sentence = "Gr\xc3\xbc\xc3\x9f"
                         "e, Wien!";
  size_t count, few;
  int32_t ids[64];
  CHECK_STATUS(gemwire_tokenize(model, sentence, 0, NULL, 0, &count), GEMWIRE_OK, model);
  CHECK(count > 2 && count < 64);
  ids[2] = -7;
  CHECK_STATUS(gemwire_tokenize(model, sentence, 0, ids, 2, &few), GEMWIRE_OK, model);
  CHECK(few == count && ids[2] == -7);
  CHECK_STATUS(gemwire_tokenize(model, sentence, 0, ids, 64, &count), GEMWIRE_OK, model);
  CHECK_TEXT(gemwire_detokenize(model, ids, count), sentence);
  ids[0] = -1;
  CHECK(gemwire_detokenize(model, ids, 1) == NULL && gemwire_last_status(model) == GEMWIRE_BAD_ARGUMENT);
  gemwire_close(model);
}

static void take_line(gemwire_log_level level, const char *line, void *user) {
  char *all = user;
  CHECK(level == GEMWIRE_LOG_INFO || level == GEMWIRE_LOG_WARNING);
  strncat(all, line, 999 - strlen(all));
  gemwire_set_log(take_line, user); /* may be called from here */
}

static void logging(void) {
  gemwire_model model;
  gemwire_session session;
  char lines[1000] = "";
  gemwire_set_log(take_line, lines);
  open_both(&model, &session);
  gemwire_close(model);
  CHECK_SAYING(strstr(lines, "Nano is open") && strstr(lines, "closed"), "%s", lines);
  gemwire_set_log(NULL, NULL);
  lines[0] = 0;
  open_both(&model, &session);
  gemwire_close(model);
  CHECK_SAYING(!lines[0], "%s", lines);
}

const test handle_tests[] = {
    {"versions", versions, false},
    {"closing twice", closing_twice, false},
    {"a model closes its sessions", model_closes_its_sessions, false},
    {"stale handles", stale_handles, false},
    {"handles of another kind", handles_of_another_kind, false},
    {"reserved fields", reserved_fields, false},
    {"folders", folders, false},
    {"saved sessions", saved_sessions, false},
    {"NULL everything", null_everything, false},
    {"struct sizes", struct_sizes, false},
    {"files that do not open", files_that_do_not_open, false},
    {"progress", progress, false},
    {"info", info, true},
    {"logging", logging, false},
    {0}, /* the end */
};
