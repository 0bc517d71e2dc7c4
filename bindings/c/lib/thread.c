#include <string.h>

#include "bridge.h"

/* Longer sentences are cut. */
enum { longest = 2048 };

/*
 * What a thread has. It is not _Thread_local: of that, a library that holds Go's
 * runtime may have next to nothing where it is loaded by dlopen.
 */
typedef struct thread {
  gemwire_status status; /* of its last failure */
  char kept[longest];    /* the sentence to that */
  char shown[longest];   /* what it may read */
} thread;

#ifdef _WIN32

#include <windows.h>

static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static DWORD slot = FLS_OUT_OF_INDEXES;

static void WINAPI end_thread(void *state) { free(state); }

static BOOL CALLBACK make_slot(INIT_ONCE *unused, void *parameter, void **context) {
  (void)unused, (void)parameter, (void)context;
  slot = FlsAlloc(end_thread);
  return slot != FLS_OUT_OF_INDEXES;
}

static int ready(void) { return InitOnceExecuteOnce(&once, make_slot, NULL, NULL); }
static void *get_state(void) { return FlsGetValue(slot); }
static int set_state(void *state) { return FlsSetValue(slot, state); }

#else

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t slot;
static int made;

static void make_slot(void) { made = pthread_key_create(&slot, free) == 0; }

static int ready(void) { return pthread_once(&once, make_slot) == 0 && made; }
static void *get_state(void) { return pthread_getspecific(slot); }
static int set_state(void *state) { return pthread_setspecific(slot, state) == 0; }

#endif

/* The calling thread's own, which ends with it; NULL where there is no memory. */
static thread *own(void) {
  if (!ready()) return NULL;
  thread *t = get_state();
  if (t) return t;
  t = calloc(1, sizeof *t);
  if (t && !set_state(t)) {
    free(t);
    t = NULL;
  }
  return t;
}

/* Copies as much as there is room for, and no part of a character. */
static void copy(char *to, const char *text, size_t length) {
  if (length > longest - 1) {
    length = longest - 1;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
  }
  memmove(to, text, length);
  to[length] = 0;
}

void gwl_keep_failure(gemwire_status status, const char *text, size_t length) {
  thread *t = own();
  if (!t) return;
  t->status = status;
  copy(t->kept, text, length);
}

gemwire_status gwl_kept_status(void) {
  thread *t = own();
  return t ? t->status : GEMWIRE_INTERNAL;
}

const char *gwl_kept_failure(void) {
  thread *t = own();
  return gwl_show(t ? t->kept : "", t ? strlen(t->kept) : 0);
}

const char *gwl_show(const char *text, size_t length) {
  thread *t = own();
  if (!t) return "there is no memory left to say what failed";
  copy(t->shown, text, length);
  return t->shown;
}

void gwl_call_log(gemwire_log_fn f, gemwire_log_level level, const char *line, void *user) { f(level, line, user); }

int32_t gwl_call_progress(gemwire_progress_fn f, gemwire_phase phase, int64_t done, int64_t total, void *user) {
  return f(phase, done, total, user);
}

int32_t gwl_call_event(gemwire_event_fn f, const gemwire_event *event, void *user) { return f(event, user); }

int32_t gwl_call_thermal(gemwire_thermal_fn f, void *user) { return f(user); }

int32_t gwl_call_bench(gemwire_bench_fn f, int32_t done, int32_t total, void *user) { return f(done, total, user); }
