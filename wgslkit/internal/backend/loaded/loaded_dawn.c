//go:build darwin || freebsd || linux

#include "loaded_dawn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define GW_NAME(result, name, takes) "wgpu" #name,
  GW_DAWN_CALLS(GW_NAME)
#undef GW_NAME
  NULL,
};

// A member for each of GW_DAWN_CALLS, in their order and nothing else.
static struct {
#define GW_MEMBER(result, name, takes) result (*name) takes;
  GW_DAWN_CALLS(GW_MEMBER)
#undef GW_MEMBER
} lib;

// Toggles are Dawn's switches. Subgroup matrices are among the APIs that it calls
// unsafe, since they are experimental, and need Vulkan's memory model. It leaves f16
// out on NVIDIA for some of its own tests; gemwire doctor has those for what the
// kernels do. The kernels say themselves which workgroup memory has to be zero; and
// times are wanted to the nanosecond.
enum { MOST_TOGGLES = 32 };
static const char *enabled[MOST_TOGGLES] = {"allow_unsafe_apis", "use_vulkan_memory_model",
  "vulkan_enable_f16_on_nvidia", "disable_workgroup_init"};
static const char *disabled[MOST_TOGGLES] = {"timestamp_quantization"};
static gw_dawn_toggles toggles = {.chain = {.type = GW_STYPE_DAWN_TOGGLES}, .enabled = 4, .enable = enabled,
  .disabled = 1, .disable = disabled};

// read_toggles adds those that GEMWIRE_DAWN_TOGGLES names, with commas between and a
// minus before one to switch off.
static void read_toggles(void) {
  const char *asked = getenv("GEMWIRE_DAWN_TOGGLES");
  char *list = asked ? strdup(asked) : NULL; // kept
  char *rest = list;
  for (char *name; list && (name = strtok_r(rest, ", ", &rest));) {
    if (*name == '-' && toggles.disabled < MOST_TOGGLES) disabled[toggles.disabled++] = name + 1;
    if (*name != '-' && toggles.enabled < MOST_TOGGLES) enabled[toggles.enabled++] = name;
  }
}

// What there is to know of a device. Its loss is told once, at any time, which may be
// after the device has been forgotten.
typedef struct device_state {
  struct device_state *next;
  void *device, *instance;
  int lost, forgotten;
  char message[256];
} device_state;

static pthread_mutex_t states_lock = PTHREAD_MUTEX_INITIALIZER;
static device_state *states;

static void drop_if_done(device_state *state) {
  if (!state->lost || !state->forgotten) return;
  for (device_state **s = &states; *s; s = &(*s)->next) {
    if (*s != state) continue;
    *s = state->next;
    break;
  }
  free(state);
}

static void on_lost(void *const *device, uint32_t reason, gw_string message, void *user, void *unused) {
  (void)device, (void)reason, (void)unused;
  device_state *state = user;
  pthread_mutex_lock(&states_lock);
  size_t n = message.length < sizeof state->message ? message.length : sizeof state->message - 1;
  if (message.data) memcpy(state->message, message.data, n);
  state->lost = 1;
  drop_if_done(state);
  pthread_mutex_unlock(&states_lock);
}

static void prepare_device(gw_device_desc *desc) {
  desc->next = &toggles;
  device_state *state = calloc(1, sizeof *state);
  if (!state) return;
  desc->lost = gw_spontaneous(on_lost, state);
  pthread_mutex_lock(&states_lock);
  state->next = states;
  states = state;
  pthread_mutex_unlock(&states_lock);
}

// instance_of is the instance that a device comes from, which outlives it.
static void *instance_of(void *device) {
  void *adapter = lib.DeviceGetAdapter(device);
  void *instance = lib.AdapterGetInstance(adapter);
  gw_lib.InstanceRelease(instance);
  gw_lib.AdapterRelease(adapter);
  return instance;
}

static void device_made(gw_device_desc *desc, void *device) {
  device_state *state = desc->lost.user1;
  if (!state) return;
  pthread_mutex_lock(&states_lock);
  state->device = device;
  state->instance = device ? instance_of(device) : NULL;
  state->forgotten = !device;
  drop_if_done(state);
  pthread_mutex_unlock(&states_lock);
}

static device_state *state_of(void *device) {
  for (device_state *s = states; s; s = s->next) {
    if (s->device == device && !s->forgotten) return s;
  }
  return NULL;
}

static void forget_device(void *device) {
  pthread_mutex_lock(&states_lock);
  device_state *state = state_of(device);
  if (state) {
    state->forgotten = 1;
    drop_if_done(state);
  }
  pthread_mutex_unlock(&states_lock);
}

// A lost device refuses nothing and does nothing.
static void device_failure(void *device, gw_error *err) {
  pthread_mutex_lock(&states_lock);
  device_state *state = state_of(device);
  if (state && state->lost) gw_error_set(err, GW_DEVICE_LOST, state->message, strlen(state->message));
  pthread_mutex_unlock(&states_lock);
}

void gw_dawn_lose(void *device) { lib.DeviceForceLoss(device, GW_DAWN_LOST, (gw_string){"lost for a test", 15}); }

// Work that is done is told in a callback, not by a poll. DeviceTick would not do: it
// has nothing to look at where another call has seen the last work done.
static uint8_t poll(void *device, uint32_t wait, const void *none) {
  (void)wait, (void)none;
  pthread_mutex_lock(&states_lock);
  device_state *state = state_of(device);
  void *instance = state ? state->instance : NULL;
  pthread_mutex_unlock(&states_lock);
  if (instance) lib.InstanceProcessEvents(instance);
  return 0;
}

static void on_done(uint32_t status, gw_string message, void *user, void *unused) {
  (void)status, (void)message, (void)unused;
  ((gw_map_state *)user)->done = 1;
}

static void work_done(void *queue, gw_map_state *state) {
  lib.QueueOnSubmittedWorkDone(queue, gw_spontaneous(on_done, state));
}

static uint64_t submit(void *queue, size_t count, void *const *commands) {
  lib.QueueSubmit(queue, count, commands);
  return 0;
}

static void start(gw_api *api) {
  api->poll = poll;
  api->workDone = work_done;
  api->submit = submit;
  read_toggles();
}

static void *open_instance(void) {
  gw_instance_desc desc = {.next = &toggles};
  return gw_lib.CreateInstance(&desc);
}

typedef struct { void *adapter; int done; } request;

static void on_adapter(uint32_t status, void *adapter, gw_string message, void *user, void *unused) {
  (void)message, (void)unused;
  request *r = user;
  if (status == GW_STATUS_SUCCESS) r->adapter = adapter;
  r->done = 1;
}

static int same_adapter(void *a, void *b) {
  gw_about one = {0}, other = {0};
  gw_describe(a, &one);
  gw_describe(b, &other);
  return !strcmp(one.name, other.name) && !strcmp(one.driver, other.driver) && one.backend == other.backend;
}

// Dawn's C API lists no adapters: it finds the best for what is asked.
static size_t adapters(void *instance, void **found, size_t room) {
#ifdef __APPLE__
  const uint32_t backend = GW_BACKEND_METAL;
#else
  const uint32_t backend = GW_BACKEND_VULKAN;
#endif
  const gw_dawn_adapter_options asked[] = {{.power = GW_DAWN_HIGH_POWER}, {.power = GW_DAWN_LOW_POWER},
    {.fallback = 1}};
  size_t n = 0;
  for (size_t i = 0; i < sizeof asked / sizeof *asked && n < room; i++) {
    gw_dawn_adapter_options options = asked[i];
    options.next = &toggles;
    options.level = GW_DAWN_CORE;
    options.backend = backend;
    request r = {0};
    lib.InstanceRequestAdapter(instance, &options, gw_spontaneous(on_adapter, &r));
    while (!r.done) lib.InstanceProcessEvents(instance);
    for (size_t k = 0; k < n && r.adapter; k++) {
      if (!same_adapter(found[k], r.adapter)) continue;
      gw_lib.AdapterRelease(r.adapter);
      r.adapter = NULL;
    }
    if (r.adapter) found[n++] = r.adapter;
  }
  return n;
}

// Without the first of these, a device may be used by one thread at a time.
static const gw_feature features[] = {
  {GW_DAWN_THREADS, 0},
  {GW_FEATURE_TIMESTAMPS, GW_CAN_TIMESTAMPS}, {GW_FEATURE_F16, GW_CAN_F16}, {GW_DAWN_SUBGROUPS, GW_CAN_SUBGROUPS},
  {GW_DAWN_MATRICES, GW_CAN_MATRICES},
};

static void describe_more(void *adapter, gw_about *about) {
  if (!gw_lib.AdapterHasFeature(adapter, GW_DAWN_MATRICES)) return;
  gw_dawn_matrices matrices = {.chain = {.type = GW_STYPE_DAWN_MATRICES}};
  gw_adapter_info info = {.next = &matrices};
  if (gw_lib.AdapterGetInfo(adapter, &info) != GW_STATUS_SUCCESS) return;
  const size_t room = sizeof about->matrix / sizeof *about->matrix;
  about->matrices = (uint32_t)(matrices.count < room ? matrices.count : room);
  for (uint32_t i = 0; i < about->matrices; i++) about->matrix[i] = matrices.configs[i];
  lib.AdapterPropertiesSubgroupMatrixConfigsFreeMembers(matrices);
  gw_lib.AdapterInfoFreeMembers(info);
}

static void *new_module(void *device, const gw_labelled *named) { return lib.DeviceCreateShaderModule(device, named); }

// Dawn makes nanoseconds of ticks.
static float timestamp_period(void *queue) {
  (void)queue;
  return 1;
}

const gw_dialect gw_dawn = {
  .names = names, .functions = &lib,
  .features = features, .featureCount = sizeof features / sizeof *features,
  .start = start, .openInstance = open_instance, .adapters = adapters, .describeMore = describe_more,
  .prepareDevice = prepare_device, .deviceMade = device_made, .forgetDevice = forget_device,
  .deviceFailure = device_failure,
  .newModule = new_module, .timestampPeriod = timestamp_period,
};
