//go:build darwin || freebsd || linux

#include "loaded_wgpu.h"

static const char *const names[] = {
#define GW_NAME(result, name, takes) "wgpu" #name,
  GW_WGPU_CALLS(GW_NAME)
#undef GW_NAME
  NULL,
};

// A member for each of GW_WGPU_CALLS, in their order and nothing else.
static struct {
#define GW_MEMBER(result, name, takes) result (*name) takes;
  GW_WGPU_CALLS(GW_MEMBER)
#undef GW_MEMBER
} lib;

uint32_t gw_wgpu_version(void) { return lib.GetVersion(); }

static uint8_t poll(void *device, uint32_t wait, const void *none) {
  return (uint8_t)lib.DevicePoll(device, wait, none);
}

static void start(gw_api *api) {
  api->poll = poll;
  api->submit = lib.QueueSubmitForIndex;
  lib.SetLogLevel(0);
}

static void *open_instance(void) {
  gw_instance_extras extras = {.chain = {.type = GW_STYPE_INSTANCE_EXTRAS}, .backends = GW_BACKENDS_PRIMARY};
  gw_instance_desc desc = {.next = &extras};
  return gw_lib.CreateInstance(&desc);
}

static size_t adapters(void *instance, void **found, size_t room) {
  gw_enumerate_options options = {.backends = GW_BACKENDS_PRIMARY};
  size_t count = lib.InstanceEnumerateAdapters(instance, &options, NULL);
  if (count > room) return 0;
  return lib.InstanceEnumerateAdapters(instance, &options, found);
}

static const gw_feature features[] = {
  {GW_FEATURE_TIMESTAMPS, GW_CAN_TIMESTAMPS}, {GW_FEATURE_F16, GW_CAN_F16}, {GW_WGPU_SUBGROUPS, GW_CAN_SUBGROUPS},
  {GW_WGPU_SUBGROUP_BARRIER, 0},
};

// A counter in each loop, which new versions add, costs more than it is worth in
// shaders that are all our own; checks of bounds stay.
static void *new_module(void *device, const gw_labelled *named) {
  return lib.DeviceCreateShaderModuleTrusted(device, named, GW_CHECK_BOUNDS);
}

static float timestamp_period(void *queue) { return lib.QueueGetTimestampPeriod(queue); }

const gw_dialect gw_wgpu = {
  .names = names, .functions = &lib,
  .strange = "enable subgroups;\n", // which it has without being asked
  .features = features, .featureCount = sizeof features / sizeof *features,
  .start = start, .openInstance = open_instance, .adapters = adapters,
  .newModule = new_module, .timestampPeriod = timestamp_period,
};
