package arch

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, wanted %v", what, got, want)
	}
}

func TestFactorsOfAudio(t *testing.T) {
	a := &Audio{Width: 10, Heads: 2}
	near(t, "the factor on keys", a.KeyScale(), math.Log(1+math.E)/math.Log(2))
	near(t, "the factor on queries", a.QueryScale(), 1/math.Sqrt(5)/math.Log(2))
	s := a.Sinusoids()
	if len(s) != AudioWindow*a.Width {
		t.Fatalf("%d values", len(s))
	}
	for i, v := range s {
		d, j := float64(i/10), float64(i%10%5)
		angle := d / math.Pow(10000, j/4)
		want := math.Sin(angle)
		if i%10 >= 5 {
			want = math.Cos(angle)
		}
		near(t, "a sinusoid", v, want)
	}
}
