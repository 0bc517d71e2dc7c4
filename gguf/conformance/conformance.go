// Package conformance finds the repository's conformance cases, for tests: small
// models with what a reference implementation makes of them. The files are in
// testdata/conformance at the root of the repository; its README says what each holds.
//
// A module that was fetched alone brings no cases; tests that need one are skipped
// there, and say so. In a clone, a missing case is an error.
package conformance

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
)

// FurtherCases is the environment variable that names a folder with further cases of
// the same form.
const FurtherCases = "GEMWIRE_CASES"

// Everything is the environment variable that, at 1, asks for all that [Some] leaves out,
// as make test-all does.
const Everything = "GEMWIRE_TEST_ALL"

const (
	alignment = 32 // of the trained model's tensors
	folder    = "testdata/conformance"
)

// All says whether a run wants every case, as make test-all does.
func All() bool { return os.Getenv(Everything) == "1" }

// Some are the cases that a run wants: the first n in make test, all in make test-all. The
// others do the same once more with another model or precision, for which a software
// rasterizer compiles each kernel anew.
func Some[T any](n int, cases ...T) []T {
	if All() {
		return cases
	}
	return cases[:n]
}

// OnlyInAll skips a test that make test leaves to make test-all: what it is about is seldom touched, or covered by a
// quicker one.
func OnlyInAll(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("make test-all runs it")
	}
}

// Long skips a test that computes for long on one goroutine, where -short asks for others: the race detector slows it
// ten times and finds nothing in it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("long on one goroutine")
	}
}

// Path is the path of a case's file: "e2b.gguf", "nano/cases.json", "nano/nano.gguf".
func Path(t testing.TB, name string) string {
	t.Helper()
	file := filepath.Join(root(t), filepath.FromSlash(folder), filepath.FromSlash(name))
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Folders are those with cases: the repository's own, and the one that the
// environment variable [FurtherCases] names.
func Folders(t testing.TB) []string {
	t.Helper()
	folders := []string{filepath.Join(root(t), filepath.FromSlash(folder))}
	if further := os.Getenv(FurtherCases); further != "" {
		if _, err := os.Stat(further); err != nil {
			t.Fatalf("%s: %v", FurtherCases, err)
		}
		folders = append(folders, further)
	}
	return folders
}

// root is the repository's root, as seen from a test's own folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(folder), "README.md")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skipf("no %s here or above: a module fetched alone brings no conformance cases", folder)
		}
		dir = parent
	}
}

// NanoInTwo writes the small trained model in its two-file form into a folder of the test:
// a text model, and a projector with both towers. Their headers are cases, and the
// tensors are that model's.
func NanoInTwo(t testing.TB) (text, mmproj string) {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), Path(t, "nano/nano.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dir := t.TempDir()
	write := func(name string, projector bool) string {
		out := new(bytes.Buffer)
		header, err := os.ReadFile(Path(t, "nano/"+name+".header"))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(header)
		for _, tensor := range file.Tensors {
			if isTower(tensor.Name) != projector {
				continue
			}
			data := make([]byte, (tensor.Size+alignment-1)/alignment*alignment)
			if _, err := tensor.ReadAt(data[:tensor.Size], 0); err != nil {
				t.Fatal(err)
			}
			out.Write(data)
		}
		path := filepath.Join(dir, name+".gguf")
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("nano-text", false), write("nano-mmproj", true)
}

// isTower says whether a tensor belongs to the image or the audio tower.
func isTower(tensor string) bool {
	part, _, _ := strings.Cut(tensor, ".")
	return part == "v" || part == "a" || part == "mm"
}
