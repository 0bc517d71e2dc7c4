/* What the Go files of this package need of C, beside gemwire.h. */
#ifndef GEMWIRE_BRIDGE_H
#define GEMWIRE_BRIDGE_H

#include <stdlib.h>

#include "gemwire.h"

/* Go has no const: these names keep it in the exported functions' types. */
typedef const char gwl_char;
typedef const char *const gwl_string;
typedef const float gwl_float;
typedef const int32_t gwl_int32;
typedef const gemwire_medium gwl_medium;
typedef const gemwire_open_options gwl_open_options;
typedef const gemwire_answer_options gwl_answer_options;
typedef const gemwire_bench_options gwl_bench_options;

/* Keeps the calling thread's last failure. */
void gwl_keep_failure(gemwire_status status, const char *text, size_t length);
gemwire_status gwl_kept_status(void);
const char *gwl_kept_failure(void);

/* Copies a text to where the calling thread may read it until the next such call. */
const char *gwl_show(const char *text, size_t length);

/* Callbacks cannot be called from Go. */
void gwl_call_log(gemwire_log_fn f, gemwire_log_level level, const char *line, void *user);
int32_t gwl_call_progress(gemwire_progress_fn f, gemwire_phase phase, int64_t done, int64_t total, void *user);
int32_t gwl_call_event(gemwire_event_fn f, const gemwire_event *event, void *user);
int32_t gwl_call_thermal(gemwire_thermal_fn f, void *user);
int32_t gwl_call_bench(gemwire_bench_fn f, int32_t done, int32_t total, void *user);

#endif
