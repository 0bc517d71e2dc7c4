#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

static struct library lib;
static struct library_notes notes;
static bool log_everything;

/* Finds the one library that matches pattern, leaving out those whose path contains except. */
static void find_library(const char *folder, const char *pattern, const char *except, char *path, size_t room) {
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", folder, pattern);
    glob_t found;
    size_t matches = 0;
    if (glob(full, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            if (strstr(found.gl_pathv[i], except) != NULL) {
                continue;
            }
            snprintf(path, room, "%s", found.gl_pathv[i]);
            matches++;
        }
        globfree(&found);
    }
    if (matches != 1) {
        fail("%s: expected one file %s, found %zu", folder, pattern, matches);
    }
}

static void *open_library(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (handle == NULL) {
        fail("%s", dlerror());
    }
    return handle;
}

/* Keeps the rest of the line after marker. */
static void keep_after(const char *text, const char *marker, char *kept, size_t room) {
    const char *at = strstr(text, marker);
    if (at != NULL) {
        at += strlen(marker);
        snprintf(kept, room, "%.*s", (int)strcspn(at, "\n"), at);
    }
}

static void on_log(int level, const char *text, void *user) {
    (void)user;
    keep_after(text, "Flash Attention ", notes.flash_attention, sizeof notes.flash_attention);
    keep_after(text, ": nodes = ", notes.graph_nodes, sizeof notes.graph_nodes);
    if (log_everything || level == LOG_WARN || level == LOG_ERROR) {
        fputs(text, stderr);
    }
}

/* A wrong layout would shift every later field, so the defaults of both structs are compared with the release's. */
static void check_layout(void) {
    const char *version = lib.llama_version();
    if (strncmp(version, ABI_VERSION, strlen(ABI_VERSION)) != 0) {
        fail("llama.cpp is version %s, but the declarations in abi.h are those of %s", version, ABI_VERSION);
    }
    struct llama_model_params m = lib.llama_model_default_params();
    struct llama_context_params c = lib.llama_context_default_params();
    bool same = m.devices == NULL && m.n_gpu_layers == -1 && m.split_mode == SPLIT_LAYER && m.load_mode == -1 &&
                m.lazy_mode == 1 && m.use_extra_bufts && !m.load_mtp && c.n_ctx == 512 && c.n_batch == 2048 &&
                c.n_ubatch == 512 && c.n_seq_max == 1 && c.n_outputs_max_per_seq == 1 &&
                c.flash_attn_type == FLASH_AUTO && c.yarn_ext_factor == -1.0f && c.defrag_thold == -1.0f &&
                c.type_k == TYPE_F16 && c.type_v == TYPE_F16 && !c.embeddings && c.offload_kqv && c.no_perf &&
                c.op_offload && c.swa_full && !c.kv_unified && c.samplers == NULL && c.n_samplers == 0 &&
                c.ctx_other == NULL;
    if (!same) {
        fail("the library's default parameters are not those of %s: the layout in abi.h does not fit", ABI_VERSION);
    }
}

const struct library *library_open(const char *folder, bool verbose) {
    char ggml_base[4096], ggml[4096], llama[4096];
    find_library(folder, "libggml-base.so", "\n", ggml_base, sizeof ggml_base);
    find_library(folder, "libggml.*.so", "\n", ggml, sizeof ggml);
    find_library(folder, "libllama.*.so", "common", llama, sizeof llama);
    void *handles[] = {open_library(ggml_base), open_library(ggml), open_library(llama)};

    void *symbol;
#define RESOLVE(result, name, arguments)                                  \
    symbol = NULL;                                                        \
    for (size_t i = 0; i < 3 && symbol == NULL; i++) {                    \
        symbol = dlsym(handles[i], #name);                                \
    }                                                                     \
    if (symbol == NULL) {                                                 \
        fail("the libraries in %s do not export %s", folder, #name);      \
    }                                                                     \
    memcpy(&lib.name, &symbol, sizeof symbol);
    LLAMA_FUNCTIONS(RESOLVE)
#undef RESOLVE

    log_everything = verbose;
    lib.llama_log_set(on_log, NULL);
    check_layout();
    lib.ggml_backend_load_all_from_path(folder);
    lib.llama_backend_init();
    return &lib;
}

const struct library_notes *library_notes(void) { return &notes; }
