package parity

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// longText is what a reference makes of a text and of the beginnings of some others, by a
// model that is too large to lie beside it: trained weights, mostly.
type longText struct {
	Text       string   `json:"text"`
	IDs        []int32  `json:"ids"`
	Perplexity float64  `json:"perplexity"`
	Prompts    []prompt `json:"prompts"`
}

// What a text case allows: of its perplexity, and of logits in float32 and beside caches of
// float16 and 8 bits.
const (
	perplexityBound = 1e-3
	textLogitsCPU   = 1e-4
	textLogitsGPU   = 4e-3
	textLogitsQ8    = 2e-2
)

func textBound(info gemma4.Info) float64 {
	switch {
	case info.KVCache == gemma4.CacheQ8:
		return textLogitsQ8
	case info.Device == gemma4.DeviceCPU:
		return textLogitsCPU
	}
	return textLogitsGPU
}

// text runs a text case.
func (r *run) text() error {
	var t longText
	if err := readJSON(r.c.JSON, &t); err != nil {
		return err
	}
	if len(t.IDs) < 2 || t.Perplexity <= 0 || r.c.Reference == "" {
		return fmt.Errorf("%w: %s lacks its text's ids, perplexity or arrays", ErrNoCase, r.c.JSON)
	}
	if r.opts.Model == "" {
		return fmt.Errorf("%w: the model of %s is not next to it; name its file", ErrNoCase, r.c.JSON)
	}
	source, err := gguf.OpenFile(r.opts.Model)
	if err != nil {
		return err
	}
	m, err := gemma4.Open(r.ctx, source, r.opts.Open)
	if err != nil {
		return err
	}
	defer m.Close()
	for i, p := range append([]prompt{{Text: t.Text, IDs: t.IDs}}, t.Prompts...) {
		if err := r.textIDs(m, i, p); err != nil {
			return err
		}
	}
	s, err := m.NewSession(0)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := r.textLogits(s, &t); err != nil {
		return err
	}
	return r.greedy(s, t.Prompts)
}

// textIDs compares the ids of a text behind the token that begins one.
func (r *run) textIDs(m *gemma4.Model, i int, p prompt) error {
	got, wrong := append([]int32{int32(m.Tokenizer().BOS())}, int32s(m.Tokenizer().Encode(p.Text))...), 0.0
	var detail string
	if !slices.Equal(got, p.IDs) {
		wrong, detail = 1, fmt.Sprintf("got %v, want %v", got, p.IDs)
	}
	return r.check(fmt.Sprintf("text %d: ids", i), wrong, 0, detail)
}

func int32s(ids []int) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}

// textLogits compares the perplexity, the largest logits of each position, and all of the last.
func (r *run) textLogits(s *gemma4.Session, t *longText) error {
	file, reference, err := openReference(r.c.Reference)
	if err != nil {
		return err
	}
	defer file.Close()
	m, err := readMost(reference, len(t.IDs))
	if err != nil {
		return err
	}
	var loss float64
	got := make([]float32, 0, len(m.logits))
	var last []float32
	err = s.Logits(r.ctx, gemma4.Tokens(t.IDs), func(at int, row []float32) error {
		for _, id := range m.ids[at*m.each : (at+1)*m.each] {
			if id < 0 || int(id) >= len(row) {
				return fmt.Errorf("%w: %s has token %d at position %d", ErrNoCase, r.c.Reference, id, at)
			}
			got = append(got, row[id])
		}
		if at+1 < len(t.IDs) {
			loss -= logProb(row, t.IDs[at+1])
		} else {
			last = slices.Clone(row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	perplexity := math.Exp(loss / float64(len(t.IDs)-1))
	bound := textBound(s.Model().Info())
	for _, c := range []struct {
		what         string
		error, bound float64
		detail       string
	}{
		{"text: perplexity", math.Abs(perplexity/t.Perplexity - 1), perplexityBound,
			fmt.Sprintf("%.6f, want %.6f", perplexity, t.Perplexity)},
		{fmt.Sprintf("text: %d largest logits", m.each), RelativeError(got, m.logits), bound, ""},
		{"text: logits of the last position", RelativeError(last, m.last), bound, ""},
	} {
		if err := r.check(c.what, c.error, c.bound, c.detail); err != nil {
			return err
		}
	}
	return nil
}

// most are the largest logits of each position, each of them, and all of the last position.
type most struct {
	each         int
	ids          []int32
	logits, last []float32
}

func readMost(reference *safetensors.File, positions int) (m most, err error) {
	if m.logits, err = reference.Floats("text.top.logits"); err != nil {
		return m, err
	}
	if m.ids, err = readIDs(reference, "text.top.ids"); err != nil {
		return m, err
	}
	if m.last, err = reference.Floats("text.last.logits"); err != nil {
		return m, err
	}
	m.each = len(m.ids) / positions
	if m.each == 0 || len(m.ids) != m.each*positions || len(m.logits) != len(m.ids) {
		return m, fmt.Errorf("%w: %d logits and %d ids for %d positions", ErrNoCase, len(m.logits), len(m.ids), positions)
	}
	return m, nil
}

// readIDs reads a tensor of int32.
func readIDs(reference *safetensors.File, name string) ([]int32, error) {
	t, ok := reference.Tensor(name)
	if !ok || t.DType != "I32" {
		return nil, fmt.Errorf("%w: there is no %s of type I32", ErrNoCase, name)
	}
	ids := make([]int32, t.Elements())
	return ids, binary.Read(t.Section(), binary.LittleEndian, ids)
}

// logProb is log softmax(logits)[token].
func logProb(logits []float32, token int32) float64 {
	most, sum := float64(slices.Max(logits)), 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v) - most)
	}
	return float64(logits[token]) - most - math.Log(sum)
}
