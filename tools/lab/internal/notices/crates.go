package notices

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed crates.json
var cratesJSON []byte

// Bound is what the static library of a Go module is made of.
type Bound struct {
	Module  string `json:"module"`
	Version string `json:"version"` // of the module
	Source  string `json:"source"`  // what the library was built from
	Parts   []Part `json:"parts"`
}

// wgpuModule brings wgpu-native as static libraries, and no word of what is in them.
const wgpuModule = "github.com/cogentcore/webgpu"

// bound is crates.json, which must be of the version of the module that is linked.
func bound(version string) ([]Part, error) {
	var b Bound
	if err := json.Unmarshal(cratesJSON, &b); err != nil {
		return nil, fmt.Errorf("%w: crates.json: %w", ErrNotices, err)
	}
	if b.Module != wgpuModule || b.Version != version {
		return nil, fmt.Errorf("%w: crates.json is of %s %s, and %s %s is linked; lab notices crates writes it again",
			ErrNotices, b.Module, b.Version, wgpuModule, version)
	}
	return b.Parts, nil
}

// metadata is what `cargo metadata` prints, as far as it matters here.
type metadata struct {
	Packages []struct {
		ID       string
		Name     string
		Version  string
		License  string
		Authors  []string
		Manifest string `json:"manifest_path"`
	}
	Resolve struct {
		Root  string
		Nodes []struct {
			ID   string
			Deps []struct {
				Pkg   string
				Kinds []struct {
					Kind   string // "" for what is linked
					Target string
				} `json:"dep_kinds"`
			}
		}
	}
}

// Crates lists what is linked into wgpu-native, out of a folder with its source: cargo says which crates, on all
// systems, and their packages bring the texts. Crates without one in their folder may have it in the folder above,
// where they are parts of a workspace.
func Crates(ctx context.Context, folder, version, source string) (*Bound, error) {
	cargo := exec.CommandContext(ctx, "cargo", "metadata", "--format-version", "1", "--offline")
	cargo.Dir = folder
	out, err := cargo.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return nil, fmt.Errorf("%w: cargo metadata in %s: %w", ErrNotices, folder, err)
	}
	var m metadata
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("%w: cargo metadata in %s: %w", ErrNotices, folder, err)
	}
	linked := m.linked()
	b := &Bound{Module: wgpuModule, Version: version, Source: source}
	for _, p := range m.Packages {
		if !linked[p.ID] {
			continue
		}
		at := filepath.Dir(p.Manifest)
		texts, err := textsIn(at, p.License)
		if err == nil && len(texts) == 0 && !strings.Contains(at,
			string(filepath.Separator)+"registry"+string(filepath.Separator)) {
			texts, err = textsIn(filepath.Dir(at), p.License)
		}
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			texts = standard(p.License, p.Authors)
		}
		b.Parts = append(b.Parts, Part{Kind: Crate, Name: p.Name, Version: p.Version, Licence: p.License, Texts: texts})
	}
	b.Parts = append(b.Parts, rust())
	b.Parts = sorted(b.Parts)
	return b, nil
}

// rust is the standard library, which every static library of Rust's holds.
func rust() Part {
	const licence = "MIT OR Apache-2.0"
	return Part{Kind: Crate, Name: "std", Licence: licence, Texts: standard(licence,
		[]string{"The Rust Project Developers"})}
}

// linked are the packages that end up in the library, on whatever system but a browser.
func (m *metadata) linked() map[string]bool {
	seen := map[string]bool{}
	for todo := []string{m.Resolve.Root}; len(todo) > 0; {
		id := todo[0]
		if todo = todo[1:]; seen[id] {
			continue
		}
		seen[id] = true
		for _, node := range m.Resolve.Nodes {
			if node.ID != id {
				continue
			}
			for _, d := range node.Deps {
				for _, k := range d.Kinds {
					if k.Kind == "" && !strings.Contains(k.Target, "wasm32") {
						todo = append(todo, d.Pkg)
					}
				}
			}
		}
	}
	return seen
}
