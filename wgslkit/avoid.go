package wgslkit

import (
	"cmp"
	"maps"
	"slices"
)

// Avoid is what does not work on a device, as its tests have shown.
type Avoid struct {
	// Features count as missing.
	Features Features `json:"features"`
	// Kernels, by Name or by Form of their KernelID, are refused with ErrBrokenKernel.
	Kernels []string `json:"kernels,omitempty"`
}

// Refuse has the device refuse kernels from now on, as those of Avoid, by Name or by Form.
func (d *Device) Refuse(kernels ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.avoid.Kernels = append(slices.Clip(d.avoid.Kernels), kernels...)
}

// Has says whether a kernel is to be refused.
func (a Avoid) Has(id KernelID) bool {
	return slices.Contains(a.Kernels, id.Name) || slices.Contains(a.Kernels, id.Form)
}

// tellsForms says whether kernels are told by their forms here, which take time to make out.
func (d *Device) tellsForms() bool { return d.asked != nil || len(d.avoid.Kernels) > 0 }

// KernelID names a kernel. Kernels of one Form are the same text in other
// sizes: the file with the words and truths of its variant.
type KernelID struct {
	Name string `json:"name"`
	Form string `json:"form"`
}

func kernelID(file string, v Variant) KernelID {
	form := maps.Clone(v)
	maps.DeleteFunc(form, func(_ string, value any) bool {
		switch value.(type) {
		case bool, string:
			return false
		}
		return true
	})
	return KernelID{Name: named(file, v), Form: named(file, form)}
}

func named(file string, v Variant) string {
	if key := v.key(); key != "" {
		return file + "[" + key + "]"
	}
	return file
}

// TraceKernels notes the kernels that are asked for, compiled before or not,
// until stop is called, which lists them in order. Only one trace runs at a time.
func (d *Device) TraceKernels() (stop func() []KernelID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = map[KernelID]bool{}
	return func() []KernelID {
		d.mu.Lock()
		defer d.mu.Unlock()
		asked := d.asked
		d.asked = nil
		return slices.SortedFunc(maps.Keys(asked), func(a, b KernelID) int { return cmp.Compare(a.Name, b.Name) })
	}
}
