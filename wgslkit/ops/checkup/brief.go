package checkup

import (
	"slices"

	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// brief lists, for each op that text models use, a few small cases that ask for
// all of its forms there. Where a kernel takes most of a second to compile, all
// cases take minutes, and these a few seconds.
var brief = map[string][]string{
	"Linear": {
		"Q4_K_[131 131]x768_7of9_add_norm_weighted_gated_act1", "Q4_K_[131 131]x768_1of1_norm_weighted",
		"Q4_K_[131 131]x768_1of1_add",
		"Q6_K_[131 131]x768_1of1_add_norm_weighted", "Q6_K_[131 131]x768_7of9_norm_weighted_softcap",
		"F16_[131 131]x768_1of1_add_weighted_mul_act1", "F16_[131 131]x768_7of9_norm_weighted",
		"Q4_K_[67 33 31]x768_1of1_norm_weighted_ranks[8 8 8]",
		"Q4_K_[131 131]x768_7of9_norm_weighted_gated_act1_ranks[16 16]",
	},
	"Embed":      {"Q4_K_37x768_4of5", "Q6_K_37x768_4of5", "F16_37x3_4of5"},
	"NormAdd":    {"1of1_1x1536_weighted=true", "3of5_1x257_weighted=true"},
	"SelectLast": {"3of5_1x257_weighted=true"},
	"StoreKV":    {"farther"},
	"Sequence":   {"small/whole", "small/chunked"},
	"Argmax":     {"2048_groups=0of0_ties=false", "96_groups=24of9_ties=false"},
	"Sample":     {"257/all", "257/greedy", "257/bias and penalties", "2048/gemma", "2048/greedy", "2048/gemma, masked"},
}

// briefOf picks them from all cases.
func briefOf(cases []opstest.Case) []opstest.Case {
	return slices.DeleteFunc(cases, func(c opstest.Case) bool { return !slices.Contains(brief[c.Op], c.Name) })
}
