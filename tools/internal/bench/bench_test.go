package bench

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		runs []float64
		want Series
	}{
		{nil, Series{}},
		{[]float64{3}, Series{Median: 3, Min: 3, Max: 3}},
		{[]float64{3, 1, 2}, Series{Median: 2, Min: 1, Max: 3}},
		{[]float64{4, 1, 2, 3}, Series{Median: 2.5, Min: 1, Max: 4}},
	} {
		c.want.Runs = c.runs
		if d := cmp.Diff(c.want, SeriesOf(c.runs)); d != "" {
			t.Errorf("%v: %s", c.runs, d)
		}
	}
	if s := SeriesOf([]float64{1, 2, 4}); s.Spread() != 1.5 || (Series{}).Spread() != 0 {
		t.Errorf("spread %v", s.Spread())
	}
	if d := cmp.Diff([]float64{20, 5}, Rates(10, []float64{0.5, 2}).Runs); d != "" {
		t.Error(d)
	}
}

func openNano(t *testing.T, device gemma4.Device) *gemma4.Model {
	t.Helper()
	m, err := gemma4.Open(context.Background(), nano.Source(), gemma4.OpenOptions{Device: device})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestModel(t *testing.T) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		t.Run(string(device), func(t *testing.T) {
			m := openNano(t, device)
			o := ModelOptions{
				PromptTokens: 20, DecodeTokens: 5, Depth: 90, Repeats: 2, Profile: device == gemma4.DeviceGPU,
				Copy: SeriesOf([]float64{1e10}),
			}
			r, err := Model(context.Background(), m, 0, o)
			if err != nil {
				t.Fatal(err)
			}
			for name, s := range map[string]Series{
				"prefill": r.Prefill.TokensPerSecond, "prefill seconds": r.Prefill.Seconds,
				"decode": r.Decode.TokensPerSecond, "decode ms": r.Decode.MsPerToken,
			} {
				if len(s.Runs) != 2 || !(s.Min > 0) || s.Median < s.Min || s.Median > s.Max || math.IsInf(s.Max, 0) {
					t.Errorf("%s: %+v", name, s)
				}
			}
			if product := r.Decode.MsPerToken.Min * r.Decode.TokensPerSecond.Max; math.Abs(product-1000) > 1e-6 {
				t.Errorf("%v ms at %v tokens a second", r.Decode.MsPerToken.Min, r.Decode.TokensPerSecond.Max)
			}
			onGPU := device == gemma4.DeviceGPU
			if (r.DispatchesPerToken > 0) != onGPU || (r.Memory.GPUTotal > 0) != onGPU ||
				(len(r.Profile) > 0) != onGPU {
				t.Errorf("%+v", r)
			}
			if r.Decode.OfCopy <= 0 || r.CopyGBs.Median != 10 || r.Decode.BytesPerToken == 0 || r.Device == "" {
				t.Errorf("%+v", r)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestModelRefuses(t *testing.T) {
	m := openNano(t, gemma4.DeviceCPU)
	good := ModelOptions{PromptTokens: 1, DecodeTokens: 1, Repeats: 1}
	for name, change := range map[string]func(*ModelOptions){
		"no prompt":      func(o *ModelOptions) { o.PromptTokens = 0 },
		"no decoding":    func(o *ModelOptions) { o.DecodeTokens = 0 },
		"no repeats":     func(o *ModelOptions) { o.Repeats = 0 },
		"negative depth": func(o *ModelOptions) { o.Depth = -1 },
		"too long":       func(o *ModelOptions) { o.Depth = 1 << 20 },
		"profile":        func(o *ModelOptions) { o.Profile = true },
	} {
		o := good
		change(&o)
		if _, err := Model(context.Background(), m, 0, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Model(ctx, m, 0, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func openDevice(t *testing.T) *wgslkit.Device {
	t.Helper()
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err) // what was measured is left on it
		}
	})
	return dev
}

func TestCopies(t *testing.T) {
	if s := CopyCPU(); !(s.Min > 0) || len(s.Runs) != Repeats {
		t.Errorf("on the CPU %+v", s)
	}
	dev := openDevice(t)
	s, err := CopyGPU(dev)
	if err != nil || !(s.Min > 0) {
		t.Errorf("on the GPU %+v, %v", s, err)
	}
	for _, moved := range []int64{1, 1 << 20, 1 << 40} {
		if s, err := CopyOf(dev, moved); err != nil || !(s.Min > 0) {
			t.Errorf("%d bytes on the GPU: %+v, %v", moved, s, err)
		}
	}
}
