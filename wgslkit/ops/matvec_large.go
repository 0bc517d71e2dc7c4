package ops

import (
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// matvecLargeParams is Params of wgsl/matvec_large.wgsl.
type matvecLargeParams struct {
	Rows, First, RowSize, Plane1          uint32
	Plane2, XOffset, OutOffset, MulOffset uint32
	AddEps, AddScale, NormEps, NormScale  float32
	Flags, Act                            uint32
	Softcap                               float32
	OutStride, MulStride                  uint32 // of few tokens
}

// largeShape is how a product with a vector is cut for wgsl/matvec_large.wgsl.
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

// largeMatvec says whether wgsl/matvec_large.wgsl takes the product: all that
// it reads lies on vectors of four.
func (r *Recorder) largeMatvec(o Linear) bool {
	if !r.kit.tuning.LargeMatvec || r.width != 1 || o.Bounds != nil || o.In.Merge != nil || o.W.Cols%4 != 0 || o.In.Offset%4 != 0 {
		return false
	}
	o.W = r.kit.inWideUnits(o.W)
	for _, tile := range o.W.tiles {
		if r.kit.largeShape(o, tile.rows, 1).memory(o.W) > int(r.kit.dev.Limits().MaxWorkgroupStorage) {
			return false
		}
	}
	return true
}

// matvecLarge records a product of one token, with all that goes before and after.
func (r *Recorder) matvecLarge(o Linear) {
	o.W = r.kit.inWideUnits(o.W)
	w := o.W
	addX, addW, normW, addOut := r.inputBuffers(o.In)
	f := o.In.factors()
	for _, tile := range w.tiles {
		s := r.kit.largeShape(o, tile.rows, 1)
		v := w.variant()
		v["TOKENS"], v["HALVES"] = 1, true
		v["THREADS"], v["LANES"], v["ROWS"], v["COUNT"], v["COLS"] = s.threads, s.lanes, s.rows, w.row.units, w.Cols
		v["STAGED"], v["SPLIT_SUM"] = s.staged, s.lanes >= splitLanes
		v["ADD"], v["NORM"], v["GATED"] = o.In.Add != nil, o.In.Norm != nil, o.Gated
		addX, addW := o.LowRank.inPlaceOf(v, addX, addW)
		r.dispatch("matvec_large.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind:  bindAll(tile.buffer, o.In.X, normW, addX, addW, orBuffer(o.Mul, o.In.X), addOut, o.Out),
			Params: o.LowRank.params(w.Layout, matvecLargeParams{
				Rows: uint32(tile.rows), First: uint32(tile.first), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2),
				XOffset: uint32(o.In.Offset / 4), OutOffset: uint32(o.OutOffset), MulOffset: uint32(o.MulOffset),
				AddEps: f.addEps, AddScale: f.addScale, NormEps: f.normEps, NormScale: f.normScale,
				Flags: o.flags(), Act: uint32(o.Act), Softcap: o.Softcap,
			}),
			Grid: wgslkit.Grid{X: uint32(s.groups)},
		})
	}
}

// How many tokens matvec_large.wgsl multiplies with each weight that it has read,
// and for how many, in groups, that is better than tiles of tokens.
const (
	fewestTokens  = 4
	tokensOfGroup = 8
	mostFewTokens = 2 * tokensOfGroup
)

// FewTokens is how many tokens products multiply with each weight that they read, in
// programs of that width, and the most that a program may have for that to be done in
// groups of so many; 0 where the device has no such kernels. Products with chosen
// experts go token by token.
func (k *Kit) FewTokens() (each, most int) {
	if !k.tuning.LargeMatvec || k.tuning.SmallKernels {
		return 0, 0
	}
	return tokensOfGroup, mostFewTokens
}

// fewTokens is how many tokens wgsl/matvec_large.wgsl takes at a time for the
// product; 0 where it does not take it.
func (r *Recorder) fewTokens(o Linear) int {
	if !r.kit.tuning.LargeMatvec || r.width < 2 || r.width > mostFewTokens || o.Bounds != nil {
		return 0
	}
	tokens := tokensOfGroup
	if r.width <= fewestTokens {
		tokens = fewestTokens
	}
	for _, tile := range o.W.tiles {
		if r.kit.largeShape(o, tile.rows, tokens).memory(o.W) > int(r.kit.dev.Limits().MaxWorkgroupStorage) {
			return 0
		}
	}
	return tokens
}

// matvecFew records a product of few tokens.
func (r *Recorder) matvecFew(o Linear, tokens int) {
	w := o.W
	x := r.spread(o.Label, o.In, w, tokens)
	if r.err != nil {
		return
	}
	for _, tile := range w.tiles {
		s := r.kit.largeShape(o, tile.rows, tokens)
		v := w.variant()
		v["THREADS"], v["LANES"], v["ROWS"], v["COUNT"], v["COLS"] = s.threads, s.lanes, s.rows, w.row.units, w.Cols
		v["TOKENS"], v["SPLIT_SUM"], v["GATED"] = tokens, s.lanes >= splitLanes, o.Gated
		r.dispatch("matvec_large.wgsl", v, wgslkit.Call{
			Label: o.Label,
			Bind:  o.LowRank.bind(v, bindAll(tile.buffer, x, r.state, orBuffer(o.Mul, x), o.Out)),
			Params: o.LowRank.params(w.Layout, matvecLargeParams{
				Rows: uint32(tile.rows), First: uint32(tile.first), RowSize: uint32(w.row.size), Plane1: w.row.beginOf(1), Plane2: w.row.beginOf(2),
				OutOffset: uint32(o.OutOffset), MulOffset: uint32(o.MulOffset), Flags: o.flags(), Act: uint32(o.Act), Softcap: o.Softcap,
				OutStride: uint32(o.OutStride), MulStride: uint32(o.MulStride),
			}),
			Grid: wgslkit.Grid{X: uint32(s.groups), Y: 1, Tile: uint32(tokens), Along: wgslkit.AlongY},
		})
	}
}

// inWideUnits is the matrix, where it is large enough in units of 64 weights if its
// type lets a unit be so many: a block's header is then read half as often. Small
// ones would be decoded by too much code.
func (k *Kit) inWideUnits(m *Matrix) *Matrix {
	if m.Type != quant.Q4_K && m.Type != quant.Q5_K || m.Rows*m.row.size*16 < k.tuning.WideBytes {
		return m
	}
	wide := *m
	wide.row.spans, wide.row.step, wide.row.units = 4, 16, m.row.units*m.row.spans/4
	return &wide
}

// largeShape cuts a product of so many tokens at once with some of w's rows as
// cutUnrolled does. Where inputs are staged, a workgroup takes more than one turn
// when there are more than all processors have at once.
func (k *Kit) largeShape(o Linear, rows, tokens int) largeShape {
	t := k.tuning
	many := rows*o.W.row.size*16*tokens >= t.ManyRowsBytes
	staging := t.StagedGroups
	switch wide := o.W.row.spans == 4; { // 64 weights at once are many registers
	case wide && many && tokens == 1:
		t.MatvecRows, t.MatvecLanes, staging = max(t.MatvecRows/2, 1), max(t.MatvecLanes/4, 4), 4*staging
	case wide:
		t.MatvecRows, t.MatvecLanes = max(t.MatvecRows/2, 1), max(t.MatvecLanes/2, 4)
	case !many:
		t.MatvecRows = max(t.MatvecRows/2, 1)
	}
	if tokens > 1 {
		t.MatvecRows = max(t.MatvecRows, 2)
	} else {
		t.MatvecThreads = t.LargeThreads
	}
	m := matvecShape{threads: t.MatvecThreads}
	m.cutUnrolled(t, o.W, rows)
	tasks := m.tasks(rows)
	s := largeShape{threads: m.threads, lanes: m.lanes, rows: m.rows, groups: tasks, tokens: tokens}
	s.staged = tokens == 1 && (o.In.Add != nil || o.In.Norm != nil || many || tasks >= stagedTasks)
	if s.staged {
		s.groups = ceilDiv(tasks, ceilDiv(tasks, staging))
	}
	return s
}

// memory is the workgroup memory that the shape takes, in bytes.
func (s largeShape) memory(w *Matrix) int {
	outs := s.threads / s.lanes * s.rows
	floats := s.lanes*(outs+1) + outs*s.lanes/16
	if s.tokens > 1 {
		floats *= 4 // tokens at a time
	}
	if s.staged {
		floats += w.row.units*(16*w.row.spans+4) + s.threads + 16
	}
	return 4 * floats
}
