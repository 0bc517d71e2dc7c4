package quantize

import (
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// chooser gives tensors their types. It sees them in the order of their layers and counts, since some rules go by how
// many of a role came before.
type chooser struct {
	mix           Mix
	layers        int // blocks of the model
	experts       int
	queriesPerKey int  // query heads for each key head in the first layer
	tied          bool // the head is the token embedding
	weighted      bool // there is an importance matrix
	values        int  // tensors that make values
	owners        int  // layers with keys and values of their own, the first ones

	seenValues, seenDown, seenGate, seenUp int
}

func newChooser(mix Mix, file *gguf.File, weighted bool) *chooser {
	c := &chooser{mix: mix, tied: true, weighted: weighted}
	arch := file.Architecture()
	c.layers = number(file.Meta, arch+".block_count")
	c.experts = number(file.Meta, arch+".expert_count")
	heads, keys := number(file.Meta, arch+".attention.head_count"), number(file.Meta, arch+".attention.head_count_kv")
	if _, there := file.Meta.Lookup(arch + ".attention.head_count_kv"); !there {
		keys = heads
	}
	if keys > 0 {
		c.queriesPerKey = heads / keys
	}
	c.owners = c.layers - number(file.Meta, arch+".attention.shared_kv_layers")
	for _, t := range file.Tensors {
		r := roleOf(t.Name)
		if r.isValue() {
			c.values++
		}
		if r == output {
			c.tied = false
		}
	}
	return c
}

// number is an integer of the metadata, or the first of several, 0 where there is none.
func number(meta gguf.Metadata, key string) int {
	v, ok := meta.Lookup(key)
	if !ok || v.Len() == 0 {
		return 0
	}
	n, _ := v.Index(0).Uint64()
	return int(min(n, 1<<30))
}

// unread says whether a tensor makes keys or values of a layer that takes another's. Files have them, and no model
// reads them, so that no importance can be known.
func (c *chooser) unread(name string) bool {
	r := roleOf(name)
	return (r == attnK || r == attnV) && layerOf(name) >= c.owners
}

// choose is the mix's type for a tensor, before it is known whether its rows are whole blocks.
func (c *chooser) choose(t *gguf.Tensor) quant.Type {
	r := roleOf(t.Name)
	switch {
	case r == output || c.tied && r == tokenEmbd:
		return c.head(t)
	case c.mix.is("MXFP4_MOE"):
		if experts(t) > 1 {
			return quant.MXFP4
		}
		return quant.Q8_0
	case r == tokenEmbd:
		return c.embedding()
	case c.mix.is("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M"):
		return c.veryLow(r)
	case r.isValue():
		return c.value()
	}
	switch r {
	case attnK, attnQ:
		return c.queryOrKey(r)
	case ffnDown:
		return c.down(t)
	case attnOutput:
		return c.attentionOutput()
	case ffnGate:
		return c.gateOrUp(t, &c.seenGate)
	case ffnUp:
		return c.gateOrUp(t, &c.seenUp)
	}
	return c.mix.Type
}

// head is the type of the matrix that makes logits.
func (c *chooser) head(t *gguf.Tensor) quant.Type {
	switch {
	case c.mix.is("MXFP4_MOE") || t.RowLen()%c.mix.Type.BlockLen() != 0:
		return quant.Q8_0
	case c.mix.is("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M", "IQ3_XXS"):
		return quant.Q5_K
	case c.mix.Type != quant.Q8_0:
		return quant.Q6_K
	}
	return c.mix.Type
}

// embedding is the type of a table of tokens where the head is another matrix.
func (c *chooser) embedding() quant.Type {
	switch {
	case c.mix.is("IQ2_XXS", "IQ2_XS", "IQ1_S", "IQ1_M"):
		return quant.Q2_K
	case c.mix.is("IQ2_S", "IQ2_M", "IQ3_XXS"):
		return quant.IQ3_S
	case c.mix.is("TQ1_0", "TQ2_0"):
		return quant.Q4_K
	}
	return c.mix.Type
}

// veryLow is for the mixes below three bits.
func (c *chooser) veryLow(r role) quant.Type {
	better := quant.Q2_K
	if c.mix.is("IQ2_S", "IQ2_M") {
		better = quant.IQ3_S
	}
	switch {
	case r.isValue():
		c.seenValues++
		if c.queriesPerKey >= 4 || c.experts >= 4 {
			return quant.Q4_K
		}
		return better
	case c.experts == 8 && r == attnK:
		return quant.Q4_K
	case r == ffnDown:
		c.seenDown++
		if c.seenDown-1 < c.layers/8 {
			return better
		}
	case r == attnOutput && c.experts == 8:
		return quant.Q5_K
	case r == attnOutput && c.mix.is("IQ1_S", "IQ1_M"):
		return quant.IQ2_XXS
	case r == attnOutput && c.mix.is("IQ2_S", "IQ2_M"):
		return quant.IQ3_S
	}
	return c.mix.Type
}

// value is the type of what makes values.
func (c *chooser) value() quant.Type {
	i, manyQueries := c.seenValues, c.queriesPerKey >= 4
	c.seenValues++
	if c.experts == 8 {
		return quant.Q8_0
	}
	switch {
	case c.mix.is("Q2_K") && !manyQueries:
		return quant.Q3_K
	case c.mix.is("Q2_K", "Q2_K_S", "IQ3_XXS", "IQ3_XS", "IQ3_S") && manyQueries, c.mix.is("IQ3_M"):
		return quant.Q4_K
	case c.mix.is("IQ3_XXS") && !c.weighted:
		return quant.IQ3_S
	case c.mix.is("Q3_K_M") && i >= 2:
		return quant.Q4_K
	case c.mix.is("Q3_K_M", "Q3_K_L"), c.mix.is("IQ4_NL", "IQ4_XS") && manyQueries, c.mix.is("Q4_K_S") && i < 4:
		return quant.Q5_K
	case c.mix.is("Q4_K_M", "Q5_K_M") && deservesMore(i, c.values):
		return quant.Q6_K
	}
	return c.mix.Type
}

// deservesMore says which of n layers get more bits: the first and the last eighth, and every third between.
func deservesMore(i, n int) bool { return i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2 }

func (c *chooser) queryOrKey(r role) quant.Type {
	switch {
	case r == attnK && c.experts == 8:
		return quant.Q8_0
	case c.mix.is("IQ3_XS"):
		return quant.IQ3_XXS
	case c.mix.is("IQ3_XXS"):
		return quant.IQ2_S
	}
	return c.mix.Type
}

// down is the type of what ends a feed-forward.
func (c *chooser) down(t *gguf.Tensor) quant.Type {
	i, n := c.place(t, &c.seenDown), c.layers
	first := i < n/8
	switch {
	case c.mix.is("Q2_K"):
		return quant.Q3_K
	case c.mix.is("Q2_K_S") && first:
		return quant.Q4_K
	case c.mix.is("IQ3_XXS") && !c.weighted:
		if first {
			return quant.Q4_K
		}
		return quant.Q3_K
	case c.mix.is("Q3_K_M") && i >= n/16:
		return quant.Q4_K
	case c.mix.is("IQ3_M") && (first || c.experts == 8 && deservesMore(i, n)):
		return quant.Q4_K
	case c.mix.is("Q3_K_M", "Q3_K_L"), c.mix.is("Q4_K_S") && first,
		c.mix.is("IQ4_NL", "IQ4_XS") && first && !c.weighted:
		return quant.Q5_K
	case c.mix.is("Q4_K_M", "Q5_K_M") && deservesMore(i, n):
		return quant.Q6_K
	case c.mix.is("Q4_0") && first && c.weighted:
		return quant.Q4_1
	case c.mix.is("Q5_0") && first && c.weighted:
		return quant.Q5_1
	}
	return c.mix.Type
}

func (c *chooser) attentionOutput() quant.Type {
	if c.experts == 8 {
		if c.mix.is("Q2_K", "IQ3_XS", "IQ3_XXS", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M", "IQ3_S", "IQ3_M",
			"IQ4_XS") {
			return quant.Q5_K
		}
		return c.mix.Type
	}
	switch {
	case c.mix.is("Q2_K"):
		return quant.Q3_K
	case c.mix.is("IQ3_XXS"):
		return quant.IQ3_S
	case c.mix.is("Q3_K_M", "IQ3_M"):
		return quant.Q4_K
	case c.mix.is("Q3_K_L"):
		return quant.Q5_K
	}
	return c.mix.Type
}

// gateOrUp is the type of what begins a feed-forward.
func (c *chooser) gateOrUp(t *gguf.Tensor, seen *int) quant.Type {
	i := c.place(t, seen)
	if c.mix.is("IQ3_XS") && i >= c.layers/8 && i < 7*c.layers/8 {
		return quant.IQ3_XXS
	}
	return c.mix.Type
}

// place is which tensor of its role this one is. Where there are experts, a layer has several, and its number counts.
func (c *chooser) place(t *gguf.Tensor, seen *int) int {
	i := *seen
	*seen++
	if c.experts > 1 {
		if layer := layerOf(t.Name); layer >= 0 {
			return layer
		}
	}
	return i
}

// layerOf is N of "blk.N.…", −1 for tensors of no layer.
func layerOf(name string) int {
	rest, ok := strings.CutPrefix(name, "blk.")
	if !ok {
		return -1
	}
	number, _, ok := strings.Cut(rest, ".")
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return -1
	}
	return n
}
