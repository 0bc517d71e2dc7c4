//go:build darwin || freebsd || linux

#include "loaded.h"

#include <string.h>

const char *const gw_library_names[] = {
#define GW_NAME(result, name, takes) "wgpu" #name,
  GW_CALLS(GW_NAME)
#undef GW_NAME
  NULL,
};

static gw_library lib;
static gw_api api;

static gw_string text(const char *s) { return (gw_string){s, s ? strlen(s) : 0}; }

// The header's WGPUErrorType counts from 1, none.
static void on_error(uint32_t status, uint32_t type, gw_string message, void *user, void *unused) {
  (void)unused;
  if (status == GW_STATUS_SUCCESS) gw_error_set(user, (int)type - GW_ERROR_NONE, message.data, message.length);
}

// What no scope catches is raised on the thread of the call that failed: internal
// errors, for which this library has no scope. Without a callback it would end the
// process.
static _Thread_local gw_error uncaught;

static void on_uncaptured(void *const *device, uint32_t type, gw_string message, void *user1, void *user2) {
  (void)device, (void)user1, (void)user2;
  gw_error_set(&uncaught, (int)type - GW_ERROR_NONE, message.data, message.length);
}

static gw_callback spontaneous(void *callback, void *user) {
  return (gw_callback){.mode = GW_SPONTANEOUS, .callback = callback, .user1 = user};
}

static void guard_begin(void *device) {
  uncaught.type = GW_OK;
  lib.DevicePushErrorScope(device, GW_FILTER_OUT_OF_MEMORY);
  lib.DevicePushErrorScope(device, GW_FILTER_VALIDATION);
}

static void guard_end(void *device, gw_error *err) {
  for (int i = 0; i < 2; i++) lib.DevicePopErrorScope(device, spontaneous(on_error, err));
  gw_error_set(err, uncaught.type, uncaught.message, strlen(uncaught.message));
  uncaught.type = GW_OK;
}

static void *begin_pass(void *encoder, void *querySet, uint32_t query) {
  gw_stamps stamps = {.set = querySet, .begin = query, .end = query + 1};
  gw_pass_desc desc = {0};
  if (querySet) desc.stamps = &stamps;
  return lib.CommandEncoderBeginComputePass(encoder, &desc);
}

static void on_mapped(uint32_t status, gw_string message, void *user, void *unused) {
  (void)message, (void)unused;
  gw_map_state *state = user;
  state->failed = status == GW_STATUS_SUCCESS ? 0 : (int)status;
  state->done = 1;
}

static void map_read(void *buffer, size_t size, gw_map_state *state) {
  lib.BufferMapAsync(buffer, GW_MAP_READ, 0, size, spontaneous(on_mapped, state));
}

uint32_t gw_library_version(const gw_library *loaded) { return loaded->GetVersion(); }

void gw_use(const gw_library *loaded) {
  lib = *loaded;
  api = (gw_api){
    .guardBegin = guard_begin, .guardEnd = guard_end, .beginPass = begin_pass, .mapRead = map_read,
    .createEncoder = lib.DeviceCreateCommandEncoder, .poll = lib.DevicePoll,
    .copyBuffer = lib.CommandEncoderCopyBufferToBuffer, .resolveQueries = lib.CommandEncoderResolveQuerySet,
    .finish = lib.CommandEncoderFinish, .releaseEncoder = lib.CommandEncoderRelease, .releaseCommands = lib.CommandBufferRelease,
    .setPipeline = lib.ComputePassEncoderSetPipeline, .setBindGroup = lib.ComputePassEncoderSetBindGroup,
    .dispatch = lib.ComputePassEncoderDispatchWorkgroups,
    .endPass = lib.ComputePassEncoderEnd, .releasePass = lib.ComputePassEncoderRelease,
    .submit = lib.QueueSubmitForIndex, .writeBuffer = lib.QueueWriteBuffer,
    .mapped = lib.BufferGetConstMappedRange, .unmap = lib.BufferUnmap,
  };
  lib.SetLogLevel(0);
}

const gw_api *gw_loaded(void) { return &api; }

void *gw_open_instance(void) {
  gw_instance_extras extras = {.chain = {.type = GW_STYPE_INSTANCE_EXTRAS}, .backends = GW_BACKENDS_PRIMARY};
  gw_instance_desc desc = {.next = &extras};
  return lib.CreateInstance(&desc);
}

size_t gw_adapters(void *instance, void **adapters) {
  gw_enumerate_options options = {.backends = GW_BACKENDS_PRIMARY};
  return lib.InstanceEnumerateAdapters(instance, &options, adapters);
}

static void copy_text(char *to, size_t room, gw_string from) {
  size_t n = from.data ? from.length : 0;
  if (n > room - 1) n = room - 1;
  if (n) memcpy(to, from.data, n);
  to[n] = 0;
}

void gw_describe(void *adapter, gw_about *about) {
  gw_adapter_info info = {0};
  if (lib.AdapterGetInfo(adapter, &info) != GW_STATUS_SUCCESS) return;
  copy_text(about->name, sizeof about->name, info.device);
  copy_text(about->vendor, sizeof about->vendor, info.vendor);
  copy_text(about->driver, sizeof about->driver, info.description);
  about->backend = info.backend;
  about->kind = info.kind;
  about->subgroupMin = info.subgroupMin;
  about->subgroupMax = info.subgroupMax;
  lib.AdapterInfoFreeMembers(info);
}

typedef struct { void *device; gw_error *err; } request;

static void on_device(uint32_t status, void *device, gw_string message, void *user, void *unused) {
  (void)unused;
  request *r = user;
  if (status == GW_STATUS_SUCCESS) r->device = device;
  else gw_error_set(r->err, GW_UNKNOWN, message.data, message.length);
}

void *gw_open_device(void *adapter, const uint32_t *wanted, size_t count, int least, uint32_t *granted, gw_error *err) {
  uint32_t has[32];
  size_t n = 0;
  for (size_t i = 0; i < count && i < 32; i++) {
    if (!lib.AdapterHasFeature(adapter, wanted[i])) continue;
    has[n++] = wanted[i];
    *granted |= 1u << i;
  }
  gw_limits limits = {0};
  if (lib.AdapterGetLimits(adapter, &limits) != GW_STATUS_SUCCESS) {
    gw_error_set(err, GW_UNKNOWN, "the adapter does not say its limits", 35);
    return NULL;
  }
  // All ones mean "not asked for"; NVIDIA's driver says so of its own limit.
  if (limits.bufferSize > (uint64_t)1 << 40) limits.bufferSize = (uint64_t)1 << 40;
  request r = {.err = err};
  gw_device_desc desc = {.features = n, .required = has, .limits = least ? NULL : &limits};
  desc.lost.mode = GW_SPONTANEOUS;
  desc.uncaptured.callback = on_uncaptured;
  lib.AdapterRequestDevice(adapter, &desc, spontaneous(on_device, &r));
  return r.device;
}

void *gw_get_queue(void *device) { return lib.DeviceGetQueue(device); }
int gw_get_limits(void *device, gw_limits *limits) { return lib.DeviceGetLimits(device, limits) == GW_STATUS_SUCCESS; }
float gw_timestamp_period(void *queue) { return lib.QueueGetTimestampPeriod(queue); }

static void *new_layout(void *device, const uint32_t *kinds, size_t count) {
  gw_layout_entry entries[GW_MOST_BINDINGS] = {0};
  for (size_t i = 0; i < count; i++) {
    entries[i].binding = (uint32_t)i;
    entries[i].visibility = GW_STAGE_COMPUTE;
    entries[i].buffer.type = kinds[i];
  }
  gw_layout_desc desc = {.count = count, .entries = entries};
  return lib.DeviceCreateBindGroupLayout(device, &desc);
}

void *gw_new_pipeline(void *device, const char *label, const char *wgsl, size_t length, const char *entry, const uint32_t *kinds, size_t count, void **layout) {
  *layout = new_layout(device, kinds, count);
  if (!*layout) return NULL;
  gw_pipeline_layout_desc layouts = {.label = text(label), .count = 1, .layouts = layout};
  void *whole = lib.DeviceCreatePipelineLayout(device, &layouts);
  gw_wgsl source = {.chain = {.type = GW_STYPE_WGSL}, .code = {wgsl, length}};
  gw_labelled named = {.next = &source, .label = text(label)};
  // A counter in each loop, which new versions add, costs more than it is worth in
  // shaders that are all our own; checks of bounds stay.
  void *module = lib.DeviceCreateShaderModuleTrusted(device, &named, GW_CHECK_BOUNDS);
  void *pipeline = NULL;
  if (whole && module) {
    gw_pipeline_desc desc = {.label = text(label), .layout = whole, .compute = {.module = module, .entry = text(entry)}};
    pipeline = lib.DeviceCreateComputePipeline(device, &desc);
  }
  if (module) lib.ShaderModuleRelease(module);
  if (whole) lib.PipelineLayoutRelease(whole);
  return pipeline;
}

void *gw_new_buffer(void *device, const char *label, uint64_t usage, uint64_t size) {
  gw_buffer_desc desc = {.label = text(label), .usage = usage, .size = size};
  return lib.DeviceCreateBuffer(device, &desc);
}

void *gw_new_group(void *device, void *layout, const gw_group_entry *entries, size_t count) {
  gw_group_desc desc = {.layout = layout, .count = count, .entries = entries};
  return lib.DeviceCreateBindGroup(device, &desc);
}

void *gw_new_queries(void *device, uint32_t count) {
  gw_query_desc desc = {.type = GW_QUERY_TIMESTAMP, .count = count};
  return lib.DeviceCreateQuerySet(device, &desc);
}

void gw_release_buffer(void *buffer) {
  lib.BufferDestroy(buffer);
  lib.BufferRelease(buffer);
}

void gw_release_group(void *group) { lib.BindGroupRelease(group); }

void gw_release_pipeline(void *pipeline, void *layout) {
  if (pipeline) lib.ComputePipelineRelease(pipeline);
  if (layout) lib.BindGroupLayoutRelease(layout);
}

void gw_release_queries(void *set) { lib.QuerySetRelease(set); }
void gw_release_adapter(void *adapter) { lib.AdapterRelease(adapter); }
void gw_release_instance(void *instance) { lib.InstanceRelease(instance); }

void gw_release_device(void *device, void *queue) {
  lib.QueueRelease(queue);
  lib.DeviceRelease(device);
}
