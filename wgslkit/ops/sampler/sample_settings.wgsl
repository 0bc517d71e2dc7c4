// What the kernels of sampling share: the settings that the host writes, and
// where things stand in the sampler's buffers (all of them 32-bit words).
//
//   scratch   TOTALS, then BINS words each of count, mass (low, high) and raw
//             count, then 4 words for each workgroup of sample_scan, then 3 ·
//             BINS for sample_choose
//   list      2 lengths, padding, then entries of 3 words: order, token,
//             probability; from settings.raw_list on those of the raw logits
//   memory    the position after the history's last token, padding, how often
//             each token stands in the window, the history, the results

struct Settings {
  vocab: u32,
  chunk: u32,       // tokens of a workgroup
  groups: u32,      // workgroups
  greedy: u32,
  temperature: f32,
  bin_scale: f32,   // bins in a unit of logits, a power of two
  bin_limit: f32,   // logits are clamped to ± this before they are binned
  top_k: u32,       // 0 keeps all
  top_p: u32,       // in 2⁻³², 0 keeps all
  min_p: f32,
  repetition: f32,
  presence: f32,
  frequency: f32,
  window: u32,      // tokens that count as seen, 0 for no penalties
  biased: u32,
  seed_low: u32,
  seed_high: u32,
  logprobs: u32,
  history: u32,     // tokens that the ring holds
  results: u32,     // results that are kept
  result_words: u32,
  history_at: u32,  // in memory
  results_at: u32,  // in memory
  raw_list: u32,    // in list
  raw_scale: f32,   // bin_scale for the raw logits
  raw_limit: f32,
}

// Words of scratch. BINS, a power of two and at least ROOM of sample_choose, is
// the size of the histogram.
const MIN_P_MASS: u32 = 0u; // mass of the tokens that min-p keeps, low and high
const RAW_MASS: u32 = 2u;
const BEST_KEY: u32 = 4u;
const RAW_KEY: u32 = 5u;
const BIN_COUNT: u32 = 16u;
const BIN_LOW: u32 = BIN_COUNT + BINS;
const BIN_HIGH: u32 = BIN_LOW + BINS;
const RAW_COUNT: u32 = BIN_HIGH + BINS;
const PARTIALS: u32 = RAW_COUNT + BINS;

const LIST_ENTRIES: u32 = 16u;
const MEMORY_COUNTS: u32 = 16u;
const RESULT_TOP: u32 = 8u; // words of a result before its list
