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
	Q2_K: {"Q2_K", 256, 84, dequantizeQ2K, nil},
	Q3_K: {"Q3_K", 256, 110, dequantizeQ3K, nil},
	Q4_K: {"Q4_K", 256, 144, dequantizeQ4K, quantizeQ4K},
	Q5_K: {"Q5_K", 256, 176, dequantizeQ5K, quantizeQ5K},
	Q6_K: {"Q6_K", 256, 210, dequantizeQ6K, quantizeQ6K},
	Q8_K: {"Q8_K", 256, 292, dequantizeQ8K, quantizeQ8K},
	BF16: {"BF16", 1, 2, dequantizeBF16, quantizeBF16},

	// Known by name alone, so that an error can say what a file holds.
	9:  {name: "Q8_1"},
	16: {name: "IQ2_XXS"},
	17: {name: "IQ2_XS"},
	18: {name: "IQ3_XXS"},
	19: {name: "IQ1_S"},
	20: {name: "IQ4_NL"},
	21: {name: "IQ3_S"},
	22: {name: "IQ2_S"},
	23: {name: "IQ4_XS"},
	24: {name: "I8"},
	25: {name: "I16"},
	26: {name: "I32"},
	27: {name: "I64"},
	28: {name: "F64"},
	29: {name: "IQ1_M"},
	34: {name: "TQ1_0"},
	35: {name: "TQ2_0"},
	39: {name: "MXFP4"},
	40: {name: "NVFP4"},
	41: {name: "Q1_0"},
}

// format returns the row of t, an empty one for a number without a row.
func (t Type) format() *format {
	if uint64(t) < uint64(len(formats)) {
		return &formats[t]
	}
	return &format{}
}
