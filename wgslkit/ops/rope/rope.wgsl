// rope_turn is (cos, sin) of pair n's angle at a position.
//
// rope_table[n] is the fraction of a full turn that one position adds, in
// units of 2⁻³² (x) and 2⁻⁴⁸ (y). Whole turns overflow out of the integer
// product, so the angle is exact at any position; sin and cos are polynomials
// because a GPU's own are only good to about 2⁻¹¹.
//
// The includer binds `rope_table: array<vec2<u32>>`.

const ROPE_RADIANS: f32 = 1.4629180792671596e-9; // 2π / 2³²

fn rope_turn(position: u32, n: u32) -> vec2<f32> {
  let step = rope_table[n];
  let low = (position >> 16u) * step.y + (((position & 0xffffu) * step.y) >> 16u);
  let turn = position * step.x + low;
  // The nearest quarter turn, and what is left: at most an eighth.
  let quarter = (turn + 0x20000000u) >> 30u;
  let x = f32(bitcast<i32>(turn - (quarter << 30u))) * ROPE_RADIANS;
  let x2 = x * x;
  let s = x * (1.0 + x2 * (-1.0 / 6.0 + x2 * (1.0 / 120.0 + x2 * (-1.0 / 5040.0 + x2 / 362880.0))));
  let c = 1.0 + x2 * (-0.5 + x2 * (1.0 / 24.0 + x2 * (-1.0 / 720.0 + x2 / 40320.0)));
  switch (quarter) {
    case 0u: { return vec2<f32>(c, s); }
    case 1u: { return vec2<f32>(-s, c); }
    case 2u: { return vec2<f32>(-c, -s); }
    default: { return vec2<f32>(s, -c); }
  }
}
