package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// OpOptions say which kernels are measured.
type OpOptions struct {
	Only    []string     // names of ops; none is all
	Types   []quant.Type // of matrices; none is all
	Sizes   []int64      // of matrices, in bytes; none is DefaultSizes
	Repeats int
	Copy    bench.Series // bytes a second
}

// DefaultSizes are one that caches hold and one that they do not.
var DefaultSizes = []int64{4 << 20, 64 << 20}

// OpNames lists what Only may hold.
func OpNames() []string {
	return []string{"matvec", "matmul", "attention", "experts", "tower", "norm", "router", "sample"}
}

// OpResult is one kernel in one shape.
type OpResult struct {
	Op           string       `json:"op"`
	Shape        string       `json:"shape"`
	Type         string       `json:"type,omitempty"`
	Bytes        int64        `json:"bytes,omitempty"` // that it must read
	Operations   int64        `json:"operations"`
	Microseconds bench.Series `json:"microseconds"`
	// Of the median. Gigabytes are 10⁹ bytes.
	GBs    float64 `json:"gigabytes_per_second,omitempty"`
	OfCopy float64 `json:"of_copy_bandwidth,omitempty"`
	// OfAlike is the same of a copy that moves as many bytes, where they are too many
	// for caches.
	OfAlike float64 `json:"of_copy_of_as_many_bytes,omitempty"`
	GFLOPs  float64 `json:"gigaflop_per_second,omitempty"`
}

// opCase is a kernel to be measured.
type opCase struct {
	op, shape, kind string
	bytes, flops    int64
	width           int
	// setUp makes what the kernel works on, and returns what records it for
	// the i-th time.
	setUp func(b *opBench) (record func(r *ops.Recorder, i int), err error)
}

// Ops measures kernels and hands each result over as it comes. A kernel that
// the device has no room for is passed over.
func Ops(ctx context.Context, dev *wgslkit.Device, o OpOptions, each func(OpResult) error) error {
	kit := ops.New(dev)
	alike := map[int64]bench.Series{}
	for _, c := range opCases(dev, o) {
		if err := ctx.Err(); err != nil {
			return err
		}
		result, err := measure(ctx, kit, o, c)
		if errors.Is(err, wgslkit.ErrOutOfMemory) || errors.Is(err, wgslkit.ErrLimit) {
			continue
		}
		if err == nil {
			err = result.besideCopies(dev, alike)
		}
		if err != nil {
			return fmt.Errorf("%s %s %s: %w", c.op, c.shape, c.kind, err)
		}
		if err := each(result); err != nil {
			return err
		}
	}
	return nil
}

// besideCopies says how near the kernel comes to copies of as many bytes, in whole MB,
// which are measured once.
func (r *OpResult) besideCopies(dev *wgslkit.Device, alike map[int64]bench.Series) error {
	size := r.Bytes >> 20 << 20
	if size < cached {
		return nil
	}
	copies, ok := alike[size]
	if !ok {
		var err error
		if copies, err = bench.CopyOf(dev, size); err != nil {
			return err
		}
		alike[size] = copies
	}
	r.OfAlike = r.GBs * 1e9 / copies.Median
	return nil
}

func opCases(dev *wgslkit.Device, o OpOptions) []opCase {
	all := slices.Concat(matvecCases(o), matmulCases(dev, o), attentionCases(dev), expertCases(dev), towerCases(dev),
		otherCases())
	return slices.DeleteFunc(all, func(c opCase) bool {
		return len(o.Only) > 0 && !slices.Contains(o.Only, c.op)
	})
}

// CheckOps refuses names that no op has.
func CheckOps(names []string) error {
	for _, n := range names {
		if !slices.Contains(OpNames(), n) {
			return fmt.Errorf("%w: no op is called %q; there are %s", bench.ErrOptions, n,
				strings.Join(OpNames(), ", "))
		}
	}
	return nil
}

// opBench makes the buffers of a case; they are freed together.
type opBench struct {
	ctx     context.Context
	kit     *ops.Kit
	state   *wgslkit.Buffer
	release []func()
	err     error
}

func (b *opBench) close() {
	for _, release := range slices.Backward(b.release) {
		release()
	}
}

// values is a buffer of n float32 of deviation 1.
func (b *opBench) values(label string, n int) *wgslkit.Buffer {
	if b.err != nil {
		return nil
	}
	v, err := b.kit.Vector(label, wgslkit.Activations, normal(n))
	if err != nil {
		b.err = err
		return nil
	}
	b.release = append(b.release, v.Release)
	return v
}

// at sets the position and the width that programs read.
func (b *opBench) at(position, width int) {
	if b.err == nil {
		b.err = b.state.Write(0, stateWords(position, width))
	}
}

// The time that a measurement may take, and how many dispatches one submission
// holds at most.
const (
	opBudget    = 60 * time.Millisecond
	maxRecorded = 64
)

// measure times submissions of several dispatches that wait for each other, as
// those of a model do, so that what a submission costs is spread over them.
func measure(ctx context.Context, kit *ops.Kit, o OpOptions, c opCase) (OpResult, error) {
	b := &opBench{ctx: ctx, kit: kit}
	defer b.close()
	var err error
	if b.state, err = kit.Words("state", wgslkit.Activations, make([]uint32, ops.StateWords)); err != nil {
		return OpResult{}, err
	}
	b.release = append(b.release, b.state.Release)
	b.at(0, c.width)
	record, err := c.setUp(b)
	if err = errors.Join(err, b.err); err != nil {
		return OpResult{}, err
	}
	once, err := b.time(c, record, 1, 1)
	if err != nil {
		return OpResult{}, err
	}
	count := max(1, min(int(opBudget.Seconds()/once[0]), maxRecorded))
	seconds, err := b.time(c, record, count, max(o.Repeats, 1))
	if err != nil {
		return OpResult{}, err
	}
	return c.result(o, seconds, count), nil
}

// time is the seconds of submissions that hold count dispatches each.
func (b *opBench) time(c opCase, record func(*ops.Recorder, int), count, repeats int) ([]float64, error) {
	r := b.kit.Record(c.op, c.width, b.state)
	for i := range count {
		record(r, i)
	}
	recording, err := r.Finish()
	if err != nil {
		return nil, err
	}
	defer recording.Release()
	return bench.Timed(repeats, func() error { return bench.SubmitAndWait(b.kit.Device(), recording.Program, c.width) })
}

func (c opCase) result(o OpOptions, seconds []float64, count int) OpResult {
	r := OpResult{
		Op: c.op, Shape: c.shape, Type: c.kind, Bytes: c.bytes, Operations: c.flops,
		Microseconds: bench.Scaled(1e6/float64(count), seconds),
	}
	each := r.Microseconds.Median * 1e-6
	r.GBs, r.GFLOPs = float64(c.bytes)/each/1e9, float64(c.flops)/each/1e9
	if o.Copy.Median > 0 {
		r.OfCopy = float64(c.bytes) / each / o.Copy.Median
	}
	return r
}
