// What Dawn has of its own: calls, and parts of its webgpu.h, as they have been since
// March 2026 (testdata/dawn/webgpu.h).

#ifndef GEMWIRE_LOADED_DAWN_H
#define GEMWIRE_LOADED_DAWN_H

#include "loaded.h"

typedef struct { const void *next; uint32_t level, power, fallback, backend; void *surface; } gw_dawn_adapter_options;
typedef struct {
  gw_chain chain;
  size_t enabled;
  const char *const *enable;
  size_t disabled;
  const char *const *disable;
} gw_dawn_toggles;
typedef struct { gw_chain chain; size_t count; const gw_matrix *configs; } gw_dawn_matrices;

enum {
  GW_STYPE_DAWN_TOGGLES = 0x5000A, GW_STYPE_DAWN_MATRICES = 0x5003B,
  GW_DAWN_CORE = 2, GW_DAWN_LOST = 1, GW_DAWN_LOW_POWER = 1, GW_DAWN_HIGH_POWER = 2,
  GW_DAWN_THREADS = 0x50004, GW_DAWN_SUBGROUPS = 0x12, GW_DAWN_MATRICES = 0x50034,
};

// The first is called by nobody: those older than March 2026 lack it, and number
// their features otherwise.
#define GW_DAWN_CALLS(X) \
  X(void, ComputePassEncoderSetResourceTable, (void *, void *)) \
  X(void, InstanceProcessEvents, (void *)) \
  X(gw_future, InstanceRequestAdapter, (void *, const gw_dawn_adapter_options *, gw_callback)) \
  X(void, AdapterPropertiesSubgroupMatrixConfigsFreeMembers, (gw_dawn_matrices)) \
  X(void *, DeviceCreateShaderModule, (void *, const gw_labelled *)) \
  X(void *, DeviceGetAdapter, (void *)) \
  X(void *, AdapterGetInstance, (void *)) \
  X(void, DeviceForceLoss, (void *, uint32_t, gw_string)) \
  X(void, QueueSubmit, (void *, size_t, void *const *)) \
  X(gw_future, QueueOnSubmittedWorkDone, (void *, gw_callback))

// gw_dawn_lose has a device be lost, for tests.
void gw_dawn_lose(void *device);

#endif
