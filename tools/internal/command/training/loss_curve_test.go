package training

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAxesHaveRoundNumbers(t *testing.T) {
	for _, test := range []struct {
		most float64
		want []string
	}{
		{564, []string{"0", "100", "200", "300", "400", "500"}},
		{0.7, []string{"0", "0.2", "0.4", "0.6"}},
		{36000, []string{"0", "10000", "20000", "30000"}},
		{1, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{0, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{9.99, []string{"0", "2", "4", "6", "8"}},
	} {
		var got []string
		for _, tick := range newAxis(test.most).ticks {
			got = append(got, tickLabel(tick))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("0 to %v (-want +got):\n%s", test.most, diff)
		}
	}
}

// The drawing is well-formed, its lines lie within the frame, and a loss that is no
// number is left out.
func TestLossCurveIsDrawn(t *testing.T) {
	c := lossCurve{
		train: []lossPoint{{1, 4}, {2, math.NaN()}, {3, 2}, {4, math.Inf(1)}},
		held:  []lossPoint{{2, 3}, {4, 1}},
	}
	var lines []string
	for d := xml.NewDecoder(strings.NewReader(c.svg())); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
			for _, a := range e.Attr {
				if a.Name.Local == "points" {
					lines = append(lines, strings.TrimSpace(a.Value))
				}
			}
		}
	}
	// 560 pixels are 4 steps, and 310 are a loss of 4.4.
	want := []string{"200.0,68.2 480.0,209.1", "340.0,138.6 620.0,279.5"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
