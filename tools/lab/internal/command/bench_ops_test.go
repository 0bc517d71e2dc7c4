package command

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
)

func needGPU(t *testing.T) {
	t.Helper()
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBenchOps(t *testing.T) {
	needGPU(t)
	m := lab(t, "bench", "ops", "--only", "matvec", "--types", "q4_k", "--sizes", "64KiB", "--repeats", "1", "--json")
	var told struct {
		Device string
		Copy   float64 `json:"copy_gigabytes_per_second"`
		Ops    []struct{ Op, Type string }
	}
	if err := json.Unmarshal([]byte(m.out), &told); m.code != 0 || err != nil || told.Device == "" || told.Copy <= 0 ||
		len(told.Ops) != 1 || told.Ops[0].Type != "Q4_K" {
		t.Errorf("%+v, %v", m, err)
	}
	m = lab(t, "bench", "ops", "--only", "router", "--repeats", "1")
	if m.code != 0 || !strings.Contains(m.out, "8 of 128 experts") {
		t.Errorf("%+v", m)
	}
}
