package notices

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ErrNotices is a list of other people's works that is not whole.
var ErrNotices = errors.New("the notices of third parties are not whole")

// A Product is something that is given to people.
type Product struct {
	Name string
	File string // its notices, below the root
	// gather lists what it carries.
	gather func(ctx context.Context, root string) ([]Part, error)
}

// Products are all that this repository gives out.
var Products = []Product{
	{"the gemwire command", "THIRD-PARTY-NOTICES.txt", commandParts},
	{"the C library", "bindings/c/THIRD-PARTY-NOTICES.txt", libraryParts},
	{"the npm package", "bindings/wasm/npm/THIRD-PARTY-NOTICES.txt", packageParts},
	{"the web app", "examples/web/public/third-party-notices.txt", appParts},
}

// inlined are packages that esbuild puts into the npm package's worker.
var inlined = []string{"hash-wasm"}

// written are packages that put code of theirs into the app while they build it: the service worker, the loading of
// chunks, the style sheet's base.
var written = []string{
	"tailwindcss", "vite", "workbox-cacheable-response", "workbox-core", "workbox-expiration", "workbox-precaching",
	"workbox-routing", "workbox-strategies", "workbox-window",
}

func commandParts(ctx context.Context, root string) ([]Part, error) {
	parts, err := goParts(ctx, root, "tools/cmd/gemwire", natively)
	if err != nil {
		return nil, err
	}
	app, err := appParts(ctx, root) // released programs carry the app
	return append(parts, app...), err
}

func libraryParts(ctx context.Context, root string) ([]Part, error) {
	return goParts(ctx, root, "bindings/c/lib", slices.DeleteFunc(slices.Clone(natively), func(p platform) bool {
		return p.cgo == "0"
	}))
}

func packageParts(ctx context.Context, root string) ([]Part, error) {
	parts, err := goParts(ctx, root, "bindings/wasm/bundle", inBrowsers)
	if err != nil {
		return nil, err
	}
	scripts, err := npmParts(root, "bindings/wasm/npm", inlined...)
	return append(parts, scripts...), err
}

func appParts(ctx context.Context, root string) ([]Part, error) {
	parts, err := packageParts(ctx, root)
	if err != nil {
		return nil, err
	}
	scripts, err := npmParts(root, "examples/web", written...)
	return append(parts, scripts...), err
}

// Write gathers a product's notices into its file. Texts that are not on this machine are an error: packages of npm
// must be installed (scripts/setup.sh web).
func (p Product) Write(ctx context.Context, root string) error {
	parts, err := p.gather(ctx, root)
	if err != nil {
		return err
	}
	text, err := render(p.Name, sorted(parts))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(p.File)), []byte(text), 0o644)
}

// Check holds a product's file to what the product carries now.
func (p Product) Check(ctx context.Context, root string) error {
	parts, err := p.gather(ctx, root)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.File)))
	if err != nil {
		return fmt.Errorf("%w: %s has none: %w", ErrNotices, p.Name, err)
	}
	return compare(p.File, string(text), sorted(parts))
}

// List is what a product carries, by name.
func (p Product) List(ctx context.Context, root string) ([]Part, error) {
	parts, err := p.gather(ctx, root)
	return sorted(parts), err
}
