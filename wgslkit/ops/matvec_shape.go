package ops

import "github.com/gemwire/gemwire/wgslkit"

// matvecShape is how a product with a vector is cut into threads.
type matvecShape struct {
	threads  int // of a workgroup
	lanes    int // threads to a row
	rows     int // of a thread, at most mostRows
	mostRows int
	groups   int // workgroups
	capacity int // columns in workgroup memory
	whole    bool
	looped   bool
}

func (s matvecShape) into(v wgslkit.Variant) {
	v["THREADS"], v["ROWS"], v["CAPACITY"], v["WHOLE"], v["LOOPS"] = s.threads, s.mostRows, s.capacity, s.whole, "unrolled"
	if s.looped {
		v["LOOPS"] = "looped"
	}
}

// tasks is how many workgroups cover the rows, each once.
func (s matvecShape) tasks(rows int) int {
	return ceilDiv(rows, s.threads/s.lanes*s.rows)
}

// matvecShape cuts a product with rows of w; otherCells is workgroup memory
// that the kernel needs besides, in words, and after how often a loop behind each
// row's sum turns.
func (k *Kit) matvecShape(w *Matrix, rows, otherCells, after int) matvecShape {
	s := matvecShape{threads: k.tuning.MatvecThreads, looped: k.tuning.MatvecLooped}
	if s.looped {
		s.cutLooped(k.tuning, w, rows)
	} else {
		s.cutUnrolled(k.tuning, w, rows)
	}
	free := int(k.dev.Limits().MaxWorkgroupStorage)/4 - s.threads*(s.mostRows+1) - 64 - otherCells
	step := 256
	if s.looped {
		step = max(step, 128*s.lanes) // all lanes take a strip, even if it is empty
	}
	s.capacity = ceilDiv(w.row.units*16*w.row.spans, step) * step
	s.whole = s.capacity <= free
	if !s.whole {
		s.capacity = min(2048, free/step*step)
	}
	tasks := s.tasks(rows)
	turns := min(s.turns(w.Cols, after), ceilDiv(tasks, k.tuning.MatvecGroups))
	s.groups = ceilDiv(tasks, turns)
	return s
}

// mostIterations bounds the loops of a thread: llvmpipe leaves a kernel's
// loops for good after 65535 turns of all of them together.
const mostIterations = 30000

// turns is how many tasks a workgroup may do.
func (s matvecShape) turns(cols, after int) int {
	passes := ceilDiv(cols, 128*s.lanes)
	turn := s.rows*passes + s.rows + ceilDiv(s.rows, s.lanes)*after + 64
	if !s.whole {
		turn += cols / s.threads
	}
	return max(1, mostIterations/turn)
}

// cutUnrolled starts from what suits long rows and many of them. Where that
// makes too few workgroups for all processors, more threads share a row, then
// each takes fewer rows.
func (s *matvecShape) cutUnrolled(t Tuning, w *Matrix, rows int) {
	const mostLanes = 64
	s.lanes, s.rows = t.MatvecLanes, t.MatvecRows
	for s.lanes > 4 && s.lanes > w.row.units {
		s.lanes /= 2
	}
	for s.tasks(rows) < t.MatvecGroups/3 && s.lanes < mostLanes && s.lanes < w.row.units {
		s.lanes *= 2
	}
	if s.tasks(rows) < t.MatvecGroups/3 {
		s.rows = 2
	}
	s.mostRows = s.rows
}

// cutLooped gives each workgroup its share of the rows.
func (s *matvecShape) cutLooped(t Tuning, w *Matrix, rows int) {
	strips := ceilDiv(w.row.units*w.row.spans, 8)
	s.lanes = 1
	for lanes := 2; lanes <= t.MatvecLanes; lanes *= 2 {
		if ceilDiv(strips, lanes)*lanes <= ceilDiv(strips, s.lanes)*s.lanes {
			s.lanes = lanes
		}
	}
	s.mostRows = t.MatvecRows
	share := ceilDiv(rows, t.MatvecGroups*s.threads/s.lanes)
	s.rows = min(t.MatvecRows, (share+1)/2*2)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
