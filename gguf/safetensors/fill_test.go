package safetensors

import (
	"bytes"
	"strings"
	"testing"
)

func TestFillWritesPiecesAsValuesAre(t *testing.T) {
	values := []float32{1, 2, 3, 4, 5, 6}
	var whole, pieces bytes.Buffer
	if err := Write(&whole, nil, []Values{{Name: "x", Shape: []int{3, 2}, Values: values}}); err != nil {
		t.Fatal(err)
	}
	fill := func(write func([]float32) error) error {
		for i := 0; i < len(values); i += 2 {
			if err := write(values[i : i+2]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := Write(&pieces, nil, []Values{{Name: "x", Shape: []int{3, 2}, Fill: fill}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(whole.Bytes(), pieces.Bytes()) {
		t.Error("the files differ")
	}
	for _, c := range []struct {
		rows int
		says string
	}{{2, "more than"}, {4, "missing"}} {
		err := Write(&bytes.Buffer{}, nil, []Values{{Name: "x", Shape: []int{c.rows, 2}, Fill: fill}})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d rows: %v", c.rows, err)
		}
	}
}
