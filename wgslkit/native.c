//go:build !js

#include "native.h"

#include <string.h>
#include <time.h>

// Declared here because the binding's header is not visible to other modules.
// They follow the webgpu.h that the pinned binding ships.
typedef struct { const void *next; const char *label; } gw_labelled;
typedef struct { void *querySet; uint32_t begin, end; } gw_timestamps;
typedef struct { const void *next; const char *label; const gw_timestamps *timestamps; } gw_pass_desc;

enum { FILTER_VALIDATION = 0, FILTER_OUT_OF_MEMORY = 1 };
enum { MAP_READ = 1 };

extern void wgpuDevicePushErrorScope(void *, uint32_t);
extern void wgpuDevicePopErrorScope(void *, void (*)(uint32_t, const char *, void *), void *);
extern void *wgpuDeviceCreateCommandEncoder(void *, const gw_labelled *);
extern uint32_t wgpuDevicePoll(void *, uint32_t, const void *);
extern void *wgpuCommandEncoderBeginComputePass(void *, const gw_pass_desc *);
extern void wgpuCommandEncoderCopyBufferToBuffer(void *, void *, uint64_t, void *, uint64_t, uint64_t);
extern void wgpuCommandEncoderResolveQuerySet(void *, void *, uint32_t, uint32_t, void *, uint64_t);
extern void *wgpuCommandEncoderFinish(void *, const gw_labelled *);
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

static void on_error(uint32_t type, const char *message, void *user) {
  gw_error *err = user;
  if (type == 0 || err->type != 0) return;
  err->type = (int)type;
  strncpy(err->message, message ? message : "", sizeof err->message - 1);
  err->message[sizeof err->message - 1] = 0;
}

void gw_guard_begin(void *device) {
  wgpuDevicePushErrorScope(device, FILTER_OUT_OF_MEMORY);
  wgpuDevicePushErrorScope(device, FILTER_VALIDATION);
}

void gw_guard_end(void *device, gw_error *err) {
  for (int i = 0; i < 2; i++) wgpuDevicePopErrorScope(device, on_error, err);
}

void gw_write(void *device, void *queue, void *buffer, uint64_t offset, const void *data, size_t size, gw_error *err) {
  gw_guard_begin(device);
  wgpuQueueWriteBuffer(queue, buffer, offset, data, size);
  gw_guard_end(device, err);
}

static void *begin_pass(void *encoder, void *querySet, uint32_t query) {
  gw_timestamps stamps = {querySet, query, query + 1};
  gw_pass_desc desc = {0};
  if (querySet) desc.timestamps = &stamps;
  return wgpuCommandEncoderBeginComputePass(encoder, &desc);
}

static void end_pass(void **pass) {
  if (!*pass) return;
  wgpuComputePassEncoderEnd(*pass);
  wgpuComputePassEncoderRelease(*pass);
  *pass = NULL;
}

uint64_t gw_replay(void *device, void *queue, const gw_step *steps, size_t count, void *querySet, void *queryOut, gw_error *err) {
  gw_guard_begin(device);
  gw_labelled none = {0};
  void *encoder = wgpuDeviceCreateCommandEncoder(device, &none);
  void *pass = NULL;
  uint32_t query = 0;
  for (size_t i = 0; i < count; i++) {
    const gw_step *s = &steps[i];
    if (s->kind == GW_COPY) {
      end_pass(&pass);
      wgpuCommandEncoderCopyBufferToBuffer(encoder, s->src, s->srcOffset, s->dst, s->dstOffset, s->size);
      continue;
    }
    if (s->x == 0 || s->y == 0 || s->z == 0) continue;
    if (querySet) end_pass(&pass);
    if (!pass) {
      pass = begin_pass(encoder, querySet, query);
      query += 2;
    }
    wgpuComputePassEncoderSetPipeline(pass, s->pipeline);
    wgpuComputePassEncoderSetBindGroup(pass, 0, s->bindGroup, 0, NULL);
    wgpuComputePassEncoderDispatchWorkgroups(pass, s->x, s->y, s->z);
  }
  end_pass(&pass);
  if (querySet && query) wgpuCommandEncoderResolveQuerySet(encoder, querySet, 0, query, queryOut, 0);
  void *commands = wgpuCommandEncoderFinish(encoder, &none);
  uint64_t index = 0;
  if (commands) {
    index = wgpuQueueSubmitForIndex(queue, 1, &commands);
    wgpuCommandBufferRelease(commands);
  }
  wgpuCommandEncoderRelease(encoder);
  gw_guard_end(device, err);
  return index;
}

static void on_mapped(uint32_t status, void *user) {
  gw_map_state *state = user;
  state->status = (int)status;
  state->done = 1;
}

void gw_map_read(void *device, void *buffer, size_t size, gw_map_state *state, gw_error *err) {
  gw_guard_begin(device);
  wgpuBufferMapAsync(buffer, MAP_READ, 0, size, on_mapped, state);
  gw_guard_end(device, err);
}

const void *gw_mapped(void *buffer, size_t size) { return wgpuBufferGetConstMappedRange(buffer, 0, size); }

void gw_unmap(void *device, void *buffer, gw_error *err) {
  gw_guard_begin(device);
  wgpuBufferUnmap(buffer);
  gw_guard_end(device, err);
}

// nap sleeps for about a 32nd of the time waited so far, from 20 µs to 1 ms.
static void nap(const struct timespec *since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t waited = (int64_t)(now.tv_sec - since->tv_sec) * 1000000000 + (now.tv_nsec - since->tv_nsec);
  int64_t length = waited / 32;
  if (length < 20000) length = 20000;
  if (length > 1000000) length = 1000000;
  struct timespec pause = {0, (long)length};
  nanosleep(&pause, NULL);
}

// A blocking poll gives up after five seconds and then frees the commands as
// if they were done; so these ask, without blocking, until it is so.
void gw_wait(void *device) {
  struct timespec since;
  clock_gettime(CLOCK_MONOTONIC, &since);
  while (!wgpuDevicePoll(device, 0, NULL)) nap(&since);
}

void gw_wait_mapped(void *device, gw_map_state *state) {
  struct timespec since;
  clock_gettime(CLOCK_MONOTONIC, &since);
  for (;;) {
    wgpuDevicePoll(device, 0, NULL);
    if (state->done) return;
    nap(&since);
  }
}
