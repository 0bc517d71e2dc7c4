/*
 * gemwire.h - Gemma 4 on the user's own GPU, for C and whatever calls C.
 *
 *     gemwire_model model;
 *     gemwire_session session;
 *     if (gemwire_open(NULL, NULL, &model) != GEMWIRE_OK)   // NULL: the built-in model
 *         return fprintf(stderr, "%s\n", gemwire_last_error(0)), 1;
 *     gemwire_session_open(model, 0, &session);
 *     gemwire_say(session, "What is the capital of France?", NULL, 0, NULL, NULL);
 *     char *answer = gemwire_answer_text(session);
 *     puts(answer);
 *     gemwire_free(answer);
 *     gemwire_close(model);                                 // closes its sessions, too
 *
 * HANDLES. Models and sessions are numbers. None is given twice: a handle that
 * was closed, 0, or a number that never was one, gives GEMWIRE_BAD_HANDLE and
 * does no harm, however often it is used.
 *
 * THREADS. Every function may be called from any thread at any time. A session
 * gives one answer at a time (another call for one is GEMWIRE_BUSY); different
 * sessions, also those of one model, work side by side and take turns at the
 * device. All calls block; none begins a thread that calls you back: callbacks
 * come on the thread that made the call, while it is under way. A call may take
 * long, so keep it off the thread that draws the screen.
 *
 * CALLBACKS may call any function of this header, with any handle. Closing the
 * session or model that is answering is fine: the answer then ends with
 * GEMWIRE_CLOSED, and what it uses is released when its call returns. A second
 * answer of the same session is GEMWIRE_BUSY. A callback must return: no
 * exception and no longjmp may leave it.
 *
 * MEMORY. What you pass in stays yours; everything that is needed beyond the
 * call is copied. What a callback is given is valid until it returns. A `char *`
 * that a function returns is yours, to be freed with gemwire_free. A
 * `const char *` is the library's, valid as long as its function says.
 *
 * TEXT is UTF-8 and ends in a zero byte, in both directions. Pieces of an answer
 * never end within a character.
 *
 * STRUCTS begin with their size, which you set to sizeof: so a program built with
 * this header goes on working with libraries to come, whose structs are longer.
 * (Of a struct that is longer than the library knows, the rest must be zero.)
 * A zero elsewhere is a good choice, where nothing else is said: GEMWIRE_INIT sets
 * a struct to that. What is called reserved has to be 0.
 *
 * PROCESS. The library holds Go's runtime, which handles signals such as SIGSEGV
 * and SIGPROF and passes on to your handlers what is not its own; install
 * handlers with SA_ONSTACK. A process that has called it must not fork without
 * exec.
 */
#ifndef GEMWIRE_H
#define GEMWIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Sets a struct of this header, a variable, to zero and to its size: gemwire_medium photo; GEMWIRE_INIT(photo); */
#define GEMWIRE_INIT(object) ((void)memset(&(object), 0, sizeof(object)), (void)((object).size = sizeof(object)))

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of this interface. A library whose gemwire_abi_version() has the
 * same upper 16 bits, and lower ones that are the same or greater, is one that a
 * program built with this header works with.
 */
#define GEMWIRE_ABI_VERSION 0x00010005u
uint32_t gemwire_abi_version(void);

/* The library's release or commit. The string lives as long as the process. */
const char *gemwire_version(void);

/* ---- what can go wrong ---------------------------------------------------- */

/*
 * Nearly all functions return one of these; functions that return a string
 * return NULL where they failed. gemwire_last_error has the sentence to it.
 */
typedef enum gemwire_status {
  GEMWIRE_OK = 0,
  GEMWIRE_INTERNAL = 1,      /* a fault of the library, or of the system below it */
  GEMWIRE_BAD_HANDLE = 2,    /* closed, never open, or a handle of another kind */
  GEMWIRE_BAD_ARGUMENT = 3,  /* NULL where there must be something, JSON that is none, an option out of range */
  GEMWIRE_CANCELLED = 4,     /* by gemwire_cancel, or by a callback that returned other than 0 */
  GEMWIRE_BUSY = 5,          /* the session is answering; adapters change between answers only */
  GEMWIRE_CLOSED = 6,        /* closed while the call was under way */
  GEMWIRE_NOT_FOUND = 7,     /* no such file or address */
  GEMWIRE_BAD_FILE = 8,      /* no GGUF file, or a damaged one; download it again */
  GEMWIRE_BAD_MEDIA = 9,     /* an image or a recording that cannot be read, or is too large or too long */
  GEMWIRE_BAD_ADAPTER = 10,  /* no adapter, one of another model, or a name that is not loaded or is taken */
  GEMWIRE_UNSUPPORTED = 11,  /* another kind of model, a context larger than it takes, media without towers */
  GEMWIRE_CONTEXT_FULL = 12, /* prompt and answer do not fit; nothing was computed */
  GEMWIRE_NO_GPU = 13,       /* a GPU was asked for, and there is none */
  GEMWIRE_OUT_OF_MEMORY = 14, /* of the GPU, or of the budget for it */
  GEMWIRE_DEVICE_LOST = 15,  /* the GPU went away; close the model and open it again */
  GEMWIRE_NETWORK = 16,      /* a server did not answer, or fell silent */
  GEMWIRE_NO_RANGES = 17,    /* a server that serves whole files only; download first */
  GEMWIRE_CHANGED = 18       /* the file changed while it was in use; open it again */
} gemwire_status;

/* A model or a session. 0 is none. */
typedef uint64_t gemwire_handle;
typedef gemwire_handle gemwire_model;
typedef gemwire_handle gemwire_session;

/*
 * The sentence to the last failure of a handle: what, where, what to do. Failures
 * that belong to no open handle (of opening, of a handle that is closed) are kept
 * for each thread: handle 0, or one that is not open, gives those of the calling
 * thread. Empty where there was none; never NULL. The string is valid until the
 * same thread calls gemwire_last_error again. Longer ones than 2 KB are cut.
 */
const char *gemwire_last_error(gemwire_handle handle);

/* Its status, in the same way. */
gemwire_status gemwire_last_status(gemwire_handle handle);

/* Frees what a function of this library returned as a `char *`. NULL is fine. */
void gemwire_free(char *text);

/*
 * The log: what is opened, closed and answered, and why the CPU computes. There
 * is none until it is asked for; NULL ends it again. It is one for the process.
 */
typedef enum gemwire_log_level {
  GEMWIRE_LOG_INFO = 1,
  GEMWIRE_LOG_WARNING = 2
} gemwire_log_level;
typedef void (*gemwire_log_fn)(gemwire_log_level level, const char *line, void *user);
void gemwire_set_log(gemwire_log_fn log, void *user);

/* ---- models --------------------------------------------------------------- */

typedef enum gemwire_device {
  GEMWIRE_DEVICE_AUTO = 0, /* the GPU; the CPU where there is none */
  GEMWIRE_DEVICE_GPU = 1,
  GEMWIRE_DEVICE_CPU = 2
} gemwire_device;

/* What sessions keep keys and values as. */
typedef enum gemwire_kv_cache {
  GEMWIRE_KV_CACHE_F16 = 0, /* float16; float32 on the CPU */
  GEMWIRE_KV_CACHE_Q8 = 1   /* 8 bits: about half of float16's memory */
} gemwire_kv_cache;

typedef enum gemwire_phase {
  GEMWIRE_PHASE_HEADER = 1,
  GEMWIRE_PHASE_WEIGHTS = 2,
  GEMWIRE_PHASE_KERNELS = 3,
  GEMWIRE_PHASE_CHECK = 4 /* of kernels that were not checked on this GPU before; it comes second, and counts them */
} gemwire_phase;

/* How far opening is, in bytes; a total of 0 is not known. Not 0 ends it. */
typedef int32_t (*gemwire_progress_fn)(gemwire_phase phase, int64_t done, int64_t total, void *user);

typedef struct gemwire_open_options {
  size_t size;             /* sizeof(gemwire_open_options) */
  gemwire_device device;
  int32_t context;         /* tokens of a session, prompts and answers together; 0: 8192, or what the model takes */
  int64_t gpu_memory;      /* bytes that may be used of the GPU's memory; 0: no bound */
  const char *gpu_name;    /* a part of the GPU's name, where there are several; NULL: the fastest */
  const char *projector;   /* the file or address of the image and audio towers (mmproj), where the model's own holds none */
  int32_t image_budget;    /* soft tokens of an image, 70 to 1120; 0: 280 */
  int32_t reserved;        /* 0 */
  gemwire_progress_fn on_progress; /* may be NULL */
  void *user;              /* is handed to on_progress */
  gemwire_kv_cache kv_cache; /* since 0x00010001 */
  int32_t reserved2;       /* 0 */
  const char *assistant;   /* since 0x00010002: the file or address of an assistant made for the model, which guesses
                              what it will say; answers stay what they are. NULL: none */
} gemwire_open_options;

/*
 * Opens a model: the path or the http(s) address of a GGUF file (of any part, if
 * it is in several), or, where no file has that name, the name of a model in
 * Ollama's store, such as "gemma4:e2b", whose system prompt and parameters stay
 * Ollama's. NULL, "" or "builtin:nano" is the small
 * built-in one.
 * options may be NULL. On failure, *model is 0.
 */
gemwire_status gemwire_open(const char *path, const gemwire_open_options *options, gemwire_model *model);

/*
 * Closes a model with all its sessions, or a session. A model's memory goes back
 * to the system at once. Answers under way end with GEMWIRE_CLOSED. Closing twice is GEMWIRE_BAD_HANDLE.
 */
gemwire_status gemwire_close(gemwire_handle handle);

/*
 * Ends the answer of a session that is under way, within a token, or all answers
 * of a model; their calls return GEMWIRE_CANCELLED. Where there is none, nothing
 * happens. Opening is ended by its callback instead.
 */
gemwire_status gemwire_cancel(gemwire_handle handle);

/*
 * What a model is and where it runs, as a JSON object: name, device ("gpu" or
 * "cpu"), deviceName, fallback (why the CPU), layers, vocab, maxContext, context,
 * kvCache ("f16" or "q8"), fileSize, assistant (its name), images, audio, plan, gpuMemory. To be freed.
 */
char *gemwire_model_info(gemwire_model model);

/* Frees the image and audio towers until the next medium comes. */
gemwire_status gemwire_release_media(gemwire_model model);

/*
 * Turns text into token ids. Where special is not 0, control tokens in it count:
 * never do that with text from outside. ids may be NULL where capacity is 0; *count is how many there
 * are, of which no more than capacity were written.
 */
gemwire_status gemwire_tokenize(gemwire_model model, const char *text, int32_t special, int32_t *ids, size_t capacity, size_t *count);

/* Turns token ids into text, to be freed. */
char *gemwire_detokenize(gemwire_model model, const int32_t *ids, size_t count);

/* ---- sessions ------------------------------------------------------------- */

/*
 * A session is one text and what was computed of it: a prompt that begins like
 * the text before is only computed from where it differs. context is how many
 * tokens it holds; 0: as the model was opened. On failure, *session is 0.
 */
gemwire_status gemwire_session_open(gemwire_model model, int32_t context, gemwire_session *session);

/* Forgets the session's text, and its conversation. */
gemwire_status gemwire_session_reset(gemwire_session session);

/* The system prompt of the conversation that gemwire_say carries on; NULL or "" is none. */
gemwire_status gemwire_session_system(gemwire_session session, const char *text);

/*
 * Writes a session into a file: its text, what was computed of it, and the
 * conversation that gemwire_say carries on, with its media. The file appears whole
 * or not at all. Since 0x00010004.
 */
gemwire_status gemwire_session_save(gemwire_session session, const char *path);

/*
 * Replaces a session's text and conversation by those that gemwire_session_save
 * wrote with the same model, which then go on without being computed again. After
 * a failure the session is empty. Since 0x00010004.
 */
gemwire_status gemwire_session_restore(gemwire_session session, const char *path);

/* ---- answers -------------------------------------------------------------- */

typedef enum gemwire_event_kind {
  GEMWIRE_EVENT_PREFILL = 1,   /* done of total tokens of the prompt are computed */
  GEMWIRE_EVENT_TEXT = 2,      /* text goes on */
  GEMWIRE_EVENT_THINKING = 3,  /* text is what the model thinks first */
  GEMWIRE_EVENT_TOOL_CALL = 4, /* a whole call: call_id, call_name, call_arguments */
  GEMWIRE_EVENT_MALFORMED = 5, /* text was meant as a call; error says what is wrong with it */
  GEMWIRE_EVENT_DONE = 6,      /* the answer ended by itself; always the last, and not there after a failure */
  GEMWIRE_EVENT_FORGOTTEN = 7  /* since 0x00010005: the oldest done of total messages were left out; see forget */
} gemwire_event_kind;

/* A token with the natural logarithm of its probability, under the model alone. gemwire_detokenize has its text. */
typedef struct gemwire_log_prob {
  int32_t token;
  float log_prob;
} gemwire_log_prob;

/* A token of an answer, with the most probable ones in its place, best first. */
typedef struct gemwire_choice {
  gemwire_log_prob chosen;
  const gemwire_log_prob *top;
  size_t top_count;
} gemwire_choice;

typedef struct gemwire_event {
  size_t size;                /* of this struct in the library */
  gemwire_event_kind kind;
  int32_t reserved;
  const char *text;           /* never NULL, as the other strings */
  size_t text_length;         /* in bytes */
  const char *call_id;
  const char *call_name;
  const char *call_arguments; /* a JSON object */
  const char *error;
  int64_t done;
  int64_t total;
  const int32_t *tokens;      /* ids that were chosen since the event before; NULL where there are none */
  size_t token_count;
  const gemwire_choice *choices; /* since 0x00010003: the same tokens with their log-probabilities, where log_probs asks
                                    for them; else NULL */
  const char *repairs;        /* since 0x00010005: of a call that was not quite in its format: what was mended, one on each
                                 line; else "" */
} gemwire_event;

/* Hears of an answer while it comes. Not 0 ends the answer; no more events come then. */
typedef int32_t (*gemwire_event_fn)(const gemwire_event *event, void *user);

/* What is added to the logit of a token. -INFINITY forbids it. */
typedef struct gemwire_logit_bias {
  int32_t token;
  float bias;
} gemwire_logit_bias;

/* Initialize with gemwire_answer_options_init. A zero then means what is said here. */
typedef struct gemwire_answer_options {
  size_t size;               /* sizeof(gemwire_answer_options) */
  float temperature;         /* 0: always the most probable token */
  float top_p;               /* 0 or 1: all tokens */
  float min_p;               /* 0: all tokens */
  int32_t top_k;             /* 0: all tokens */
  float repetition_penalty;  /* 0 or 1: none */
  float presence_penalty;    /* 0: none */
  float frequency_penalty;   /* 0: none */
  int32_t repeat_last_n;     /* tokens that penalties look back at; 0: 64; negative: all */
  uint64_t seed;             /* the same one gives the same answer; 0: another one each time */
  int32_t max_tokens;        /* 0: what the context leaves */
  int32_t thinking;          /* not 0: the model may think first */
  const char *const *stop;   /* strings that end the answer; nothing of them is given out */
  size_t stop_count;
  const char *tools_json;    /* functions that the model may call, a JSON array as OpenAI has it; NULL: none */
  gemwire_event_fn on_event; /* may be NULL */
  void *user;                /* is handed to on_event */
  int32_t drafts;            /* since 0x00010002: tokens that are guessed at once from text that repeats itself, and
                                then checked together, up to 63; 0: as many as pay on the device; negative: none, by an
                                assistant neither */
  int32_t assistant_drafts;  /* since 0x00010003: the same for the guesses of an assistant, up to 63; 0: as many as pay on
                                the device; negative: none */
  const gemwire_logit_bias *logit_bias; /* since 0x00010003: each token once; NULL: none */
  size_t logit_bias_count;
  int32_t log_probs;         /* since 0x00010003: tell the log-probabilities of the tokens chosen, and of so many of the
                                most probable ones in their places, up to 256: see gemwire_event.choices; 0: none */
  int32_t reserved;          /* 0 */
  int32_t forget;            /* since 0x00010005: not 0: the oldest turns of a conversation are left out where their room is
                                needed, never system text, tools or the last question; 0: that fails with
                                GEMWIRE_CONTEXT_FULL */
  int32_t preserve_thinking; /* since 0x00010005: not 0: what the model thought before the calls of earlier turns stays
                                in the prompt */
  const char *form_json;     /* since 0x00010005: what the answer must look like: a JSON object with one of "schema" (a JSON
                                schema), "regex", "choices" (a list of texts), "grammar" (a text in llama.cpp's notation) and
                                "json": true. JSON has a space behind each comma and colon, none with "compact": true, and
                                what the model likes with "spaced": true; "anyOrder": true lets properties come in any
                                order. With a form, the answer calls no tools. NULL: none */
  const char *tool_choice;   /* since 0x00010005: which of tools_json to call: "auto", "none", "required", or the name of one;
                                "free" does not hold calls to what tools declare. NULL: "auto" */
  int32_t single_call;       /* since 0x00010005: not 0: one call at most */
  int32_t reserved2;         /* 0 */
  int32_t thinking_budget;   /* since 0x00010005: tokens after which a thought is ended and the answer follows; 0: no bound */
  int32_t repetition_guard;  /* since 0x00010005: an answer whose last so many tokens repeat one text over and over ends with
                                GEMWIRE_REASON_REPETITION; 0: never */
  float typical_p;           /* since 0x00010005, as all that follows; 0 or 1: all tokens. Where one of these is in use, each
                                token's logits are read back from the GPU */
  float top_n_sigma;         /* 0: all tokens */
  float dynatemp_range;      /* 0: the temperature stays */
  float dynatemp_exponent;   /* 0: 1 */
  float xtc_probability;     /* 0: never */
  float xtc_threshold;       /* 0: 0.1 */
  float dry_multiplier;      /* 0: no penalty for repetitions */
  float dry_base;            /* 0: 1.75 */
  int32_t dry_allowed_length;   /* 0: 2 */
  int32_t dry_penalty_last_n;   /* tokens that are looked at for repetitions; 0 or negative: all */
  const char *const *dry_sequence_breakers; /* none: newline, colon, quote, asterisk; "none" alone: no text at all */
  size_t dry_sequence_breakers_count;
} gemwire_answer_options;

/* Fills in what Gemma recommends (temperature 1, top_k 64, top_p 0.95), and the size. */
gemwire_status gemwire_answer_options_init(gemwire_answer_options *options, size_t size);

typedef enum gemwire_medium_kind {
  GEMWIRE_IMAGE = 1, /* PNG, JPEG, WebP, GIF (its first frame), BMP */
  GEMWIRE_AUDIO = 2, /* WAV, FLAC, MP3, Ogg, of at most 30 s */
  GEMWIRE_VIDEO = 3  /* since 0x00010005: an animated GIF, WebP or PNG, frames, or what an installed ffmpeg reads */
} gemwire_medium_kind;

/* An image, a recording or a video: the bytes of its file. In an array, all have one size. */
typedef struct gemwire_medium {
  size_t size;              /* sizeof(gemwire_medium) */
  gemwire_medium_kind kind;
  int32_t image_budget;     /* soft tokens, 70 to 1120; 0: as the model was opened, and 70 for each frame of a video */
  const void *data;
  size_t length;            /* of data, in bytes */
  int32_t split;            /* not 0: a recording over 30 s is cut in its pauses; otherwise it is refused */
  int32_t reserved;         /* 0 */
  /* Of videos, since 0x00010005: */
  const char *path;         /* a file, or a folder of frames, instead of data; NULL: data */
  int32_t frames;           /* how many frames are taken at most, evenly chosen, up to 1024; 0: 32 */
  int32_t sound;            /* not 0: its sound is heard, too, behind the frames */
  double fps;               /* how many frames a second a folder of them, or the video that frames are of, has; 0: unknown */
  int32_t width, height;    /* of the frames that data holds one behind the other, four bytes a pixel: red, green, blue, alpha;
                               0: data is a file */
  const int32_t *indices;   /* of these frames: their numbers in the whole video, ascending; their times follow from fps */
} gemwire_medium;

typedef enum gemwire_reason {
  GEMWIRE_REASON_NONE = 0,        /* the answer failed */
  GEMWIRE_REASON_STOP = 1,        /* the model ended its turn; where gemwire_answer_text is empty then, it said nothing */
  GEMWIRE_REASON_TOOL_CALLS = 2,  /* the model waits for results */
  GEMWIRE_REASON_STOP_STRING = 3, /* a stop string came */
  GEMWIRE_REASON_LENGTH = 4,      /* max_tokens, or the context, is used up */
  GEMWIRE_REASON_CANCELLED = 5,
  GEMWIRE_REASON_REPETITION = 6   /* it said the same over and over again; see repetition_guard */
} gemwire_reason;

/* How an answer went. It is filled in after a failure, too, as far as it came. */
typedef struct gemwire_result {
  size_t size;             /* sizeof(gemwire_result) */
  gemwire_reason reason;
  int32_t prompt_tokens;
  int32_t computed_tokens; /* of the prompt, those that were not there from before */
  int32_t answer_tokens;
  int32_t media;           /* images and recordings that were encoded */
  int32_t reserved;
  double media_seconds;
  double prefill_seconds;  /* to the first token, media included */
  double decode_seconds;   /* from the first token to the last */
  int32_t drafted_tokens;  /* since 0x00010002: guessed ahead */
  int32_t right_tokens;    /* of them, those that the model chose */
  int32_t assisted_tokens; /* of those guessed, the assistant's */
  int32_t assisted_right_tokens; /* of the assistant's, those that the model chose */
  int32_t forgotten_messages; /* since 0x00010005: that were left out; see forget */
  int32_t in_call;         /* since 0x00010005: not 0 where it was cut within a tool call, of which nothing is kept */
} gemwire_result;

/*
 * Goes on with the session's own conversation: the user says text, about the
 * media before it, and the model answers. The library keeps the conversation. An
 * answer that was cancelled stays in it with the part that came; after another
 * failure it is as it was before.
 *
 * media, options and result may be NULL.
 */
gemwire_status gemwire_say(gemwire_session session, const char *text, const gemwire_medium *media, size_t media_count,
                           const gemwire_answer_options *options, gemwire_result *result);

/*
 * Answers a conversation that you keep: a JSON array of messages as OpenAI has
 * them, with the roles system, user, assistant and tool; tool_calls and
 * tool_call_id; content as a string or as parts. An image, a recording or a video is
 * a part {"type": "image"}, {"type": "audio"} or {"type": "video"}, whose bytes are the next of media,
 * or OpenAI's image_url with a data: URL, or input_audio. To go on, put the
 * answer behind the messages as gemwire_answer_message has it: what is as before
 * is not computed again.
 */
gemwire_status gemwire_chat(gemwire_session session, const char *messages_json, const gemwire_medium *media, size_t media_count,
                            const gemwire_answer_options *options, gemwire_result *result);

/*
 * Goes on from a text as it is, with nothing of a chat's format around it. Control tokens in it count: never
 * put text from outside into it. tools_json and thinking have no effect.
 */
gemwire_status gemwire_generate(gemwire_session session, const char *prompt, const gemwire_answer_options *options, gemwire_result *result);

/*
 * The text of the session's last answer, or the part of it that came. To be freed.
 * A model may answer with nothing: the call is GEMWIRE_OK then, the result's reason
 * GEMWIRE_REASON_STOP, and the text has a length of 0. No GEMWIRE_EVENT_TEXT comes.
 * Tell your user; other words, or a larger model, may help.
 */
char *gemwire_answer_text(gemwire_session session);

/* The same as a JSON message, with role, content, reasoning and tool_calls. To be freed. */
char *gemwire_answer_message(gemwire_session session);

/* ---- LoRA adapters -------------------------------------------------------- */

/* Reads an adapter (a folder as PEFT writes it, or llama.cpp's GGUF file) under a name, without using it yet. */
gemwire_status gemwire_adapter_load(gemwire_model model, const char *name, const char *path);

/* Forgets an adapter that is not in use. */
gemwire_status gemwire_adapter_unload(gemwire_model model, const char *name);

/*
 * Computes with these adapters, each as much as its weight says (1: as it was
 * trained), and no others. Not while an answer is under way: GEMWIRE_BUSY.
 */
gemwire_status gemwire_adapter_use(gemwire_model model, const char *const *names, const float *weights, size_t count);

/* Computes without adapters. They stay loaded. */
gemwire_status gemwire_adapter_clear(gemwire_model model);

/* What is loaded, as a JSON array of {"name", "weight", "parameters"}; a weight of 0 is not in use. To be freed. */
char *gemwire_adapters(gemwire_model model);

/* ---- measuring ------------------------------------------------------------ */

/* How hot the device is: 0 is nominal, and more is hotter. ProcessInfo.thermalState, on Apple's systems. */
typedef int32_t (*gemwire_thermal_fn)(void *user);

/* Hears of the runs. Not 0 ends them. */
typedef int32_t (*gemwire_bench_fn)(int32_t done, int32_t total, void *user);

typedef struct gemwire_bench_options {
  size_t size;              /* sizeof(gemwire_bench_options) */
  const char *path;         /* as gemwire_open has it */
  const char *prompt;       /* NULL: one of the library's */
  int32_t prompt_tokens;    /* the prompt is repeated up to so many tokens; 0: it is taken as it is */
  int32_t decode_tokens;    /* 0: 128 */
  int32_t repeats;          /* runs that count, after one that warms up; 0: 3 */
  int32_t reserved;         /* 0 */
  const gemwire_open_options *open; /* may be NULL */
  gemwire_thermal_fn thermal;       /* may be NULL */
  gemwire_bench_fn on_progress;     /* may be NULL */
  void *user;               /* is handed to thermal and on_progress */
} gemwire_bench_options;

/*
 * Opens a model, measures it, closes it. The JSON object that comes back, to be
 * freed, has: model, device, system, version; load.seconds; prefill and decode
 * with tokens, the seconds of each run, and tokensPerSecond; memory (bytes on the
 * GPU by purpose, and the most that the process had); thermal (states, celsius
 * where the system tells, slowdown: the last run's time over the fastest's); and
 * answer. NULL on failure: gemwire_last_error(0).
 */
char *gemwire_run_bench(const gemwire_bench_options *options);

#ifdef __cplusplus
}
#endif

#endif /* GEMWIRE_H */
