package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
)

// A range of 0 to 564 is one that plot labels with two digits that say nothing.
func TestTicksHaveShortLabels(t *testing.T) {
	for _, test := range []struct {
		to   float64
		want []string
	}{
		{564, []string{"0", "250", "500"}},
		{0.7, []string{"0", "0.3", "0.6"}},
		{36000, []string{"0", "10000", "20000", "30000"}},
	} {
		var got []string
		for _, tick := range (shortTicks{plot.DefaultTicks{}}).Ticks(0, test.to) {
			if tick.Label != "" {
				got = append(got, tick.Label)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("0 to %v (-want +got):\n%s", test.to, diff)
		}
	}
}
