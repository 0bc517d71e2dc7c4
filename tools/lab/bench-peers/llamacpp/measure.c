#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

enum { FIRST_PLAIN_TOKEN = 64 }; /* below lie the special tokens */

static token_id plain_token(const struct model *model, uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    int32_t plain = model->vocabulary - FIRST_PLAIN_TOKEN;
    return plain > 0 ? FIRST_PLAIN_TOKEN + (token_id)((*state >> 33) % (uint64_t)plain) : 0;
}

static token_id *make_prompt(const struct model *model, int32_t count) {
    token_id *tokens = calloc((size_t)count, sizeof *tokens);
    if (tokens == NULL) {
        fail("out of memory");
    }
    uint64_t state = 1;
    for (int32_t i = 0; i < count; i++) {
        tokens[i] = plain_token(model, &state);
    }
    token_id bos = model->lib->llama_vocab_bos(model->vocab);
    if (bos != NO_TOKEN) {
        tokens[0] = bos;
    }
    return tokens;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct series series_new(int32_t room) {
    struct series s = {.values = calloc((size_t)room, sizeof(double))};
    if (s.values == NULL) {
        fail("out of memory");
    }
    return s;
}

static void series_add(struct series *s, double value) { s->values[s->count++] = value; }

static void series_close(struct series *s) {
    double *sorted = calloc((size_t)s->count, sizeof *sorted);
    if (sorted == NULL) {
        fail("out of memory");
    }
    memcpy(sorted, s->values, (size_t)s->count * sizeof *sorted);
    qsort(sorted, (size_t)s->count, sizeof *sorted, ascending);
    int32_t middle = s->count / 2;
    s->median = s->count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    s->least = sorted[0];
    s->most = sorted[s->count - 1];
    free(sorted);
}

/* Decodes count tokens after the prompt; false if no token was chosen. */
static bool decode(const struct run *run, int32_t count) {
    uint64_t state = 2;
    for (int32_t i = 0; i < count; i++) {
        token_id token = run->choice == CHOICE_NONE ? plain_token(run->model, &state) : run_choose(run);
        if (token == NO_TOKEN) {
            return false;
        }
        run_feed(run, &token, 1);
    }
    return true;
}

static bool repeat(const struct run *run, token_id *prompt, struct timings *into) {
    const struct options *o = run->model->options;
    run_clear(run);
    double start = now_ms();
    run_feed(run, prompt, o->prompt_tokens);
    double prefilled = now_ms();
    if (!decode(run, o->decode_tokens)) {
        return false;
    }
    double done = now_ms();
    if (into != NULL) {
        series_add(&into->prefill_tokens_per_second, o->prompt_tokens / (prefilled - start) * 1e3);
        series_add(&into->decode_tokens_per_second, o->decode_tokens / (done - prefilled) * 1e3);
        series_add(&into->decode_ms_per_token, (done - prefilled) / o->decode_tokens);
    }
    return true;
}

struct timings measure(const struct model *model, enum choice choice) {
    const struct options *o = model->options;
    struct timings timings = {
        .prefill_tokens_per_second = series_new(o->repetitions),
        .decode_tokens_per_second = series_new(o->repetitions),
        .decode_ms_per_token = series_new(o->repetitions),
    };
    token_id *prompt = make_prompt(model, o->prompt_tokens);
    struct run run = run_open(model, choice, o->prompt_tokens + o->decode_tokens);
    timings.measured = repeat(&run, prompt, NULL);
    for (int32_t i = 0; timings.measured && i < o->repetitions; i++) {
        timings.measured = repeat(&run, prompt, &timings);
    }
    if (timings.measured) {
        series_close(&timings.prefill_tokens_per_second);
        series_close(&timings.decode_tokens_per_second);
        series_close(&timings.decode_ms_per_token);
    }
    run_close(&run);
    free(prompt);
    return timings;
}
