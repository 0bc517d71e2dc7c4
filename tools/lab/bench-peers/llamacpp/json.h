/* Writing JSON. */
#ifndef BENCH_PEERS_JSON_H
#define BENCH_PEERS_JSON_H

#include <stdio.h>

/* Writes text as a JSON string, quotes included. */
void json_string(FILE *to, const char *text);

#endif
