// The few C calls that the Go binding cannot make well: replaying a recorded
// list of dispatches in one crossing, mapping without keeping Go pointers in C,
// and error scopes for every kind of error (an error outside a scope aborts).

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

// gw_error holds the first error that a guarded call raised.
typedef struct {
  int type;            // WGPUErrorType, 0 when nothing failed
  char message[1024];
} gw_error;

typedef struct {
  volatile int done;
  int status;          // WGPUBufferMapAsyncStatus
} gw_map_state;

void gw_guard_begin(void *device);
void gw_guard_end(void *device, gw_error *err);

void gw_write(void *device, void *queue, void *buffer, uint64_t offset, const void *data, size_t size, gw_error *err);

// gw_replay encodes the steps into one command buffer and submits it. With a
// query set, each dispatch gets a pass of its own between two timestamps.
uint64_t gw_replay(void *device, void *queue, const gw_step *steps, size_t count, void *querySet, void *queryOut, gw_error *err);

void gw_map_read(void *device, void *buffer, size_t size, gw_map_state *state, gw_error *err);
const void *gw_mapped(void *buffer, size_t size);
void gw_unmap(void *device, void *buffer, gw_error *err);

// gw_wait blocks until all submissions are done.
void gw_wait(void *device);

// gw_wait_mapped blocks until a buffer is mapped.
void gw_wait_mapped(void *device, gw_map_state *state);

#endif
