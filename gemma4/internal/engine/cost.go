package engine

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// PromptOperations is how many multiplications and additions a prompt of so many tokens
// takes at least, up to the first choice: two for each weight of a matrix and token, and
// for attention two for each value of a key and of a value. Layers that share the cache
// of another are needed for the last token alone.
func PromptOperations(m *arch.Model, tokens int) int64 {
	weights, attention := operations(m, tokens, m.Config.PrefillLayers(), 1)
	return weights + attention
}

// TrainOperations is the same of a training step: all layers and logits forward, and
// back for the gradients of what they read, which is as much again for weights that stay
// as they are, and twice as much for attention.
func TrainOperations(m *arch.Model, tokens int) int64 {
	weights, attention := operations(m, tokens, m.Config.Blocks, tokens)
	return 2*weights + 3*attention
}

// operations counts what the first whole layers take for all tokens, the others for the
// last one, and the logits of so many of the last ones.
func operations(m *arch.Model, tokens, whole, logits int) (weights, attention int64) {
	c := m.Config
	for i := range m.Layers {
		n := tokens
		if i >= whole {
			n = 1
		}
		weights += 2 * int64(n) * matrixElements(c, &m.Layers[i])
		attention += attentionOperations(c, i, tokens-n, tokens)
	}
	if p := m.PerLayerModelProj; p != nil {
		eachLayer := int64(p.Elements() / c.Blocks)
		weights += 2 * eachLayer * int64(whole*tokens+c.Blocks-whole)
	}
	return weights + 2*int64(m.Output.Elements())*int64(logits), attention
}

// matrixElements is how many weights of a layer's matrices a token meets.
func matrixElements(c *arch.Config, l *arch.Layer) (n int64) {
	matrices := []*gguf.Tensor{l.Q, l.K, l.V, l.AttnOutput, l.Gate, l.Up, l.Down, l.InpGate, l.Proj}
	if l.MoE != nil {
		matrices = append(matrices, l.MoE.Router)
		for _, t := range []*gguf.Tensor{l.MoE.GateUp, l.MoE.Gate, l.MoE.Up, l.MoE.Down} {
			if t != nil {
				n += int64(t.Elements() / c.Experts * c.ExpertsUsed)
			}
		}
	}
	for _, t := range matrices {
		if t != nil {
			n += int64(t.Elements())
		}
	}
	return n
}

// attentionOperations is layer i's scores and sums of values, of the tokens from..to-1.
func attentionOperations(c *arch.Config, i, from, to int) (n int64) {
	for p := from; p < to; p++ {
		seen := p + 1
		if c.IsSliding(i) {
			seen = min(seen, c.SlidingWindow)
		}
		n += int64(seen)
	}
	return 4 * n * int64(c.Heads*c.HeadDim(i))
}

// BytesPerToken is how many bytes of the file's weights decoding one token reads: all
// of them, but of tables that are only looked up one row, and of experts those that are
// chosen, which are counted apart as well.
func BytesPerToken(m *arch.Model) (all, experts int64) {
	read := map[*gguf.Tensor]int64{}
	for _, t := range TextTensors(m) {
		read[t] = t.Size
	}
	for _, t := range LookupTables(m) {
		read[t] = t.Size / int64(t.Rows())
	}
	c := m.Config
	for i := range m.Layers {
		if e := m.Layers[i].MoE; e != nil {
			for _, t := range []*gguf.Tensor{e.GateUp, e.Gate, e.Up, e.Down} {
				if t != nil {
					read[t] = t.Size / int64(c.Experts) * int64(c.ExpertsUsed)
					experts += read[t]
				}
			}
		}
	}
	for _, n := range read {
		all += n
	}
	return all, experts
}

// BytesPerDraftToken is how many bytes of its file's weights an assistant reads for each
// token of a draft.
func BytesPerDraftToken(a *arch.Assistant) (n int64) {
	for _, t := range append(TextTensors(a.Decoder), a.PreProjection, a.PostProjection) {
		n += t.Size
	}
	if c := a.Clusters; c != nil {
		head := a.Decoder.Output.Size
		n += c.Centroids.Size - head + head*int64(c.Used)/int64(c.Count())
	}
	return n
}
