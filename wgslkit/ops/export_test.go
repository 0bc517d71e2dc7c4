package ops

import "github.com/gemwire/gemwire/wgslkit"

// Scratch is the buffers that only the program uses, by name and size.
func (r *Recording) Scratch() map[string]*wgslkit.Buffer { return r.scratch }

// TokenAttention is the kernel for one token's attention, and whether it is merged by
// the workgroup that ends last.
func (k *Kit) TokenAttention(o Attention) (wgsl string, last bool, err error) {
	plan := k.planToken(o, 1)
	v := o.Cache.into(k.tuning.Attention.tokenVariant(plan, o))
	v["MANY"] = false
	wgsl, err = k.shaders.Compose("attention_decode.wgsl", v)
	return wgsl, plan.last, err
}

// StoringBuffers is what it takes to store in attention.
const StoringBuffers = storingBuffers
