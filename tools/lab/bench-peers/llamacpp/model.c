#include "model.h"

#include <string.h>
#include <time.h>

#include "fail.h"

double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool matches(const struct library *lib, ggml_device *device, const char *wanted) {
    int type = lib->ggml_backend_dev_type(device);
    if (strcmp(wanted, "gpu") == 0) {
        return type == DEVICE_GPU || type == DEVICE_INTEGRATED_GPU;
    }
    return strstr(lib->ggml_backend_dev_name(device), wanted) != NULL ||
           strstr(lib->ggml_backend_dev_description(device), wanted) != NULL;
}

static ggml_device *find_device(const struct library *lib, const char *wanted) {
    size_t count = lib->ggml_backend_dev_count();
    for (size_t i = 0; i < count; i++) {
        ggml_device *device = lib->ggml_backend_dev_get(i);
        if (matches(lib, device, wanted)) {
            return device;
        }
    }
    fprintf(stderr, "devices found:\n");
    for (size_t i = 0; i < count; i++) {
        ggml_device *device = lib->ggml_backend_dev_get(i);
        fprintf(stderr, "  %s: %s\n", lib->ggml_backend_dev_name(device),
                lib->ggml_backend_dev_description(device));
    }
    fail("no device matches --device %s", wanted);
}

struct model model_load(const struct library *lib, const struct options *options) {
    struct model model = {.lib = lib, .options = options, .device_name = "CPU"};
    bool on_cpu = strcmp(options->device, "cpu") == 0;
    ggml_device *devices[2] = {on_cpu ? NULL : find_device(lib, options->device), NULL};
    ggml_device *shown = on_cpu ? find_device(lib, "CPU") : devices[0];
    model.device_name = lib->ggml_backend_dev_name(shown);
    model.device_description = lib->ggml_backend_dev_description(shown);

    struct llama_model_params params = lib->llama_model_default_params();
    params.devices = devices;
    params.n_gpu_layers = on_cpu ? 0 : options->gpu_layers;
    params.split_mode = SPLIT_LAYER;
    double start = now_ms();
    model.handle = lib->llama_model_load_from_file(options->model, params);
    if (model.handle == NULL) {
        fail("%s could not be loaded; --verbose says more", options->model);
    }
    model.load_ms = now_ms() - start;
    model.vocab = lib->llama_model_get_vocab(model.handle);
    model.vocabulary = lib->llama_vocab_n_tokens(model.vocab);
    lib->llama_model_desc(model.handle, model.description, sizeof model.description);
    return model;
}

void model_free(struct model *model) { model->lib->llama_model_free(model->handle); }

struct run run_open(const struct model *model, enum choice choice, int32_t tokens) {
    const struct library *lib = model->lib;
    const struct options *o = model->options;
    struct run run = {.model = model, .choice = choice};
    struct llama_context_params params = lib->llama_context_default_params();
    params.n_ctx = (uint32_t)(o->context > tokens ? o->context : tokens);
    params.n_batch = (uint32_t)o->batch;
    params.n_ubatch = (uint32_t)o->microbatch;
    params.n_threads = o->threads;
    params.n_threads_batch = o->threads;
    params.flash_attn_type = o->flash_attention;
    params.swa_full = false; /* window-sized caches for sliding layers, as llama.cpp's own programs ask for */
    struct llama_sampler_seq_config greedy = {0};
    if (choice == CHOICE_DEVICE) {
        run.sampler = lib->llama_sampler_chain_init(lib->llama_sampler_chain_default_params());
        lib->llama_sampler_chain_add(run.sampler, lib->llama_sampler_init_greedy());
        greedy.sampler = run.sampler;
        params.samplers = &greedy;
        params.n_samplers = 1;
    }
    run.context = lib->llama_init_from_model(model->handle, params);
    if (run.context == NULL) {
        fail("no context of %u tokens could be made; --verbose says more", params.n_ctx);
    }
    return run;
}

void run_close(struct run *run) {
    run->model->lib->llama_free(run->context);
    if (run->sampler != NULL) {
        run->model->lib->llama_sampler_free(run->sampler);
    }
}

void run_clear(const struct run *run) {
    const struct library *lib = run->model->lib;
    lib->llama_memory_clear(lib->llama_get_memory(run->context), false);
    lib->llama_synchronize(run->context);
}

void run_feed(const struct run *run, token_id *tokens, int32_t count) {
    const struct library *lib = run->model->lib;
    for (int32_t done = 0; done < count;) {
        int32_t now = count - done < run->model->options->batch ? count - done : run->model->options->batch;
        int32_t status = lib->llama_decode(run->context, lib->llama_batch_get_one(tokens + done, now));
        if (status != 0) {
            fail("llama_decode of %d tokens returned %d; --verbose says more", now, status);
        }
        done += now;
    }
    lib->llama_synchronize(run->context);
}

static token_id arg_max(const float *logits, int32_t count) {
    /* Two passes: the first is a plain maximum, which compilers turn into vector code. */
    float largest[16];
    for (int lane = 0; lane < 16; lane++) {
        largest[lane] = logits[0];
    }
    int32_t i = 0;
    for (; i + 16 <= count; i += 16) {
        for (int lane = 0; lane < 16; lane++) {
            largest[lane] = logits[i + lane] > largest[lane] ? logits[i + lane] : largest[lane];
        }
    }
    float best = largest[0];
    for (int lane = 1; lane < 16; lane++) {
        best = largest[lane] > best ? largest[lane] : best;
    }
    for (; i < count; i++) {
        best = logits[i] > best ? logits[i] : best;
    }
    for (i = 0; i < count; i++) {
        if (logits[i] == best) {
            return i;
        }
    }
    return NO_TOKEN; /* every logit is NaN */
}

token_id run_choose(const struct run *run) {
    const struct library *lib = run->model->lib;
    if (run->choice == CHOICE_DEVICE) {
        return lib->llama_get_sampled_token_ith(run->context, -1);
    }
    const float *logits = lib->llama_get_logits_ith(run->context, -1);
    return logits == NULL ? NO_TOKEN : arg_max(logits, run->model->vocabulary);
}
