// What wgpu-native has of its own: calls, and parts of its webgpu.h and wgpu.h.

#ifndef GEMWIRE_LOADED_WGPU_H
#define GEMWIRE_LOADED_WGPU_H

#include "loaded.h"

typedef struct {
  gw_chain chain;
  uint64_t backends, flags;
  uint32_t compiler, gles, fences;
  gw_string dxc;
  uint32_t model, swapchain;
  const void *budgets[2];
  uint64_t display[3];
} gw_instance_extras;
typedef struct { const void *next; uint64_t backends; } gw_enumerate_options;

enum {
  GW_STYPE_INSTANCE_EXTRAS = 0x30004,
  GW_WGPU_SUBGROUPS = 0x30021, GW_WGPU_SUBGROUP_BARRIER = 0x30023,
  GW_BACKENDS_PRIMARY = 1 | 4 | 8 | 32, GW_CHECK_BOUNDS = 1,
};

#define GW_WGPU_CALLS(X) \
  X(uint32_t, GetVersion, (void)) \
  X(void, SetLogLevel, (uint32_t)) \
  X(size_t, InstanceEnumerateAdapters, (void *, const gw_enumerate_options *, void **)) \
  X(void *, DeviceCreateShaderModuleTrusted, (void *, const gw_labelled *, uint64_t)) \
  X(uint32_t, DevicePoll, (void *, uint32_t, const void *)) \
  X(uint64_t, QueueSubmitForIndex, (void *, size_t, void *const *)) \
  X(float, QueueGetTimestampPeriod, (void *))

// gw_wgpu_version is the version of what has been loaded, a byte for each part.
uint32_t gw_wgpu_version(void);

#endif
