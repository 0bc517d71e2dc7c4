package wgslkit_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/wgslkit"
)

func TestCompose(t *testing.T) {
	files := fstest.MapFS{
		"main.wgsl": {Data: []byte("//#include \"decode/${QUANT}.wgsl\"\n//#include " +
			"\"once.wgsl\"\n//#include \"once.wgsl\"\n//#if F16\nhalf\n//#else\nfull\n//#end\n//#if QUANT == " +
			"q8\neight\n//#end\n//#if !F16\nplain\n//#if QUANT != q4\nnested\n//#end\n//#end\n")},
		"decode/q4.wgsl":   {Data: []byte("four\n//#include \"near.wgsl\"\n")},
		"decode/q8.wgsl":   {Data: []byte("bits\n")},
		"decode/near.wgsl": {Data: []byte("neighbour\n")},
		"once.wgsl":        {Data: []byte("once\n")},
	}
	for _, tc := range []struct {
		name    string
		variant wgslkit.Variant
		want    []string
	}{
		{"q4", wgslkit.Variant{"QUANT": "q4", "F16": true, "TILE": 8},
			[]string{"const F16: bool = true;", "const TILE: u32 = 8u;", "four", "neighbour", "once", "half"}},
		{"q8", wgslkit.Variant{"QUANT": "q8", "EPS": float32(1e-6)},
			[]string{"const EPS: f32 = 1e-06f;", "bits", "once", "full", "eight", "plain", "nested"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := wgslkit.NewShaders(files).Compose("main.wgsl", tc.variant)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, nonEmptyLines(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func nonEmptyLines(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestComposeErrors(t *testing.T) {
	for name, text := range map[string]string{
		"missing include":   "//#include \"absent.wgsl\"\n",
		"unquoted include":  "//#include absent.wgsl\n",
		"unknown name":      "//#include \"${WHAT}.wgsl\"\n",
		"open condition":    "//#if A\n",
		"end without if":    "//#end\n",
		"unknown directive": "//#elif B\n",
		"odd condition":     "//#if A < B\n",
		"open repetition":   "//#repeat I N\n//#if A\n//#end\n",
		"uncounted":         "//#repeat I M\n//#end\n",
		"repeat of nothing": "//#repeat N\n//#end\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wgslkit.NewShaders(fstest.MapFS{"x.wgsl": {Data: []byte(text)}}).Compose("x.wgsl",
				wgslkit.Variant{"N": 2})
			if !errors.Is(err, wgslkit.ErrShader) || !strings.Contains(err.Error(), "wgsl") {
				t.Errorf("got %v, want ErrShader that names the file", err)
			}
		})
	}
}

func TestComposeRepeats(t *testing.T) {
	text := "//#repeat I ROWS\nlet x${I} = 0;\n//#repeat J COLUMNS\n//#if F16\nif (a${I}${J}) " +
		"{}\n//#end\n//#end\n//#end\n//#if !F16\n//#repeat I ROWS\nnot\n//#end\n//#end\nlast\n"
	got, err := wgslkit.NewShaders(fstest.MapFS{"x.wgsl": {Data: []byte(text)}}).Compose("x.wgsl",
		wgslkit.Variant{"ROWS": 2, "COLUMNS": 3, "F16": true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"let x0 = 0;", "if (a00) {}", "if (a01) {}", "if (a02) {}", "let x1 = 0;", "if (a10) {}",
		"if (a11) {}", "if (a12) {}", "last"}
	if diff := cmp.Diff(want, nonEmptyLines(got)[3:]); diff != "" { // behind the constants
		t.Error(diff)
	}
}

func TestComposeEnables(t *testing.T) {
	s := wgslkit.NewShaders(fstest.MapFS{"a.wgsl": {Data: []byte("const B = A;\n//#if WIDE\n//#enable " +
		"subgroups\n//#end\n")}})
	for wide, want := range map[bool]string{
		true:  "enable subgroups;\nconst A: u32 = 1u;\nconst WIDE: bool = true;\nconst B = A;\n\n",
		false: "const A: u32 = 1u;\nconst WIDE: bool = false;\nconst B = A;\n\n",
	} {
		got, err := s.Compose("a.wgsl", wgslkit.Variant{"A": 1, "WIDE": wide})
		if err != nil || got != want {
			t.Errorf("wide %v: %q, %v; want %q", wide, got, err, want)
		}
	}
}
