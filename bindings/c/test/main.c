/*
 * Tests of the C library: test_gemwire cpu|gpu SAMPLES ADAPTER [TEST]
 *
 * SAMPLES holds pictures, recordings and a small model whose answers stay when
 * the built-in one is trained anew, ADAPTER is a LoRA adapter of that model;
 * with TEST, only tests with that in their name run. On the GPU, the others are
 * left out that do the same there.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *samples_folder, *adapter_folder;
gemwire_device device;

static int failures; /* of the test that runs */

bool check_that(bool ok, const char *file, int line, const char *condition, const char *format, ...) {
  if (ok) return true;
  failures++;
  fprintf(stderr, "%s:%d: %s", file, line, condition);
  if (format) {
    va_list values;
    va_start(values, format);
    fputs(": ", stderr);
    vfprintf(stderr, format, values);
    va_end(values);
  }
  fputc('\n', stderr);
  return false;
}

bool check_status(gemwire_status got, gemwire_status want, gemwire_handle handle, const char *file, int line, const char *call) {
  bool ok = check_that(got == want, file, line, call, "%d, want %d: %s", got, want, gemwire_last_error(handle));
  if (got == GEMWIRE_OK) return ok;
  /* Each failure leaves its status, and a sentence of one line. */
  const char *sentence = gemwire_last_error(handle);
  return check_that(strlen(sentence) > 9 && !strchr(sentence, '\n') && gemwire_last_status(handle) == got, file, line, call,
                    "its sentence is \"%s\", with status %d", sentence, gemwire_last_status(handle)) && ok;
}

bool check_text(char *got, const char *want, const char *file, int line) {
  bool ok = check_that(got && strcmp(got, want) == 0, file, line, "text", "\"%s\", want \"%s\"", got ? got : "NULL", want);
  gemwire_free(got);
  return ok;
}

void open_both(gemwire_model *model, gemwire_session *session) {
  gemwire_open_options options = {.size = sizeof options, .device = device, .context = 512};
  char path[4096];
  snprintf(path, sizeof path, "%s/nano.gguf", samples_folder);
  if (gemwire_open(path, &options, model) != GEMWIRE_OK || gemwire_session_open(*model, 0, session) != GEMWIRE_OK) {
    fprintf(stderr, "the small model does not open: %s %s\n", gemwire_last_error(0), gemwire_last_error(*model));
    exit(1);
  }
}

gemwire_answer_options greedy(void) {
  gemwire_answer_options options = {.size = sizeof options};
  return options;
}

void *read_sample(const char *name, size_t *length) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", samples_folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) {
    perror(path);
    exit(1);
  }
  *length = (size_t)ftell(file);
  rewind(file);
  void *data = malloc(*length);
  if (!data || fread(data, 1, *length, file) != *length) {
    perror(path);
    exit(1);
  }
  fclose(file);
  return data;
}

#ifdef __SANITIZE_ADDRESS__
/*
 * Graphics drivers stay loaded, in place of libc's dlclose: LeakSanitizer would
 * else take for lost what their own variables hold.
 */
int dlclose(void *library) {
  (void)library;
  return 0;
}
#endif

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s cpu|gpu SAMPLES ADAPTER [TEST]\n", argv[0]);
    return 2;
  }
  device = strcmp(argv[1], "gpu") == 0 ? GEMWIRE_DEVICE_GPU : GEMWIRE_DEVICE_CPU;
  samples_folder = argv[2], adapter_folder = argv[3];
  const test *files[] = {handle_tests, answer_tests, media_tests, thread_tests, adapter_tests, bench_tests};
  int passed = 0, failed = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    for (const test *t = files[i]; t->name; t++) {
      if (argc > 4 ? !strstr(t->name, argv[4]) : device == GEMWIRE_DEVICE_GPU && !t->gpu) continue;
      failures = 0;
      t->run();
      if (failures) fprintf(stderr, "FAIL %s\n", t->name);
      failures ? failed++ : passed++;
    }
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
