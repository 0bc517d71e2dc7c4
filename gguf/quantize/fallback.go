package quantize

import "github.com/gemwire/gemwire/quant"

// fallbacks are the types of blocks of 32 that stand in for those of 256 where rows are no multiple of that.
var fallbacks = map[quant.Type]quant.Type{
	quant.IQ1_S: quant.IQ4_NL, quant.IQ1_M: quant.IQ4_NL, quant.IQ2_XXS: quant.IQ4_NL, quant.IQ2_XS: quant.IQ4_NL,
	quant.IQ2_S: quant.IQ4_NL, quant.IQ3_XXS: quant.IQ4_NL, quant.IQ3_S: quant.IQ4_NL, quant.IQ4_XS: quant.IQ4_NL,
	quant.Q2_K: quant.Q4_0, quant.Q3_K: quant.Q4_0, quant.TQ1_0: quant.Q4_0, quant.TQ2_0: quant.Q4_0,
	quant.Q4_K: quant.Q5_0, quant.Q5_K: quant.Q5_1, quant.Q6_K: quant.Q8_0, quant.NVFP4: quant.Q4_0,
}

// fitting is the type itself, or what stands in for it in rows of n values; F16 where no type of blocks fits.
func fitting(t quant.Type, n int) quant.Type {
	if n%t.BlockLen() == 0 {
		return t
	}
	instead, ok := fallbacks[t]
	if !ok || n%instead.BlockLen() != 0 {
		return quant.F16
	}
	return instead
}
