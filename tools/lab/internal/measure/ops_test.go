package measure

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

func TestMultiplyAdds(t *testing.T) {
	dev := openDevice(t)
	if s, err := MultiplyAdds(dev); err != nil || !(s.Min > 0) || len(s.Runs) != bench.Repeats {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestOps measures each op once; every type of weights has a small matrix.
func TestOps(t *testing.T) {
	dev := openDevice(t)
	for _, o := range []OpOptions{
		{Only: []string{"matvec"}, Sizes: []int64{64 << 10}},
		{Only: []string{"norm", "router"}},
	} {
		o.Copy = bench.SeriesOf([]float64{1e10})
		types := map[string]bool{}
		err := Ops(context.Background(), dev, o, func(r OpResult) error {
			types[r.Type] = true
			if !(r.Microseconds.Min > 0) || !(r.GBs > 0) || !(r.OfCopy > 0) || !(r.GFLOPs > 0) {
				t.Errorf("%+v", r)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if o.Only[0] == "matvec" && len(types) != len(weightTypes) {
			t.Errorf("%d types were measured of %d", len(types), len(weightTypes))
		}
	}
}

func TestOpsEnd(t *testing.T) {
	dev := openDevice(t)
	if err := CheckOps([]string{"matvec", "none"}); !errors.Is(err, bench.ErrOptions) {
		t.Errorf("CheckOps: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	measured := 0
	err := Ops(ctx, dev, OpOptions{Only: []string{"norm"}}, func(OpResult) error {
		measured++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || measured != 1 {
		t.Errorf("%d measured, %v", measured, err)
	}
}

// TestBlocksAreFinite decodes the weights that kernels are measured on.
func TestBlocksAreFinite(t *testing.T) {
	for _, kind := range weightTypes {
		b, err := newBlocks(kind)
		if err != nil {
			t.Fatal(err)
		}
		n := 64 * kind.BlockLen()
		raw, values := make([]byte, 64*kind.BlockBytes()), make([]float32, n)
		if _, err := b.ReadAt(raw, int64((poolBlocks-32)*kind.BlockBytes())); err != nil {
			t.Fatal(err)
		}
		if err := kind.Dequantize(values, raw); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 1e5 {
				t.Fatalf("%v: value %d is %v", kind, i, v)
			}
		}
	}
	if rowsOf(quant.Q4_K, 1) != 1 {
		t.Error("a small matrix has no row")
	}
}
