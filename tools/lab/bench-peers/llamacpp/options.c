#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "fail.h"

static const char usage[] =
    "usage: llamacpp-bench --libs DIR --model FILE.gguf [options]\n"
    "\n"
    "Measures llama.cpp's prefill and greedy decode and prints JSON.\n"
    "\n"
    "  --libs DIR         folder with llama.cpp's shared libraries\n"
    "  --model FILE       the model (text part only: llama.cpp refuses towers in the same file)\n"
    "  --device NAME      gpu (default), cpu, or part of a device's name or description\n"
    "  --prompt N         prompt tokens (512)\n"
    "  --decode N         decoded tokens (128)\n"
    "  --reps N           measured repetitions, after one that is not (5)\n"
    "  --context N        context length (just enough)\n"
    "  --gpu-layers N     layers on the device (99)\n"
    "  --batch N          tokens handed over in one call (2048)\n"
    "  --microbatch N     tokens computed at once (512)\n"
    "  --threads N        CPU threads (4)\n"
    "  --flash MODE       flash attention: auto (default), on, off\n"
    "  --answer           print the greedy answer to --ids or --text (--decode tokens at most) and measure nothing\n"
    "  --ids LIST         comma-separated token ids\n"
    "  --text TEXT        text; special tokens are recognised, none is added\n"
    "  --verbose          llama.cpp's whole log on stderr\n";

static int32_t number(const char *name, const char *text, long least) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *text == '\0' || *end != '\0' || value < least || value > 1 << 24) {
        fail("--%s %s: expected a whole number of at least %ld", name, text, least);
    }
    return (int32_t)value;
}

static int32_t flash_mode(const char *text) {
    if (strcmp(text, "auto") == 0) {
        return FLASH_AUTO;
    }
    if (strcmp(text, "on") == 0) {
        return FLASH_ON;
    }
    if (strcmp(text, "off") == 0) {
        return FLASH_OFF;
    }
    fail("--flash %s: expected auto, on or off", text);
}

struct options options_parse(int argc, char **argv) {
    struct options o = {
        .device = "gpu",
        .prompt_tokens = 512,
        .decode_tokens = 128,
        .repetitions = 5,
        .gpu_layers = 99,
        .batch = 2048,
        .microbatch = 512,
        .threads = 4,
        .flash_attention = FLASH_AUTO,
    };
    static const struct option names[] = {
        {"libs", required_argument, NULL, 'l'},       {"model", required_argument, NULL, 'm'},
        {"device", required_argument, NULL, 'd'},     {"prompt", required_argument, NULL, 'p'},
        {"decode", required_argument, NULL, 'n'},     {"reps", required_argument, NULL, 'r'},
        {"context", required_argument, NULL, 'c'},    {"gpu-layers", required_argument, NULL, 'g'},
        {"batch", required_argument, NULL, 'b'},      {"microbatch", required_argument, NULL, 'u'},
        {"threads", required_argument, NULL, 't'},    {"flash", required_argument, NULL, 'f'},
        {"ids", required_argument, NULL, 'i'},        {"text", required_argument, NULL, 'x'},
        {"answer", no_argument, NULL, 'a'},           {"verbose", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    int choice, at;
    while ((choice = getopt_long(argc, argv, "", names, &at)) != -1) {
        switch (choice) {
        case 'l': o.libraries = optarg; break;
        case 'm': o.model = optarg; break;
        case 'd': o.device = optarg; break;
        case 'i': o.ids = optarg; break;
        case 'x': o.text = optarg; break;
        case 'a': o.answer = true; break;
        case 'v': o.verbose = true; break;
        case 'f': o.flash_attention = flash_mode(optarg); break;
        case 'p': o.prompt_tokens = number(names[at].name, optarg, 1); break;
        case 'n': o.decode_tokens = number(names[at].name, optarg, 1); break;
        case 'r': o.repetitions = number(names[at].name, optarg, 1); break;
        case 'c': o.context = number(names[at].name, optarg, 0); break;
        case 'g': o.gpu_layers = number(names[at].name, optarg, 0); break;
        case 'b': o.batch = number(names[at].name, optarg, 1); break;
        case 'u': o.microbatch = number(names[at].name, optarg, 1); break;
        case 't': o.threads = number(names[at].name, optarg, 1); break;
        default: fputs(usage, stderr); exit(2);
        }
    }
    if (o.libraries == NULL || o.model == NULL || optind != argc || (o.answer && o.ids == NULL && o.text == NULL)) {
        fputs(usage, stderr);
        exit(2);
    }
    return o;
}
