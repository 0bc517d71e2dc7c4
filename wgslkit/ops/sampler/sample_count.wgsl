// Counts how often each token stands in the window of the history that
// penalties look at: one workgroup, whenever the host changed one of the two.

//#include "sample_settings.wgsl"

@group(0) @binding(0) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read_write> memory: array<atomic<u32>>;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) lane: u32) {
  for (var i = lane; i < settings.vocab; i += THREADS) { atomicStore(&memory[MEMORY_COUNTS + i], 0u); }
  storageBarrier();
  workgroupBarrier();
  let end = atomicLoad(&memory[0]);
  for (var i = lane; i < min(settings.window, end); i += THREADS) {
    let token = atomicLoad(&memory[settings.history_at + (end - 1u - i) % settings.history]);
    if (token < settings.vocab) { atomicAdd(&memory[MEMORY_COUNTS + token], 1u); }
  }
}
