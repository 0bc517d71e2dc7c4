//go:build !js

#include "../native/native.h"

#include <string.h>

// Declared here because the binding's header is not visible to other modules.
// They follow the webgpu.h that the pinned binding ships.
typedef struct { void *querySet; uint32_t begin, end; } timestamps;
typedef struct { const void *next; const char *label; const timestamps *timestamps; } pass_desc;

enum { FILTER_VALIDATION = 0, FILTER_OUT_OF_MEMORY = 1 };
enum { MAP_READ = 1 };

extern uint32_t wgpuGetVersion(void);
extern void wgpuDevicePushErrorScope(void *, uint32_t);
extern void wgpuDevicePopErrorScope(void *, void (*)(uint32_t, const char *, void *), void *);
extern void *wgpuDeviceCreateCommandEncoder(void *, const void *);
extern uint8_t wgpuDevicePoll(void *, uint32_t, const void *);
extern void *wgpuCommandEncoderBeginComputePass(void *, const pass_desc *);
extern void wgpuCommandEncoderCopyBufferToBuffer(void *, void *, uint64_t, void *, uint64_t, uint64_t);
extern void wgpuCommandEncoderResolveQuerySet(void *, void *, uint32_t, uint32_t, void *, uint64_t);
extern void *wgpuCommandEncoderFinish(void *, const void *);
extern void wgpuCommandEncoderRelease(void *);
extern void wgpuCommandBufferRelease(void *);
extern void wgpuComputePassEncoderSetPipeline(void *, void *);
extern void wgpuComputePassEncoderSetBindGroup(void *, uint32_t, void *, size_t, const uint32_t *);
extern void wgpuComputePassEncoderDispatchWorkgroups(void *, uint32_t, uint32_t, uint32_t);
extern void wgpuComputePassEncoderEnd(void *);
extern void wgpuComputePassEncoderRelease(void *);
extern uint64_t wgpuQueueSubmitForIndex(void *, size_t, void *const *);
extern void wgpuQueueWriteBuffer(void *, void *, uint64_t, const void *, size_t);
extern void wgpuBufferMapAsync(void *, uint32_t, size_t, size_t, void (*)(uint32_t, void *), void *);
extern const void *wgpuBufferGetConstMappedRange(void *, size_t, size_t);
extern void wgpuBufferUnmap(void *);

// Its WGPUErrorType counts from 0, none, in the order of the GW_ kinds.
static void on_error(uint32_t type, const char *message, void *user) {
  gw_error_set(user, (int)type, message, message ? strlen(message) : 0);
}

static void guard_begin(void *device) {
  wgpuDevicePushErrorScope(device, FILTER_OUT_OF_MEMORY);
  wgpuDevicePushErrorScope(device, FILTER_VALIDATION);
}

static void guard_end(void *device, gw_error *err) {
  for (int i = 0; i < 2; i++) wgpuDevicePopErrorScope(device, on_error, err);
}

static void *begin_pass(void *encoder, void *querySet, uint32_t query) {
  timestamps stamps = {querySet, query, query + 1};
  pass_desc desc = {0};
  if (querySet) desc.timestamps = &stamps;
  return wgpuCommandEncoderBeginComputePass(encoder, &desc);
}

static void on_mapped(uint32_t status, void *user) {
  gw_map_state *state = user;
  state->failed = (int)status;
  state->done = 1;
}

static void map_read(void *buffer, size_t size, gw_map_state *state) {
  wgpuBufferMapAsync(buffer, MAP_READ, 0, size, on_mapped, state);
}

uint32_t gw_pinned_version(void) { return wgpuGetVersion(); }

const gw_api *gw_pinned(void) {
  static const gw_api api = {
    .guardBegin = guard_begin, .guardEnd = guard_end, .beginPass = begin_pass, .mapRead = map_read,
    .createEncoder = wgpuDeviceCreateCommandEncoder, .poll = wgpuDevicePoll,
    .copyBuffer = wgpuCommandEncoderCopyBufferToBuffer, .resolveQueries = wgpuCommandEncoderResolveQuerySet,
    .finish = wgpuCommandEncoderFinish, .releaseEncoder = wgpuCommandEncoderRelease,
    .releaseCommands = wgpuCommandBufferRelease,
    .setPipeline = wgpuComputePassEncoderSetPipeline, .setBindGroup = wgpuComputePassEncoderSetBindGroup,
    .dispatch = wgpuComputePassEncoderDispatchWorkgroups,
    .endPass = wgpuComputePassEncoderEnd, .releasePass = wgpuComputePassEncoderRelease,
    .submit = wgpuQueueSubmitForIndex, .writeBuffer = wgpuQueueWriteBuffer,
    .mapped = wgpuBufferGetConstMappedRange, .unmap = wgpuBufferUnmap,
  };
  return &api;
}
