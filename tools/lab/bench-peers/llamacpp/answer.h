/* One greedy answer, to see that the peer computes the right thing before it is timed. */
#ifndef BENCH_PEERS_ANSWER_H
#define BENCH_PEERS_ANSWER_H

#include "model.h"

/* Prints {"prompt": ids, "tokens": ids, "text": ...} for the prompt in the options, chosen as choice says. */
void answer(const struct model *model, enum choice choice);

#endif
