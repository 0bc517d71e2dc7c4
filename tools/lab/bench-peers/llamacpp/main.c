/* Measures llama.cpp's prefill and decode through its prebuilt libraries; README.md says how to get them. */
#include <stdio.h>

#include "answer.h"
#include "json.h"
#include "measure.h"

static const char *const choice_names[CHOICE_COUNT] = {
    [CHOICE_DEVICE] = "greedy_on_device",
    [CHOICE_HOST] = "greedy_on_host",
    [CHOICE_NONE] = "no_choice",
};

static void print_text(const char *name, const char *text) {
    printf("  \"%s\": ", name);
    json_string(stdout, text);
    printf(",\n");
}

static void print_series(const char *name, const struct series *s, const char *end) {
    printf("\"%s\": {\"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"runs\": [", name, s->median, s->least, s->most);
    for (int32_t i = 0; i < s->count; i++) {
        printf("%s%.6g", i == 0 ? "" : ", ", s->values[i]);
    }
    printf("]}%s", end);
}

static void print_timings(const struct timings *t, const char *indent) {
    printf("{\n%s  \"prefill\": {", indent);
    print_series("tokens_per_second", &t->prefill_tokens_per_second, "},\n");
    printf("%s  \"decode\": {", indent);
    print_series("tokens_per_second", &t->decode_tokens_per_second, ", ");
    print_series("ms_per_token", &t->decode_ms_per_token, "}\n");
    printf("%s}", indent);
}

/* The faster of the two ways to decode greedily. */
static enum choice fastest_greedy(const struct timings *all) {
    bool device = all[CHOICE_DEVICE].measured && all[CHOICE_DEVICE].decode_tokens_per_second.median >
                                                     all[CHOICE_HOST].decode_tokens_per_second.median;
    return device ? CHOICE_DEVICE : CHOICE_HOST;
}

static void print_report(const struct model *model, const struct timings *all) {
    const struct library *lib = model->lib;
    const struct options *o = model->options;
    const struct library_notes *notes = library_notes();
    printf("{\n");
    print_text("peer", "llama.cpp");
    print_text("version", lib->llama_version());
    print_text("device", model->device_name);
    print_text("device_description", model->device_description);
    print_text("model", o->model);
    print_text("model_description", model->description);
    printf("  \"model_bytes\": %llu,\n", (unsigned long long)lib->llama_model_size(model->handle));
    printf("  \"model_parameters\": %llu,\n", (unsigned long long)lib->llama_model_n_params(model->handle));
    printf("  \"prompt_tokens\": %d,\n  \"decode_tokens\": %d,\n", o->prompt_tokens, o->decode_tokens);
    printf("  \"repetitions\": %d,\n  \"batch\": %d,\n  \"microbatch\": %d,\n", o->repetitions, o->batch, o->microbatch);
    printf("  \"gpu_layers\": %d,\n  \"threads\": %d,\n", o->gpu_layers, o->threads);
    print_text("flash_attention", notes->flash_attention);
    print_text("graph_nodes", notes->graph_nodes);
    printf("  \"load_ms\": %.1f,\n", model->load_ms);
    enum choice fastest = fastest_greedy(all);
    print_text("fastest_greedy", choice_names[fastest]);
    printf("  \"best\": ");
    print_timings(&all[fastest], "  ");
    printf(",\n  \"choices\": {\n");
    for (int c = 0; c < CHOICE_COUNT; c++) {
        printf("    \"%s\": ", choice_names[c]);
        if (all[c].measured) {
            print_timings(&all[c], "    ");
        } else {
            printf("null");
        }
        printf(c + 1 < CHOICE_COUNT ? ",\n" : "\n");
    }
    printf("  }\n}\n");
}

int main(int argc, char **argv) {
    struct options options = options_parse(argc, argv);
    const struct library *lib = library_open(options.libraries, options.verbose);
    struct model model = model_load(lib, &options);
    if (options.answer) {
        answer(&model, CHOICE_HOST);
    } else {
        struct timings all[CHOICE_COUNT];
        for (int c = 0; c < CHOICE_COUNT; c++) {
            all[c] = measure(&model, (enum choice)c);
        }
        print_report(&model, all);
    }
    model_free(&model);
    lib->llama_backend_free();
    return 0;
}
