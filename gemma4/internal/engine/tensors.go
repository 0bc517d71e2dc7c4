package engine

import (
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// LookupTables are the tensors of which a token needs one row, the largest
// first. A tied output projection reads all of token_embd, so it is none then.
func LookupTables(m *arch.Model) []*gguf.Tensor {
	var tables []*gguf.Tensor
	if m.PerLayerTokenEmbd != nil {
		tables = append(tables, m.PerLayerTokenEmbd)
	}
	if m.Output != m.TokenEmbd {
		tables = append(tables, m.TokenEmbd)
	}
	return tables
}

// TextTensors lists the tensors of the text model, each once.
func TextTensors(m *arch.Model) []*gguf.Tensor {
	all := []*gguf.Tensor{m.TokenEmbd, m.OutputNorm, m.RopeFreqs, m.PerLayerTokenEmbd, m.PerLayerModelProj,
		m.PerLayerProjNorm}
	if m.Output != m.TokenEmbd {
		all = append(all, m.Output)
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		all = append(all, l.AttnNorm, l.Q, l.K, l.V, l.QNorm, l.KNorm, l.AttnOutput, l.PostAttentionNorm,
			l.FFNNorm, l.Gate, l.Up, l.Down, l.PostFFWNorm, l.InpGate, l.Proj, l.PostNorm, l.OutputScale)
		if e := l.MoE; e != nil {
			all = append(all, e.Router, e.RouterScale, e.GateUp, e.Gate, e.Up, e.Down, e.DownScale, e.PreNorm,
				e.PostDenseNorm, e.PostNorm)
		}
	}
	present := all[:0]
	for _, t := range all {
		if t != nil {
			present = append(present, t)
		}
	}
	return present
}
