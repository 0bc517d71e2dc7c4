package training

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// lossCurve is a run's losses by step.
type lossCurve struct{ train, held []lossPoint }

type lossPoint struct{ step, loss float64 }

func (c *lossCurve) add(e finetune.Event) {
	c.train = append(c.train, lossPoint{float64(e.Step), e.Loss})
	if e.HeldOutLoss != nil {
		c.held = append(c.held, lossPoint{float64(e.Step), *e.HeldOutLoss})
	}
}

// best is the least loss of the held-out examples, +Inf for none.
func (c *lossCurve) best() float64 {
	best := math.Inf(1)
	for _, p := range c.held {
		best = min(best, p.loss)
	}
	return best
}

// ends are the mean losses of the first and the last tenth of the steps, where there are two of them.
func (c *lossCurve) ends() (first, last float64, ok bool) {
	n := max(1, len(c.train)/10)
	if len(c.train) < 2*n {
		return 0, 0, false
	}
	for i := range n {
		first += c.train[i].loss / float64(n)
		last += c.train[len(c.train)-1-i].loss / float64(n)
	}
	return first, last, true
}

// save draws the curve into an SVG file.
func (c *lossCurve) save(env *cli.Environment, file string) error {
	return env.WriteFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, c.svg())
		return err
	})
}

// The drawing's size and that of its frame, in pixels.
const (
	curveWidth, curveHeight = 640, 400
	curveLeft, curveRight   = 60, 620
	curveTop, curveBottom   = 40, 350
)

// svg draws both lines from step and loss 0 on, each axis with round numbers.
func (c *lossCurve) svg() string {
	steps, losses := c.extent()
	x := func(step float64) float64 { return curveLeft + (curveRight-curveLeft)*step/steps.most }
	y := func(loss float64) float64 { return curveBottom - (curveBottom-curveTop)*loss/losses.most }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" `+
		`font-size="12">`+"\n",
		curveWidth, curveHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", curveWidth, curveHeight)
	fmt.Fprintf(&b, `<text x="%d" y="24" text-anchor="middle" font-size="16">Loss</text>`+"\n",
		(curveLeft+curveRight)/2)
	for _, step := range steps.ticks {
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#ddd"/>`, x(step), curveTop, curveBottom)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(step), curveBottom+18,
			tickLabel(step))
	}
	for _, loss := range losses.ticks {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/>`, curveLeft, y(loss), curveRight)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", curveLeft-8, y(loss)+4,
			tickLabel(loss))
	}
	fmt.Fprintf(&b, `<path d="M%d %dV%dH%d" fill="none" stroke="black"/>`+"\n", curveLeft, curveTop, curveBottom,
		curveRight)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">step</text>`+"\n", (curveLeft+curveRight)/2,
		curveBottom+38)
	fmt.Fprintf(&b, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">mean over the targets</text>`+
		"\n",
		(curveTop+curveBottom)/2)
	for i, line := range []struct {
		name, colour string
		points       []lossPoint
	}{{"examples", "#d62728", c.train}, {"held out", "#2ca02c", c.held}} {
		if len(line.points) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="`, line.colour)
		for _, p := range line.points {
			if !math.IsNaN(p.loss) && !math.IsInf(p.loss, 0) {
				fmt.Fprintf(&b, "%.1f,%.1f ", x(p.step), y(p.loss))
			}
		}
		at := curveTop + 16 + 18*i
		fmt.Fprintf(&b, `"/>`+"\n"+`<path d="M%d %dh24" stroke="%s" stroke-width="1.5"/>`, curveRight-100, at,
			line.colour)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", curveRight-70, at+4, line.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// axis is the labelled numbers of one, and the last of what is drawn beside it.
type axis struct {
	most  float64
	ticks []float64
}

// extent is the axes on which all points have room.
func (c *lossCurve) extent() (steps, losses axis) {
	for _, list := range [][]lossPoint{c.train, c.held} {
		for _, p := range list {
			steps.most = max(steps.most, p.step)
			if !math.IsNaN(p.loss) && !math.IsInf(p.loss, 0) {
				losses.most = max(losses.most, p.loss)
			}
		}
	}
	return newAxis(steps.most), newAxis(losses.most * 1.1)
}

// newAxis labels up to six round numbers from 0 to most: multiples of 1, 2 or 5
// times a power of ten.
func newAxis(most float64) axis {
	if !(most > 0) {
		most = 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, factor := range []float64{0.2, 0.5, 1, 2} {
		if step := factor * power; most/step < 6 {
			a := axis{most: most}
			for i := 0.0; i*step <= most; i++ {
				a.ticks = append(a.ticks, i*step)
			}
			return a
		}
	}
	return axis{most: most, ticks: []float64{0, most}}
}

// tickLabel shows 250 as 250, and 0.30000000000000004 as 0.3.
func tickLabel(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// isSVG says whether a file is named as the drawing is written.
func isSVG(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".svg") }
