package gpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// inputs are the buffers of what changes from batch to batch.
type inputs struct {
	ofWindow           int               // rows of one
	ids                *wgslkit.Buffer   // u32 [tokens], the pad token where soft ones stand
	softMarks          *wgslkit.Buffer   // u32 [tokens]
	softRows           []*wgslkit.Buffer // [rows of a window, d] each
	embedded, perLayer *hostRows         // of tables that are not on the GPU
	asked              *wgslkit.Buffer   // u32 [asked]: the positions that have a target
	places             *wgslkit.Buffer   // u32 [tokens]: where each of them stands among the asked, or ops.NoRow
	order              *wgslkit.Buffer   // u32 [asked]: 0, 1, 2 …
	goals              *wgslkit.Buffer   // u32 [asked, shares, 2]: tokens and the bits of their parts
	shares             int
	losses             *wgslkit.Buffer // [asked]
	weight             *wgslkit.Buffer // [1] of the loss
	part               *wgslkit.Buffer // state of the part of the asked positions that the head computes
	lower, upper       *rowInputs

	buffers []*wgslkit.Buffer
	bytes   int64
}

// rowInputs are those of a half of the tape, by row.
type rowInputs struct {
	state     *wgslkit.Buffer   // of all rows, or where those are computed in windows
	windows   []*wgslkit.Buffer // of each
	positions *wgslkit.Buffer   // u32 [rows]
	global    ranges
	sliding   ranges
}

// ranges are what each row sees, and which rows see each key: [first, end), u32.
type ranges struct{ visible, seenBy *wgslkit.Buffer }

func (r *rowInputs) of(window int) ranges {
	if window == 0 {
		return r.global
	}
	return r.sliding
}

// stateStep is the words from one window's state to the next, so that each begins
// where a binding may.
const stateStep = 64

// windows is how many there are of so many rows.
func (in *inputs) windows(rows int) int { return (rows + in.ofWindow - 1) / in.ofWindow }

// window is window i of a buffer that has so many words for each row.
func (in *inputs) window(b *wgslkit.Buffer, words, i int) *wgslkit.Buffer {
	size := int64(4 * words * in.ofWindow)
	if b.Size() <= size {
		return b
	}
	first := int64(i) * size
	return b.Part(first, min(size, b.Size()-first))
}

// newInputs makes the buffers for batches of a size, or on no device what stands for
// them while a plan is only made. Rows are computed in windows of so many.
func (m *Machine) newInputs(device *wgslkit.Device, s size, window int) (in *inputs, err error) {
	tokens, asked := s.tokens, s.asked
	in = &inputs{shares: s.shares, ofWindow: window}
	defer func() {
		if err != nil {
			in.release()
			in = nil
		}
	}()
	c, model := m.tape.Config, m.tape.Model
	words := func(n int) *wgslkit.Buffer {
		if err != nil {
			return nil
		}
		in.bytes += int64(4 * n)
		if device == nil {
			return new(wgslkit.Buffer)
		}
		var b *wgslkit.Buffer
		if b, err = device.NewBuffer("training inputs", wgslkit.Activations, int64(4*n)); err == nil {
			in.buffers = append(in.buffers, b)
		}
		return b
	}
	rows := func(row int) (list []*wgslkit.Buffer) {
		for first := 0; first < tokens; first += window {
			list = append(list, words(min(window, tokens-first)*row))
		}
		return list
	}
	host := func(t *gguf.Tensor, scale float32) *hostRows {
		if t == nil {
			return nil
		}
		if _, ok := m.weights.Matrix(t); ok {
			return nil
		}
		return &hostRows{windows: rows(t.RowLen()), table: t, scale: scale}
	}
	half := func(rows int) *rowInputs {
		of := func() ranges { return ranges{words(2 * rows), words(2 * tokens)} }
		state := words(stateStep*(in.windows(rows)-1) + ops.StateWords)
		r := &rowInputs{state, nil, words(rows), of(), of()}
		for i := range in.windows(rows) {
			if err == nil {
				r.windows = append(r.windows, state.Part(int64(4*stateStep*i), 4*ops.StateWords))
			}
		}
		return r
	}
	in.ids, in.softMarks, in.softRows = words(tokens), words(tokens), rows(c.EmbeddingLength)
	in.embedded, in.perLayer = host(model.TokenEmbd, c.EmbedScale()), host(model.PerLayerTokenEmbd, c.PerLayerScale())
	in.asked, in.places, in.order, in.losses = words(asked), words(tokens), words(asked), words(asked)
	in.goals = words(2 * asked * s.shares)
	in.weight, in.part = words(1), words(ops.StateWords)
	in.lower, in.upper = half(tokens), half(asked)
	if err != nil || device == nil {
		return in, err
	}
	numbers := make([]uint32, asked)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return in, in.order.Write(0, wordBytes(numbers))
}

func (in *inputs) release() {
	if in == nil {
		return
	}
	for _, b := range in.buffers {
		b.Release()
	}
}

// padToken is the row of the per-layer embeddings that soft tokens use.
const padToken = 0

// writer keeps the first error of several writes.
type writer struct{ err error }

func (w *writer) words(b *wgslkit.Buffer, words []uint32) {
	if w.err == nil {
		w.err = b.Write(0, wordBytes(words))
	}
}

func (w *writer) floatsAt(b *wgslkit.Buffer, at int, values []float32) {
	if w.err == nil {
		w.err = b.Write(int64(4*at), floatBytes(values))
	}
}

// write puts a batch where the programs read it.
func (in *inputs) write(batch *tape.Batch, window int, weight float64) error {
	w := new(writer)
	n, d := batch.Len(), 0
	ids, marks, places := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	rows := make([]int, n)
	for t, token := range batch.Tokens {
		rows[t], ids[t], places[t] = t, uint32(token.ID), ops.NoRow
		if token.Soft != nil {
			d = len(token.Soft)
			ids[t], marks[t] = padToken, 1
			w.floatsAt(in.softRows[t/in.ofWindow], t%in.ofWindow*d, token.Soft)
		}
	}
	goals := make([]uint32, 0, 2*in.shares*len(batch.Asked))
	asked := make([]uint32, len(batch.Asked))
	for i, t := range batch.Asked {
		places[t], asked[i] = uint32(i), uint32(t)
		goals = appendGoals(goals, batch.Shares(t), in.shares)
	}
	w.words(in.ids, ids)
	w.words(in.softMarks, marks)
	w.words(in.places, places)
	w.words(in.asked, asked)
	w.words(in.goals, goals)
	w.floatsAt(in.weight, 0, []float32{float32(weight)})
	in.lower.write(w, batch, rows, window, in.ofWindow)
	in.upper.write(w, batch, batch.Asked, window, in.ofWindow)
	for _, h := range []*hostRows{in.embedded, in.perLayer} {
		if h != nil && w.err == nil {
			w.err = h.write(ids)
		}
	}
	return w.err
}

// appendGoals is a row of goals, with places for n shares.
func appendGoals(goals []uint32, shares []tape.Share, n int) []uint32 {
	for _, s := range shares {
		goals = append(goals, uint32(s.Token), math.Float32bits(s.Part))
	}
	for range n - len(shares) {
		goals = append(goals, ops.NoRow, 0)
	}
	return goals
}

// write puts down what rows of a batch, by position, see and who sees them.
func (r *rowInputs) write(w *writer, batch *tape.Batch, rows []int, window, ofWindow int) {
	for i, b := range r.windows {
		first := i * ofWindow
		w.words(b, state(first, min(max(len(rows)-first, 0), ofWindow)))
	}
	positions := make([]uint32, len(rows))
	for i, t := range rows {
		positions[i] = uint32(batch.Position(t))
	}
	w.words(r.positions, positions)
	r.global.write(w, batch, rows, 0)
	r.sliding.write(w, batch, rows, max(window, 1))
}

// write fills both buffers to their ends: rows beyond the last see nothing.
func (r ranges) write(w *writer, batch *tape.Batch, rows []int, window int) {
	visible, seenBy := make([]uint32, r.visible.Size()/4), make([]uint32, r.seenBy.Size()/4)
	for i, t := range rows {
		first, end := batch.Visible(t, window)
		visible[2*i], visible[2*i+1] = uint32(first), uint32(end)
		for j := first; j < end; j++ {
			if seenBy[2*j+1] == 0 {
				seenBy[2*j] = uint32(i)
			}
			seenBy[2*j+1] = uint32(i + 1)
		}
	}
	w.words(r.visible, visible)
	w.words(r.seenBy, seenBy)
}

// state is the words that programs read for so many rows from a first one on.
func state(first, rows int) []uint32 {
	words := make([]uint32, ops.StateWords)
	words[ops.StatePosition], words[ops.StateWidth] = uint32(first), uint32(rows)
	return words
}

// sum adds up the first n losses.
func sum(raw []byte) float64 {
	var total float64
	for _, v := range appendFloats(nil, raw) {
		total += float64(v)
	}
	if math.IsInf(total, 0) {
		return math.NaN()
	}
	return total
}
