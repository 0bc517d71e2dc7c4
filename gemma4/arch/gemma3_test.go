package arch

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
)

// gemma3 drafts the header of a Gemma 3 model of some layers.
func gemma3(layers uint32) map[string]any {
	return map[string]any{
		"block_count": layers, "context_length": uint32(4096), "embedding_length": uint32(96),
		"feed_forward_length": uint32(64), "attention.head_count": uint32(4), "attention.head_count_kv": uint32(2),
		"attention.key_length": uint32(16), "attention.sliding_window": uint32(32), "rope.freq_base": float32(1e6),
	}
}

func parseKeys(t *testing.T, keys map[string]any) (*Config, error) {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	if err := w.Set("general.architecture", "gemma3"); err != nil {
		t.Fatal(err)
	}
	for k, v := range keys {
		if err := w.Set("gemma3."+k, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(t.Context(), gguf.Memory(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(f.Meta)
}

func TestGemma3(t *testing.T) {
	const globals = 1e6
	for name, tt := range map[string]struct {
		layers  uint32
		keys    map[string]any // a nil value takes a key away
		pattern string         // of the first 13 layers
		factor  float32        // of global layers
		scale   float64        // 1/√ of it
		softcap float32
		local   float32
	}{
		"as llama.cpp writes it": {layers: 13, pattern: "SSSSSGSSSSSGS", factor: 1, scale: 16, local: 1e4},
		"linear": {layers: 13, keys: map[string]any{"rope.scaling.type": "linear", "rope.scaling.factor": float32(8)},
			pattern: "SSSSSGSSSSSGS", factor: 8, scale: 16, local: 1e4},
		"no scaling": {layers: 13, keys: map[string]any{"rope.scaling.type": "none", "rope.scaling.factor": float32(8)},
			pattern: "SSSSSGSSSSSGS", factor: 1, scale: 16, local: 1e4},
		"a period": {layers: 13, keys: map[string]any{"attention.sliding_window_pattern": uint32(4)},
			pattern: "SSSGSSSGSSSGS", factor: 1, scale: 16, local: 1e4},
		"every layer global": {layers: 13, keys: map[string]any{"attention.sliding_window_pattern": uint32(1)},
			pattern: "GGGGGGGGGGGGG", factor: 1, scale: 16, local: 1e4},
		"flags": {layers: 3, keys: map[string]any{"attention.sliding_window_pattern": []bool{false, true, false}},
			pattern: "GSG", factor: 1, scale: 16, local: 1e4},
		"flags as numbers": {layers: 3, keys: map[string]any{"attention.sliding_window_pattern": []int32{0, 1, 1}},
			pattern: "GSS", factor: 1, scale: 16, local: 1e4},
		"no window": {layers: 3, keys: map[string]any{"attention.sliding_window": uint32(0)}, pattern: "GGG", factor: 1,
			scale: 16, local: 1e4},
		"27B": {layers: 62, pattern: "SSSSSGSSSSSGS", factor: 1, scale: 24, local: 1e4},
		"4B of Ollama": {layers: 34, keys: map[string]any{"rope.freq_base": nil}, pattern: "SSSSSGSSSSSGS", factor: 8,
			scale: 16, local: 1e4},
		"4B of llama.cpp": {layers: 34, pattern: "SSSSSGSSSSSGS", factor: 1, scale: 16, local: 1e4},
		"1B of Ollama": {layers: 26, keys: map[string]any{"rope.freq_base": nil, "rope.local.freq_base": float32(2e4),
			"rope.global.freq_base": float32(globals), "final_logit_softcapping": float32(30)},
			pattern: "SSSSSGSSSSSGS", factor: 1, scale: 16, local: 2e4},
		"a softcap": {layers: 26, keys: map[string]any{"final_logit_softcapping": float32(30),
			"rope.freq_base_swa": float32(3e4)}, pattern: "SSSSSGSSSSSGS", factor: 1, scale: 16, softcap: 30, local: 3e4},
	} {
		t.Run(name, func(t *testing.T) {
			keys := gemma3(tt.layers)
			for k, v := range tt.keys {
				if keys[k] = v; v == nil {
					delete(keys, k)
				}
			}
			c, err := parseKeys(t, keys)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Fields(describe(c))[0][:len(tt.pattern)]; got != tt.pattern {
				t.Errorf("layers are %s, wanted %s", got, tt.pattern)
			}
			for i := range c.Blocks {
				theta, factors := float32(globals), []float32(nil)
				if c.IsSliding(i) {
					theta = tt.local
				} else if tt.factor != 1 {
					factors = []float32{tt.factor}
				}
				if got := c.RopeFactors(i, nil); c.RopeTheta(i) != theta || len(got) > 0 != (factors != nil) ||
					factors != nil && (got[0] != tt.factor || len(got) != c.HeadDim(i)/2) {
					t.Errorf("layer %d: base %v, factors %v", i, c.RopeTheta(i), got)
				}
			}
			if got := c.ScoreScale(); got != float32(1/math.Sqrt(tt.scale)) || c.LogitSoftcap != tt.softcap ||
				!c.PlainValues || c.Family != Gemma3 || c.Eps != 1e-6 || c.Images != CausalImages {
				t.Errorf("scores × %v, softcap %v, %+v", got, c.LogitSoftcap, c)
			}
		})
	}
}

func TestGemma3Refused(t *testing.T) {
	for key, value := range map[string]any{
		"rope.scaling.type": "yarn", "rope.scaling.factor": float32(0.5), "rope.freq_base": float32(0),
		"attention.key_length": uint32(15), "attention.head_count_kv": uint32(3),
		"attention.sliding_window_pattern": []bool{true, false},
	} {
		keys := gemma3(7)
		keys[key] = value
		_, err := parseKeys(t, keys)
		wantGemma3Error(t, err, key)
	}
}

func wantGemma3Error(t *testing.T, err error, key string) {
	t.Helper()
	mentions(t, err, ErrConfig, "gemma3."+key)
}
