package weights

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// DecoderOf names a type's file in decode/.
func DecoderOf(t quant.Type) string { return strings.ToLower(t.String()) }

// Uploads is a list of matrices to fill, and of whatever else is read between them. All
// are made before the first is filled, since a GPU's memory may take a while to be had.
// They share the memory that bytes wait in for the GPU, and that rows which need another
// layout pass through there.
type Uploads struct {
	kit             *record.Kit
	end             func() error
	waiting         []upload
	staging, params *wgslkit.Buffer // of the rows that are re-laid; nil until there are some
}

// upload is something to fill, with size bytes of a source: a matrix, or what fill does.
type upload struct {
	size   int64
	matrix *uploader
	fill   func(ctx context.Context) error
}

// HoldUploads begins a load of many matrices: End ends it. What goes wrong on a browser's
// GPU may be told by Run, or by End (wgslkit.Device.HoldUploads).
func HoldUploads(k *record.Kit) *Uploads { return &Uploads{kit: k, end: k.Device().HoldUploads()} }

// Matrix makes a matrix that Run fills. All sources have one type, one number of columns
// and one number of experts.
func (u *Uploads) Matrix(label string, layout Layout, sources []Source) (*Matrix, error) {
	m, runs, err := plan(u.kit, layout, sources)
	if err == nil {
		err = allocate(u.kit, m, label)
	}
	var rowBytes int64
	if err == nil {
		rowBytes, err = m.Type.Size(int64(m.Cols))
	}
	if err != nil {
		m.Release()
		return nil, fmt.Errorf("uploading %s: %w", label, err)
	}
	u.waiting = append(u.waiting, upload{size: int64(m.Rows) * rowBytes, matrix: &uploader{
		uploads: u, matrix: m, label: label, sources: sources, runs: runs, rowBytes: rowBytes,
		chunk: u.chunkOf(runs, rowBytes),
	}})
	return m, nil
}

// Fill has Run call fill in its turn, which reads size bytes.
func (u *Uploads) Fill(size int64, fill func(ctx context.Context) error) {
	u.waiting = append(u.waiting, upload{size: size, fill: fill})
}

// Send has a browser's GPU begin to make the matrices, the memory that they are uploaded
// through, and the kernel that re-lays them, while the caller sees to something else.
func (u *Uploads) Send() {
	var sizes []int64
	for _, w := range u.waiting {
		if w.matrix != nil {
			sizes = w.matrix.sizes(sizes)
		}
	}
	if slices.ContainsFunc(u.waiting, upload.relays) {
		_, _ = relayout(u.kit) // who uses it hears of an error
	}
	u.kit.Device().Send(sizes)
}

// Run fills what waits, in order. progress, where given, hears the source bytes done so
// far. After an error the matrices are of no use.
func (u *Uploads) Run(ctx context.Context, progress func(bytes int64)) error {
	done := int64(0)
	report := func(bytes int64) {
		if progress != nil {
			progress(done + bytes)
		}
	}
	for _, w := range u.waiting {
		if err := w.run(ctx, report); err != nil {
			return err
		}
		done += w.size
	}
	u.waiting = nil
	return nil
}

// relays says whether rows of a matrix need another layout.
func (w upload) relays() bool {
	return w.matrix != nil && slices.ContainsFunc(w.matrix.runs, func(r run) bool { return !w.matrix.matrix.keeps(r) })
}

func (w upload) run(ctx context.Context, progress func(bytes int64)) error {
	if w.matrix == nil {
		return w.fill(ctx)
	}
	w.matrix.progress = progress
	return w.matrix.stream(ctx)
}

// End frees what the uploads shared.
func (u *Uploads) End() error {
	u.staging.Release()
	u.params.Release()
	return u.end()
}

// Upload streams the sources onto the GPU as one matrix.
func Upload(ctx context.Context, k *record.Kit, label string, layout Layout, sources []Source,
	progress func(bytes int64)) (*Matrix, error) {
	u := HoldUploads(k)
	m, err := u.Matrix(label, layout, sources)
	if err == nil {
		err = u.Run(ctx, progress)
	}
	if late := u.End(); err == nil && late != nil {
		err = fmt.Errorf("uploading %s: %w", label, late)
	}
	if err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// run is rows of a source that go to rows of the matrix, step apart.
type run struct{ source, from, rows, to, step int }

func plan(k *record.Kit, layout Layout, sources []Source) (*Matrix, []run, error) {
	if len(sources) == 0 {
		return nil, nil, fmt.Errorf("%w: no source", wgslkit.ErrValidation)
	}
	s := sources[0]
	row, err := layoutOf(s.Type, s.Cols)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	m := &Matrix{Type: s.Type, Cols: s.Cols, Experts: max(s.Experts, 1), Layout: layout, Row: row}
	for _, other := range sources {
		if other.Type != m.Type || other.Cols != m.Cols || max(other.Experts, 1) != m.Experts {
			return nil, nil, fmt.Errorf("%w: %s (%v, %d columns) does not stack on %s (%v, %d columns)",
				wgslkit.ErrValidation, other.Name, other.Type, other.Cols, s.Name, s.Type, s.Cols)
		}
		if other.Rows <= 0 || other.Rows%m.Experts != 0 {
			return nil, nil, fmt.Errorf("%w: %s: %d rows for %d experts", wgslkit.ErrValidation, other.Name, other.Rows,
				m.Experts)
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
		return nil, fmt.Errorf("%w: %d sources with %d rows do not pair up", wgslkit.ErrValidation, len(sources),
			m.Rows)
	}
	for e := range m.Experts {
		at := e * 2 * half
		runs = append(runs, run{0, at, half, at, 2}, run{0, at + half, half, at + 1, 2})
	}
	return runs, nil
}

// allocate makes the tiles: whole pairs of rows, as many as fit a binding.
func allocate(k *record.Kit, m *Matrix, label string) error {
	limits := k.Device().Limits()
	rowBytes := int64(m.Row.Size) * 16
	fit := min(limits.MaxStorageBindingSize, limits.MaxBufferSize) / rowBytes / 2 * 2
	if fit == 0 {
		return fmt.Errorf("%w: two rows of %d bytes do not fit a binding of %d", wgslkit.ErrLimit, rowBytes,
			limits.MaxStorageBindingSize)
	}
	for first := 0; first < m.Rows; first += int(fit) {
		rows := int(min(fit, int64(m.Rows-first)))
		b, err := k.Device().NewBuffer(label, wgslkit.Weights, int64(rows)*rowBytes)
		if err != nil {
			return err
		}
		m.Tiles = append(m.Tiles, MatrixTile{Buffer: b, First: first, Rows: rows})
	}
	return nil
}

// uploader moves a matrix's rows: as they are where the GPU keeps them so, and else
// through the staging buffer.
type uploader struct {
	uploads  *Uploads
	matrix   *Matrix
	label    string
	sources  []Source
	runs     []run
	rowBytes int64            // of a source
	chunk    int              // rows that are re-laid at once, at most
	relayout *wgslkit.Program // from the staging buffer to tile; nil before the first
	tile     *wgslkit.Buffer
	done     int64
	progress func(int64)
}

func (u *uploader) stream(ctx context.Context) error {
	defer func() { u.relayout.Release() }()
	return u.steps(func(r run, tile MatrixTile) error {
		s := u.sources[r.source]
		if err := u.step(ctx, s, r, tile); err != nil {
			return fmt.Errorf("uploading %s: %s: %w", u.label, s.Name, err)
		}
		return nil
	})
}

func (u *uploader) step(ctx context.Context, s Source, r run, tile MatrixTile) error {
	if u.matrix.keeps(r) {
		return u.copy(ctx, s, r, tile)
	}
	return u.move(ctx, s, r, tile)
}

// sizes appends the bytes of each upload that stream will ask the device for.
func (u *uploader) sizes(list []int64) []int64 {
	_ = u.steps(func(r run, _ MatrixTile) error {
		list = append(list, int64(r.rows)*u.rowBytes)
		return nil
	})
	return list
}

// steps calls each for the rows that are uploaded at once, in order, and the tile that they
// go to: all that a run has for it, or a chunk of what is re-laid.
func (u *uploader) steps(each func(run, MatrixTile) error) error {
	for _, whole := range u.runs {
		for _, tile := range u.matrix.Tiles {
			for r := whole.within(tile); r.rows > 0; {
				n := r.rows
				if !u.matrix.keeps(r) {
					n = min(n, u.chunk)
				}
				if err := each(run{r.source, r.from, n, r.to, r.step}, tile); err != nil {
					return err
				}
				r = run{r.source, r.from + n, r.rows - n, r.to + n*r.step, r.step}
			}
		}
	}
	return nil
}

// chunkOf is the rows of the longest run, or as many as may be staged at once.
func (u *Uploads) chunkOf(runs []run, rowBytes int64) int {
	longest := 0
	for _, r := range runs {
		longest = max(longest, r.rows)
	}
	limits := u.kit.Device().Limits()
	most := min(wgslkit.StagedUpload, limits.MaxStorageBindingSize, limits.MaxBufferSize)
	return int(max(1, min(int64(longest), most/rowBytes)))
}

// copy uploads rows that the GPU keeps as they are.
func (u *uploader) copy(ctx context.Context, s Source, r run, tile MatrixTile) error {
	begin, size := u.done, int64(r.rows)*u.rowBytes
	err := tile.Buffer.Upload(ctx, int64(r.to-tile.First)*u.rowBytes, s.Data, s.Offset+int64(r.from)*u.rowBytes, size,
		func(done int64) {
			u.report(begin + done)
		})
	if err == nil {
		u.report(begin + size)
	}
	return err
}

func (u *uploader) report(done int64) {
	u.done = done
	u.progress(done)
}

// keeps says whether the GPU keeps r's rows as the source has them.
func (m *Matrix) keeps(r run) bool { return r.step == 1 && m.Row.same(m.Type) }

// within is the part of r that goes to a tile.
func (r run) within(tile MatrixTile) run {
	skip := 0
	if r.to < tile.First {
		skip = (tile.First - r.to + r.step - 1) / r.step
	}
	end := min(r.rows, (tile.First+tile.Rows-r.to+r.step-1)/r.step)
	return run{r.source, r.from + skip, end - skip, r.to + skip*r.step, r.step}
}

// relayoutParams is Params of relayout.wgsl: rows, words, first, step; blocks, block_bytes,
// planes, odd; then begin, offset, bytes and stride of each plane. It is no struct,
// since a load encodes hundreds, and a list needs no reflection.
type relayoutParams [8 + 4*3]uint32

// move uploads rows, at most a chunk, and re-lays them. The next ones take the same staging
// buffer, which the queue's order guards.
func (u *uploader) move(ctx context.Context, s Source, r run, tile MatrixTile) error {
	if err := u.prepare(tile); err != nil {
		return err
	}
	size := int64(r.rows) * u.rowBytes
	if err := u.uploads.staging.Upload(ctx, 0, s.Data, s.Offset+int64(r.from)*u.rowBytes, size, nil); err != nil {
		return err
	}
	if err := u.relay(r, tile); err != nil {
		return err
	}
	u.report(u.done + size)
	return nil
}

// prepare has the staging buffer hold a chunk of rows, and records how they get to the tile.
func (u *uploader) prepare(tile MatrixTile) error {
	if u.tile == tile.Buffer {
		return nil
	}
	u.relayout.Release()
	u.relayout, u.tile = nil, nil
	up, dev := u.uploads, u.uploads.kit.Device()
	staged := (int64(u.chunk)*u.rowBytes + 3) &^ 3
	if err := up.stage(staged); err != nil {
		return err
	}
	kernel, err := relayout(up.kit)
	if err != nil {
		return err
	}
	program := dev.NewProgram("relayout")
	program.Add(wgslkit.Call{
		Label: "relayout", Kernel: kernel,
		Bind: []wgslkit.Binding{up.staging.Range(0, staged), tile.Buffer.All(), up.params.All()},
		Grid: dev.Linear((u.chunk*4*u.matrix.Row.Size + 63) / 64),
	})
	if err := program.Finish(); err != nil {
		return err
	}
	u.relayout, u.tile = program, tile.Buffer
	return nil
}

// relayout is the kernel that brings rows from a source's layout into the GPU's.
func relayout(k *record.Kit) (*wgslkit.Kernel, error) {
	return k.Device().Kernel(Files.Shaders(), "relayout.wgsl", nil)
}

// stage makes the staging buffer hold size bytes at least.
func (u *Uploads) stage(size int64) (err error) {
	if u.params == nil {
		if u.params, err = u.kit.Device().NewBuffer("relayout", wgslkit.Staging,
			int64(binary.Size(relayoutParams{}))); err != nil {
			return err
		}
	}
	if u.staging != nil && u.staging.Size() >= size {
		return nil
	}
	u.staging.Release()
	u.staging, err = u.kit.Device().NewBuffer("upload", wgslkit.Staging, size)
	return err
}

// relay has the rows in the staging buffer re-laid.
func (u *uploader) relay(r run, tile MatrixTile) error {
	m := u.matrix
	params := relayoutParams{
		uint32(r.rows), uint32(4 * m.Row.Size), uint32(r.to - tile.First), uint32(r.step),
		uint32(m.Row.blocks), uint32(m.Type.BlockBytes()), uint32(len(m.Row.planes)), uint32(m.Type.BlockBytes() % 2),
	}
	for i, p := range m.Row.planes {
		copy(params[8+4*i:], []uint32{uint32(m.Row.begin[i]), uint32(p.offset), uint32(p.bytes), uint32(p.stride)})
	}
	raw, err := binary.Append(nil, binary.LittleEndian, params[:])
	if err != nil {
		return err
	}
	if err := u.uploads.params.Write(0, raw); err != nil {
		return err
	}
	return u.relayout.Submit(1)
}
