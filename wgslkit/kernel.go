package wgslkit

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Kernel is one compiled variant of a WGSL file. Its entry point is `main`,
// its bindings are all in group 0, numbered from 0 without gaps.
type Kernel struct {
	name     string
	pipeline backend.Pipeline
	bindings []backend.BindingKind
	names    []string
}

// Name is the file and variant, as profiles and errors show it.
func (k *Kernel) Name() string { return k.name }

// Kernel compiles a variant, or returns the one compiled before.
func (d *Device) Kernel(s *Shaders, file string, v Variant) (*Kernel, error) {
	name := named(file, v)
	if k, err := d.kernel(name, s, file, v); k != nil || err != nil {
		return k, err
	}
	d.compiling.Lock()
	defer d.compiling.Unlock()
	if k, err := d.kernel(name, s, file, v); k != nil || err != nil {
		return k, err // compiled by somebody else meanwhile, or the device was closed
	}
	k, err := d.compile(s, name, file, v)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kernels[name] = k
	return k, nil
}

// kernel is one that need not be compiled, or nil.
func (d *Device) kernel(name string, s *Shaders, file string, v Variant) (*Kernel, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("%w: device", ErrReleased)
	}
	if d.tellsForms() {
		id := kernelID(file, v)
		if d.asked != nil {
			d.asked[id] = true
		}
		if d.avoid.Has(id) {
			return nil, fmt.Errorf("%w: %s on %s; update its driver and test it again, or run on the CPU",
				ErrBrokenKernel, id.Form, d.info.Name)
		}
	}
	if k, ok := d.kernels[name]; ok || !d.rehearses {
		return k, nil
	}
	k := &Kernel{name: name}
	d.kernels[name] = k
	d.wanted = append(d.wanted, wanted{s, file, v})
	return k, nil
}

func (d *Device) compile(s *Shaders, name, file string, v Variant) (*Kernel, error) {
	if d.info.Unzeroed {
		given := v
		v = Variant{"UNZEROED": true}
		maps.Copy(v, given)
	}
	wgsl, err := s.Compose(file, v)
	if err != nil {
		return nil, err
	}
	kinds, names, err := parseBindings(wgsl)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrShader, name, err)
	}
	if n := storageBuffers(kinds); n > int(d.limits.MaxStorageBuffers) {
		return nil, fmt.Errorf("%w: kernel %s binds %d storage buffers, this device %d", ErrLimit, name, n,
			d.limits.MaxStorageBuffers)
	}
	p, err := d.backend.NewPipeline(backend.PipelineSpec{Label: name, WGSL: wgsl, Entry: "main", Bindings: kinds})
	if err != nil {
		return nil, err
	}
	return &Kernel{name: name, pipeline: p, bindings: kinds, names: names}, nil
}

// Kernels is how many variants have been compiled.
func (d *Device) Kernels() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.kernels)
}

// parseBindings reads the layout off the WGSL, so that it is said once.
func parseBindings(wgsl string) ([]backend.BindingKind, []string, error) {
	found := bindingsOf(wgsl)
	kinds, names := make([]backend.BindingKind, len(found)), make([]string, len(found))
	seen := make([]bool, len(found))
	for _, b := range found {
		i, err := strconv.Atoi(b.number)
		if err != nil || i < 0 || i >= len(found) || seen[i] {
			return nil, nil, fmt.Errorf("binding %s of %s: bindings are numbered 0 to %d, each once", b.number, b.name,
				len(found)-1)
		}
		seen[i], names[i], kinds[i] = true, b.name, b.kind
	}
	return kinds, names, nil
}

// declared is a binding as WGSL declares it.
type declared struct {
	number, name string
	kind         backend.BindingKind
}

const groupZero = "@group(0)"

// bindingsOf finds `@group(0) @binding(2) var<storage, read_write> out: …`. A regular
// expression takes as long as all else that is done with a kernel's text.
func bindingsOf(wgsl string) (found []declared) {
	for {
		var ok bool
		if _, wgsl, ok = strings.Cut(wgsl, groupZero); !ok {
			return found
		}
		if b, ok := bindingAt(wgsl); ok {
			found = append(found, b)
		}
	}
}

// bindingAt reads what stands behind @group(0).
func bindingAt(wgsl string) (b declared, ok bool) {
	if wgsl, ok = strings.CutPrefix(strings.TrimLeft(wgsl, whiteSpace), "@binding("); !ok {
		return b, false
	}
	if b.number, wgsl, ok = strings.Cut(wgsl, ")"); !ok {
		return b, false
	}
	if wgsl, ok = strings.CutPrefix(strings.TrimLeft(wgsl, whiteSpace), "var<"); !ok {
		return b, false
	}
	access, wgsl, _ := strings.Cut(wgsl, ">")
	if b.kind, ok = accessKinds[strings.Join(strings.Fields(strings.ReplaceAll(access, ",", " ")), " ")]; !ok {
		return b, false
	}
	b.name, _, ok = strings.Cut(wgsl, ":")
	b.name = strings.Trim(b.name, whiteSpace)
	return b, ok && b.name != ""
}

const whiteSpace = " \t\r\n"

var accessKinds = map[string]backend.BindingKind{
	"storage": backend.BindStorageRead, "storage read": backend.BindStorageRead,
	"storage read_write": backend.BindStorageReadWrite, "uniform": backend.BindUniform,
}

func storageBuffers(kinds []backend.BindingKind) int {
	n := 0
	for _, k := range kinds {
		if k != backend.BindUniform {
			n++
		}
	}
	return n
}
