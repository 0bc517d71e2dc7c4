package quantize

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/imatrix"
	"github.com/gemwire/gemwire/quant"
)

// quantizationVersion is that of ggml's block types.
const quantizationVersion = 2

// valuesAtATime bounds how much of a tensor one core has in memory.
const valuesAtATime = 1 << 18

// Write streams the new file to w, on all cores. Progress, where set, hears how many bytes of the old file are done.
// Canceling ctx ends it soon; what w has then is no model.
func (p *Plan) Write(ctx context.Context, w io.Writer, progress func(done, total int64)) error {
	if err := p.CheckImportance(); err != nil {
		return err
	}
	out, err := p.header(w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := newLine(ctx, p)
	defer l.wait()
	defer cancel() // before the wait
	var done int64
	var current *Planned
	for piece := range l.ordered {
		<-piece.ready
		if piece.err != nil {
			return piece.err
		}
		if piece.tensor != current {
			current = piece.tensor
			if err := out.Begin(current.Name); err != nil {
				return err
			}
		}
		if _, err := out.Write(piece.encoded); err != nil {
			return err
		}
		done += piece.sourceBytes
		if progress != nil {
			progress(done, p.Before)
		}
		l.recycle(piece)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return out.Close()
}

// header declares metadata and tensors.
func (p *Plan) header(w io.Writer) (*gguf.Writer, error) {
	out := gguf.NewWriter(w)
	for _, key := range p.file.Meta.Keys() {
		if strings.HasPrefix(key, "split.") {
			continue // the new file is whole
		}
		v, _ := p.file.Meta.Lookup(key)
		if err := out.Set(key, v); err != nil {
			return nil, err
		}
	}
	pairs := []struct {
		key   string
		value any
	}{
		{"general.quantization_version", uint32(quantizationVersion)},
		{"general.file_type", p.opts.Mix.FileType},
	}
	if m := p.opts.Importance; m != nil {
		pairs = append(pairs, importancePairs(m, p.opts.ImportanceName)...)
	}
	for _, kv := range pairs {
		if err := out.Set(kv.key, kv.value); err != nil {
			return nil, err
		}
	}
	for i := range p.Tensors {
		t := &p.Tensors[i]
		if err := out.Add(gguf.TensorInfo{Name: t.Name, Type: t.To, Dims: t.Dims}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type pair = struct {
	key   string
	value any
}

// importancePairs say where the importance came from.
func importancePairs(m *imatrix.Matrix, name string) []pair {
	pairs := []pair{
		{"quantize.imatrix.file", filepath.Base(name)},
		{"quantize.imatrix.entries_count", uint32(len(m.Entries))},
		{"quantize.imatrix.chunks_count", uint32(m.Chunks)},
	}
	if len(m.Datasets) > 0 {
		pairs = append(pairs, pair{"quantize.imatrix.dataset", m.Datasets[0]})
	}
	return pairs
}

// A piece is some rows of one matrix on their way from the old file to the new one.
type piece struct {
	tensor      *Planned
	first, rows int
	matrix      int   // which expert's
	offset      int64 // of bytes that are copied as they are
	sourceBytes int64

	values  []float32
	encoded []byte
	err     error
	ready   chan struct{}
}

// line is an assembly line: pieces are cut in order, encoded on all cores and come out in order. There are never more
// than a few for each core, so that memory is bounded.
type line struct {
	plan    *Plan
	ctx     context.Context
	ordered chan *piece
	work    chan *piece
	free    chan *piece
	group   sync.WaitGroup
}

func newLine(ctx context.Context, p *Plan) *line {
	cores := runtime.GOMAXPROCS(0)
	l := &line{
		plan: p, ctx: ctx,
		ordered: make(chan *piece, 2*cores), work: make(chan *piece, 2*cores), free: make(chan *piece, 4*cores),
	}
	l.group.Go(l.cut)
	for range cores {
		l.group.Go(l.encode)
	}
	return l
}

// wait returns when all goroutines have ended.
func (l *line) wait() { l.group.Wait() }

// recycle gives a piece's memory to another.
func (l *line) recycle(p *piece) {
	select {
	case l.free <- p:
	default:
	}
}

// fresh is a piece, with the memory of one that is written if there is one.
func (l *line) fresh() *piece {
	p := &piece{}
	select {
	case old := <-l.free:
		p.values, p.encoded = old.values, old.encoded
	default:
	}
	p.ready = make(chan struct{})
	return p
}

// cut hands out the pieces of all tensors.
func (l *line) cut() {
	defer close(l.ordered)
	defer close(l.work)
	for i := range l.plan.Tensors {
		t := &l.plan.Tensors[i]
		send := l.cutRows
		if !t.Changed() {
			send = l.cutBytes
		}
		if !send(t) {
			return
		}
	}
}

// cutBytes cuts a tensor that is copied.
func (l *line) cutBytes(t *Planned) bool {
	const most = 4 * valuesAtATime
	for at := int64(0); at < t.Tensor.Size; at += most {
		p := l.fresh()
		p.tensor, p.offset, p.sourceBytes = t, at, min(most, t.Tensor.Size-at)
		if !l.send(p) {
			return false
		}
	}
	return true
}

// cutRows cuts a tensor that is encoded, never across two experts' matrices.
func (l *line) cutRows(t *Planned) bool {
	matrices := experts(t.Tensor)
	perMatrix := t.Rows() / matrices
	some := max(1, valuesAtATime/t.RowLen())
	rowBytes := t.Tensor.Size / int64(t.Rows())
	for m := range matrices {
		for first := 0; first < perMatrix; first += some {
			p := l.fresh()
			p.tensor, p.matrix, p.first, p.rows = t, m, m*perMatrix+first, min(some, perMatrix-first)
			p.sourceBytes = int64(p.rows) * rowBytes
			if !l.send(p) {
				return false
			}
		}
	}
	return true
}

// send is false when the work has been called off.
func (l *line) send(p *piece) bool {
	for _, to := range []chan *piece{l.work, l.ordered} {
		select {
		case to <- p:
		case <-l.ctx.Done():
			return false
		}
	}
	return true
}

func (l *line) encode() {
	for p := range l.work {
		p.err = l.ctx.Err()
		if p.err == nil && !p.tensor.Changed() {
			p.err = p.copy(l.ctx)
		} else if p.err == nil {
			p.err = p.encode(l.ctx, l.plan.opts.Importance)
		}
		close(p.ready)
	}
}

// sized is a slice of n values, in the same memory where that suffices.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (p *piece) copy(ctx context.Context) error {
	p.encoded = sized(p.encoded, int(p.sourceBytes))
	_, err := p.tensor.ReadAtContext(ctx, p.encoded, p.offset)
	return err
}

func (p *piece) encode(ctx context.Context, m *imatrix.Matrix) error {
	t := p.tensor
	p.values = sized(p.values, p.rows*t.RowLen())
	if err := t.ReadRowsContext(ctx, p.values, p.first, p.rows); err != nil {
		return err
	}
	size, err := t.To.Size(int64(len(p.values)))
	if err != nil {
		return err
	}
	p.encoded = sized(p.encoded, int(size))
	importance, err := m.Importance(t.Name, t.RowLen(), experts(t.Tensor), p.matrix)
	if err != nil && roleOf(t.Name) != tokenEmbd { // tables' entries, where there are any, are of something else
		return err
	}
	if err := encode(t.To, p.encoded, p.values, importance, t.RowLen()); err != nil {
		return fmt.Errorf("%s, rows %d to %d: %w", t.Name, p.first, p.first+p.rows-1, err)
	}
	return nil
}

// encode takes the importance where the type's encoder knows what to do with it. Types that only have such an encoder
// take all columns to be alike where nothing is known.
func encode(t quant.Type, dst []byte, values, importance []float32, columns int) error {
	switch {
	case t.CanQuantizeWeighted() && importance != nil:
		return t.QuantizeWeighted(dst, values, importance)
	case t.CanQuantize():
		return t.Quantize(dst, values)
	}
	alike := make([]float32, columns)
	for i := range alike {
		alike[i] = 1
	}
	return t.QuantizeWeighted(dst, values, alike)
}
