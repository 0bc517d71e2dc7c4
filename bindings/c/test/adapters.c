/* LoRA adapters. */
#include "check.h"

#include <string.h>

/* What the model says now, to be freed. */
static char *answer(gemwire_session session) {
  gemwire_answer_options options = greedy();
  options.max_tokens = 12;
  gemwire_session_reset(session);
  CHECK_STATUS(gemwire_say(session, CAPITAL, NULL, 0, &options, NULL), GEMWIRE_OK, session);
  return gemwire_answer_text(session);
}

static void loaded_used_and_cleared(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_adapter_load(model, "nonsense", adapter_folder), GEMWIRE_OK, model);
  CHECK_TEXT(answer(session), PARIS); /* loaded is not used */
  const char *names[] = {"nonsense", "nonsense"};
  float weights[] = {1, 1};
  CHECK_STATUS(gemwire_adapter_use(model, names, weights, 1), GEMWIRE_OK, model);
  char *text = answer(session);
  CHECK_SAYING(text && strcmp(text, PARIS) != 0, "the adapter changes nothing");
  gemwire_free(text);
  weights[0] = 0.5f;
  CHECK_STATUS(gemwire_adapter_use(model, names, weights, 1), GEMWIRE_OK, model);
  text = gemwire_adapters(model);
  CHECK_SAYING(text && strstr(text, "\"name\":\"nonsense\",\"weight\":0.5"), "%s", text);
  gemwire_free(text);
  CHECK_STATUS(gemwire_adapter_unload(model, "nonsense"), GEMWIRE_BAD_ADAPTER, model); /* it is in use */
  CHECK_STATUS(gemwire_adapter_use(model, names, weights, 2), GEMWIRE_BAD_ARGUMENT, model);
  CHECK_STATUS(gemwire_adapter_clear(model), GEMWIRE_OK, model);
  CHECK_TEXT(answer(session), PARIS);
  CHECK_STATUS(gemwire_adapter_unload(model, "nonsense"), GEMWIRE_OK, model);
  CHECK_TEXT(gemwire_adapters(model), "[]");
  CHECK_STATUS(gemwire_adapter_use(model, names, weights, 1), GEMWIRE_BAD_ADAPTER, model);
  gemwire_close(model);
}

static void adapters_that_are_none(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  CHECK_STATUS(gemwire_adapter_load(model, "x", "no/such/folder"), GEMWIRE_NOT_FOUND, model);
  CHECK_STATUS(gemwire_adapter_load(model, "x", samples_folder), GEMWIRE_BAD_ADAPTER, model); /* a folder without one */
  CHECK_STATUS(gemwire_adapter_load(model, "", adapter_folder), GEMWIRE_BAD_ARGUMENT, model);
  gemwire_close(model);
}

const test adapter_tests[] = {
    {"loaded, used and cleared", loaded_used_and_cleared, true},
    {"adapters that are none", adapters_that_are_none, false},
    {0}, /* the end */
};
