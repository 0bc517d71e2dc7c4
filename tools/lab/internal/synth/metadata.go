package synth

import "github.com/gemwire/gemwire/gguf"

// pair is a key with its value, in the order of the file.
type pair struct {
	key   string
	value any
}

// metadata is everything of the header but the tokenizer.
func (s Shape) metadata() []pair {
	if s.Assistant != nil {
		return s.assistantMetadata()
	}
	sliding, feedForward, kvHeads := make([]bool, s.Layers), make([]int32, s.Layers), make([]int32, s.Layers)
	for i := range s.Layers {
		sliding[i], feedForward[i], kvHeads[i] = !s.global(i), int32(s.feedForward(i)), int32(s.kvHeads(i))
	}
	const k = "gemma4."
	pairs := []pair{
		{"general.architecture", "gemma4"},
		{"general.name", "Random " + s.Name},
		{"general.file_type", uint32(15)}, // Q4_K_M
		{"general.quantization_version", uint32(2)},
		{k + "block_count", uint32(s.Layers)},
		{k + "context_length", uint32(s.Context)},
		{k + "embedding_length", uint32(s.Width)},
		{k + "feed_forward_length", oneOrEach(feedForward)},
		{k + "attention.head_count", uint32(s.Heads)},
		{k + "attention.head_count_kv", oneOrEach(kvHeads)},
		{k + "attention.key_length", uint32(s.GlobalHeadDim)},
		{k + "attention.value_length", uint32(s.GlobalHeadDim)},
		{k + "attention.key_length_swa", uint32(s.SlidingHeadDim)},
		{k + "attention.value_length_swa", uint32(s.SlidingHeadDim)},
		{k + "attention.sliding_window", uint32(s.Window)},
		{k + "attention.shared_kv_layers", uint32(s.SharedKV)},
		{k + "attention.layer_norm_rms_epsilon", float32(normEps)},
		{k + "attention.sliding_window_pattern", sliding},
		{k + "rope.freq_base", float32(globalRopeTheta)},
		{k + "rope.freq_base_swa", float32(localRopeTheta)},
		{k + "rope.dimension_count", uint32(s.GlobalHeadDim)},
		{k + "rope.dimension_count_swa", uint32(s.SlidingHeadDim)},
		{k + "final_logit_softcapping", float32(logitSoftcap)},
		{k + "embedding_length_per_layer_input", uint32(s.PerLayer)},
	}
	if s.Experts > 0 {
		pairs = append(pairs,
			pair{k + "expert_count", uint32(s.Experts)},
			pair{k + "expert_used_count", uint32(s.ExpertsUsed)},
			pair{k + "expert_feed_forward_length", uint32(s.ExpertFeedForward)})
	}
	if s.Towers != nil {
		pairs = append(pairs, s.Towers.metadata()...)
	}
	return pairs
}

// oneOrEach is one number where all layers have the same.
func oneOrEach(values []int32) any {
	for _, v := range values {
		if v != values[0] {
			return values
		}
	}
	return uint32(values[0])
}

func setAll(w *gguf.Writer, pairs []pair) error {
	for _, p := range pairs {
		if err := w.Set(p.key, p.value); err != nil {
			return err
		}
	}
	return nil
}
