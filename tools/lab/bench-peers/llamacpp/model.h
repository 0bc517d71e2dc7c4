/* A loaded model and the contexts that run it. */
#ifndef BENCH_PEERS_MODEL_H
#define BENCH_PEERS_MODEL_H

#include "library.h"
#include "options.h"

struct model {
    const struct library *lib;
    const struct options *options;
    llama_model *handle;
    const llama_vocab *vocab;
    int32_t vocabulary;
    char description[128];
    const char *device_name;
    const char *device_description;
    double load_ms;
};

/* Where the next token is chosen. */
enum choice {
    CHOICE_DEVICE, /* arg max in the graph, only the id is read back */
    CHOICE_HOST,   /* all logits are read back, arg max on the CPU */
    CHOICE_NONE,   /* logits are read back and ignored, as llama-bench does */
    CHOICE_COUNT
};

/* A context of its own cache, with the sampler that its choice needs. */
struct run {
    const struct model *model;
    enum choice choice;
    llama_context *context;
    llama_sampler *sampler;
};

/* Loads options->model onto the device that options->device names. */
struct model model_load(const struct library *lib, const struct options *options);

void model_free(struct model *model);

/* Opens a context for as many tokens as a run of the options needs. */
struct run run_open(const struct model *model, enum choice choice, int32_t tokens);

void run_close(struct run *run);

/* Forgets every token. */
void run_clear(const struct run *run);

/* Feeds count tokens, batch by batch, and waits for the device. */
void run_feed(const struct run *run, token_id *tokens, int32_t count);

/* The greedy token after what was fed last; NO_TOKEN if the device did not choose one. */
token_id run_choose(const struct run *run);

double now_ms(void);

#endif
