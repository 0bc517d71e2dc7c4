package command

import (
	"bytes"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/gemwire/gemwire/tools/internal/cli"
)

// The drawing's size.
const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 10 * vg.Centimeter
)

// writePlot draws into an SVG file.
func writePlot(env *cli.Environment, p *plot.Plot, file string) error {
	p.X.Tick.Marker, p.Y.Tick.Marker = shortTicks{p.X.Tick.Marker}, shortTicks{p.Y.Tick.Marker}
	writer, err := p.WriterTo(plotWidth, plotHeight, "svg")
	if err != nil {
		return err
	}
	var drawn bytes.Buffer
	if _, err := writer.WriteTo(&drawn); err != nil {
		return err
	}
	return env.WriteFile(file, func(w io.Writer) error {
		_, err := w.Write(bytes.ReplaceAll(drawn.Bytes(), []byte(plotFont),
			[]byte(plotFont+",Times New Roman,Times,serif")))
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
