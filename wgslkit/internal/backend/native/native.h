// The C calls behind both native backends: replaying a recorded list of
// dispatches in one crossing, mapping without keeping Go pointers in C, and error
// scopes for every kind of error (an error outside a scope aborts).
//
// What they call comes in a table, gw_api, that pinned/pinned.c fills from the library
// that is linked in, and loaded/loaded.c from one that was loaded at run time.

#ifndef GEMWIRE_NATIVE_H
#define GEMWIRE_NATIVE_H

#include <stddef.h>
#include <stdint.h>

enum { GW_DISPATCH = 0, GW_COPY = 1 };

typedef struct {
  uint32_t kind;
  uint32_t x, y, z;    // GW_DISPATCH: workgroups
  void *pipeline;      // GW_DISPATCH
  void *bindGroup;     // GW_DISPATCH
  void *src, *dst;     // GW_COPY
  uint64_t srcOffset, dstOffset, size;
} gw_step;

// What went wrong. Versions of webgpu.h number these differently.
enum { GW_OK = 0, GW_VALIDATION, GW_OUT_OF_MEMORY, GW_INTERNAL, GW_UNKNOWN, GW_DEVICE_LOST };

// gw_error holds the first error that a guarded call raised.
typedef struct {
  int type;            // GW_OK when nothing failed
  char message[1024];
} gw_error;

void gw_error_set(gw_error *err, int type, const char *message, size_t length);

typedef struct {
  volatile int done;
  int failed;          // the library's status, 0 when the range is mapped
} gw_map_state;

// gw_api is what the libraries have in common, and above it the few things that they
// spell differently.
typedef struct {
  void (*guardBegin)(void *device);
  void (*guardEnd)(void *device, gw_error *err);
  // With a query set, the pass is timed by the query and the one after it.
  void *(*beginPass)(void *encoder, void *querySet, uint32_t query);
  void (*mapRead)(void *buffer, size_t size, gw_map_state *state);

  void *(*createEncoder)(void *device, const void *none);
  // poll says whether the queue is empty. wgpu-native's is a bool of Rust in spite of its header:
  // what it returns beyond eight bits is left over from something else.
  uint8_t (*poll)(void *device, uint32_t wait, const void *none);
  // workDone tells when what has been submitted is done. Where it is NULL, poll does.
  void (*workDone)(void *queue, gw_map_state *state);
  void (*copyBuffer)(void *encoder, void *src, uint64_t srcOffset, void *dst, uint64_t dstOffset, uint64_t size);
  void (*resolveQueries)(void *encoder, void *querySet, uint32_t first, uint32_t count, void *dst, uint64_t offset);
  void *(*finish)(void *encoder, const void *none);
  void (*releaseEncoder)(void *encoder);
  void (*releaseCommands)(void *commands);
  void (*setPipeline)(void *pass, void *pipeline);
  void (*setBindGroup)(void *pass, uint32_t index, void *group, size_t offsets, const uint32_t *none);
  void (*dispatch)(void *pass, uint32_t x, uint32_t y, uint32_t z);
  void (*endPass)(void *pass);
  void (*releasePass)(void *pass);
  uint64_t (*submit)(void *queue, size_t count, void *const *commands);
  void (*writeBuffer)(void *queue, void *buffer, uint64_t offset, const void *data, size_t size);
  const void *(*mapped)(void *buffer, size_t offset, size_t size);
  void (*unmap)(void *buffer);
} gw_api;

// gw_pinned is the library that is linked in.
const gw_api *gw_pinned(void);
uint32_t gw_pinned_version(void); // a byte for each part, the greatest first

void gw_guard_begin(const gw_api *api, void *device);
void gw_guard_end(const gw_api *api, void *device, gw_error *err);

void gw_write(const gw_api *api, void *device, void *queue, void *buffer, uint64_t offset, const void *data,
  size_t size, gw_error *err);

// gw_replay encodes the steps into one command buffer and submits it. With a
// query set, each dispatch gets a pass of its own between two timestamps: a new
// library's timestamps inside a pass cost more than passes do.
uint64_t gw_replay(const gw_api *api, void *device, void *queue, const gw_step *steps, size_t count, void *querySet,
  void *queryOut, gw_error *err);

void gw_map_read(const gw_api *api, void *device, void *buffer, size_t size, gw_map_state *state, gw_error *err);
const void *gw_mapped(const gw_api *api, void *buffer, size_t size);
void gw_unmap(const gw_api *api, void *device, void *buffer, gw_error *err);

// gw_flush submits what was written and not yet submitted, and waits: until then
// the library holds on to the buffers that it was written to, and through them to
// a device that has been released.
void gw_flush(const gw_api *api, void *device, void *queue);

// gw_wait blocks until all submissions are done.
void gw_wait(const gw_api *api, void *device, void *queue);

// gw_wait_mapped blocks until a buffer is mapped.
void gw_wait_mapped(const gw_api *api, void *device, gw_map_state *state);

#endif
