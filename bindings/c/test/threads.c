/* Several threads, and callbacks that call back in. */
#include "check.h"

#include <pthread.h>
#include <string.h>

/* Says the same thing several times in a model and session of its own. */
static void *live(void *unused) {
  (void)unused;
  for (int round = 0; round < 3; round++) {
    gemwire_model model;
    gemwire_session session;
    open_both(&model, &session);
    gemwire_answer_options options = greedy();
    gemwire_status status = gemwire_say(session, CAPITAL, NULL, 0, &options, NULL);
    char *text = gemwire_answer_text(session);
    bool ok = status == GEMWIRE_OK && text && strcmp(text, PARIS) == 0;
    gemwire_free(text);
    if (gemwire_close(model) != GEMWIRE_OK || !ok) return "a thread has failed";
  }
  return NULL;
}

static void two_models_on_two_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, live, NULL);
  for (int i = 0; i < 2; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    CHECK_SAYING(failure == NULL, "%s", (char *)failure);
  }
}

static void *ask(void *session) {
  gemwire_answer_options options = greedy();
  return gemwire_say(*(gemwire_session *)session, CAPITAL, NULL, 0, &options, NULL) == GEMWIRE_OK ? NULL : "it failed";
}

static void two_sessions_of_one_model(void) {
  gemwire_model model;
  gemwire_session sessions[2];
  open_both(&model, &sessions[0]);
  CHECK_STATUS(gemwire_session_open(model, 256, &sessions[1]), GEMWIRE_OK, model);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, ask, &sessions[i]);
  for (int i = 0; i < 2; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    CHECK_SAYING(failure == NULL, "%s", gemwire_last_error(sessions[i]));
    CHECK_TEXT(gemwire_answer_text(sessions[i]), PARIS);
  }
  gemwire_close(model);
}

/* What is to be done to an answer from another thread, once it has begun. */
typedef struct meddler {
  gemwire_handle handle;
  gemwire_status (*what)(gemwire_handle);
  gemwire_status gave;
  bool begun;
} meddler;

static void *meddle(void *user) {
  meddler *m = user;
  m->gave = m->what(m->handle);
  return NULL;
}

/* The answer waits in its callback until the other thread's call has returned: it could be over before that thread runs. */
static int32_t begin_meddling(const gemwire_event *event, void *user) {
  meddler *m = user;
  if (event->kind == GEMWIRE_EVENT_TEXT && !m->begun) {
    pthread_t thread;
    m->begun = pthread_create(&thread, NULL, meddle, m) == 0;
    if (m->begun) pthread_join(thread, NULL);
  }
  return 0;
}

static gemwire_status reset(gemwire_handle session) { return gemwire_session_reset(session); }

static gemwire_status say_more(gemwire_handle session) { return gemwire_say(session, "Hi", NULL, 0, NULL, NULL); }

static void from_another_thread(gemwire_status (*what)(gemwire_handle), bool to_the_model, gemwire_status gives, gemwire_status answer) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  meddler m = {.handle = to_the_model ? model : session, .what = what};
  gemwire_answer_options options = greedy();
  options.on_event = begin_meddling, options.user = &m;
  gemwire_result result = {.size = sizeof result};
  gemwire_status status = gemwire_say(session, STORY, NULL, 0, &options, &result);
  CHECK(m.begun);
  CHECK_SAYING(status == answer, "the answer gives %d, want %d", status, answer);
  CHECK_SAYING(m.gave == gives, "the other thread got %d, want %d", m.gave, gives);
  CHECK_SAYING((result.reason == GEMWIRE_REASON_CANCELLED) == (answer == GEMWIRE_CANCELLED), "reason %d", result.reason);
  gemwire_close(model);
}

static void cancelled_from_another_thread(void) {
  from_another_thread(gemwire_cancel, false, GEMWIRE_OK, GEMWIRE_CANCELLED);
  from_another_thread(gemwire_cancel, true, GEMWIRE_OK, GEMWIRE_CANCELLED);
}

static void closed_from_another_thread(void) {
  from_another_thread(gemwire_close, false, GEMWIRE_OK, GEMWIRE_CLOSED);
  from_another_thread(gemwire_close, true, GEMWIRE_OK, GEMWIRE_CLOSED);
}

/* These wait for nothing: they are refused while the answer is under way, which goes on. */
static void busy_for_another_thread(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_status (*calls[])(gemwire_handle) = {reset, say_more};
  for (int i = 0; i < 2; i++) {
    meddler m = {.handle = session, .what = calls[i]};
    gemwire_answer_options options = greedy();
    options.on_event = begin_meddling, options.user = &m, options.max_tokens = 100;
    CHECK_STATUS(gemwire_say(session, STORY, NULL, 0, &options, NULL), GEMWIRE_OK, session);
    CHECK_SAYING(m.begun && m.gave == GEMWIRE_BUSY, "%d", m.gave);
  }
  gemwire_close(model);
}

/* Calls from a callback whatever could wait for the answer that calls it. */
typedef struct inner {
  gemwire_model model;
  gemwire_session session, other;
  bool done;
} inner;

static int32_t call_in(const gemwire_event *event, void *user) {
  inner *in = user;
  if (event->kind != GEMWIRE_EVENT_TEXT || in->done) return 0;
  in->done = true;
  gemwire_session opened;
  gemwire_answer_options options = greedy();
  CHECK_STATUS(gemwire_say(in->session, "Hi", NULL, 0, NULL, NULL), GEMWIRE_BUSY, in->session);
  CHECK_STATUS(gemwire_session_reset(in->session), GEMWIRE_BUSY, in->session);
  CHECK_STATUS(gemwire_session_system(in->session, "x"), GEMWIRE_BUSY, in->session);
  CHECK_STATUS(gemwire_adapter_clear(in->model), GEMWIRE_BUSY, in->model);
  char *text = gemwire_answer_text(in->session); /* that of the answer before */
  CHECK(text && !*text);
  gemwire_free(text);
  CHECK_STATUS(gemwire_say(in->other, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_OK, in->other);
  CHECK_TEXT(gemwire_answer_text(in->other), PARIS);
  CHECK_STATUS(gemwire_session_open(in->model, 64, &opened), GEMWIRE_OK, in->model);
  CHECK_STATUS(gemwire_close(opened), GEMWIRE_OK, in->model);
  gemwire_free(gemwire_model_info(in->model));
  gemwire_model model;
  open_both(&model, &opened);
  CHECK_STATUS(gemwire_close(model), GEMWIRE_OK, model);
  return 0;
}

static void callbacks_that_call_back_in(void) {
  inner in = {0};
  open_both(&in.model, &in.session);
  CHECK_STATUS(gemwire_session_open(in.model, 256, &in.other), GEMWIRE_OK, in.model);
  gemwire_answer_options options = greedy();
  options.on_event = call_in, options.user = &in;
  CHECK_STATUS(gemwire_say(in.session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_OK, in.session);
  CHECK(in.done);
  CHECK_TEXT(gemwire_answer_text(in.session), PARIS);
  gemwire_close(in.model);
}

static int32_t cancel_in(const gemwire_event *event, void *user) {
  if (event->kind == GEMWIRE_EVENT_TEXT) CHECK_STATUS(gemwire_cancel(*(gemwire_handle *)user), GEMWIRE_OK, *(gemwire_handle *)user);
  return 0;
}

static int32_t close_in(const gemwire_event *event, void *user) {
  gemwire_handle *handle = user;
  if (event->kind == GEMWIRE_EVENT_TEXT && *handle) {
    CHECK_STATUS(gemwire_close(*handle), GEMWIRE_OK, *handle);
    CHECK_STATUS(gemwire_close(*handle), GEMWIRE_BAD_HANDLE, *handle);
    *handle = 0;
  }
  return 0;
}

static void callbacks_that_end_their_answer(void) {
  for (int i = 0; i < 4; i++) {
    gemwire_model model;
    gemwire_session session;
    open_both(&model, &session);
    gemwire_handle handle = i % 2 ? model : session;
    gemwire_answer_options options = greedy();
    options.on_event = i < 2 ? cancel_in : close_in, options.user = &handle;
    gemwire_status want = i < 2 ? GEMWIRE_CANCELLED : GEMWIRE_CLOSED;
    CHECK_STATUS(gemwire_say(session, STORY, NULL, 0, &options, NULL), want, session);
    gemwire_close(model);
  }
}

static int32_t open_in(gemwire_phase phase, int64_t done, int64_t total, void *user) {
  (void)phase, (void)done, (void)total;
  gemwire_model *model = user;
  gemwire_open_options options = {.size = sizeof options, .device = GEMWIRE_DEVICE_CPU};
  if (!*model) CHECK_STATUS(gemwire_open(NULL, &options, model), GEMWIRE_OK, 0);
  return 0;
}

static void progress_that_opens_another(void) {
  gemwire_model model, other = 0;
  gemwire_open_options options = {.size = sizeof options, .device = device, .on_progress = open_in, .user = &other};
  CHECK_STATUS(gemwire_open(NULL, &options, &model), GEMWIRE_OK, 0);
  CHECK_STATUS(gemwire_close(other), GEMWIRE_OK, other);
  CHECK_STATUS(gemwire_close(model), GEMWIRE_OK, model);
}

/* Failures of opening belong to the thread that opened. */
static void *fail_to_open(void *unused) {
  (void)unused;
  gemwire_model model;
  const char *before = gemwire_last_error(0);
  if (*before || gemwire_last_status(0) != GEMWIRE_OK) return "a thread begins with another's error";
  if (gemwire_open("one.gguf", NULL, &model) != GEMWIRE_NOT_FOUND || !strstr(gemwire_last_error(0), "one.gguf")) return "its own error is missing";
  return NULL;
}

static void errors_of_threads(void) {
  gemwire_model model;
  CHECK_STATUS(gemwire_open("two.gguf", NULL, &model), GEMWIRE_NOT_FOUND, 0);
  pthread_t thread;
  void *failure;
  pthread_create(&thread, NULL, fail_to_open, NULL);
  pthread_join(thread, &failure);
  CHECK_SAYING(failure == NULL, "%s", (char *)failure);
  CHECK_SAYING(strstr(gemwire_last_error(0), "two.gguf") != NULL, "%s", gemwire_last_error(0));
}

/* Two threads open, ask, cancel and close through the same two handles, in any order. */
static gemwire_handle shared[2];

static void *storm(void *user) {
  unsigned seed = *(unsigned *)user;
  gemwire_answer_options options = greedy();
  options.max_tokens = 3;
  for (int i = 0; i < 60; i++) {
    seed = seed * 1103515245u + 12345u;
    switch (seed >> 16 & 7) {
      case 0:
        gemwire_close(shared[1]);
        break;
      case 1:
        gemwire_cancel(shared[0]);
        break;
      case 2:
        gemwire_session_reset(shared[1]);
        break;
      case 3:
        gemwire_free(gemwire_answer_text(shared[1]));
        break;
      default:
        gemwire_say(shared[1], CAPITAL, NULL, 0, &options, NULL);
        gemwire_last_error(shared[1]);
    }
  }
  return NULL;
}

static void a_storm(void) {
  for (int round = 0; round < 4; round++) {
    open_both(&shared[0], &shared[1]);
    pthread_t threads[4];
    unsigned seeds[4];
    for (unsigned i = 0; i < 4; i++) {
      seeds[i] = 4 * (unsigned)round + i;
      pthread_create(&threads[i], NULL, storm, &seeds[i]);
    }
    if (round % 2) gemwire_close(shared[0]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK(gemwire_close(shared[0]) == (round % 2 ? GEMWIRE_BAD_HANDLE : GEMWIRE_OK));
  }
}

const test thread_tests[] = {
    {"two models on two threads", two_models_on_two_threads, false},
    {"two sessions of one model", two_sessions_of_one_model, true},
    {"cancelled from another thread", cancelled_from_another_thread, true},
    {"closed from another thread", closed_from_another_thread, false},
    {"busy for another thread", busy_for_another_thread, false},
    {"callbacks that call back in", callbacks_that_call_back_in, true},
    {"callbacks that end their answer", callbacks_that_end_their_answer, false},
    {"progress that opens another", progress_that_opens_another, false},
    {"errors of threads", errors_of_threads, false},
    {"a storm", a_storm, false},
    {0}, /* the end */
};
