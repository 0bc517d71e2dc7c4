package quantize

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/quant"
)

var (
	// ErrMix says that there is no mix of that name.
	ErrMix = errors.New("no such mix of types")
	// ErrImportance says that the mix needs an importance matrix and has none for a tensor.
	ErrImportance = errors.New("importance matrix needed")
	// ErrRequantize says that the file is quantized already.
	ErrRequantize = errors.New("already quantized")
	// ErrType says that a tensor cannot be written in the type that it should get.
	ErrType = errors.New("tensor type does not fit")
)

// A Mix is one of llama.cpp's file types: a type for most tensors, and rules for the others.
type Mix struct {
	Name string
	Type quant.Type // of what no rule changes
	// FileType is llama.cpp's number, as it stands in general.file_type.
	FileType uint32
	Note     string // for people
}

// mixes are in the order of their size.
var mixes = []Mix{
	{"IQ1_S", quant.IQ1_S, 24, "1.6 bits, needs an importance matrix"},
	{"IQ1_M", quant.IQ1_M, 31, "1.8 bits, needs an importance matrix"},
	{"TQ1_0", quant.TQ1_0, 36, "1.7 bits, for models trained with three values"},
	{"TQ2_0", quant.TQ2_0, 37, "2.1 bits, for models trained with three values"},
	{"IQ2_XXS", quant.IQ2_XXS, 19, "2.1 bits, needs an importance matrix"},
	{"IQ2_XS", quant.IQ2_XS, 20, "2.3 bits, needs an importance matrix"},
	{"IQ2_S", quant.IQ2_XS, 28, "2.5 bits, needs an importance matrix"},
	{"IQ2_M", quant.IQ2_S, 29, "2.7 bits, needs an importance matrix"},
	{"Q2_K_S", quant.Q2_K, 21, "2.6 bits, needs an importance matrix"},
	{"Q2_K", quant.Q2_K, 10, "3 bits"},
	{"IQ3_XXS", quant.IQ3_XXS, 23, "3.1 bits, needs an importance matrix"},
	{"IQ3_XS", quant.IQ3_S, 22, "3.3 bits, needs an importance matrix"},
	{"IQ3_S", quant.IQ3_S, 26, "3.4 bits"},
	{"IQ3_M", quant.IQ3_S, 27, "3.7 bits"},
	{"Q3_K_S", quant.Q3_K, 11, "3.4 bits"},
	{"Q3_K_M", quant.Q3_K, 12, "3.9 bits"},
	{"Q3_K_L", quant.Q3_K, 13, "4.2 bits"},
	{"IQ4_XS", quant.IQ4_XS, 30, "4.3 bits"},
	{"IQ4_NL", quant.IQ4_NL, 25, "4.5 bits"},
	{"MXFP4_MOE", quant.MXFP4, 38, "experts in MXFP4, the rest in Q8_0"},
	{"NVFP4", quant.NVFP4, 39, "4.5 bits"},
	{"Q4_0", quant.Q4_0, 2, "4.5 bits"},
	{"Q4_1", quant.Q4_1, 3, "5 bits"},
	{"Q4_K_S", quant.Q4_K, 14, "4.6 bits"},
	{"Q4_K_M", quant.Q4_K, 15, "4.8 bits, what most people take"},
	{"Q5_0", quant.Q5_0, 8, "5.5 bits"},
	{"Q5_1", quant.Q5_1, 9, "6 bits"},
	{"Q5_K_S", quant.Q5_K, 16, "5.5 bits"},
	{"Q5_K_M", quant.Q5_K, 17, "5.7 bits"},
	{"Q6_K", quant.Q6_K, 18, "6.6 bits"},
	{"Q8_0", quant.Q8_0, 7, "8.5 bits, hardly to be told from 16"},
	{"F16", quant.F16, 1, "16 bits"},
	{"BF16", quant.BF16, 32, "16 bits, the range of 32"},
	{"F32", quant.F32, 0, "32 bits"},
}

// aliases are llama.cpp's short names.
var aliases = map[string]string{"Q3_K": "Q3_K_M", "Q4_K": "Q4_K_M", "Q5_K": "Q5_K_M", "MXFP4": "MXFP4_MOE"}

// Mixes lists all mixes, the smallest first.
func Mixes() []Mix { return append([]Mix(nil), mixes...) }

// ParseMix finds a mix by its name, in any case. An unknown name is [ErrMix].
func ParseMix(name string) (Mix, error) {
	wanted := strings.ToUpper(name)
	if full, ok := aliases[wanted]; ok {
		wanted = full
	}
	var names []string
	for _, m := range mixes {
		if m.Name == wanted {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mix{}, fmt.Errorf("%q is not one of %s: %w", name, strings.Join(names, ", "), ErrMix)
}

// is says whether the mix has one of these names.
func (m Mix) is(names ...string) bool {
	for _, n := range names {
		if m.Name == n {
			return true
		}
	}
	return false
}
