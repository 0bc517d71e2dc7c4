/* The benchmark itself. */
#ifndef BENCH_PEERS_MEASURE_H
#define BENCH_PEERS_MEASURE_H

#include "model.h"

/* Repetitions' values in the order they were measured, and what they come to. */
struct series {
    double *values;
    int32_t count;
    double median;
    double least;
    double most;
};

struct timings {
    bool measured; /* false: the device cannot choose tokens itself */
    struct series prefill_tokens_per_second;
    struct series decode_tokens_per_second;
    struct series decode_ms_per_token;
};

/*
 * Runs one unmeasured and options->repetitions measured repetitions: an empty cache, a prompt of prompt_tokens
 * in batches, then decode_tokens single tokens, each chosen before the next is fed.
 */
struct timings measure(const struct model *model, enum choice choice);

#endif
