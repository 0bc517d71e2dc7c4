package picture_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/multimodal/picture"
)

// sized is an image that Pillow resized.
type sized struct {
	File          string // of the conformance cases; or
	Noise         []int  // width and height of noise
	Budget        int    // of which the size follows, for a File
	Width, Height int
	SHA256        string
}

func TestResizeAsPillow(t *testing.T) {
	var cases []sized
	if err := json.Unmarshal(readFile(t, "testdata", "resized.json"), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			small := c.source(t).Resize(c.Width, c.Height)
			hash := sha256.Sum256(small.Pix)
			if got := hex.EncodeToString(hash[:]); got != c.SHA256 {
				t.Errorf("pixels differ from Pillow's: %s, want %s", got, c.SHA256)
			}
		})
	}
}

func (c sized) name() string {
	text, _ := json.Marshal([]any{c.File, c.Noise, c.Width, c.Height})
	return string(text)
}

func (c sized) source(t *testing.T) *picture.RGB {
	if c.File == "" {
		return noise(c.Noise[0], c.Noise[1])
	}
	m := decodeCase(t, c.File)
	w, h, err := picture.Fit(m.Width, m.Height, picture.Grid{Patch: 16, Pool: 3, Budget: c.Budget})
	if err != nil || w != c.Width || h != c.Height {
		t.Fatalf("%d × %d became %d × %d, %v, want %d × %d", m.Width, m.Height, w, h, err, c.Width, c.Height)
	}
	return m
}

// noise is the same as in testdata/make.py.
func noise(width, height int) *picture.RGB {
	m := &picture.RGB{Width: width, Height: height, Pix: make([]uint8, 3*width*height)}
	state := uint32(1)
	for i := range m.Pix {
		state = state*1664525 + 1013904223
		m.Pix[i] = uint8(state >> 24)
	}
	return m
}

// decodeCase decodes a picture of the conformance cases.
func decodeCase(t *testing.T, name string) *picture.RGB {
	t.Helper()
	data, err := os.ReadFile(conformance.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(data)) // Decode is not there in a browser
	if err != nil {
		t.Fatal(err)
	}
	return picture.FromImage(m)
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The reference's own patches, from the file to values in 0…1.
func TestPatchesAsReference(t *testing.T) {
	grid := picture.Grid{Patch: 16, Pool: 3, Budget: 70}
	m := decodeCase(t, "wide.png")
	w, h, err := picture.Fit(m.Width, m.Height, grid)
	if err != nil {
		t.Fatal(err)
	}
	got := picture.Patches(m.Resize(w, h), grid.Patch)
	want := caseFloats(t, "e2b", "wide.pixels") // the same for all models
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("value %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func caseFloats(t *testing.T, model, tensor string) []float32 {
	t.Helper()
	data := readFile(t, conformance.Path(t, model+".safetensors"))
	f, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	values, err := f.Floats(tensor)
	if err != nil {
		t.Fatal(err)
	}
	return values
}
