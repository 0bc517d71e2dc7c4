//go:build !js

#include "native.h"

#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

void gw_error_set(gw_error *err, int type, const char *message, size_t length) {
  if (type == GW_OK || err->type != GW_OK) return;
  err->type = type;
  if (!message) length = 0;
  if (length > sizeof err->message - 1) length = sizeof err->message - 1;
  if (length) memcpy(err->message, message, length);
  err->message[length] = 0;
}

void gw_guard_begin(const gw_api *api, void *device) { api->guardBegin(device); }

void gw_guard_end(const gw_api *api, void *device, gw_error *err) { api->guardEnd(device, err); }

void gw_write(const gw_api *api, void *device, void *queue, void *buffer, uint64_t offset, const void *data,
  size_t size, gw_error *err) {
  api->guardBegin(device);
  api->writeBuffer(queue, buffer, offset, data, size);
  api->guardEnd(device, err);
}

static void end_pass(const gw_api *api, void **pass) {
  if (!*pass) return;
  api->endPass(*pass);
  api->releasePass(*pass);
  *pass = NULL;
}

uint64_t gw_replay(const gw_api *api, void *device, void *queue, const gw_step *steps, size_t count, void *querySet,
  void *queryOut, gw_error *err) {
  api->guardBegin(device);
  void *encoder = api->createEncoder(device, NULL);
  void *pass = NULL;
  uint32_t query = 0;
  for (size_t i = 0; i < count; i++) {
    const gw_step *s = &steps[i];
    if (s->kind == GW_COPY) {
      end_pass(api, &pass);
      api->copyBuffer(encoder, s->src, s->srcOffset, s->dst, s->dstOffset, s->size);
      continue;
    }
    if (s->x == 0 || s->y == 0 || s->z == 0) continue;
    if (querySet) end_pass(api, &pass);
    if (!pass) {
      pass = api->beginPass(encoder, querySet, query);
      query += 2;
    }
    api->setPipeline(pass, s->pipeline);
    api->setBindGroup(pass, 0, s->bindGroup, 0, NULL);
    api->dispatch(pass, s->x, s->y, s->z);
  }
  end_pass(api, &pass);
  if (querySet && query) api->resolveQueries(encoder, querySet, 0, query, queryOut, 0);
  void *commands = api->finish(encoder, NULL);
  api->guardEnd(device, err);
  uint64_t index = 0;
  // Submitting what was not encoded well would end the process.
  if (commands && err->type == GW_OK) {
    api->guardBegin(device);
    index = api->submit(queue, 1, &commands);
    api->guardEnd(device, err);
  }
  if (commands) api->releaseCommands(commands);
  api->releaseEncoder(encoder);
  return index;
}

void gw_map_read(const gw_api *api, void *device, void *buffer, size_t size, gw_map_state *state, gw_error *err) {
  api->guardBegin(device);
  api->mapRead(buffer, size, state);
  api->guardEnd(device, err);
}

const void *gw_mapped(const gw_api *api, void *buffer, size_t size) { return api->mapped(buffer, 0, size); }

void gw_unmap(const gw_api *api, void *device, void *buffer, gw_error *err) {
  api->guardBegin(device);
  api->unmap(buffer);
  api->guardEnd(device, err);
}

#ifdef _WIN32
// The system's own clock: clock_gettime would want a thread library there.
static int64_t now(void) {
  LARGE_INTEGER ticks, second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&second);
  return (int64_t)((double)ticks.QuadPart / (double)second.QuadPart * 1e9);
}

static void pause_for(int64_t nanoseconds) {
  if (nanoseconds < 1000000) SwitchToThread();
  else Sleep((DWORD)(nanoseconds / 1000000));
}
#else
static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_for(int64_t nanoseconds) {
  struct timespec t = {0, (long)nanoseconds};
  nanosleep(&t, NULL);
}
#endif

// nap sleeps for about a 32nd of the time waited so far, from 20 µs to 1 ms.
static void nap(int64_t since) {
  int64_t length = (now() - since) / 32;
  if (length < 20000) length = 20000;
  if (length > 1000000) length = 1000000;
  pause_for(length);
}

// The pinned library's blocking poll gives up after five seconds and then frees
// the commands as if they were done, and any library's keeps others from
// submitting; so these ask, without blocking, until it is so.
void gw_wait(const gw_api *api, void *device, void *queue) {
  if (api->workDone) {
    gw_map_state state = {0};
    api->workDone(queue, &state);
    gw_wait_mapped(api, device, &state);
    return;
  }
  int64_t since = now();
  while (!api->poll(device, 0, NULL)) nap(since);
}

void gw_flush(const gw_api *api, void *device, void *queue) {
  gw_error ignored = {GW_OK, ""};
  gw_guard_begin(api, device);
  api->submit(queue, 0, NULL);
  gw_guard_end(api, device, &ignored);
  gw_wait(api, device, queue);
}

void gw_wait_mapped(const gw_api *api, void *device, gw_map_state *state) {
  int64_t since = now();
  for (;;) {
    api->poll(device, 0, NULL);
    if (state->done) return;
    nap(since);
  }
}
