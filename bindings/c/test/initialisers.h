/* What a program writes to set up the structs: scripts/test-c.sh compiles it with all warnings, as C99 and as C++17. */
#include "gemwire.h"

static gemwire_status set_up(void) {
  gemwire_open_options open;
  gemwire_answer_options answer;
  gemwire_medium medium;
  gemwire_result result;
  gemwire_bench_options bench;
  GEMWIRE_INIT(open);
  GEMWIRE_INIT(answer);
  GEMWIRE_INIT(medium);
  GEMWIRE_INIT(result);
  GEMWIRE_INIT(bench);
  open.device = GEMWIRE_DEVICE_CPU;
  medium.kind = GEMWIRE_IMAGE;
  bench.open = &open;
  return gemwire_answer_options_init(&answer, sizeof answer);
}

int main(void) { return set_up() == GEMWIRE_OK ? 0 : 1; }
