package hub

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// quantWord matches a quantization at the end of a word of a file's name.
var quantWord = regexp.MustCompile(
	`(?i)(?:^|_)((?:IQ|TQ|Q)[1-8](?:_[A-Z0-9]+)*|(?:MXFP|NVFP)4(?:_[A-Z0-9]+)*|BF16|FP?16|FP?32)$`)

// splitSuffix matches what stands behind the name of a part of a split model.
var splitSuffix = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})$`)

// stem is a file's name without folder, .gguf and the number of a part.
func stem(file string) string {
	base := path.Base(file)
	base = base[:len(base)-len(".gguf")]
	if m := splitSuffix.FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return base
}

// part reads the number of a part, and how many there are; 1 of 1 for a file that is whole.
func part(file string) (number, count int) {
	base := path.Base(file)
	m := splitSuffix.FindStringSubmatch(base[:len(base)-len(".gguf")])
	if m == nil {
		return 1, 1
	}
	number, _ = strconv.Atoi(m[2]) // five digits
	count, _ = strconv.Atoi(m[3])
	return number, count
}

// QuantOf is the quantization that a file's name says, in capitals: UD-Q4_K_XL. Empty where it says none.
func QuantOf(file string) string {
	words := strings.FieldsFunc(stem(file), func(r rune) bool { return r == '-' || r == '.' })
	for i, word := range slices.Backward(words) {
		m := quantWord.FindStringSubmatch(word)
		if m == nil {
			continue
		}
		quant := strings.ToUpper(m[1])
		quant = strings.NewReplacer("FP16", "F16", "FP32", "F32").Replace(quant)
		if strings.HasPrefix(quant, "BF") {
			quant = "BF16"
		}
		if i > 0 && strings.EqualFold(words[i-1], "UD") {
			return "UD-" + quant
		}
		return quant
	}
	return ""
}

// bits is the number in a quantization's name: about how many bits a weight has. 0 where there is none.
func bits(quant string) int {
	at := strings.IndexAny(quant, "0123456789")
	if at < 0 {
		return 0
	}
	end := at
	for end < len(quant) && quant[end] >= '0' && quant[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(quant[at:end]) // two digits at most, by quantWord
	return n
}

// preferred are quantizations by what they are worth, the best first, up to the one from which on no loss is to be
// seen: above it a file only grows.
var preferred = []string{
	"Q8_0", "UD-Q6_K_XL", "Q6_K_L", "Q6_K", "UD-Q5_K_XL", "Q5_K_L", "Q5_K_M", "Q5_K_S", "UD-Q4_K_XL", "Q4_K_L",
	"Q4_K_M", "MXFP4_MOE", "Q4_K_S", "IQ4_NL", "IQ4_XS", "Q4_0", "UD-Q3_K_XL", "Q3_K_L", "Q3_K_M", "UD-IQ3_XXS",
	"IQ3_M", "IQ3_S", "Q3_K_S", "IQ3_XS", "IQ3_XXS", "UD-Q2_K_XL", "UD-IQ2_M", "Q2_K_L", "Q2_K", "IQ2_M", "IQ2_S",
	"IQ2_XS", "UD-IQ2_XXS", "IQ2_XXS", "UD-IQ1_M", "UD-IQ1_S", "IQ1_M", "IQ1_S",
}

// rank is how far behind the best a quantization is; those that nobody ranked come last.
func rank(quant string) int {
	if at := slices.Index(preferred, quant); at >= 0 {
		return at
	}
	return len(preferred)
}
