package tape

import (
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// Value names what an op gives: a row of numbers for each position of a batch.
type Value int

// None stands where an op has no such value.
const None Value = -1

// Op is one step of the model.
type Op interface {
	// Run hands the op to whoever computes it.
	Run(Computer) error
	// Inputs are the values that the op reads and that a gradient may go back
	// to; Output is the one that it gives, None for the loss.
	Inputs() []Value
	Output() Value
	// Adapts is the linear whose adapter the op trains, or nil.
	Adapts() *Slot
}

// Computer computes ops: in one direction, on one device.
type Computer interface {
	Embed(*Embed) error
	PerLayerInputs(*PerLayerInputs) error
	Norm(*Norm) error
	Linear(*Linear) error
	Rotate(*Rotate) error
	Copy(*Copy) error
	Attend(*Attend) error
	Gate(*Gate) error
	Add(*Add) error
	Mixture(*Mixture) error
	Loss(*Loss) error
}

// Slot is the place of one pair of an adapter.
type Slot struct {
	adapter.Target
	Index   int // among the slots of the tape
	In, Out int
}

// Embed is out = token_embd[t]·√d, or a soft token as it is.
type Embed struct{ Out Value }

// PerLayerInputs is out = (rms(per_layer_model_proj·x / √d) + per_layer_token_embd[t]·√P) / √2.
// x is the embedding, on which nothing that is trained has any influence.
type PerLayerInputs struct{ X, Out Value }

// Norm is out = rms(x; weight) of each Size values.
type Norm struct {
	X, Out Value
	Weight *gguf.Tensor // [Size]; nil for none
	Size   int
}

// Linear is out = W·x, and + scale·B·(A·x) where it has a slot.
type Linear struct {
	X, Out Value
	W      *gguf.Tensor
	Slot   *Slot
}

// Rotate turns each head's pairs (n, n + HeadDim/2) by the position's angles.
type Rotate struct {
	X, Out         Value
	Heads, HeadDim int
	Layer          int
}

// Copy is out = x, in rows of its own.
type Copy struct{ X, Out Value }

// Attend is out = softmax(Scale·q·k)·v over what a position sees.
type Attend struct {
	Q, K, V, Out   Value
	Heads, KVHeads int
	HeadDim        int
	Scale          float32
	Window         int // 0 in global layers
}

// Gate is out = gelu(gate) ⊙ up, of up the values from UpOffset on.
type Gate struct {
	Gate, Up, Out Value
	UpOffset      int
}

// Add is out = (a + b)·Scale.
type Add struct {
	A, B, Out Value
	Scale     float32
}

// Mixture is out = Σ weight·expert(h) over the experts that the router chooses
// from x.
type Mixture struct {
	X, H, Out Value
	Experts   *arch.Experts
}

// Loss is the mean over the targets of −log softmax(softcap(output·x))[target].
type Loss struct{ X Value }

// Run hands the op to c.
func (o *Embed) Run(c Computer) error          { return c.Embed(o) }
func (o *PerLayerInputs) Run(c Computer) error { return c.PerLayerInputs(o) }
func (o *Norm) Run(c Computer) error           { return c.Norm(o) }
func (o *Linear) Run(c Computer) error         { return c.Linear(o) }
func (o *Rotate) Run(c Computer) error         { return c.Rotate(o) }
func (o *Copy) Run(c Computer) error           { return c.Copy(o) }
func (o *Attend) Run(c Computer) error         { return c.Attend(o) }
func (o *Gate) Run(c Computer) error           { return c.Gate(o) }
func (o *Add) Run(c Computer) error            { return c.Add(o) }
func (o *Mixture) Run(c Computer) error        { return c.Mixture(o) }
func (o *Loss) Run(c Computer) error           { return c.Loss(o) }

// Inputs are the values that a gradient may go back to.
func (o *Embed) Inputs() []Value          { return nil }
func (o *PerLayerInputs) Inputs() []Value { return []Value{o.X} }
func (o *Norm) Inputs() []Value           { return []Value{o.X} }
func (o *Linear) Inputs() []Value         { return []Value{o.X} }
func (o *Rotate) Inputs() []Value         { return []Value{o.X} }
func (o *Copy) Inputs() []Value           { return []Value{o.X} }
func (o *Attend) Inputs() []Value         { return []Value{o.Q, o.K, o.V} }
func (o *Gate) Inputs() []Value           { return []Value{o.Gate, o.Up} }
func (o *Add) Inputs() []Value            { return []Value{o.A, o.B} }
func (o *Mixture) Inputs() []Value        { return []Value{o.X, o.H} }
func (o *Loss) Inputs() []Value           { return []Value{o.X} }

// Output is the value that the op gives.
func (o *Embed) Output() Value          { return o.Out }
func (o *PerLayerInputs) Output() Value { return o.Out }
func (o *Norm) Output() Value           { return o.Out }
func (o *Linear) Output() Value         { return o.Out }
func (o *Rotate) Output() Value         { return o.Out }
func (o *Copy) Output() Value           { return o.Out }
func (o *Attend) Output() Value         { return o.Out }
func (o *Gate) Output() Value           { return o.Out }
func (o *Add) Output() Value            { return o.Out }
func (o *Mixture) Output() Value        { return o.Out }
func (o *Loss) Output() Value           { return None }

// Adapts is the linear's slot, and nil for everything else.
func (o *Embed) Adapts() *Slot          { return nil }
func (o *PerLayerInputs) Adapts() *Slot { return nil }
func (o *Norm) Adapts() *Slot           { return nil }
func (o *Linear) Adapts() *Slot         { return o.Slot }
func (o *Rotate) Adapts() *Slot         { return nil }
func (o *Copy) Adapts() *Slot           { return nil }
func (o *Attend) Adapts() *Slot         { return nil }
func (o *Gate) Adapts() *Slot           { return nil }
func (o *Add) Adapts() *Slot            { return nil }
func (o *Mixture) Adapts() *Slot        { return nil }
func (o *Loss) Adapts() *Slot           { return nil }
