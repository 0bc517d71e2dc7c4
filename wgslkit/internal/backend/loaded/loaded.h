// What is called of a library that is loaded at run time, wgpu-native or Dawn, and
// the parts of webgpu.h that these calls need and that both lay out alike. What
// each has of its own is in loaded_wgpu.h and loaded_dawn.h. library_test.go holds
// all three against the libraries' headers.

#ifndef GEMWIRE_LOADED_H
#define GEMWIRE_LOADED_H

#include "../native/native.h"

typedef struct { const char *data; size_t length; } gw_string;
typedef struct { const void *next; uint32_t type; } gw_chain;
typedef struct { uint64_t id; } gw_future;

typedef struct { const void *next; uint32_t mode; void *callback; void *user1, *user2; } gw_callback;
typedef struct { const void *next; void *callback; void *user1, *user2; } gw_uncaptured;

typedef struct { const void *next; size_t features; const void *required, *limits; } gw_instance_desc;

typedef struct {
  void *next;
  gw_string vendor, architecture, device, description;
  uint32_t backend, kind, vendorID, deviceID, subgroupMin, subgroupMax;
} gw_adapter_info;

typedef struct {
  void *next;
  uint32_t texture1D, texture2D, texture3D, textureLayers, bindGroups, bindGroupsPlusVertex, bindingsPerGroup;
  uint32_t dynamicUniform, dynamicStorage, sampledTextures, samplers, storageBuffers, storageTextures, uniformBuffers;
  uint64_t uniformBindingSize, storageBindingSize;
  uint32_t uniformAlignment, storageAlignment, vertexBuffers;
  uint64_t bufferSize;
  uint32_t vertexAttributes, vertexStride, interStage, colorAttachments, colorBytes;
  uint32_t workgroupStorage, workgroupInvocations, workgroupX, workgroupY, workgroupZ, workgroupsPerDimension,
    immediates;
} gw_limits;

typedef struct { const void *next; gw_string label; } gw_labelled;
typedef struct {
  const void *next;
  gw_string label;
  size_t features;
  const uint32_t *required;
  const gw_limits *limits;
  gw_labelled queue;
  gw_callback lost;
  gw_uncaptured uncaptured;
} gw_device_desc;

typedef struct { const void *next; gw_string label; uint64_t usage, size; uint32_t mapped; } gw_buffer_desc;

typedef struct { const void *next; uint32_t type, dynamic; uint64_t least; } gw_buffer_layout;
typedef struct {
  const void *next;
  uint32_t binding;
  uint64_t visibility;
  uint32_t array;
  gw_buffer_layout buffer;
  struct { const void *next; uint32_t type; } sampler;
  struct { const void *next; uint32_t type, dimension, multisampled; } texture;
  struct { const void *next; uint32_t access, format, dimension; } storage;
} gw_layout_entry;
typedef struct { const void *next; gw_string label; size_t count; const gw_layout_entry *entries; } gw_layout_desc;
typedef struct {
  const void *next;
  gw_string label;
  size_t count;
  void *const *layouts;
  uint32_t immediates;
} gw_pipeline_layout_desc;
typedef struct { gw_chain chain; gw_string code; } gw_wgsl;
typedef struct {
  const void *next;
  gw_string label;
  void *layout;
  struct { const void *next; void *module; gw_string entry; size_t constants; const void *values; } compute;
} gw_pipeline_desc;

typedef struct {
  const void *next;
  uint32_t binding;
  void *buffer;
  uint64_t offset, size;
  void *sampler, *view;
} gw_group_entry;
typedef struct {
  const void *next;
  gw_string label;
  void *layout;
  size_t count;
  const gw_group_entry *entries;
} gw_group_desc;

typedef struct { const void *next; gw_string label; uint32_t type, count; } gw_query_desc;
typedef struct { const void *next; void *set; uint32_t begin, end; } gw_stamps;
typedef struct { const void *next; gw_string label; const gw_stamps *stamps; } gw_pass_desc;

// The values of the header's enumerations.
enum {
  GW_STYPE_WGSL = 2,
  GW_SPONTANEOUS = 3, GW_STATUS_SUCCESS = 1,
  GW_FILTER_VALIDATION = 1, GW_FILTER_OUT_OF_MEMORY = 2, GW_FILTER_INTERNAL = 3,
  GW_ERROR_NONE = 1,
  GW_ADAPTER_DISCRETE = 1, GW_ADAPTER_INTEGRATED = 2, GW_ADAPTER_CPU = 3,
  GW_BACKEND_D3D12 = 4, GW_BACKEND_METAL = 5, GW_BACKEND_VULKAN = 6, GW_BACKEND_GL = 7, GW_BACKEND_GLES = 8,
  GW_BIND_UNIFORM = 2, GW_BIND_STORAGE = 3, GW_BIND_READ_ONLY = 4,
  GW_USAGE_MAP_READ = 1, GW_USAGE_COPY_SRC = 4, GW_USAGE_COPY_DST = 8,
  GW_USAGE_UNIFORM = 0x40, GW_USAGE_STORAGE = 0x80, GW_USAGE_QUERY = 0x200,
  GW_MAP_READ = 1, GW_STAGE_COMPUTE = 4, GW_QUERY_TIMESTAMP = 2,
  GW_FEATURE_TIMESTAMPS = 9, GW_FEATURE_F16 = 0xB,
};

// GW_CALLS lists the functions that both have: what each returns, its name without
// wgpu, and what it takes.
#define GW_CALLS(X) \
  X(void *, CreateInstance, (const gw_instance_desc *)) \
  X(void, InstanceRelease, (void *)) \
  X(uint32_t, AdapterGetInfo, (void *, gw_adapter_info *)) \
  X(void, AdapterInfoFreeMembers, (gw_adapter_info)) \
  X(uint32_t, AdapterHasFeature, (void *, uint32_t)) \
  X(uint32_t, AdapterGetLimits, (void *, gw_limits *)) \
  X(gw_future, AdapterRequestDevice, (void *, const gw_device_desc *, gw_callback)) \
  X(void, AdapterRelease, (void *)) \
  X(uint32_t, DeviceGetLimits, (void *, gw_limits *)) \
  X(void *, DeviceGetQueue, (void *)) \
  X(void, DevicePushErrorScope, (void *, uint32_t)) \
  X(gw_future, DevicePopErrorScope, (void *, gw_callback)) \
  X(void *, DeviceCreateBuffer, (void *, const gw_buffer_desc *)) \
  X(void *, DeviceCreateBindGroupLayout, (void *, const gw_layout_desc *)) \
  X(void *, DeviceCreatePipelineLayout, (void *, const gw_pipeline_layout_desc *)) \
  X(void *, DeviceCreateComputePipeline, (void *, const gw_pipeline_desc *)) \
  X(void *, DeviceCreateBindGroup, (void *, const gw_group_desc *)) \
  X(void *, DeviceCreateQuerySet, (void *, const gw_query_desc *)) \
  X(void *, DeviceCreateCommandEncoder, (void *, const void *)) \
  X(void, DeviceRelease, (void *)) \
  X(void *, CommandEncoderBeginComputePass, (void *, const gw_pass_desc *)) \
  X(void, CommandEncoderCopyBufferToBuffer, (void *, void *, uint64_t, void *, uint64_t, uint64_t)) \
  X(void, CommandEncoderResolveQuerySet, (void *, void *, uint32_t, uint32_t, void *, uint64_t)) \
  X(void *, CommandEncoderFinish, (void *, const void *)) \
  X(void, CommandEncoderRelease, (void *)) \
  X(void, CommandBufferRelease, (void *)) \
  X(void, ComputePassEncoderSetPipeline, (void *, void *)) \
  X(void, ComputePassEncoderSetBindGroup, (void *, uint32_t, void *, size_t, const uint32_t *)) \
  X(void, ComputePassEncoderDispatchWorkgroups, (void *, uint32_t, uint32_t, uint32_t)) \
  X(void, ComputePassEncoderEnd, (void *)) \
  X(void, ComputePassEncoderRelease, (void *)) \
  X(void, QueueWriteBuffer, (void *, void *, uint64_t, const void *, size_t)) \
  X(void, QueueRelease, (void *)) \
  X(gw_future, BufferMapAsync, (void *, uint64_t, size_t, size_t, gw_callback)) \
  X(const void *, BufferGetConstMappedRange, (void *, size_t, size_t)) \
  X(void, BufferUnmap, (void *)) \
  X(void, BufferDestroy, (void *)) \
  X(void, BufferRelease, (void *)) \
  X(void, BindGroupLayoutRelease, (void *)) \
  X(void, PipelineLayoutRelease, (void *)) \
  X(void, ShaderModuleRelease, (void *)) \
  X(void, ComputePipelineRelease, (void *)) \
  X(void, BindGroupRelease, (void *)) \
  X(void, QuerySetRelease, (void *))

// gw_library has a member for each of GW_CALLS, in their order and nothing else.
typedef struct {
#define GW_MEMBER(result, name, takes) result (*name) takes;
  GW_CALLS(GW_MEMBER)
#undef GW_MEMBER
} gw_library;

// gw_lib is the library that is called, filled once in a process.
extern gw_library gw_lib;

// What a device may have been granted, a bit each.
enum { GW_CAN_TIMESTAMPS = 1, GW_CAN_F16 = 2, GW_CAN_SUBGROUPS = 4, GW_CAN_MATRICES = 8 };

// A feature is asked for by the library's number; it grants can, or nothing by itself.
typedef struct { uint32_t number, can; } gw_feature;

// A size and type of subgroup matrices; types are GW_MATRIX.
typedef struct { uint32_t component, result, m, n, k; } gw_matrix;
enum { GW_MATRIX_F32 = 1, GW_MATRIX_F16, GW_MATRIX_U32, GW_MATRIX_I32, GW_MATRIX_U8, GW_MATRIX_I8 };

// What an adapter says of itself, cut where it is very long.
typedef struct {
  char name[256], vendor[256], driver[256];
  uint32_t backend, kind, subgroupMin, subgroupMax, matrices;
  gw_matrix matrix[64];
} gw_about;

// gw_dialect is what one library does in its own way.
typedef struct {
  const char *const *names; // of the functions that it alone has, and a NULL
  void *functions;          // where they go
  const char *strange;      // a word that its WGSL refuses, or NULL
  const gw_feature *features;
  size_t featureCount;
  // start begins to use the library, and fills what is the library's own in api.
  void (*start)(gw_api *api);
  void *(*openInstance)(void);
  size_t (*adapters)(void *instance, void **adapters, size_t room);
  void (*describeMore)(void *adapter, gw_about *about); // or NULL
  // These three may be NULL: before a device is made, after it, when it may be
  // NULL, and before it is released.
  void (*prepareDevice)(gw_device_desc *desc);
  void (*deviceMade)(gw_device_desc *desc, void *device);
  void (*forgetDevice)(void *device);
  void (*deviceFailure)(void *device, gw_error *err); // that no error scope tells, or NULL
  void *(*newModule)(void *device, const gw_labelled *named);
  float (*timestampPeriod)(void *queue); // nanoseconds a tick
} gw_dialect;

extern const gw_dialect gw_wgpu, gw_dawn;

// gw_library_names are the symbols of gw_lib's members, and a NULL.
extern const char *const gw_library_names[];

// gw_use makes gw_lib, whose members and whose dialect's have been filled, the
// library that is called, once in a process.
void gw_use(const gw_dialect *dialect);

// gw_loaded is its table.
const gw_api *gw_loaded(void);

const char *gw_strange(void); // the dialect's
void *gw_open_instance(void);
size_t gw_adapters(void *instance, void **adapters, size_t room);
void gw_describe(void *adapter, gw_about *about);

// gw_open_device asks for the features that the dialect knows and the adapter has,
// writes what they grant, and takes all of its limits, or, with least, no more than
// every device has. On an error it returns NULL.
void *gw_open_device(void *adapter, int least, uint32_t *granted, gw_error *err);
void *gw_get_queue(void *device);
int gw_get_limits(void *device, gw_limits *limits);
float gw_timestamp_period(void *queue);

// More bindings than WebGPU allows in a group.
enum { GW_MOST_BINDINGS = 32 };

// gw_new_pipeline makes a compute pipeline and the layout of its bind group; each
// kind is one of GW_BIND. Errors go to the guard that the caller has set.
void *gw_new_pipeline(void *device, const char *label, const char *wgsl, size_t length, const char *entry,
  const uint32_t *kinds, size_t count, void **layout);

void *gw_new_buffer(void *device, const char *label, uint64_t usage, uint64_t size);
void *gw_new_group(void *device, void *layout, const gw_group_entry *entries, size_t count);
void *gw_new_queries(void *device, uint32_t count);

void gw_release_buffer(void *buffer);
void gw_release_group(void *group);
void gw_release_pipeline(void *pipeline, void *layout);
void gw_release_queries(void *set);
void gw_release_adapter(void *adapter);
void gw_release_instance(void *instance);
void gw_release_device(void *device, void *queue);

// What the dialects share.
gw_callback gw_spontaneous(void *callback, void *user);
void gw_on_error(uint32_t status, uint32_t type, gw_string message, void *user, void *unused);

#endif
