/* Opening llama.cpp's prebuilt libraries from one folder. */
#ifndef BENCH_PEERS_LIBRARY_H
#define BENCH_PEERS_LIBRARY_H

#include "abi.h"

/* Functions of the opened libraries, one field per entry of LLAMA_FUNCTIONS. */
struct library {
#define FIELD(result, name, arguments) result(*name) arguments;
    LLAMA_FUNCTIONS(FIELD)
#undef FIELD
};

/* What the library said about itself in its log; empty where it never did. */
struct library_notes {
    char flash_attention[64]; /* "enabled", or why not */
    char graph_nodes[160];    /* "prefill / decode, splits = prefill / decode, ..." */
};

/*
 * Opens the libraries in folder, registers every backend found there, and checks that the version and
 * the parameter layout are the ones abi.h declares. Ends the program with a message when they are not.
 * With verbose set, the library's whole log goes to stderr, else only warnings and errors.
 */
const struct library *library_open(const char *folder, bool verbose);

const struct library_notes *library_notes(void);

#endif
