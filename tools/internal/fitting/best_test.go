package fitting

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/machine"
)

var ask = hub.Name{Owner: "o", Repo: "r"}

// models are quantizations of a model with so many GB each.
func models(sizes map[string]int64) (list []hub.Model) {
	for quant, gb := range sizes {
		list = append(list, hub.Model{Quant: quant, Parts: []hub.File{{Path: "gemma-" + quant + ".gguf", Size: gb * 1e9}}})
	}
	return list
}

func TestBest(t *testing.T) {
	all := map[string]int64{"BF16": 16, "Q8_0": 9, "Q6_K": 7, "Q4_K_M": 5, "Q2_K": 3, "UD-Q4_K_XL": 6}
	tests := []struct {
		name   string
		sizes  map[string]int64
		gpu    int64 // GB
		memory int64
		budget int64
		want   string
		says   string
	}{
		{"all fit", all, 80, 64, 0, "Q8_0", "80 GiB of card"},
		{"some fit", all, 8, 64, 0, "Q6_K", "the best that fits"},
		{"a bound", all, 80, 64, 4, "Q2_K", "into 4.0 GB"},
		{"no GPU known", all, 0, 64, 0, "Q4_K_M", "usual choice"},
		{"little memory", all, 0, 4, 0, "Q2_K", "4.0 GiB of main memory"},
		{"nothing known", all, 0, 0, 0, "Q4_K_M", "usual choice"},
		{"too little", all, 0, 1, 0, "Q2_K", "smallest"},
		{"without it", map[string]int64{"Q8_0": 9, "BF16": 16}, 0, 64, 0, "Q8_0", "usual choice"},
		{"one", map[string]int64{"F16": 200}, 8, 8, 0, "F16", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said := ""
			c := Chooser{
				Budget: tt.budget * 1e9, Memory: func() int64 { return tt.memory << 30 }, Say: func(text string) { said = text },
				GPUs: func(context.Context) []machine.GPU {
					if tt.gpu == 0 {
						return nil
					}
					return []machine.GPU{{Name: "card", Bytes: tt.gpu << 30}}
				},
				Fits: func(_ context.Context, _ hub.Name, m hub.Model, budget int64) (bool, error) {
					return m.Size() <= budget, nil
				},
			}
			m, err := c.Best(t.Context(), ask, models(tt.sizes))
			if err != nil || m.Quant != tt.want || !strings.Contains(said, tt.says) {
				t.Errorf("%s, %q, %v", m.Quant, said, err)
			}
		})
	}
	c := Chooser{Budget: 1e9, Say: func(string) {}, Fits: func(context.Context, hub.Name, hub.Model, int64) (bool,
		error) {
		return false, nil
	}}
	if _, err := c.Best(t.Context(), ask, models(all)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(),
		"Q2_K, has 3.0 GB") {
		t.Errorf("nothing fits: %v", err)
	}
	two := append(models(all), hub.Model{Quant: "Q8_0", Parts: []hub.File{{Path: "other-Q8_0.gguf", Size: 1}}})
	if _, err := c.Best(t.Context(), ask, two); !errors.Is(err, hub.ErrSeveral) {
		t.Errorf("two models: %v", err)
	}
}

// The plan is made from the header of the file that would be fetched.
func TestFitsByPlan(t *testing.T) {
	source := nano.Source()
	content := make([]byte, source.Size())
	if _, err := source.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer web.Close()
	m := hub.Model{Quant: "Q8_0", Parts: []hub.File{{Path: "nano.gguf", Size: int64(len(content))}}}
	c := Chooser{Client: hub.Client{Endpoint: web.URL}}
	for budget, want := range map[int64]bool{8e9: true, 4e6: false, 1e6: false} {
		if got, err := c.fits(t.Context(), ask, m, budget); err != nil || got != want {
			t.Errorf("%d bytes: %v, %v", budget, got, err)
		}
	}
}
