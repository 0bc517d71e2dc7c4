//go:build darwin || freebsd || linux

#include "loaded.h"

#include <string.h>

const char *const gw_library_names[] = {
#define GW_NAME(result, name, takes) "wgpu" #name,
  GW_CALLS(GW_NAME)
#undef GW_NAME
  NULL,
};

gw_library gw_lib;
static const gw_dialect *dialect;
static gw_api api;

static gw_string text(const char *s) { return (gw_string){s, s ? strlen(s) : 0}; }

// The header's WGPUErrorType counts from 1, none.
void gw_on_error(uint32_t status, uint32_t type, gw_string message, void *user, void *unused) {
  (void)unused;
  if (status == GW_STATUS_SUCCESS) gw_error_set(user, (int)type - GW_ERROR_NONE, message.data, message.length);
}

// What no scope catches is raised on the thread of the call that failed: internal
// errors, for which wgpu-native has no scope. Without a callback it would end the
// process.
static _Thread_local gw_error uncaught;

static void on_uncaptured(void *const *device, uint32_t type, gw_string message, void *user1, void *user2) {
  (void)device, (void)user1, (void)user2;
  gw_error_set(&uncaught, (int)type - GW_ERROR_NONE, message.data, message.length);
}

gw_callback gw_spontaneous(void *callback, void *user) {
  return (gw_callback){.mode = GW_SPONTANEOUS, .callback = callback, .user1 = user};
}

static void guard_begin(void *device) {
  uncaught.type = GW_OK;
  gw_lib.DevicePushErrorScope(device, GW_FILTER_OUT_OF_MEMORY);
  gw_lib.DevicePushErrorScope(device, GW_FILTER_VALIDATION);
}

static void guard_end(void *device, gw_error *err) {
  for (int i = 0; i < 2; i++) gw_lib.DevicePopErrorScope(device, gw_spontaneous(gw_on_error, err));
  gw_error_set(err, uncaught.type, uncaught.message, strlen(uncaught.message));
  uncaught.type = GW_OK;
  if (dialect->deviceFailure) dialect->deviceFailure(device, err);
}

static void *begin_pass(void *encoder, void *querySet, uint32_t query) {
  gw_stamps stamps = {.set = querySet, .begin = query, .end = query + 1};
  gw_pass_desc desc = {0};
  if (querySet) desc.stamps = &stamps;
  return gw_lib.CommandEncoderBeginComputePass(encoder, &desc);
}

static void on_mapped(uint32_t status, gw_string message, void *user, void *unused) {
  (void)message, (void)unused;
  gw_map_state *state = user;
  state->failed = status == GW_STATUS_SUCCESS ? 0 : (int)status;
  state->done = 1;
}

static void map_read(void *buffer, size_t size, gw_map_state *state) {
  gw_lib.BufferMapAsync(buffer, GW_MAP_READ, 0, size, gw_spontaneous(on_mapped, state));
}

void gw_use(const gw_dialect *used) {
  dialect = used;
  api = (gw_api){
    .guardBegin = guard_begin, .guardEnd = guard_end, .beginPass = begin_pass, .mapRead = map_read,
    .createEncoder = gw_lib.DeviceCreateCommandEncoder,
    .copyBuffer = gw_lib.CommandEncoderCopyBufferToBuffer, .resolveQueries = gw_lib.CommandEncoderResolveQuerySet,
    .finish = gw_lib.CommandEncoderFinish, .releaseEncoder = gw_lib.CommandEncoderRelease,
    .releaseCommands = gw_lib.CommandBufferRelease,
    .setPipeline = gw_lib.ComputePassEncoderSetPipeline, .setBindGroup = gw_lib.ComputePassEncoderSetBindGroup,
    .dispatch = gw_lib.ComputePassEncoderDispatchWorkgroups,
    .endPass = gw_lib.ComputePassEncoderEnd, .releasePass = gw_lib.ComputePassEncoderRelease,
    .writeBuffer = gw_lib.QueueWriteBuffer,
    .mapped = gw_lib.BufferGetConstMappedRange, .unmap = gw_lib.BufferUnmap,
  };
  dialect->start(&api);
}

const gw_api *gw_loaded(void) { return &api; }

const char *gw_strange(void) { return dialect->strange ? dialect->strange : ""; }
void *gw_open_instance(void) { return dialect->openInstance(); }
size_t gw_adapters(void *instance, void **adapters, size_t room) { return dialect->adapters(instance, adapters, room); }

static void copy_text(char *to, size_t room, gw_string from) {
  size_t n = from.data ? from.length : 0;
  if (n > room - 1) n = room - 1;
  if (n) memcpy(to, from.data, n);
  to[n] = 0;
}

void gw_describe(void *adapter, gw_about *about) {
  gw_adapter_info info = {0};
  if (gw_lib.AdapterGetInfo(adapter, &info) != GW_STATUS_SUCCESS) return;
  copy_text(about->name, sizeof about->name, info.device);
  copy_text(about->vendor, sizeof about->vendor, info.vendor);
  copy_text(about->driver, sizeof about->driver, info.description);
  about->backend = info.backend;
  about->kind = info.kind;
  about->subgroupMin = info.subgroupMin;
  about->subgroupMax = info.subgroupMax;
  gw_lib.AdapterInfoFreeMembers(info);
  if (dialect->describeMore) dialect->describeMore(adapter, about);
}

// What a library leaves alone of a struct that it fills.
enum { UNTOUCHED = 0xA5, SPARE = 64 };

// get_limits also finds out that a library has more or fewer limits than the
// headers here: it is another version then, whatever it says.
static int get_limits(void *adapter, gw_limits *limits, gw_error *err) {
  struct { gw_limits limits; unsigned char spare[SPARE]; } room;
  memset(&room, UNTOUCHED, sizeof room);
  room.limits.next = NULL;
  const char *wrong = NULL;
  if (gw_lib.AdapterGetLimits(adapter, &room.limits) != GW_STATUS_SUCCESS)
    wrong = "the adapter does not say its limits";
  else if (room.limits.immediates == 0xA5A5A5A5u)
    wrong = "the library has fewer limits than this gemwire counts on: it is another version";
  for (size_t i = 0; i < SPARE; i++) {
    if (room.spare[i] != UNTOUCHED)
      wrong = "the library has more limits than this gemwire has room for: it is another version";
  }
  if (wrong) gw_error_set(err, GW_UNKNOWN, wrong, strlen(wrong));
  *limits = room.limits;
  return !wrong;
}

typedef struct { void *device; gw_error *err; } request;

static void on_device(uint32_t status, void *device, gw_string message, void *user, void *unused) {
  (void)unused;
  request *r = user;
  if (status == GW_STATUS_SUCCESS) r->device = device;
  else gw_error_set(r->err, GW_UNKNOWN, message.data, message.length);
}

void *gw_open_device(void *adapter, int least, uint32_t *granted, gw_error *err) {
  uint32_t has[16];
  size_t n = 0;
  for (size_t i = 0; i < dialect->featureCount && n < 16; i++) {
    gw_feature f = dialect->features[i];
    if (!gw_lib.AdapterHasFeature(adapter, f.number)) continue;
    has[n++] = f.number;
    *granted |= f.can;
  }
  gw_limits limits;
  if (!get_limits(adapter, &limits, err)) return NULL;
  // All ones mean "not asked for"; NVIDIA's driver says so of its own limit.
  if (limits.bufferSize > (uint64_t)1 << 40) limits.bufferSize = (uint64_t)1 << 40;
  gw_device_desc desc = {.features = n, .required = has, .limits = least ? NULL : &limits};
  desc.lost.mode = GW_SPONTANEOUS;
  desc.uncaptured.callback = on_uncaptured;
  if (dialect->prepareDevice) dialect->prepareDevice(&desc);
  request r = {.err = err};
  gw_lib.AdapterRequestDevice(adapter, &desc, gw_spontaneous(on_device, &r));
  if (dialect->deviceMade) dialect->deviceMade(&desc, r.device);
  return r.device;
}

void *gw_get_queue(void *device) { return gw_lib.DeviceGetQueue(device); }
int gw_get_limits(void *device, gw_limits *limits) {
  return gw_lib.DeviceGetLimits(device, limits) == GW_STATUS_SUCCESS;
}
float gw_timestamp_period(void *queue) { return dialect->timestampPeriod(queue); }

static void *new_layout(void *device, const uint32_t *kinds, size_t count) {
  gw_layout_entry entries[GW_MOST_BINDINGS] = {0};
  for (size_t i = 0; i < count; i++) {
    entries[i].binding = (uint32_t)i;
    entries[i].visibility = GW_STAGE_COMPUTE;
    entries[i].buffer.type = kinds[i];
  }
  gw_layout_desc desc = {.count = count, .entries = entries};
  return gw_lib.DeviceCreateBindGroupLayout(device, &desc);
}

void *gw_new_pipeline(void *device, const char *label, const char *wgsl, size_t length, const char *entry,
  const uint32_t *kinds, size_t count, void **layout) {
  *layout = new_layout(device, kinds, count);
  if (!*layout) return NULL;
  gw_pipeline_layout_desc layouts = {.label = text(label), .count = 1, .layouts = layout};
  void *whole = gw_lib.DeviceCreatePipelineLayout(device, &layouts);
  gw_wgsl source = {.chain = {.type = GW_STYPE_WGSL}, .code = {wgsl, length}};
  gw_labelled named = {.next = &source, .label = text(label)};
  void *module = dialect->newModule(device, &named);
  void *pipeline = NULL;
  if (whole && module) {
    gw_pipeline_desc desc = {.label = text(label), .layout = whole,
      .compute = {.module = module, .entry = text(entry)}};
    pipeline = gw_lib.DeviceCreateComputePipeline(device, &desc);
  }
  if (module) gw_lib.ShaderModuleRelease(module);
  if (whole) gw_lib.PipelineLayoutRelease(whole);
  return pipeline;
}

void *gw_new_buffer(void *device, const char *label, uint64_t usage, uint64_t size) {
  gw_buffer_desc desc = {.label = text(label), .usage = usage, .size = size};
  return gw_lib.DeviceCreateBuffer(device, &desc);
}

void *gw_new_group(void *device, void *layout, const gw_group_entry *entries, size_t count) {
  gw_group_desc desc = {.layout = layout, .count = count, .entries = entries};
  return gw_lib.DeviceCreateBindGroup(device, &desc);
}

void *gw_new_queries(void *device, uint32_t count) {
  gw_query_desc desc = {.type = GW_QUERY_TIMESTAMP, .count = count};
  return gw_lib.DeviceCreateQuerySet(device, &desc);
}

void gw_release_buffer(void *buffer) {
  gw_lib.BufferDestroy(buffer);
  gw_lib.BufferRelease(buffer);
}

void gw_release_group(void *group) { gw_lib.BindGroupRelease(group); }

void gw_release_pipeline(void *pipeline, void *layout) {
  if (pipeline) gw_lib.ComputePipelineRelease(pipeline);
  if (layout) gw_lib.BindGroupLayoutRelease(layout);
}

void gw_release_queries(void *set) { gw_lib.QuerySetRelease(set); }
void gw_release_adapter(void *adapter) { gw_lib.AdapterRelease(adapter); }
void gw_release_instance(void *instance) { gw_lib.InstanceRelease(instance); }

void gw_release_device(void *device, void *queue) {
  gw_lib.QueueRelease(queue);
  if (dialect->forgetDevice) dialect->forgetDevice(device);
  gw_lib.DeviceRelease(device);
}
