package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/wgslkit"
)

// piece is memory that serves one tensor after another. Where a plan is only made,
// its buffer is none of the device's.
type piece struct {
	*wgslkit.Buffer
	bytes int64
}

// tensor is rows of values: in one piece, or, where a binding would not hold them
// all, in several of whole windows each.
type tensor struct {
	pieces  []*piece
	row     int // values of a row
	rows    int
	ofPiece int // rows of each piece but the last
	window  int // rows that are computed at once
	refs    int // values that live in it
}

// windowed says that the rows are computed in more than one window.
func (t *tensor) windowed() bool { return t.rows > t.window }

// at is the rows of window i.
func (t *tensor) at(i int) *wgslkit.Buffer {
	if !t.windowed() {
		return t.pieces[0].Buffer
	}
	first := i * t.window
	n := min(t.window, t.rows-first)
	in := t.pieces[first/t.ofPiece]
	return in.Part(int64(4*t.row*(first%t.ofPiece)), int64(4*t.row*n))
}

// rowsOf is which rows lie in piece j; of a single one count is 0, which ops take
// for all.
func (t *tensor) rowsOf(j int) (first, count int) {
	if len(t.pieces) == 1 {
		return 0, 0
	}
	first = j * t.ofPiece
	return first, min(t.ofPiece, t.rows-first)
}

// pool hands out tensors in the order in which programs will run, so that the
// memory of a value serves others before and after it.
type pool struct {
	device *wgslkit.Device // nil for a plan alone
	limit  int64           // of one piece
	window int             // rows of a tensor that are computed at once
	rows   int             // of a piece of a tensor that has several, at most; 0 for as many as the limit lets be
	widest int             // values of a row, of all tensors so far
	free   []*piece
	all    []*piece
	bytes  int64
}

// take is a tensor for refs values.
func (p *pool) take(rows, row, refs int) (*tensor, error) {
	t := &tensor{row: row, rows: rows, ofPiece: rows, window: p.window, refs: refs}
	p.widest = max(p.widest, row)
	if t.windowed() {
		most := int(p.limit / int64(4*row))
		if p.rows > 0 {
			most = min(most, p.rows)
		}
		t.ofPiece = max(1, most/p.window) * p.window
	}
	for first := 0; first < rows; first += t.ofPiece {
		one, err := p.piece(min(t.ofPiece, rows-first) * row)
		if err != nil {
			p.free = append(p.free, t.pieces...)
			return nil, err
		}
		t.pieces = append(t.pieces, one)
	}
	return t, nil
}

// piece is memory of at least so many float32 values.
func (p *pool) piece(values int) (*piece, error) {
	want := int64(4 * values)
	if t := p.fitting(want); t != nil {
		return t, nil
	}
	if want > p.limit {
		return nil, fmt.Errorf("%w: values of a batch take %d bytes, this device binds %d at once", wgslkit.ErrLimit,
			want, p.limit)
	}
	t := &piece{Buffer: new(wgslkit.Buffer), bytes: want}
	if p.device != nil {
		b, err := p.device.NewBuffer("training values", wgslkit.Activations, want)
		if err != nil {
			return nil, err
		}
		t.Buffer = b
	}
	p.all = append(p.all, t)
	p.bytes += want
	return t, nil
}

// fitting takes the smallest free piece that is large enough and wastes little.
func (p *pool) fitting(want int64) *piece {
	best := -1
	for i, t := range p.free {
		if t.bytes >= want && t.bytes <= want+want/2 && (best < 0 || t.bytes < p.free[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	t := p.free[best]
	p.free = append(p.free[:best], p.free[best+1:]...)
	return t
}

// drop ends one value's use of a tensor.
func (p *pool) drop(t *tensor) {
	if t == nil {
		return
	}
	if t.refs--; t.refs == 0 {
		p.free = append(p.free, t.pieces...)
	}
}

func (p *pool) release() {
	for _, t := range p.all {
		t.Buffer.Release()
	}
	p.all, p.free = nil, nil
}
