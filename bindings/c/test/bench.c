/* Measuring. */
#include "check.h"

#include <string.h>

static int32_t heat(void *user) { return ++*(int *)user; }

static int32_t count_runs(int32_t done, int32_t total, void *user) {
  (void)user;
  CHECK(done < total && total == 3);
  return 0;
}

static int32_t end_at_once(int32_t done, int32_t total, void *user) {
  (void)done, (void)total, (void)user;
  return 1;
}

static void a_bench(void) {
  int temperature = 0;
  gemwire_open_options open = {.size = sizeof open, .device = device, .context = 256};
  gemwire_bench_options options = {
      .size = sizeof options, .path = "builtin:nano", .prompt = CAPITAL, .prompt_tokens = 40, .decode_tokens = 4, .repeats = 2,
      .open = &open, .thermal = heat, .on_progress = count_runs, .user = &temperature,
  };
  char *report = gemwire_run_bench(&options);
  const char *keys[] = {"\"load\"", "\"prefill\"", "\"tokens\": 40", "\"decode\"", "\"tokens\": 4", "\"tokensPerSecond\"", "\"processPeak\"", "\"states\"", "\"slowdown\""};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) CHECK_SAYING(report && strstr(report, keys[i]), "%s is not in %s", keys[i], report);
  gemwire_free(report);
  CHECK_SAYING(temperature == 4, "the temperature was asked for %d times", temperature);
  options.on_progress = end_at_once;
  CHECK(gemwire_run_bench(&options) == NULL && gemwire_last_status(0) == GEMWIRE_CANCELLED);
  options.decode_tokens = -1;
  CHECK(gemwire_run_bench(&options) == NULL && gemwire_last_status(0) == GEMWIRE_BAD_ARGUMENT);
  options.decode_tokens = 4, options.path = "no/such/file.gguf";
  CHECK(gemwire_run_bench(&options) == NULL && gemwire_last_status(0) == GEMWIRE_NOT_FOUND);
}

const test bench_tests[] = {
    {"a bench", a_bench, false},
    {0}, /* the end */
};
