package safetensors

import (
	"bytes"
	"errors"
	"testing"
)

func TestVerify(t *testing.T) {
	values := []Values{
		{Name: "b", Shape: []int{2, 3}, Values: []float32{1, 2, 3, 4, 5, 6}},
		{Name: "a", DType: F16, Shape: []int{2}, Values: []float32{7, 8}},
	}
	var with, without bytes.Buffer
	if err := WriteChecked(&with, map[string]string{"r": "4"}, values); err != nil {
		t.Fatal(err)
	}
	if err := Write(&without, map[string]string{"r": "4"}, values); err != nil {
		t.Fatal(err)
	}
	verify := func(raw []byte) (bool, error) {
		file, err := Read(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return false, err
		}
		return file.Verify()
	}
	if checked, err := verify(with.Bytes()); !checked || err != nil {
		t.Errorf("a whole file: %v, %v", checked, err)
	}
	if checked, err := verify(without.Bytes()); checked || err != nil {
		t.Errorf("a file without a checksum: %v, %v", checked, err)
	}
	for at := range with.Len() {
		flipped := bytes.Clone(with.Bytes())
		flipped[at] ^= 1
		if checked, err := verify(flipped); checked && !errors.Is(err, ErrChecksum) && flipped[at] != ' '^1 {
			t.Errorf("a bit of byte %d flipped: %v", at, err)
		}
	}
	if err := WriteChecked(&with, nil, []Values{{Name: "x", Shape: []int{1},
		Fill: func(func([]float32) error) error { return nil }}}); err == nil {
		t.Error("values that come once were summed up")
	}
}
