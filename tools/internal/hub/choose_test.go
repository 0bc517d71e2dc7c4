package hub

import (
	"errors"
	"strings"
	"testing"
)

func files(names ...string) (list []File) {
	for i, name := range names {
		list = append(list, File{Path: name, Size: int64(1000 + i)})
	}
	return list
}

// unsloth is a repository as unsloth lays them out.
var unsloth = files("README.md", "config.json", "BF16/gemma-4-31B-it-BF16-00001-of-00002.gguf",
	"BF16/gemma-4-31B-it-BF16-00002-of-00002.gguf", "gemma-4-31B-it-Q4_K_M.gguf", "gemma-4-31B-it-Q8_0.gguf",
	"gemma-4-31B-it-UD-Q4_K_XL.gguf", "gemma-4-31B-it-UD-IQ1_S.gguf", "imatrix_unsloth.gguf", "mmproj-BF16.gguf",
	"mmproj-F16.gguf", "mmproj-F32.gguf", "mtp-gemma-4-31B-it-Q4_0.gguf", "mtp-gemma-4-31B-it-Q8_0.gguf")

func describe(m Model) string {
	var parts []string
	for _, f := range m.Parts {
		parts = append(parts, f.Path)
	}
	text := strings.Join(parts, " ")
	if m.Projector != nil {
		text += " + " + m.Projector.Path
	}
	if m.Assistant != nil {
		text += " + " + m.Assistant.Path
	}
	return text
}

func TestChoose(t *testing.T) {
	two := files("gemma-4-E2B-it-Q8_0.gguf", "gemma-4-E4B-it-Q8_0.gguf", "mmproj-gemma-4-E2B-it-F16.gguf",
		"mmproj-gemma-4-E4B-it-BF16.gguf")
	tests := []struct {
		name  string
		files []File
		ask   Name
		want  string // or what the error says
		err   error
	}{
		{"quantization", unsloth, Name{Quant: "q4_k_m"},
			"gemma-4-31B-it-Q4_K_M.gguf + mmproj-F16.gguf + mtp-gemma-4-31B-it-Q4_0.gguf", nil},
		{"without UD", unsloth, Name{Quant: "Q4_K_XL"},
			"gemma-4-31B-it-UD-Q4_K_XL.gguf + mmproj-F16.gguf + mtp-gemma-4-31B-it-Q4_0.gguf", nil},
		{"nearest assistant", unsloth, Name{Quant: "Q8_0"},
			"gemma-4-31B-it-Q8_0.gguf + mmproj-F16.gguf + mtp-gemma-4-31B-it-Q8_0.gguf", nil},
		{"split", unsloth, Name{Quant: "bf16"},
			"BF16/gemma-4-31B-it-BF16-00001-of-00002.gguf BF16/gemma-4-31B-it-BF16-00002-of-00002.gguf + mmproj-F16.gguf + " +
				"mtp-gemma-4-31B-it-Q8_0.gguf", nil},
		{"file", unsloth, Name{File: "GEMMA-4-31b-it-q8_0.gguf"},
			"gemma-4-31B-it-Q8_0.gguf + mmproj-F16.gguf + mtp-gemma-4-31B-it-Q8_0.gguf", nil},
		{"second part", unsloth, Name{File: "gemma-4-31B-it-BF16-00002-of-00002.gguf"},
			"BF16/gemma-4-31B-it-BF16-00001-of-00002.gguf BF16/gemma-4-31B-it-BF16-00002-of-00002.gguf + mmproj-F16.gguf + " +
				"mtp-gemma-4-31B-it-Q8_0.gguf", nil},
		{"towers alone", unsloth, Name{File: "mmproj-BF16.gguf"}, "mmproj-BF16.gguf", nil},
		{"two sizes", two, Name{File: "gemma-4-E4B-it-Q8_0.gguf"},
			"gemma-4-E4B-it-Q8_0.gguf + mmproj-gemma-4-E4B-it-BF16.gguf", nil},
		{"assistants", files("gemma-4-E2B-it-assistant-Q8_0.gguf"), Name{Quant: "Q8_0"},
			"gemma-4-E2B-it-assistant-Q8_0.gguf", nil},
		{"which size", two, Name{Quant: "Q8_0"}, "gemma-4-E2B-it-Q8_0.gguf, gemma-4-E4B-it-Q8_0.gguf", ErrSeveral},
		{"other quantization", unsloth, Name{Quant: "Q3_K_S"}, "it has BF16, Q4_K_M, Q8_0, UD-IQ1_S, UD-Q4_K_XL",
			ErrNoQuant},
		{"other file", unsloth, Name{File: "x.gguf"}, "x.gguf is not in it; it has BF16", ErrNoQuant},
		{"safetensors", files("model.safetensors", "config.json"), Name{}, "gemwire convert", ErrNoGGUF},
		{"nothing", nil, Name{Quant: "Q4_0"}, "no GGUF file", ErrNoGGUF},
		{"part missing", files("a-Q8_0-00001-of-00003.gguf", "a-Q8_0-00003-of-00003.gguf"), Name{Quant: "Q8_0"},
			"parts of a-Q8_0-00001-of-00003.gguf are missing", ErrNoQuant},
		{"parts twice", files("a-Q8_0-00001-of-00002.gguf", "a-Q8_0-00001-of-00002.gguf"), Name{}, "missing", ErrNoGGUF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.ask.Owner, tt.ask.Repo = "o", "r"
			m, err := Choose(tt.files, tt.ask, func([]Model) (Model, error) { return Model{}, nil })
			if !errors.Is(err, tt.err) {
				t.Fatal(err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if err == nil && describe(m) != tt.want {
				t.Errorf("%s\nwant %s", describe(m), tt.want)
			}
		})
	}
}

func TestRanked(t *testing.T) {
	models, _ := Models(unsloth)
	var order []string
	for _, m := range Ranked(models) {
		order = append(order, m.Quant)
	}
	if got := strings.Join(order, " "); got != "Q8_0 UD-Q4_K_XL Q4_K_M UD-IQ1_S BF16" {
		t.Error(got)
	}
	if got := Ranked(models)[Nearest(Ranked(models), "Q5_K_M")].Quant; got != "UD-Q4_K_XL" {
		t.Error(got)
	}
}
