package checkup

import (
	"errors"
	"reflect"
	"slices"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// taken is what a rehearsed program takes.
type taken struct {
	kernels []wgslkit.KernelID
	shapes  []opstest.Shape // of its ops, each once
	ops     map[string]bool // the names of all of them
}

// listen rehearses a program with a kit like the given one, on a device where nothing is made.
func listen(kit *ops.Kit, rehearse func(*ops.Kit) error) (*taken, error) {
	t := &taken{ops: map[string]bool{}}
	seen := map[string]bool{}
	device := kit.Device().Rehearse()
	heard := kit.On(device).Heard(func(op any, width int) {
		t.ops[reflect.TypeOf(op).Name()] = true
		if s, ok := opstest.ShapeOf(op, width); ok && !seen[s.String()] {
			seen[s.String()], t.shapes = true, append(t.shapes, s)
		}
	})
	stop := device.TraceKernels()
	err := rehearse(heard)
	t.kernels = stop()
	return t, errors.Join(err, device.Close())
}

// planned is a case that is run for the sake of kernels that were not examined yet.
type planned struct {
	opstest.Case
	kernels []wgslkit.KernelID
}

// cover picks cases that ask for the unknown kernels: first those of the program's own
// shapes, then such as are kept for all programs. left are the kernels of no case.
func (t *taken) cover(kit *ops.Kit, unknown []wgslkit.KernelID) (cases []planned, left []wgslkit.KernelID) {
	left = slices.Clone(unknown)
	add := func(c opstest.Case, smallest func() opstest.Case) {
		covered := both(left, c.Kernels(kit))
		if len(covered) == 0 {
			return
		}
		cases = append(cases, planned{smallest(), covered})
		left = slices.DeleteFunc(left, func(k wgslkit.KernelID) bool { return slices.Contains(covered, k) })
	}
	for _, s := range t.shapes {
		add(s.Case(), func() opstest.Case { return s.Smallest(kit) })
	}
	for _, ofProgram := range []bool{true, false} {
		for _, c := range opstest.Cases(kit) {
			if len(left) > 0 && t.ops[c.Op] == ofProgram {
				add(c, func() opstest.Case { return c })
			}
		}
	}
	return cases, left
}

// Uncovered are the kernels of a program that no case shows right on kit's device: an
// Examiner leaves them out. Nothing is computed.
func Uncovered(kit *ops.Kit, rehearse func(*ops.Kit) error) ([]wgslkit.KernelID, error) {
	program, err := listen(kit, rehearse)
	if err != nil {
		return nil, err
	}
	_, left := program.cover(kit, program.kernels)
	return left, nil
}

// both are the kernels of a that are among b's, too.
func both(a, b []wgslkit.KernelID) (list []wgslkit.KernelID) {
	for _, k := range a {
		if slices.Contains(b, k) {
			list = append(list, k)
		}
	}
	return list
}
