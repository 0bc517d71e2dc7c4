package command

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/gemwire/gemwire/finetune"
)

// lossCurve is a run's losses by step.
type lossCurve struct{ train, held plotter.XYs }

func (c *lossCurve) add(e finetune.Event) {
	c.train = append(c.train, plotter.XY{X: float64(e.Step), Y: e.Loss})
	if e.Held != nil {
		c.held = append(c.held, plotter.XY{X: float64(e.Step), Y: *e.Held})
	}
}

// best is the least loss of the held-out examples, +Inf for none.
func (c *lossCurve) best() float64 {
	best := math.Inf(1)
	for _, p := range c.held {
		best = min(best, p.Y)
	}
	return best
}

// The drawing's size.
const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 10 * vg.Centimeter
)

// save draws the curve into an SVG file.
func (c *lossCurve) save(env *environment, file string) error {
	p := plot.New()
	p.Title.Text = "Loss"
	p.X.Label.Text, p.Y.Label.Text = "step", "mean over the targets"
	p.Y.Min = 0
	p.Legend.Top = true
	lines := []any{"examples", c.train}
	if len(c.held) > 0 {
		lines = append(lines, "held out", c.held)
	}
	if len(c.train) > 0 {
		if err := plotutil.AddLines(p, lines...); err != nil {
			return err
		}
	}
	return env.writePlot(p, file)
}

// writePlot draws into an SVG file.
func (env *environment) writePlot(p *plot.Plot, file string) error {
	p.X.Tick.Marker, p.Y.Tick.Marker = shortTicks{p.X.Tick.Marker}, shortTicks{p.Y.Tick.Marker}
	writer, err := p.WriterTo(plotWidth, plotHeight, "svg")
	if err != nil {
		return err
	}
	var drawn bytes.Buffer
	if _, err := writer.WriteTo(&drawn); err != nil {
		return err
	}
	return env.writeFile(file, func(w io.Writer) error {
		_, err := w.Write(bytes.ReplaceAll(drawn.Bytes(), []byte(plotFont), []byte(plotFont+",Times New Roman,Times,serif")))
		return err
	})
}

// plotFont is how a drawing names its font, which not every machine has;
// the others that writePlot names are as wide, so that labels stay clear of the axes.
const plotFont = "font-family:Liberation Serif"

// shortTicks labels 250 as 250, which plot's own ticks may label 250.00.
type shortTicks struct{ plot.Ticker }

func (t shortTicks) Ticks(from, to float64) []plot.Tick {
	ticks := t.Ticker.Ticks(from, to)
	for i, tick := range ticks {
		if tick.Label != "" {
			ticks[i].Label = strconv.FormatFloat(tick.Value, 'g', 10, 64)
		}
	}
	return ticks
}

// isSVG says whether a file is named as the drawing is written.
func isSVG(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".svg") }
