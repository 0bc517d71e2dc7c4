package parity_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	textparity "github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/parity"
)

// TestPublishedForms opens one model in the forms in which models are published: in two
// files, in one, split into parts, with the product of images as the convolution that it
// is. What it makes of pictures and clips is the same.
func TestPublishedForms(t *testing.T) {
	text, mmproj := conformance.Path(t, "unified-text.gguf"), conformance.Path(t, "unified-mmproj.gguf")
	for name, form := range map[string]func(dir string) (model, projector string){
		"two files": func(string) (string, string) { return text, mmproj },
		"one file":  func(dir string) (string, string) { return rewrite(t, dir, "one", 1, false, text, mmproj)[0], "" },
		"three parts and a projector": func(dir string) (string, string) {
			return rewrite(t, dir, "model", 3, false, text)[1], mmproj // any part names them all
		},
		"a convolution": func(dir string) (string, string) { return text, rewrite(t, dir, "mmproj", 1, true, mmproj)[0] },
	} {
		t.Run(name, func(t *testing.T) {
			c := textparity.Case{
				Name: "unified", Kind: textparity.ModelCase, JSON: conformance.Path(t, "unified.json"),
				Reference: conformance.Path(t, "unified.safetensors"),
			}
			c.GGUF, c.Projector = form(t.TempDir())
			opts := parity.Options{Open: gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 512},
				Media: multimodal.Options{Device: gemma4.DeviceCPU}}
			checks := 0
			for check, err := range parity.Run(context.Background(), c, opts) {
				if err != nil {
					t.Fatal(err)
				}
				if checks++; !check.Passed {
					t.Errorf("%s: %.3g, at most %.3g allowed: %s", check.What, check.Error, check.Tolerance, check.Detail)
				}
			}
			if checks < 20 {
				t.Errorf("%d comparisons", checks)
			}
		})
	}
}

// rewrite writes the tensors of files into so many parts, with the keys of all, and lists
// the parts. convolution gives v.patch_embd four dimensions.
func rewrite(t *testing.T, dir, name string, parts int, convolution bool, paths ...string) (written []string) {
	t.Helper()
	var files []*gguf.File
	var tensors []*gguf.Tensor
	for _, path := range paths {
		file, err := gguf.OpenPath(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		files, tensors = append(files, file), append(tensors, file.Tensors...)
	}
	each := (len(tensors) + parts - 1) / parts
	for no := range parts {
		var out bytes.Buffer
		w := gguf.NewWriter(&out)
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := len(files) - 1; i >= 0 && no == 0; i-- { // the first file's keys count
			check(w.SetAll(files[i].Meta))
		}
		if parts > 1 {
			check(w.Set("split.no", uint16(no)))
			check(w.Set("split.count", uint16(parts)))
			check(w.Set("split.tensors.count", int32(len(tensors))))
		}
		own := tensors[no*each : min((no+1)*each, len(tensors))]
		for _, tensor := range own {
			dims := tensor.Dims
			if convolution && strings.HasPrefix(tensor.Name, "v.patch_embd.weight") {
				dims = []uint64{48, 48, 3, dims[1]}
			}
			check(w.Add(gguf.TensorInfo{Name: tensor.Name, Type: tensor.Type, Dims: dims}))
		}
		for _, tensor := range own {
			data := make([]byte, tensor.Size)
			_, err := tensor.ReadAt(data, 0)
			check(err)
			check(w.WriteTensor(tensor.Name, data))
		}
		check(w.Close())
		path := filepath.Join(dir, name+".gguf")
		if parts > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%05d-of-%05d.gguf", name, no+1, parts))
		}
		check(os.WriteFile(path, out.Bytes(), 0o644))
		written = append(written, path)
	}
	return written
}
