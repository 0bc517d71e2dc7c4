/*
 * The part of llama.cpp's C interface that the benchmark calls, declared by hand because the prebuilt
 * libraries come without headers. Everything here is what release v0.5.0 (npm's @node-llama-cpp 3.22)
 * expects; parameter structs are passed by value, so their layout must be that release's exactly.
 * library_open checks the version and the defaults that the library fills in before anything else is called.
 */
#ifndef BENCH_PEERS_ABI_H
#define BENCH_PEERS_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABI_VERSION "0.5.0" /* the packages' builds say 0.5.0-dev */

typedef struct llama_model llama_model;
typedef struct llama_context llama_context;
typedef struct llama_vocab llama_vocab;
typedef struct llama_sampler llama_sampler;
typedef struct llama_memory llama_memory;
typedef struct ggml_device ggml_device;

typedef int32_t token_id;
#define NO_TOKEN (-1)

enum device_type { DEVICE_CPU, DEVICE_GPU, DEVICE_INTEGRATED_GPU, DEVICE_ACCELERATOR, DEVICE_META };
enum log_level { LOG_NONE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_CONTINUED };
enum split_mode { SPLIT_NONE, SPLIT_LAYER };
enum flash_attention { FLASH_AUTO = -1, FLASH_OFF = 0, FLASH_ON = 1 };

#define TYPE_F16 1 /* ggml's id of the default cache type */

struct llama_batch {
    int32_t n_tokens;
    token_id *token;
    float *embd;
    int32_t *pos;
    int32_t *n_seq_id;
    int32_t **seq_id;
    int8_t *logits;
};

struct llama_model_params {
    ggml_device **devices; /* ends with NULL; an empty list keeps everything on the CPU */
    const void *tensor_buft_overrides;
    int32_t n_gpu_layers;
    int32_t split_mode;
    int32_t load_mode;
    int32_t lazy_mode;
    int32_t main_gpu;
    const float *tensor_split;
    bool (*progress_callback)(float, void *);
    void *progress_callback_user_data;
    const void *kv_overrides;
    bool vocab_only;
    bool check_tensors;
    bool use_extra_bufts;
    bool no_host;
    bool no_alloc;
    bool load_mtp;
};

struct llama_sampler_seq_config {
    int32_t seq_id;
    llama_sampler *sampler;
};

struct llama_context_params {
    uint32_t n_ctx;
    uint32_t n_batch;
    uint32_t n_ubatch;
    uint32_t n_seq_max;
    uint32_t n_rs_seq;
    uint32_t n_outputs_max;
    uint32_t n_outputs_max_per_seq;
    int32_t n_threads;
    int32_t n_threads_batch;
    int32_t ctx_type;
    int32_t rope_scaling_type;
    int32_t pooling_type;
    int32_t attention_type;
    int32_t flash_attn_type;
    float rope_freq_base;
    float rope_freq_scale;
    float yarn_ext_factor;
    float yarn_attn_factor;
    float yarn_beta_fast;
    float yarn_beta_slow;
    uint32_t yarn_orig_ctx;
    float defrag_thold;
    void *cb_eval;
    void *cb_eval_user_data;
    int32_t type_k;
    int32_t type_v;
    void *abort_callback;
    void *abort_callback_data;
    bool embeddings;
    bool offload_kqv;
    bool no_perf;
    bool op_offload;
    bool swa_full;
    bool kv_unified;
    struct llama_sampler_seq_config *samplers;
    size_t n_samplers;
    llama_context *ctx_other;
};

struct llama_sampler_chain_params {
    bool no_perf;
};

typedef void (*log_callback)(int level, const char *text, void *user);

/*
 * LLAMA_FUNCTIONS lists X(result, name, arguments) for every function that is looked up in the libraries.
 */
#define LLAMA_FUNCTIONS(X)                                                                                   \
    X(void, ggml_backend_load_all_from_path, (const char *dir))                                              \
    X(size_t, ggml_backend_dev_count, (void))                                                                \
    X(ggml_device *, ggml_backend_dev_get, (size_t index))                                                   \
    X(const char *, ggml_backend_dev_name, (ggml_device *))                                                  \
    X(const char *, ggml_backend_dev_description, (ggml_device *))                                           \
    X(int, ggml_backend_dev_type, (ggml_device *))                                                           \
    X(const char *, llama_version, (void))                                                                   \
    X(void, llama_log_set, (log_callback, void *user))                                                       \
    X(void, llama_backend_init, (void))                                                                      \
    X(void, llama_backend_free, (void))                                                                      \
    X(struct llama_model_params, llama_model_default_params, (void))                                         \
    X(struct llama_context_params, llama_context_default_params, (void))                                     \
    X(struct llama_sampler_chain_params, llama_sampler_chain_default_params, (void))                         \
    X(llama_model *, llama_model_load_from_file, (const char *path, struct llama_model_params))              \
    X(void, llama_model_free, (llama_model *))                                                               \
    X(const llama_vocab *, llama_model_get_vocab, (const llama_model *))                                     \
    X(int32_t, llama_model_desc, (const llama_model *, char *text, size_t size))                             \
    X(uint64_t, llama_model_size, (const llama_model *))                                                     \
    X(uint64_t, llama_model_n_params, (const llama_model *))                                                 \
    X(llama_context *, llama_init_from_model, (llama_model *, struct llama_context_params))                  \
    X(void, llama_free, (llama_context *))                                                                   \
    X(llama_memory *, llama_get_memory, (const llama_context *))                                             \
    X(void, llama_memory_clear, (llama_memory *, bool data))                                                 \
    X(struct llama_batch, llama_batch_get_one, (token_id *, int32_t count))                                  \
    X(int32_t, llama_decode, (llama_context *, struct llama_batch))                                          \
    X(void, llama_synchronize, (llama_context *))                                                            \
    X(float *, llama_get_logits_ith, (llama_context *, int32_t index))                                       \
    X(token_id, llama_get_sampled_token_ith, (llama_context *, int32_t index))                               \
    X(llama_sampler *, llama_sampler_chain_init, (struct llama_sampler_chain_params))                        \
    X(void, llama_sampler_chain_add, (llama_sampler *, llama_sampler *))                                     \
    X(llama_sampler *, llama_sampler_init_greedy, (void))                                                    \
    X(void, llama_sampler_free, (llama_sampler *))                                                           \
    X(int32_t, llama_vocab_n_tokens, (const llama_vocab *))                                                  \
    X(token_id, llama_vocab_bos, (const llama_vocab *))                                                      \
    X(bool, llama_vocab_is_eog, (const llama_vocab *, token_id))                                             \
    X(int32_t, llama_tokenize,                                                                               \
      (const llama_vocab *, const char *text, int32_t length, token_id *, int32_t room, bool add_special,    \
       bool parse_special))                                                                                  \
    X(int32_t, llama_detokenize,                                                                             \
      (const llama_vocab *, const token_id *, int32_t count, char *text, int32_t room, bool remove_special,  \
       bool unparse_special))

#endif
