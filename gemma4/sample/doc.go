// Package sample picks the next token from a model's logits.
//
// # The algorithm
//
// It is written down here to the last constant, because the GPU kernel follows
// the same steps. Start from the logits after the softcap, one for each token.
//
//  1. Penalties. The tokens seen are those among the last RepeatLastN of the
//     session, prompt and answer alike; c is how often one stands there. For each
//     of them, once: l = l / r if l > 0, else l · r (r the repetition penalty);
//     then l = l − presence − frequency · c.
//     DRY, where asked for: of each place in the last DryPenaltyLastN whose tokens are also
//     the session's last n, the token that comes behind it is lowered by
//     multiplier · base^(n − allowed length), where n is at least the allowed length; of
//     several n the largest. n ends at a sequence breaker, and a breaker of one token is
//     not lowered.
//  2. Bias. l = l + bias for each token that has one; −Inf forbids a token. So does
//     a mask, where the answer is held to a form.
//  3. Greedy. At temperature 0 the largest l wins, the lowest id among equals,
//     and nothing below happens.
//  4. Temperature. l = (l − the largest l) / temperature.
//     Top-n-sigma comes first: what is more than n standard deviations of all logits
//     above −Inf below the largest goes. With a dynamic temperature, the division is left
//     to step 9.
//  5. Top-k. The k largest l stay; of equals the lower id.
//  6. Softmax over what stays: p = exp(l) / Σ.
//     Typical-p: with H = −Σ p·ln p, in ascending order of |−ln p − H| the shortest run
//     stays whose sum exceeds typical-p.
//  7. Top-p. In descending order of p (of equals the lower id first) the shortest
//     run stays whose sum is at least top-p. There is always one.
//  8. Min-p. What is below min-p · (the largest p) goes.
//     XTC: where Uniform(seed, position + 2³¹) is not above its probability, and its
//     threshold not above 0.5, all go whose share of what stays is at least the threshold,
//     but for the least probable of them.
//     Dynamic temperature: with e the entropy of the n tokens that stay, divided by ln n,
//     their logits are divided by low + (high − low) · e^exponent, where low and high are
//     temperature ∓ range, at least 0.
//  9. Draw. With u = Uniform(seed, position) walk down the same order, summing
//     p; the first token whose sum exceeds u · (the sum of all p that stay) is
//     chosen; should rounding leave none, the last.
//
// The order of 4, 5, 7 and 8 is that of Hugging Face transformers, from which
// Gemma's recommended settings come; llama.cpp applies the temperature last. DRY,
// top-n-sigma, typical-p, XTC and the dynamic temperature are llama.cpp's, each in its
// place there. The GPU has no kernels for them: Params.OnHost names those in use.
//
// # The random number
//
// Uniform(seed, position) is a hash and no generator with a state: a token
// depends on nothing but the seed, its position in the session and the logits, so
// that going back and generating again gives the same text. All arithmetic is on
// unsigned 32-bit integers that wrap, which WGSL has too:
//
//	mix(x):  x ^= x >> 16;  x *= 0x21f0aaad
//	         x ^= x >> 15;  x *= 0x735a2d97
//	         x ^= x >> 15
//	h = mix(low half of seed  + 0x9e3779b9)
//	h = mix(high half of seed + h)
//	h = mix(position          + h)
//	u = (h >> 8) / 2²⁴        exact in float32, 0 ≤ u < 1
//
// mix's multipliers and shifts are those of a search for 32-bit hashes with
// little bias (Wellons, Prospecting for Hash Functions, 2018, and its follow-up);
// 0x9e3779b9 is 2³² divided by the golden ratio and keeps seed 0 from hashing to 0.
//
// # Log-probabilities
//
// They are natural logarithms and always of the model's own distribution: the
// softmax of the logits as they came, before penalties, bias and temperature.
//
// Read wgslkit/sampling for the settings, sampler.go for the steps in order, and
// random.go for the hash.
package sample
