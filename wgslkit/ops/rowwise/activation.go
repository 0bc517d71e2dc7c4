package rowwise

// Activation is an elementwise function, as activation.wgsl numbers them.
type Activation int

// The activations.
const (
	None Activation = iota
	// GELU is 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
	GELU
	// SiLU is x / (1 + e^−x).
	SiLU
)
