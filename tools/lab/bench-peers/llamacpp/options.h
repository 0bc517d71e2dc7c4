/* The command line. */
#ifndef BENCH_PEERS_OPTIONS_H
#define BENCH_PEERS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *libraries; /* folder of llama.cpp's shared libraries */
    const char *model;     /* GGUF */
    const char *device;    /* "gpu", "cpu", or part of a device's name or description */
    const char *ids;       /* prompt for --answer: comma-separated token ids */
    const char *text;      /* prompt for --answer: text in which special tokens are recognised */
    bool answer;           /* print one greedy answer instead of measuring */
    bool verbose;
    int32_t prompt_tokens;
    int32_t decode_tokens;
    int32_t repetitions;
    int32_t context; /* 0: just enough */
    int32_t gpu_layers;
    int32_t batch;
    int32_t microbatch;
    int32_t threads;
    int32_t flash_attention;
};

/* Reads the command line; ends the program with usage on a mistake. */
struct options options_parse(int argc, char **argv);

#endif
