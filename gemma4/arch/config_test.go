package arch

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gguf"
)

func parse(t *testing.T, d *draft) *Config {
	t.Helper()
	c, err := Parse(d.file(t).Meta)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers holds what a Config says of each layer.
type answers struct {
	Sliding, OwnKV              []bool
	HeadDim, KVHeads, Donor, FF []int
	Theta                       []float32
}

func ask(c *Config) answers {
	var a answers
	for i := range c.Blocks {
		a.Sliding = append(a.Sliding, c.IsSliding(i))
		a.OwnKV = append(a.OwnKV, c.HasOwnKV(i))
		a.HeadDim = append(a.HeadDim, c.HeadDim(i))
		a.KVHeads = append(a.KVHeads, c.KVHeads(i))
		a.Donor = append(a.Donor, c.KVDonor(i))
		a.FF = append(a.FF, c.FeedForward(i))
		a.Theta = append(a.Theta, c.RopeTheta(i))
	}
	return a
}

func TestPerLayerAnswers(t *testing.T) {
	c := parse(t, small())
	want := answers{
		Sliding: []bool{true, true, false, true, false},
		OwnKV:   []bool{true, true, true, false, false},
		HeadDim: []int{4, 4, 6, 4, 6},
		KVHeads: []int{3, 1, 1, 1, 1},
		Donor:   []int{0, 1, 2, 1, 2},
		FF:      []int{7, 7, 7, 9, 9},
		Theta:   []float32{1e4, 1e4, 1e6, 1e4, 1e6},
	}
	if diff := cmp.Diff(want, ask(c)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if c.QueryDim(2) != 18 || c.KVDim(0) != 12 || c.LastKVOwner() != 2 {
		t.Errorf("QueryDim(2) = %d, KVDim(0) = %d, LastKVOwner() = %d; wanted 18, 12, 2", c.QueryDim(2), c.KVDim(0),
			c.LastKVOwner())
	}
	if c.EmbedScale() != float32(math.Sqrt(12)) || c.PerLayerScale() != float32(math.Sqrt(5)) ||
		c.BidirectionalImages() {
		t.Errorf("scales %v and %v, bidirectional images %t", c.EmbedScale(), c.PerLayerScale(),
			c.BidirectionalImages())
	}
}

// Numbers and flags mean the same however wide they are stored, and whether once
// or for each layer.
func TestStoredForms(t *testing.T) {
	pattern := "attention.sliding_window_pattern"
	same := map[string][]any{
		"feed_forward_length":      {[]uint64{7, 7, 7, 9, 9}, []int16{7, 7, 7, 9, 9}, []uint8{7, 7, 7, 9, 9}},
		"attention.head_count_kv":  {[]int8{3, 1, 1, 1, 1}, []int64{3, 1, 1, 1, 1}, []uint16{3, 1, 1, 0, 0}},
		"attention.head_count":     {int32(3), uint64(3), []uint32{3, 3, 3, 3, 3}, []int8{3}},
		"attention.key_length":     {uint16(6), []uint32{6, 6, 6, 6, 6}},
		pattern:                    {[]uint8{1, 1, 0, 1, 0}, []int32{1, 1, 0, 1, 0}},
		"block_count":              {int8(5), uint64(5)},
		"attention.sliding_window": {int64(8)},
	}
	want := ask(parse(t, small()))
	for key, forms := range same {
		for _, form := range forms {
			if diff := cmp.Diff(want, ask(parse(t, small().set(key, form)))); diff != "" {
				t.Errorf("%s as %T (-want +got):\n%s", key, form, diff)
			}
		}
	}
	for _, form := range []any{uint32(4), []uint64{4}} {
		if got := ask(parse(t, small().set("feed_forward_length", form))).FF; !cmp.Equal(got, []int{4, 4, 4, 4, 4}) {
			t.Errorf("feed_forward_length as %T: %v, wanted 4 for all layers", form, got)
		}
	}
	for _, form := range []any{true, []bool{true}, uint8(1)} {
		if got := parse(t, small().set(pattern, form)); !got.IsSliding(2) || !got.IsSliding(4) {
			t.Errorf("pattern as %T: wanted all layers sliding", form)
		}
	}
}

func TestDefaults(t *testing.T) {
	d := small()
	for _, key := range []string{"attention.shared_kv_layers", "final_logit_softcapping",
		"embedding_length_per_layer_input",
		"attention.head_count_kv", "attention.value_length", "attention.value_length_swa", "rope.dimension_count",
		"rope.dimension_count_swa"} {
		d.drop(key)
	}
	c := parse(t, d)
	if c.SharedKVLayers != 0 || c.LogitSoftcap != 0 || c.PerLayerDim != 0 || c.Experts != 0 || c.KVHeads(0) != 3 ||
		!c.HasOwnKV(4) {
		t.Errorf("defaults: %+v", c)
	}
	d.drop("attention.sliding_window").drop("attention.sliding_window_pattern")
	d.drop("attention.key_length_swa").drop("rope.freq_base_swa") // of a kind that no layer is of
	if c := parse(t, d); c.IsSliding(0) || c.HeadDim(0) != 6 {
		t.Error("without a window and a pattern, all layers should be global")
	}
}

func TestMissingKeys(t *testing.T) {
	required := []string{"block_count", "context_length", "embedding_length", "feed_forward_length",
		"attention.head_count",
		"attention.key_length", "attention.key_length_swa", "attention.layer_norm_rms_epsilon",
		"attention.sliding_window",
		"attention.sliding_window_pattern", "rope.freq_base", "rope.freq_base_swa"}
	for _, key := range required {
		wantError(t, small().drop(key), gguf.ErrMissingKey, Name+"."+key)
	}
	for _, key := range []string{"expert_used_count", "expert_feed_forward_length"} {
		wantError(t, mixture().drop(key), gguf.ErrMissingKey, Name+"."+key)
	}
	if _, err := Parse(gguf.Metadata{}); !errors.Is(err, gguf.ErrMissingKey) ||
		!strings.Contains(err.Error(), "general.architecture") {
		t.Errorf("no metadata: got %v, wanted ErrMissingKey of general.architecture", err)
	}
}

// wantError checks that Parse refuses a draft with an error that wraps want and
// mentions all of the words.
func wantError(t *testing.T, d *draft, want error, words ...string) {
	t.Helper()
	_, err := Parse(d.file(t).Meta)
	mentions(t, err, want, words...)
}

func mentions(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v: got %v, wanted %v", words, err, want)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not mention %q", err, w)
		}
	}
}

func TestUnusableValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		key   string
		value any
		want  error
	}{
		{"block_count", uint32(0), ErrConfig},
		{"block_count", uint32(math.MaxUint32), ErrConfig},
		{"block_count", []uint32{5, 5}, ErrConfig},
		{"block_count", "five", gguf.ErrWrongType},
		{"block_count", int32(-5), gguf.ErrWrongType},
		{"block_count", uint64(1 << 40), gguf.ErrWrongType},
		{"context_length", uint32(0), ErrConfig},
		{"embedding_length", uint32(1 << 31), ErrConfig},
		{"feed_forward_length", []uint32{7, 7}, ErrConfig},
		{"feed_forward_length", []uint32{7, 7, 0, 9, 9}, ErrConfig},
		{"feed_forward_length", []uint32{}, ErrConfig},
		{"attention.head_count", uint32(0), ErrConfig},
		{"attention.head_count", []uint32{3, 3, 3, 3, 2}, ErrConfig},
		{"attention.head_count_kv", uint32(2), ErrConfig},
		{"attention.head_count_kv", uint32(0), ErrConfig},
		{"attention.head_count_kv", uint32(6), ErrConfig},
		{"attention.head_count_kv", []uint32{1, 1, 1, 1}, ErrConfig},
		{"attention.key_length", uint32(5), ErrConfig},
		{"attention.value_length_swa", uint32(8), ErrConfig},
		{"rope.dimension_count", uint32(2), ErrConfig},
		{"rope.freq_base", float32(0), ErrConfig},
		{"rope.freq_base_swa", nan, ErrConfig},
		{"attention.layer_norm_rms_epsilon", float32(0), ErrConfig},
		{"attention.layer_norm_rms_epsilon", float32(-1), ErrConfig},
		{"attention.layer_norm_rms_epsilon", inf, ErrConfig},
		{"final_logit_softcapping", inf, ErrConfig},
		{"attention.sliding_window", uint32(0), ErrConfig},
		{"attention.sliding_window_pattern", []bool{true, false}, ErrConfig},
		{"attention.sliding_window_pattern", uint32(6), ErrConfig},
		{"attention.sliding_window_pattern", []string{"S"}, gguf.ErrWrongType},
		{"attention.shared_kv_layers", uint32(5), ErrConfig},
		{"attention.shared_kv_layers", uint32(3), ErrConfig}, // no global layer is left to share from
		{"expert_count", uint32(1 << 30), ErrConfig},
	}
	for _, tt := range tests {
		wantError(t, small().set(tt.key, tt.value), tt.want, Name+"."+tt.key)
	}
	wantError(t, mixture().set("expert_used_count", uint32(6)), ErrConfig, "gemma4.expert_used_count")
}

func TestOtherArchitectures(t *testing.T) {
	wantError(t, small().set("general.architecture", "llama"), ErrArchitecture, `"llama"`, "Gemma 4")
	wantError(t, small().set("general.architecture", "clip"), ErrArchitecture, "text file")
	wantError(t, small().set("general.architecture", uint32(4)), gguf.ErrWrongType, "general.architecture")
}
