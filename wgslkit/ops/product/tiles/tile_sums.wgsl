// What tiles of products of many tokens are kept as in workgroup memory, float16 where
// HALF_TILES, and a thread's sums of them, float32 always: 8 rows, in fours a and b, by 8
// tokens, in fours p and q.

//#if HALF_TILES
//#enable f16
alias Four = vec4<f16>;
//#else
alias Four = vec4<f32>;
//#end

var<private> acc: array<vec4<f32>, 16>; // [8 tokens][8 rows]

// add_four adds the products of a column with the first four tokens.
fn add_four(rows: Four, more_rows: Four, tokens: Four) {
  let a = vec4<f32>(rows);
  let b = vec4<f32>(more_rows);
  let p = vec4<f32>(tokens);
  acc[0] += a * p.x; acc[1] += b * p.x;
  acc[2] += a * p.y; acc[3] += b * p.y;
  acc[4] += a * p.z; acc[5] += b * p.z;
  acc[6] += a * p.w; acc[7] += b * p.w;
}

// add adds those with all eight.
fn add(rows: Four, more_rows: Four, tokens: Four, more_tokens: Four) {
  add_four(rows, more_rows, tokens);
  let a = vec4<f32>(rows);
  let b = vec4<f32>(more_rows);
  let q = vec4<f32>(more_tokens);
  acc[8] += a * q.x; acc[9] += b * q.x;
  acc[10] += a * q.y; acc[11] += b * q.y;
  acc[12] += a * q.z; acc[13] += b * q.z;
  acc[14] += a * q.w; acc[15] += b * q.w;
}
