// What follows a product: activations by number (ops.Activation), softcap.

// tanh of large values overflows on some GPUs.
fn bounded_tanh(x: f32) -> f32 { return tanh(clamp(x, -16.0, 16.0)); }

fn activate(act: u32, x: f32) -> f32 {
  switch act {
    case 1u: { return 0.5 * x * (1.0 + bounded_tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }
    case 2u: { return x / (1.0 + exp(-x)); }
    default: { return x; }
  }
}

fn softcapped(x: f32, cap: f32) -> f32 {
  if (cap == 0.0) { return x; }
  return cap * bounded_tanh(x / cap);
}
