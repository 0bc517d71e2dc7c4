package ops

import (
	"context"
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
)

// decoderOf names a type's file in wgsl/decode.
func decoderOf(t quant.Type) string { return strings.ToLower(t.String()) }

// Upload streams the sources onto the GPU as one matrix. All have one type,
// one number of columns and one number of experts. progress, where given,
// hears the source bytes done so far.
func (k *Kit) Upload(ctx context.Context, label string, layout Layout, sources []Source, progress func(bytes int64)) (*Matrix, error) {
	m, runs, err := k.plan(layout, sources)
	end := k.dev.HoldUploads()
	if err == nil {
		err = k.allocate(m, label)
	}
	if err == nil {
		u := uploader{kit: k, matrix: m, progress: progress}
		err = u.stream(ctx, sources, runs)
	}
	if late := end(); err == nil {
		err = late
	}
	if err != nil {
		m.Release()
		return nil, fmt.Errorf("uploading %s: %w", label, err)
	}
	return m, nil
}

// run is rows of a source that go to rows of the matrix, step apart.
type run struct{ source, from, rows, to, step int }

func (k *Kit) plan(layout Layout, sources []Source) (*Matrix, []run, error) {
	if len(sources) == 0 {
		return nil, nil, fmt.Errorf("%w: no source", wgslkit.ErrValidation)
	}
	s := sources[0]
	row, err := layoutOf(s.Type, s.Cols)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	m := &Matrix{Type: s.Type, Cols: s.Cols, Experts: max(s.Experts, 1), Layout: layout, row: row}
	for _, other := range sources {
		if other.Type != m.Type || other.Cols != m.Cols || max(other.Experts, 1) != m.Experts {
			return nil, nil, fmt.Errorf("%w: %s (%v, %d columns) does not stack on %s (%v, %d columns)",
				wgslkit.ErrValidation, other.Name, other.Type, other.Cols, s.Name, s.Type, s.Cols)
		}
		if other.Rows <= 0 || other.Rows%m.Experts != 0 {
			return nil, nil, fmt.Errorf("%w: %s: %d rows for %d experts", wgslkit.ErrValidation, other.Name, other.Rows, m.Experts)
		}
		m.Rows += other.Rows
	}
	runs, err := m.runs(sources)
	return m, runs, err
}

// runs says where each source's rows go.
func (m *Matrix) runs(sources []Source) ([]run, error) {
	var runs []run
	if m.Layout == Stacked {
		to := 0
		for i, s := range sources {
			runs = append(runs, run{i, 0, s.Rows, to, 1})
			to += s.Rows
		}
		return runs, nil
	}
	if len(sources) == 2 && sources[0].Rows == sources[1].Rows {
		return []run{{0, 0, sources[0].Rows, 0, 2}, {1, 0, sources[1].Rows, 1, 2}}, nil
	}
	half := m.Rows / m.Experts / 2
	if len(sources) != 1 || half*2*m.Experts != m.Rows {
		return nil, fmt.Errorf("%w: %d sources with %d rows do not pair up", wgslkit.ErrValidation, len(sources), m.Rows)
	}
	for e := range m.Experts {
		at := e * 2 * half
		runs = append(runs, run{0, at, half, at, 2}, run{0, at + half, half, at + 1, 2})
	}
	return runs, nil
}

// allocate makes the tiles: whole pairs of rows, as many as fit a binding.
func (k *Kit) allocate(m *Matrix, label string) error {
	limits := k.dev.Limits()
	rowBytes := int64(m.row.size) * 16
	fit := min(limits.MaxStorageBindingSize, limits.MaxBufferSize) / rowBytes / 2 * 2
	if fit == 0 {
		return fmt.Errorf("%w: two rows of %d bytes do not fit a binding of %d", wgslkit.ErrLimit, rowBytes, limits.MaxStorageBindingSize)
	}
	for first := 0; first < m.Rows; first += int(fit) {
		rows := int(min(fit, int64(m.Rows-first)))
		b, err := k.dev.NewBuffer(label, wgslkit.Weights, int64(rows)*rowBytes)
		if err != nil {
			return err
		}
		m.tiles = append(m.tiles, matrixTile{buffer: b, first: first, rows: rows})
	}
	return nil
}

// uploader moves rows: as they are where the GPU keeps them so, and else
// through a staging buffer.
type uploader struct {
	kit      *Kit
	matrix   *Matrix
	rowBytes int64 // of a source
	staging  *wgslkit.Buffer
	done     int64
	progress func(int64)
}

func (u *uploader) stream(ctx context.Context, sources []Source, runs []run) (err error) {
	m := u.matrix
	if u.rowBytes, err = m.Type.Size(int64(m.Cols)); err != nil {
		return err
	}
	defer func() { u.staging.Release() }()
	for _, r := range runs {
		for _, tile := range m.tiles {
			if err := u.part(ctx, sources[r.source], r.within(tile), tile); err != nil {
				return fmt.Errorf("%s: %w", sources[r.source].Name, err)
			}
		}
	}
	return nil
}

// part moves what one run has for one tile.
func (u *uploader) part(ctx context.Context, s Source, r run, tile matrixTile) error {
	if r.rows <= 0 {
		return nil
	}
	if r.step == 1 && u.matrix.row.same(u.matrix.Type) {
		return u.copy(ctx, s, r, tile)
	}
	limits := u.kit.dev.Limits()
	most := min(wgslkit.UploadChunk, limits.MaxStorageBindingSize, limits.MaxBufferSize)
	chunk := int(max(1, min(int64(u.matrix.Rows), most/u.rowBytes)))
	for r.rows > 0 {
		n := min(r.rows, chunk)
		if err := u.move(ctx, s, r, n, chunk, tile); err != nil {
			return err
		}
		r = run{r.source, r.from + n, r.rows - n, r.to + n*r.step, r.step}
	}
	return nil
}

// copy uploads rows that the GPU keeps as they are.
func (u *uploader) copy(ctx context.Context, s Source, r run, tile matrixTile) error {
	begin, size := u.done, int64(r.rows)*u.rowBytes
	err := tile.buffer.Upload(ctx, int64(r.to-tile.first)*u.rowBytes, s.Data, s.Offset+int64(r.from)*u.rowBytes, size, func(done int64) {
		u.report(begin + done)
	})
	if err == nil {
		u.report(begin + size)
	}
	return err
}

func (u *uploader) report(done int64) {
	u.done = done
	if u.progress != nil {
		u.progress(done)
	}
}

// within is the part of r that goes to a tile.
func (r run) within(tile matrixTile) run {
	skip := 0
	if r.to < tile.first {
		skip = (tile.first - r.to + r.step - 1) / r.step
	}
	end := min(r.rows, (tile.first+tile.rows-r.to+r.step-1)/r.step)
	return run{r.source, r.from + skip, end - skip, r.to + skip*r.step, r.step}
}

// relayoutParams is Params of wgsl/relayout.wgsl.
type relayoutParams struct {
	Rows, Words, First, Step      uint32
	Blocks, BlockBytes, Planes, _ uint32
	Plane                         [3]relayoutPlane
}

type relayoutPlane struct{ Begin, Offset, Bytes, Stride uint32 }

// move uploads n rows of r, at most chunk, and re-lays them. The next ones take
// the same staging buffer, which the queue's order guards.
func (u *uploader) move(ctx context.Context, s Source, r run, n, chunk int, tile matrixTile) (err error) {
	if u.staging == nil {
		if u.staging, err = u.kit.dev.NewBuffer("upload", wgslkit.Staging, int64(chunk)*u.rowBytes); err != nil {
			return err
		}
	}
	size := int64(n) * u.rowBytes
	if err := u.staging.Upload(ctx, 0, s.Data, s.Offset+int64(r.from)*u.rowBytes, size, nil); err != nil {
		return err
	}
	if err := u.relay(r, n, tile); err != nil {
		return err
	}
	u.report(u.done + size)
	return nil
}

func (u *uploader) relay(r run, n int, tile matrixTile) error {
	m, k := u.matrix, u.kit
	kernel, err := k.dev.Kernel(k.shaders, "relayout.wgsl", nil)
	if err != nil {
		return err
	}
	params := relayoutParams{
		Rows: uint32(n), Words: uint32(4 * m.row.size), First: uint32(r.to - tile.first), Step: uint32(r.step),
		Blocks: uint32(m.row.blocks), BlockBytes: uint32(m.Type.BlockBytes()), Planes: uint32(len(m.row.planes)),
	}
	for i, p := range m.row.planes {
		params.Plane[i] = relayoutPlane{uint32(m.row.begin[i]), uint32(p.offset), uint32(p.bytes), uint32(p.stride)}
	}
	program := k.dev.NewProgram("relayout")
	program.Add(wgslkit.Call{
		Label: "relayout", Kernel: kernel, Params: params,
		Bind: []wgslkit.Binding{u.staging.All(), tile.buffer.All()},
		Grid: k.dev.Linear((n*4*m.row.size + 63) / 64),
	})
	if err := program.Finish(); err != nil {
		return err
	}
	defer program.Release()
	return program.Submit(1)
}
