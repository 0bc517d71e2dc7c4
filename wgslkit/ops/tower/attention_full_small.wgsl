// Attention in which every token sees every token of the program:
//   s[j] = q[t] · k[j],  out[t] = Σ_j exp(s[j] − m)·v[j] / Σ_j exp(s[j] − m),  m = max s
// q, keys and values come from grid_heads.wgsl.
//
// For processors that pay for every load, for barriers and for workgroup memory:
// there is none of these last. A thread takes four tokens of one head and walks
// over all keys, eight at a time, so that four tokens share what is read of a key
// and eight keys what is read of a token. What has been summed so far stands in
// out, so that one kernel does for every size of a head.
//
// Grid: x = heads, y = tiles of 4 · THREADS tokens.

struct Params { heads: u32, slots: u32, columns: u32, fours: u32 } // of a head: vectors of 8, of 4

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> values: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> params: Params;

//#if QUICK_HALVES
//#include "record/halves.wgsl"
fn four_halves(a: u32, b: u32) -> vec4<f32> {
  return vec4<f32>(low_half(i32(a)), high_half(i32(a)), low_half(i32(b)), high_half(i32(b)));
}
//#else
fn four_halves(a: u32, b: u32) -> vec4<f32> { return vec4<f32>(unpack2x16float(a), unpack2x16float(b)); }
//#end

const NOTHING: f32 = -1e30;

var<private> cells: array<vec4<f32>, 8>;   // of a column, two for each token: queries, or sums

// scores is the four tokens' products over a column of a key.
fn scores(key: vec4<u32>) -> vec4<f32> {
  let a = four_halves(key.x, key.y);
  let b = four_halves(key.z, key.w);
  return vec4<f32>(
    dot(cells[0], a) + dot(cells[1], b), dot(cells[2], a) + dot(cells[3], b),
    dot(cells[4], a) + dot(cells[5], b), dot(cells[6], a) + dot(cells[7], b));
}

// add adds a column of a value with the four tokens' weights.
fn add(value: vec4<u32>, weights: vec4<f32>) {
  let a = four_halves(value.x, value.y);
  let b = four_halves(value.z, value.w);
  cells[0] += weights.x * a; cells[1] += weights.x * b;
  cells[2] += weights.y * a; cells[3] += weights.y * b;
  cells[4] += weights.z * a; cells[5] += weights.z * b;
  cells[6] += weights.w * a; cells[7] += weights.w * b;
}

// or_nothing is a key's scores, of none for keys that do not exist.
fn or_nothing(s: vec4<f32>, key: u32, last: u32) -> vec4<f32> { return select(s, vec4<f32>(NOTHING), key > last); }

// place is where vector `four` of a token's sum stands.
fn place(token: u32, head: u32, four: u32) -> u32 { return (token * params.heads + head) * params.fours + four; }

// summed is what stands there; tokens and columns that do not exist have anything.
fn summed(token: u32, last: u32, head: u32, four: u32) -> vec4<f32> {
  return out[place(min(token, last), head, min(four, params.fours - 1u))];
}

fn write(token: u32, last: u32, head: u32, four: u32, v: vec4<f32>) {
  if (token <= last && four < params.fours) { out[place(token, head, four)] = v; }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let last = state[1] - 1u;
  let head = group.x;
  let token = (group.y * THREADS + lane) * 4u;
  if (token > last) { return; }
  let row = params.heads * params.columns * 2u;
  let at0 = token * row + head * params.columns * 2u;
  let at1 = min(token + 1u, last) * row + head * params.columns * 2u;
  let at2 = min(token + 2u, last) * row + head * params.columns * 2u;
  let at3 = min(token + 3u, last) * row + head * params.columns * 2u;

  var top = vec4<f32>(NOTHING); // of the four tokens
  var total = vec4<f32>();
  for (var j = 0u; j <= last; j += 8u) {
    var s0 = vec4<f32>(); var s1 = vec4<f32>(); var s2 = vec4<f32>(); var s3 = vec4<f32>();
    var s4 = vec4<f32>(); var s5 = vec4<f32>(); var s6 = vec4<f32>(); var s7 = vec4<f32>();
    for (var c = 0u; c < params.columns; c++) {
      cells[0] = q[at0 + 2u * c]; cells[1] = q[at0 + 2u * c + 1u];
      cells[2] = q[at1 + 2u * c]; cells[3] = q[at1 + 2u * c + 1u];
      cells[4] = q[at2 + 2u * c]; cells[5] = q[at2 + 2u * c + 1u];
      cells[6] = q[at3 + 2u * c]; cells[7] = q[at3 + 2u * c + 1u];
      let k = (head * params.columns + c) * params.slots;
      s0 += scores(keys[k + j]);
      s1 += scores(keys[k + min(j + 1u, last)]);
      s2 += scores(keys[k + min(j + 2u, last)]);
      s3 += scores(keys[k + min(j + 3u, last)]);
      s4 += scores(keys[k + min(j + 4u, last)]);
      s5 += scores(keys[k + min(j + 5u, last)]);
      s6 += scores(keys[k + min(j + 6u, last)]);
      s7 += scores(keys[k + min(j + 7u, last)]);
    }
    s1 = or_nothing(s1, j + 1u, last); s2 = or_nothing(s2, j + 2u, last); s3 = or_nothing(s3, j + 3u, last);
    s4 = or_nothing(s4, j + 4u, last); s5 = or_nothing(s5, j + 5u, last); s6 = or_nothing(s6, j + 6u, last);
    s7 = or_nothing(s7, j + 7u, last);
    let new_top = max(top, max(max(max(s0, s1), max(s2, s3)), max(max(s4, s5), max(s6, s7))));
    let fade = exp(top - new_top);
    top = new_top;
    s0 = exp(s0 - top); s1 = exp(s1 - top); s2 = exp(s2 - top); s3 = exp(s3 - top);
    s4 = exp(s4 - top); s5 = exp(s5 - top); s6 = exp(s6 - top); s7 = exp(s7 - top);
    total = total * fade + (((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)));
    // The first keys find nothing in out that counts; the last ones leave the mean.
    let share = select(vec4<f32>(1.0), 1.0 / total, j + 8u > last);
    for (var c = 0u; c < params.columns; c++) {
      cells[0] = vec4<f32>(); cells[1] = cells[0]; cells[2] = cells[0]; cells[3] = cells[0];
      cells[4] = cells[0]; cells[5] = cells[0]; cells[6] = cells[0]; cells[7] = cells[0];
      if (j > 0u) {
        cells[0] = summed(token, last, head, 2u * c) * fade.x;
        cells[1] = summed(token, last, head, 2u * c + 1u) * fade.x;
        cells[2] = summed(token + 1u, last, head, 2u * c) * fade.y;
        cells[3] = summed(token + 1u, last, head, 2u * c + 1u) * fade.y;
        cells[4] = summed(token + 2u, last, head, 2u * c) * fade.z;
        cells[5] = summed(token + 2u, last, head, 2u * c + 1u) * fade.z;
        cells[6] = summed(token + 3u, last, head, 2u * c) * fade.w;
        cells[7] = summed(token + 3u, last, head, 2u * c + 1u) * fade.w;
      }
      let v = head * params.slots * params.columns + c;
      add(values[v + j * params.columns], s0);
      add(values[v + min(j + 1u, last) * params.columns], s1);
      add(values[v + min(j + 2u, last) * params.columns], s2);
      add(values[v + min(j + 3u, last) * params.columns], s3);
      add(values[v + min(j + 4u, last) * params.columns], s4);
      add(values[v + min(j + 5u, last) * params.columns], s5);
      add(values[v + min(j + 6u, last) * params.columns], s6);
      add(values[v + min(j + 7u, last) * params.columns], s7);
      write(token, last, head, 2u * c, cells[0] * share.x); write(token, last, head, 2u * c + 1u, cells[1] * share.x);
      write(token + 1u, last, head, 2u * c, cells[2] * share.y);
      write(token + 1u, last, head, 2u * c + 1u, cells[3] * share.y);
      write(token + 2u, last, head, 2u * c, cells[4] * share.z);
      write(token + 2u, last, head, 2u * c + 1u, cells[5] * share.z);
      write(token + 3u, last, head, 2u * c, cells[6] * share.w);
      write(token + 3u, last, head, 2u * c + 1u, cells[7] * share.w);
    }
  }
}
