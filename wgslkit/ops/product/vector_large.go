package product

import (
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// largeShape is how a product with a vector is cut for matvec_large.wgsl.
type largeShape struct {
	threads int // of a workgroup
	lanes   int // threads that share rows
	rows    int // of a thread
	groups  int // workgroups
	tokens  int // at a time
	staged  bool
}

const (
	// splitLanes is from how many lanes on sums are added up in two steps.
	splitLanes = 32
	// stagedTasks is from how many workgroups' rows on inputs are staged that
	// could be read where they are.
	stagedTasks = 768
)

// fitsGroup says whether a workgroup's memory holds what matvec_large.wgsl keeps there.
func (p *operand) fitsGroup(r *record.Recorder) bool {
	w, tokens := p.W, groupOf(r.Width())
	if tokens == 1 {
		w = inWideUnits(r.Kit(), w)
	}
	for _, tile := range w.Tiles {
		s := cutLarge(r.Kit(), p.In, w, tile.Rows, tokens, record.CeilDiv(r.Width(), tokens))
		if s.memory(w) > int(r.Limits().MaxWorkgroupStorage) {
			return false
		}
	}
	return true
}

// recordLargeVector records a product of one token, with all that goes before and after.
func recordLargeVector(r *record.Recorder, p *operand) {
	w := inWideUnits(r.Kit(), p.W)
	addX, addW, normW, addOut := InputBuffers(r, p.In)
	for _, tile := range w.Tiles {
		s := cutLarge(r.Kit(), p.In, w, tile.Rows, 1, 1)
		v := w.Variant()
		v["TOKENS"], v["HALVES"] = 1, true
		weights.ShareCodebook(v, s.memory(w), int(r.Limits().MaxWorkgroupStorage))
		v["THREADS"], v["LANES"], v["ROWS"], v["COUNT"], v["COLS"] = s.threads, s.lanes, s.rows, w.Row.Units, w.Cols
		v["STAGED"], v["SPLIT_SUM"] = s.staged, s.lanes >= splitLanes
		v["ADD"], v["NORM"], v["GATED"] = p.In.Add != nil, p.In.Norm != nil, p.Gated
		addX, addW := p.LowRank.inPlaceOf(v, addX, addW)
		bind := record.BindAll(tile.Buffer, p.In.X, normW, addX, addW, p.mul(), addOut, p.Out)
		p.call(r, "matvec_large.wgsl", v, wgslkit.Grid{X: uint32(s.groups)}, p.params.of(tile), bind...)
	}
}

// FewTokens is how many tokens products multiply with each weight that they read, in
// programs of that width, and the most that a program may have for that to be done in
// groups of so many; 0 where the device has no such kernels. Products with chosen
// experts go token by token.
func FewTokens(k *record.Kit) (each, most int) {
	if !k.Tuning().LargeMatvec || k.Tuning().SmallKernels {
		return 0, 0
	}
	return record.TokensOfGroup, record.MostFewTokens
}

// groupOf is how many tokens matvec_large.wgsl takes at a time in programs of that width.
func groupOf(width int) int {
	switch {
	case width == 1:
		return 1
	case width <= record.FewestTokens:
		return record.FewestTokens
	}
	return record.TokensOfGroup
}

// recordFew records a product of few tokens.
func recordFew(r *record.Recorder, p *operand) {
	w, tokens := p.W, groupOf(r.Width())
	x := spread(r, p.Label, p.In, w, tokens)
	if r.Err() != nil {
		return
	}
	for _, tile := range w.Tiles {
		s := cutLarge(r.Kit(), p.In, w, tile.Rows, tokens, record.CeilDiv(r.Width(), tokens))
		v := w.Variant()
		v["THREADS"], v["LANES"], v["ROWS"], v["COUNT"], v["COLS"] = s.threads, s.lanes, s.rows, w.Row.Units, w.Cols
		v["TOKENS"], v["SPLIT_SUM"], v["GATED"] = tokens, s.lanes >= splitLanes, p.Gated
		weights.ShareCodebook(v, s.memory(w), int(r.Limits().MaxWorkgroupStorage))
		bind := append(record.BindAll(tile.Buffer, x, r.State(), record.OrBuffer(p.Mul, x), p.Out), p.behind(v)...)
		grid := wgslkit.Grid{X: uint32(s.groups), Y: 1, Tile: uint32(tokens), Along: wgslkit.AlongY}
		p.call(r, "matvec_large.wgsl", v, grid, p.params.of(tile), bind...)
	}
}

// inWideUnits is the matrix, where it is large enough in units of 64 weights if its
// type lets a unit be so many: a block's header is then read half as often. Small
// ones would be decoded by too much code.
func inWideUnits(k *record.Kit, m *weights.Matrix) *weights.Matrix {
	if m.Type != quant.Q4_K && m.Type != quant.Q5_K || m.Rows*m.Row.Size*16 < k.Tuning().WideBytes {
		return m
	}
	wide := *m
	wide.Row.Spans, wide.Row.Step, wide.Row.Units = 4, 16, m.Row.Units*m.Row.Spans/4
	return &wide
}

// cutLarge cuts a product of so many tokens at once with some of w's rows as
// cutUnrolled does, for so many groups of tokens. Where inputs are staged, a workgroup takes more than one turn
// when there are more than all processors have at once.
func cutLarge(k *record.Kit, in Input, w *weights.Matrix, rows, tokens, groups int) largeShape {
	t := k.Tuning()
	many := rows*w.Row.Size*16*tokens >= t.ManyRowsBytes
	staging := t.StagedGroups
	switch wide := w.Row.Spans == 4; { // 64 weights at once are many registers
	case wide && many && tokens == 1:
		t.MatvecRows, t.MatvecLanes, staging = max(t.MatvecRows/2, 1), max(t.MatvecLanes/4, 4), 4*staging
	case wide:
		t.MatvecRows, t.MatvecLanes = max(t.MatvecRows/2, 1), max(t.MatvecLanes/2, 4)
	case !many:
		t.MatvecRows = max(t.MatvecRows/2, 1)
	}
	if tokens > 1 {
		// Each weight is used often: fewer threads to a row leave less to be added up.
		t.MatvecRows, t.MatvecLanes = max(t.MatvecRows, 2), max(t.MatvecLanes/2, 4)
	} else {
		t.MatvecThreads = t.LargeThreads
	}
	m := matvecShape{Threads: t.MatvecThreads, times: groups}
	m.cutUnrolled(t, w, rows)
	tasks := m.Tasks(rows)
	s := largeShape{threads: m.Threads, lanes: m.Lanes, rows: m.Rows, groups: tasks, tokens: tokens}
	s.staged = tokens == 1 && (in.Add != nil || in.Norm != nil || many || tasks >= stagedTasks)
	if s.staged {
		s.groups = record.CeilDiv(tasks, record.CeilDiv(tasks, staging))
	}
	return s
}

// memory is the workgroup memory that the shape takes, in bytes.
func (s largeShape) memory(w *weights.Matrix) int {
	outs := s.threads / s.lanes * s.rows
	floats := s.lanes*(outs+1) + outs*s.lanes/16
	if s.tokens > 1 {
		floats *= 4 // tokens at a time
	}
	if s.staged {
		floats += w.Row.Units*(16*w.Row.Spans+4) + s.threads + 16
	}
	return 4 * floats
}
