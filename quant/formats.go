package quant

// format is what there is to know about a type. Its functions get whole blocks, with lengths already checked.
type format struct {
	name       string
	blockLen   int // values
	blockBytes int
	dequantize func(dst []float32, src []byte) // nil: unsupported
	quantize   func(dst []byte, src []float32) // nil: read only
}

// formats is indexed by Type. A new type is a file of its own and a row here.
var formats = [...]format{
	F32:  {"F32", 1, 4, dequantizeF32, quantizeF32},
	F16:  {"F16", 1, 2, dequantizeF16, quantizeF16},
	Q4_0: {"Q4_0", 32, 18, dequantizeQ4_0, quantizeQ4_0},
	Q4_1: {"Q4_1", 32, 20, dequantizeQ4_1, quantizeQ4_1},
	Q5_0: {"Q5_0", 32, 22, dequantizeQ5_0, quantizeQ5_0},
	Q5_1: {"Q5_1", 32, 24, dequantizeQ5_1, quantizeQ5_1},
	Q8_0: {"Q8_0", 32, 34, dequantizeQ8_0, quantizeQ8_0},
	Q2_K: {"Q2_K", 256, 84, dequantizeQ2K, quantizeQ2K},
	Q3_K: {"Q3_K", 256, 110, dequantizeQ3K, quantizeQ3K},
	Q4_K: {"Q4_K", 256, 144, dequantizeQ4K, quantizeQ4K},
	Q5_K: {"Q5_K", 256, 176, dequantizeQ5K, quantizeQ5K},
	Q6_K: {"Q6_K", 256, 210, dequantizeQ6K, quantizeQ6K},
	Q8_K: {"Q8_K", 256, 292, dequantizeQ8K, quantizeQ8K},
	BF16: {"BF16", 1, 2, dequantizeBF16, quantizeBF16},

	IQ2_XXS: {"IQ2_XXS", 256, 66, dequantizeIQ2XXS, nil},
	IQ2_XS:  {"IQ2_XS", 256, 74, dequantizeIQ2XS, nil},
	IQ3_XXS: {"IQ3_XXS", 256, 98, dequantizeIQ3XXS, nil},
	IQ1_S:   {"IQ1_S", 256, 50, dequantizeIQ1S, nil},
	IQ4_NL:  {"IQ4_NL", 32, 18, dequantizeIQ4NL, quantizeIQ4NL},
	IQ3_S:   {"IQ3_S", 256, 110, dequantizeIQ3S, nil},
	IQ2_S:   {"IQ2_S", 256, 82, dequantizeIQ2S, nil},
	IQ4_XS:  {"IQ4_XS", 256, 136, dequantizeIQ4XS, quantizeIQ4XS},
	IQ1_M:   {"IQ1_M", 256, 56, dequantizeIQ1M, nil},
	TQ1_0:   {"TQ1_0", 256, 54, dequantizeTQ1_0, quantizeTQ1_0},
	TQ2_0:   {"TQ2_0", 256, 66, dequantizeTQ2_0, quantizeTQ2_0},
	MXFP4:   {"MXFP4", 32, 17, dequantizeMXFP4, quantizeMXFP4},
	NVFP4:   {"NVFP4", 64, 36, dequantizeNVFP4, quantizeNVFP4},

	// Known by name alone, so that an error can say what a file holds.
	9:  {name: "Q8_1"},
	24: {name: "I8"},
	25: {name: "I16"},
	26: {name: "I32"},
	27: {name: "I64"},
	28: {name: "F64"},
	41: {name: "Q1_0"},
}

// weightedEncoders are told how much each value of a row matters. They get whole rows, one after the other.
var weightedEncoders = map[Type]func(dst []byte, src, importance []float32){
	Q2_K:    quantizeWeightedQ2K,
	Q3_K:    quantizeWeightedQ3K,
	IQ1_S:   quantizeIQ1S,
	IQ1_M:   quantizeIQ1M,
	IQ2_XXS: quantizeIQ2XXS,
	IQ2_XS:  quantizeIQ2XS,
	IQ2_S:   quantizeIQ2S,
	IQ3_XXS: quantizeIQ3XXS,
	IQ3_S:   quantizeIQ3S,
	IQ4_NL:  quantizeWeightedIQ4NL,
	IQ4_XS:  quantizeWeightedIQ4XS,
}

// format returns the row of t, an empty one for a number without a row.
func (t Type) format() *format {
	if uint64(t) < uint64(len(formats)) {
		return &formats[t]
	}
	return &format{}
}
