package convert

import (
	"context"
	"encoding/binary"
	"io"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// valuesAtATime bounds what of a tensor is in memory.
const valuesAtATime = 1 << 20

// each hands over a tensor's values, whole rows at a time, as they lie in the new file. Integers go to w.
func (t *tensor) each(ctx context.Context, rows func(values []float32) error, w io.Writer) error {
	switch {
	case t.source == nil:
		return rows(t.values)
	case t.info.Type == gguf.I32:
		return t.integers(w)
	case t.arrange == swapOuter:
		values, err := t.source.Floats()
		if err != nil {
			return err
		}
		return rows(swapped(values, t.source.Shape))
	}
	shape := t.source.Shape
	columns := 1
	if len(shape) > 0 {
		columns = shape[len(shape)-1]
	}
	n := t.source.Elements()
	some := max(1, valuesAtATime/columns) * columns
	buffer := make([]float32, min(some, n))
	for first := 0; first < n; first += some {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buffer[:min(some, n-first)]
		if err := t.source.ReadFloats(part, first); err != nil {
			return err
		}
		switch t.arrange {
		case channelsFirst:
			for at := 0; at < len(part); at += columns {
				toChannelsFirst(part[at : at+columns])
			}
		case softplus:
			for i, v := range part {
				part[i] = float32(math.Log1p(math.Exp(float64(v))))
			}
		}
		if err := rows(part); err != nil {
			return err
		}
	}
	return nil
}

// toChannelsFirst turns a square of pixels, [row, column, channel], into [channel, row, column].
func toChannelsFirst(row []float32) {
	pixels := len(row) / 3
	old := append([]float32(nil), row...)
	for i := range pixels {
		for channel := range 3 {
			row[channel*pixels+i] = old[3*i+channel]
		}
	}
}

// swapped exchanges the outer two of three dimensions.
func swapped(values []float32, shape []int) []float32 {
	a, b, c := shape[0], shape[1], shape[2]
	out := make([]float32, len(values))
	for i := range a {
		for j := range b {
			copy(out[(j*a+i)*c:(j*a+i+1)*c], values[(i*b+j)*c:])
		}
	}
	return out
}

// integers copies a table of integers, which are 64 bits wide in the folder.
func (t *tensor) integers(w io.Writer) error {
	raw, err := io.ReadAll(t.source.Section())
	if err != nil {
		return err
	}
	width := len(raw) / max(t.source.Elements(), 1)
	out := make([]byte, 0, 4*t.source.Elements())
	for ; len(raw) >= width && width > 0; raw = raw[width:] {
		out = binary.LittleEndian.AppendUint32(out, binary.LittleEndian.Uint32(raw))
	}
	_, err = w.Write(out)
	return err
}
