package arch

import (
	"context"
	"math"
	"testing"
)

func clampOf(t *testing.T, l *Linear) Clamp {
	t.Helper()
	c, err := l.Clamp(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClampBesideLinear(t *testing.T) {
	inf := float32(math.Inf(1))
	d := small().fill("v.blk.1.attn_v.input_min", -1.5).fill("v.blk.1.attn_v.input_max", 2)
	d.fill("v.blk.1.attn_v.output_min", -3).fill("v.blk.1.attn_v.output_max", 4)
	d.fill("a.blk.0.conv_pw1.output_max", 5).fill("mm.a.fc.input_min", -inf)
	towers := open(t, d)
	tests := []struct {
		linear *Linear
		want   Clamp
		in     bool
		out    bool
	}{
		{&towers.Vision.Layers[1].V, Clamp{-1.5, 2, -3, 4}, true, true},
		{&towers.Vision.Layers[0].V, NoClamp(), false, false},
		{&towers.Audio.Layers[0].ConvIn, Clamp{-inf, inf, -inf, 5}, false, true},
		{&towers.Audio.Output, NoClamp(), false, false},
	}
	for _, tt := range tests {
		if got := clampOf(t, tt.linear); got != tt.want || got.ClipsIn() != tt.in || got.ClipsOut() != tt.out {
			t.Errorf("%s: %+v, wanted %+v", tt.linear.Weight.Name, got, tt.want)
		}
	}
}

// packed lists a value for each of the bounds of 14 linears and a projection.
func packed(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i) - 100.5
	}
	return values
}

func TestPackedClamp(t *testing.T) {
	values := packed(60)
	clear(values[8:12]) // what the converter leaves where there is none
	towers := open(t, small().fill("v.clamp_data", values...))
	layers := towers.Vision.Layers
	for i, l := range []*Linear{&layers[0].Q, &layers[0].K, nil, &layers[0].AttnOutput, &layers[0].Gate, &layers[0].Up,
		&layers[0].Down,
		&layers[1].Q, &layers[1].K, &layers[1].V, &layers[1].AttnOutput, &layers[1].Gate, &layers[1].Up,
		&layers[1].Down, &towers.Vision.Projection} {
		if l == nil {
			continue
		}
		first := float32(4*i) - 100.5
		if got, want := clampOf(t, l), (Clamp{first, first + 1, first + 2, first + 3}); got != want {
			t.Errorf("%s: %+v, wanted %+v", l.Weight.Name, got, want)
		}
	}
	if got := clampOf(t, &layers[0].V); got != NoClamp() {
		t.Errorf("four zeros are %+v, wanted none", got)
	}
	if towers.Audio.Projection.Clipped() {
		t.Error("the audio tower has bounds of the image tower")
	}
}

func TestPackedClampForms(t *testing.T) {
	towers := open(t, small().fill("v.clamp_data", packed(56)...))
	if towers.Vision.Projection.Clipped() || !towers.Vision.Layers[1].Down.Clipped() {
		t.Error("without the projection's values, wanted bounds for all but it")
	}
	for _, n := range []int{1, 55, 57, 64} {
		wantError(t, small().fill("v.clamp_data", packed(n)...), ErrShape, "v.clamp_data")
	}
	d := small().fill("v.clamp_data", packed(60)...).fill("v.blk.0.attn_q.input_min", -7)
	if got := clampOf(t, &open(t, d).Vision.Layers[0].Q); got.InMin != -7 || got.ClipsOut() {
		t.Errorf("bounds beside a linear should come first: %+v", got)
	}
}

func TestUnusableClamps(t *testing.T) {
	nan := float32(math.NaN())
	const q = "v.blk.0.attn_q."
	for name, d := range map[string]*draft{
		"crossed": small().fill(q+"input_min", 1).fill(q+"input_max", -1),
		"NaN":     small().fill(q+"output_max", nan),
		"packed":  small().fill("v.clamp_data", append([]float32{0, 1, 3, 2}, packed(56)...)...),
	} {
		_, err := open(t, d).Vision.Layers[0].Q.Clamp(context.Background())
		mentions(t, err, ErrConfig, "v.blk.0.attn_q.weight")
		if t.Failed() {
			t.Fatal(name)
		}
	}
	wantError(t, small().fill(q+"input_min", 1, 2), ErrShape, q+"input_min")
}
