package wgslkit

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Kernel is one compiled variant of a WGSL file. Its entry point is `main`,
// its bindings are all in group 0, numbered from 0 without gaps.
type Kernel struct {
	name     string
	pipeline pipelineHandle
	bindings []bindingKind
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
		if d.avoid.kernel(id) {
			return nil, fmt.Errorf("%w: %s on %s; update its driver and test it again, or run on the CPU", ErrBrokenKernel, id.Form, d.info.Name)
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
		return nil, fmt.Errorf("%w: kernel %s binds %d storage buffers, this device %d", ErrLimit, name, n, d.limits.MaxStorageBuffers)
	}
	p, err := d.backend.newPipeline(pipelineSpec{label: name, wgsl: wgsl, entry: "main", bindings: kinds})
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

var bindingPattern = regexp.MustCompile(`@group\(0\)\s*@binding\((\d+)\)\s*var<(storage\s*,\s*read_write|storage\s*,\s*read|storage|uniform)>\s*(\w+)`)

// parseBindings reads the layout off the WGSL, so that it is said once.
func parseBindings(wgsl string) ([]bindingKind, []string, error) {
	found := bindingPattern.FindAllStringSubmatch(wgsl, -1)
	kinds, names := make([]bindingKind, len(found)), make([]string, len(found))
	seen := make([]bool, len(found))
	for _, m := range found {
		i, err := strconv.Atoi(m[1])
		if err != nil || i >= len(found) || seen[i] {
			return nil, nil, fmt.Errorf("binding %s of %s: bindings are numbered 0 to %d, each once", m[1], m[3], len(found)-1)
		}
		seen[i], names[i] = true, m[3]
		switch {
		case m[2] == "uniform":
			kinds[i] = bindUniform
		case strings.HasSuffix(m[2], "read_write"):
			kinds[i] = bindStorageReadWrite
		}
	}
	return kinds, names, nil
}

func storageBuffers(kinds []bindingKind) int {
	n := 0
	for _, k := range kinds {
		if k != bindUniform {
			n++
		}
	}
	return n
}
