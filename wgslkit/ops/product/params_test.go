package product

import (
	"bufio"
	"io/fs"
	"reflect"
	"strings"
	"testing"
)

// TestParams holds Params to params.wgsl, field by field.
func TestParams(t *testing.T) {
	raw, err := fs.ReadFile(Files, "params.wgsl")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for lines := bufio.NewScanner(strings.NewReader(string(raw))); lines.Scan(); {
		name, rest, ok := strings.Cut(strings.TrimSpace(lines.Text()), ": ")
		if !ok || strings.HasPrefix(name, "//") || strings.HasPrefix(rest, "LowRank") ||
			strings.HasPrefix(name, "codebook") {
			continue
		}
		kind := map[string]string{"u32": "uint32", "f32": "float32"}[rest[:3]]
		declared = append(declared, strings.ReplaceAll(name, "_", "")+" "+kind)
	}
	var given []string
	for i, p := 0, reflect.TypeFor[Params](); i < p.NumField(); i++ {
		given = append(given, strings.ToLower(p.Field(i).Name)+" "+p.Field(i).Type.String())
	}
	if !reflect.DeepEqual(declared, given) {
		t.Errorf("params.wgsl has\n%v\nParams\n%v", declared, given)
	}
}
