package notices

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../../.."

// Whoever adds or updates a dependency gathers the notices anew: lab notices.
func TestProductsHaveTheirNotices(t *testing.T) {
	for _, p := range Products {
		if err := p.Check(t.Context(), root); err != nil {
			t.Error(err)
		}
	}
}

func TestCompare(t *testing.T) {
	a := Part{Kind: Go, Name: "example.org/a", Version: "v1.0.0", Texts: []string{"Do as you like."}}
	b := Part{Kind: NPM, Name: "b", Version: "2.0.0", Licence: "MIT", Texts: []string{"Do as you like."}}
	text, err := render("the house", []Part{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if err := compare("FILE", text, []Part{a, b}); err != nil {
		t.Error(err)
	}
	newer := b
	newer.Version = "2.0.1"
	for name, parts := range map[string][]Part{"one more than listed": {a, b, newer}, "one listed in vain": {a}} {
		if err := compare("FILE", text, parts); !errors.Is(err, ErrNotices) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := compare("FILE", text[:len(text)-len("Do as you like.")-120], []Part{a, b}); !errors.Is(err, ErrNotices) {
		t.Errorf("without a text: %v", err)
	}
	_, err = render("the house", []Part{a, {Kind: NPM, Name: "silent", Version: "1.0.0"}})
	if !errors.Is(err, ErrNotices) {
		t.Errorf("without a license: %v", err)
	}
}

func TestTextsIn(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE-MIT": "MIT\r\n", "LICENSE-APACHE": "Apache", "NOTICE": "by Ada", "license.go": "package license",
		"LICENSES/Boost.txt": "Boost", "README.md": "hello",
	} {
		write(t, folder, name, text)
	}
	for _, tt := range []struct {
		licence string
		want    []string
	}{
		{"", []string{"Apache", "MIT", "Boost", "by Ada"}},
		{"MIT OR Apache-2.0", []string{"MIT", "by Ada"}},
		{"Apache-2.0/MIT", []string{"MIT", "by Ada"}},
		{"Zlib OR Apache-2.0", []string{"Apache", "MIT", "Boost", "by Ada"}}, // there is no text of Zlib's
		{"(MIT OR Apache-2.0) AND Boost", []string{"Apache", "MIT", "Boost", "by Ada"}},
	} {
		got, err := textsIn(folder, tt.licence)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", tt.licence, err, diff)
		}
	}
}

func TestNPMParts(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "app/package-lock.json", `{"packages": {
		"": {"dependencies": {"a": "^1", "ours": "file:.."}},
		"node_modules/a": {"version": "1.0.0", "license": "MIT", "dependencies": {"b": "^1", "@types/c": "*"}},
		"node_modules/a/node_modules/b": {"version": "1.5.0", "license": "MIT", "dependencies": {"a": "*"}},
		"node_modules/b": {"version": "2.0.0", "license": "MIT"},
		"node_modules/@types/c": {"version": "3.0.0"},
		"node_modules/builder": {"version": "4.0.0", "license": "ISC", "dependencies": {"b": "^2"}},
		"node_modules/ours": {"link": true}
	}}`)
	write(t, folder, "app/node_modules/builder/LICENSE.md", "Own.\n\n# Licenses of bundled dependencies\nmany")
	parts, err := npmParts(folder, "app", "builder")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range sorted(parts) {
		got = append(got, p.key())
		if diff := cmp.Diff([]string{"Own."}, p.Texts); p.Name == "builder" && diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]string{"npm a 1.0.0", "npm b 1.5.0", "npm builder 4.0.0"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := npmParts(folder, "app", "nobody"); !errors.Is(err, ErrNotices) {
		t.Errorf("a package that is not locked: %v", err)
	}
}

// The list of crates is of the library that is linked, and each has its text.
func TestBound(t *testing.T) {
	if _, err := bound("v0.0.0"); !errors.Is(err, ErrNotices) {
		t.Errorf("of another version: %v", err)
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	file := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
