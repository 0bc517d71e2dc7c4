package hub

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	gemma := Name{Owner: "ggml-org", Repo: "gemma-4-E2B-it-GGUF"}
	with := func(change func(*Name)) Name {
		n := gemma
		change(&n)
		return n
	}
	quant := with(func(n *Name) { n.Quant = "Q4_K_M" })
	file := with(func(n *Name) { n.File = "gemma-4-E2B-it-Q4_K_M.gguf" })
	const repo = "ggml-org/gemma-4-E2B-it-GGUF"
	tests := map[string]Name{
		"hf.co/" + repo:                      gemma,
		"hf.co/" + repo + "/":                gemma,
		"HF.co/" + repo + ":latest":          gemma,
		"huggingface.co/" + repo + ":Q4_K_M": quant,
		"hf.co/" + repo + ":q4_k_m": with(func(n *Name) {
			n.Quant = "q4_k_m"
		}),
		"hf.co/" + repo + "/gemma-4-E2B-it-Q4_K_M.gguf":                                             file,
		"hf.co/" + repo + ":gemma-4-E2B-it-Q4_K_M.gguf":                                             file,
		"https://huggingface.co/" + repo:                                                            gemma,
		"https://huggingface.co/" + repo + "/":                                                      gemma,
		"https://huggingface.co/" + repo + "?library=gguf#files":                                    gemma,
		"https://huggingface.co/" + repo + "/tree/main":                                             gemma,
		"https://huggingface.co/" + repo + ":Q4_K_M":                                                quant,
		"https://hf.co/" + repo + "/tree/main/Q4_K_M":                                               quant,
		"https://huggingface.co/" + repo + "/blob/main/gemma-4-E2B-it-Q4_K_M.gguf":                  file,
		"https://huggingface.co/" + repo + "/resolve/main/gemma-4-E2B-it-Q4_K_M.gguf?download=true": file,
		"https://huggingface.co/" + repo + "?show_file_info=gemma-4-E2B-it-Q4_K_M.gguf":             file,
		"huggingface.co/" + repo + "/blob/main/gemma-4-E2B-it-Q4_K_M.gguf":                          file,
		"http://mirror.example:8080/hub/" + repo + ":Q4_K_M":                                        quant,
		"https://huggingface.co/" + repo + "/tree/v1": with(func(n *Name) {
			n.Revision = "v1"
		}),
		"hf.co/" + repo + "/BF16/gemma-4-31B-it-BF16-00001-of-00002.gguf": with(func(n *Name) {
			n.File = "BF16/gemma-4-31B-it-BF16-00001-of-00002.gguf"
		}),
	}
	for text, want := range tests {
		got, ok, err := Parse(text, "http://mirror.example:8080/hub")
		if err != nil || !ok || got != want {
			t.Errorf("%s: %+v, %v, %v; want %+v", text, got, ok, err, want)
		}
	}
	for _, other := range []string{
		"", "gemma4:e2b", "hf.co", "ggml-org/gemma", "https://example.org/a/b.gguf", "./hf.co/a/b", "nohf.co/a/b",
	} {
		if n, ok, err := Parse(other, ""); ok || err != nil {
			t.Errorf("%q is taken for %+v, %v", other, n, err)
		}
	}
	for _, bad := range []string{
		"hf.co/", "hf.co/a", "hf.co/a/", "hf.co/a/b:", "hf.co/../b", "hf.co/a/..", "hf.co/a/b/../../../x.gguf",
		"hf.co/a/b:q 4",
		"hf.co/a/b/x.gguf:Q4_0", `hf.co/a/b\c`, "hf.co/a/b/c:d.gguf", "https://huggingface.co/datasets/a/b",
		"https://huggingface.co/a", "https://huggingface.co/a/b/resolve/main/%2e%2e%2fx.gguf",
		"hf.co/a/" + strings.Repeat("b", 2000),
		"hf.co/a\x00/b",
	} {
		if n, ok, err := Parse(bad, ""); !ok && bad != "hf.co/" || ok && !errors.Is(err, ErrName) {
			t.Errorf("%.60q is taken for %+v, %v, %v", bad, n, ok, err)
		}
	}
}

func TestQuantOf(t *testing.T) {
	for file, want := range map[string]string{
		"gemma-4-E2B-it-Q4_K_M.gguf": "Q4_K_M", "gemma-4-E2B-it-UD-Q4_K_XL.gguf": "UD-Q4_K_XL",
		"gemma-4-E2B-it.i1-IQ3_XXS.gguf": "IQ3_XXS", "google_gemma-4-31B-it-bf16-00001-of-00002.gguf": "BF16",
		"gemma-4-26B-A4B-it-MXFP4_MOE.gguf": "MXFP4_MOE", "gemma-4-E2B_q4_0-it.gguf": "Q4_0",
		"mmproj-F16.gguf": "F16", "mmproj-model-fp16.gguf": "F16", "BF16/x-TQ1_0.gguf": "TQ1_0", "gemma-4-E2B-it.gguf": "",
		"gemma-4-E4B-it-Q4_K_M_L.gguf": "Q4_K_M_L", "Q.gguf": "", "x-NVFP4.gguf": "NVFP4", "x-f32.GGUF": "F32",
	} {
		if got := QuantOf(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}
