package product

import (
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// matvecShape is how a product with a vector is cut into threads.
type matvecShape struct {
	Threads  int // of a workgroup
	Lanes    int // threads to a row
	Rows     int // of a thread, at most mostRows
	MostRows int
	groups   int // workgroups
	times    int // how often its workgroups are run side by side; 0 for once
	capacity int // columns in workgroup memory
	whole    bool
	looped   bool
}

func (s matvecShape) Into(v wgslkit.Variant) {
	v["THREADS"], v["ROWS"], v["CAPACITY"], v["WHOLE"], v["LOOPS"] = s.Threads, s.MostRows, s.capacity, s.whole,
		"unrolled"
	if s.looped {
		v["LOOPS"] = "looped"
		return
	}
	weights.ShareCodebook(v, 0, math.MaxInt) // the capacity leaves room for it
}

// Tasks is how many workgroups cover the rows, each once.
func (s matvecShape) Tasks(rows int) int {
	return record.CeilDiv(rows, s.Threads/s.Lanes*s.Rows)
}

// CutVector cuts a product with rows of w; otherCells is workgroup memory
// that the kernel needs besides, in words, and after how often a loop behind each
// row's sum turns.
func CutVector(k *record.Kit, w *weights.Matrix, rows, otherCells, after int) matvecShape {
	s := matvecShape{Threads: k.Tuning().MatvecThreads, looped: k.Tuning().MatvecLooped}
	if s.looped {
		s.cutLooped(k.Tuning(), w, rows)
	} else {
		s.cutUnrolled(k.Tuning(), w, rows)
	}
	free := int(k.Device().Limits().MaxWorkgroupStorage)/4 - s.Threads*(s.MostRows+1) - 64 - otherCells
	if !s.looped {
		free -= w.CodebookBytes() / 4
	}
	step := 256
	if s.looped {
		step = max(step, 128*s.Lanes) // all lanes take a strip, even if it is empty
	}
	s.capacity = record.CeilDiv(w.Row.Units*16*w.Row.Spans, step) * step
	s.whole = s.capacity <= free
	if !s.whole {
		s.capacity = min(2048, free/step*step)
	}
	tasks := s.Tasks(rows)
	turns := min(s.turns(w.Cols, after), record.CeilDiv(tasks, k.Tuning().MatvecGroups))
	s.groups = record.CeilDiv(tasks, turns)
	return s
}

// mostIterations bounds the loops of a thread: llvmpipe leaves a kernel's
// loops for good after 65535 turns of all of them together.
const mostIterations = 30000

// turns is how many tasks a workgroup may do.
func (s matvecShape) turns(cols, after int) int {
	passes := record.CeilDiv(cols, 128*s.Lanes)
	turn := s.Rows*passes + s.Rows + record.CeilDiv(s.Rows, s.Lanes)*after + 64
	if !s.whole {
		turn += cols / s.Threads
	}
	return max(1, mostIterations/turn)
}

// cutUnrolled starts from what suits long rows and many of them. Where that
// makes too few workgroups for all processors, more threads share a row, then
// each takes fewer rows.
func (s *matvecShape) cutUnrolled(t record.Tuning, w *weights.Matrix, rows int) {
	const mostLanes = 64
	s.Lanes, s.Rows = t.MatvecLanes, t.MatvecRows
	for s.Lanes > 4 && s.Lanes > w.Row.Units {
		s.Lanes /= 2
	}
	few := t.MatvecGroups / 3 / max(s.times, 1)
	for s.Tasks(rows) < few && s.Lanes < mostLanes && s.Lanes < w.Row.Units {
		s.Lanes *= 2
	}
	if s.Tasks(rows) < few {
		s.Rows = 2
	}
	s.MostRows = s.Rows
}

// cutLooped gives each workgroup its share of the rows.
func (s *matvecShape) cutLooped(t record.Tuning, w *weights.Matrix, rows int) {
	strips := record.CeilDiv(w.Row.Units*w.Row.Spans, 8)
	s.Lanes = 1
	for lanes := 2; lanes <= t.MatvecLanes; lanes *= 2 {
		if record.CeilDiv(strips, lanes)*lanes <= record.CeilDiv(strips, s.Lanes)*s.Lanes {
			s.Lanes = lanes
		}
	}
	s.MostRows = t.MatvecRows
	share := record.CeilDiv(rows, t.MatvecGroups*s.Threads/s.Lanes)
	s.Rows = min(t.MatvecRows, (share+1)/2*2)
}

// LoopedShape cuts a product of rows with four tokens at a time.
func LoopedShape(k *record.Kit, w *weights.Matrix, rows int) matvecShape {
	s := matvecShape{Threads: k.Tuning().MatvecThreads}
	s.cutLooped(k.Tuning(), w, rows)
	s.Rows, s.MostRows = min(s.Rows, 32), 32
	return s
}
