/* What the tests of the C library share. A test is a function that CHECKs. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gemwire.h"

/* These note a failure, one of them with what was found, and go on. */
#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition, NULL)
#define CHECK_SAYING(condition, ...) check_that((condition), __FILE__, __LINE__, #condition, __VA_ARGS__)
#define CHECK_STATUS(call, want, handle) check_status((call), (want), (handle), __FILE__, __LINE__, #call)
#define CHECK_TEXT(got, want) check_text((got), (want), __FILE__, __LINE__)

bool check_that(bool ok, const char *file, int line, const char *condition, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 5, 6)))
#endif
    ;
bool check_status(gemwire_status got, gemwire_status want, gemwire_handle handle, const char *file, int line, const char *call);
/* Frees got. */
bool check_text(char *got, const char *want, const char *file, int line);

typedef struct test {
  const char *name;
  void (*run)(void);
  bool gpu; /* runs on the GPU, too: what may behave differently there, as opening costs seconds on one of software */
} test;

/* Each file's tests, ended by one without a name. */
extern const test handle_tests[], answer_tests[], media_tests[], thread_tests[], adapter_tests[], bench_tests[];

/* What the command line says. */
extern const char *samples_folder, *adapter_folder;
extern gemwire_device device;

/* Opens the small model of the samples on the device, with a session of 512 tokens; stops the program where that fails. */
void open_both(gemwire_model *model, gemwire_session *session);

/* Options for an answer without chance. */
gemwire_answer_options greedy(void);

/* A file of the samples' folder, to be freed. */
void *read_sample(const char *name, size_t *length);

#define CAPITAL "What is the capital of France?"
#define PARIS "The capital of France is Paris."
#define STORY "Tell me a story about a dog."

#endif
