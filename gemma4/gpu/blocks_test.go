package gpu_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// TestBlocks holds decoded blocks to ggml's values, bit by bit: blocks that ggml made and blocks of noise, decoded by
// quant, and as rows that a GPU looks up.
func TestBlocks(t *testing.T) {
	raw, err := os.ReadFile(conformance.Path(t, "quants.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	device, err := wgslkit.Open(wgslkit.Options{})
	if err != nil && !errors.Is(err, wgslkit.ErrNoDevice) {
		t.Fatal(err)
	}
	var kit *ops.Kit
	if device != nil {
		kit = ops.New(device)
		defer func() {
			if err := device.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	for _, tensor := range file.Tensors {
		name, isBytes := strings.CutSuffix(tensor.Name, ".bytes")
		if !isBytes {
			continue
		}
		t.Run(name, func(t *testing.T) {
			typeName, _, _ := strings.Cut(name, ".")
			typ, err := quant.Parse(typeName)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := io.ReadAll(tensor.Section())
			if err != nil {
				t.Fatal(err)
			}
			want, err := file.Floats(name + ".values")
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, len(want))
			if err := typ.Dequantize(got, blocks); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("value %d is %v, ggml's %v", i, got[i], want[i])
				}
			}
			if kit == nil {
				t.Skip("no GPU")
			}
			for i, v := range lookUp(t, kit, typ, blocks, tensor.Shape[0]) {
				// WGSL lets a GPU take a subnormal number for 0: MXFP4's two smallest scales, times at most 12, are. And
				// there is no −0.
				if v != want[i] && !(v == 0 && math.Abs(float64(want[i])) <= 12*0x1p-127) {
					t.Fatalf("value %d is %v on the GPU, ggml's %v", i, v, want[i])
				}
			}
		})
	}
}

// lookUp is all rows of a table, in order.
func lookUp(t *testing.T, kit *ops.Kit, typ quant.Type, blocks []byte, rows int) []float32 {
	t.Helper()
	cols := len(blocks) / rows / typ.BlockBytes() * typ.BlockLen()
	table, err := kit.Upload(t.Context(), "table", ops.Stacked, []ops.Source{
		{Name: typ.String(), Type: typ, Rows: rows, Cols: cols, Data: bytes.NewReader(blocks)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	ids := make([]uint32, rows)
	for i := range ids {
		ids[i] = uint32(i)
	}
	words := func(label string, values []uint32) *wgslkit.Buffer {
		b, err := kit.Words(label, wgslkit.Activations, values)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	state, tokens := words("state", make([]uint32, ops.StateWords)), words("ids", ids)
	defer state.Release()
	defer tokens.Release()
	out, err := kit.Device().NewBuffer("rows", wgslkit.Activations, int64(4*rows*cols))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	r := kit.Record("look up", rows, state)
	r.Embed(ops.Embed{Label: "rows", Table: table, IDs: tokens, Out: out})
	program, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer program.Release()
	if err := program.Submit(rows); err != nil {
		t.Fatal(err)
	}
	values, err := out.ReadFloats(rows * cols)
	if err != nil {
		t.Fatal(err)
	}
	return values
}
