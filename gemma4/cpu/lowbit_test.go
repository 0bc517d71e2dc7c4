package cpu

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/quant"
)

// lowBit are the types that a model's matrices go through in turn, where a row is whole blocks.
var lowBit = []quant.Type{quant.IQ4_XS, quant.MXFP4, quant.TQ1_0, quant.NVFP4, quant.IQ4_NL, quant.TQ2_0}

// A model whose matrices are of types that nothing but quant knows computes what its decoded weights compute.
func TestLowBitTypes(t *testing.T) {
	conformance.Long(t)
	stored, decoded, types := lowBitModels(t)
	if types != len(lowBit) {
		t.Errorf("%d types are in use, there are %d", types, len(lowBit))
	}
	ids := []int32{2, 5, 384, 279, 866, 6}
	all := Want{Logits: AllLogits}
	// With everything decoded, and with everything read from the file as it is needed.
	for name, options := range map[string]Options{"in memory": {}, "from the file": {WeightBudget: -1}} {
		t.Run(name, func(t *testing.T) {
			got, want := lowBitModel(t, stored, options), lowBitModel(t, decoded, Options{})
			closeTo(t, "logits", forward(t, got, newCache(t, got), Tokens(ids), all),
				forward(t, want, newCache(t, want), Tokens(ids), all))
		})
	}
}

// lowBitModels are a case's text model with its matrices in low-bit types, and with these decoded again.
func lowBitModels(t *testing.T) (stored, decoded []byte, types int) {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), conformance.Path(t, "e2b.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	used := map[quant.Type]bool{}
	low, plain := map[string]encodedTensor{}, map[string]encodedTensor{}
	for i, tensor := range file.Tensors {
		if !isText(tensor) {
			continue
		}
		values := make([]float32, tensor.Elements())
		if err := tensor.ReadRows(values, 0, tensor.Rows()); err != nil {
			t.Fatal(err)
		}
		typ := quant.F32
		for k := range lowBit {
			candidate := lowBit[(i+k)%len(lowBit)]
			fits := tensor.Rows() > 1 && tensor.RowLen()%candidate.BlockLen() == 0
			if fits && strings.HasPrefix(tensor.Name, "blk.") {
				typ = candidate
				break
			}
		}
		if typ != quant.F32 {
			used[typ] = true
		}
		low[tensor.Name] = encodeTensor(t, typ, values)
		if err := typ.Dequantize(values, low[tensor.Name].data); err != nil {
			t.Fatal(err)
		}
		plain[tensor.Name] = encodeTensor(t, quant.F32, values)
	}
	return rewrite(t, file, low), rewrite(t, file, plain), len(used)
}

// isText is for tensors outside the towers.
func isText(tensor *gguf.Tensor) bool {
	for _, tower := range []string{"v.", "a.", "mm."} {
		if strings.HasPrefix(tensor.Name, tower) {
			return false
		}
	}
	return true
}

type encodedTensor struct {
	typ  quant.Type
	data []byte
}

func encodeTensor(t *testing.T, typ quant.Type, values []float32) encodedTensor {
	t.Helper()
	size, err := typ.Size(int64(len(values)))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	if err := typ.Quantize(data, values); err != nil {
		t.Fatal(err)
	}
	return encodedTensor{typ, data}
}

// rewrite is a file of the text tensors alone, with other data.
func rewrite(t *testing.T, file *gguf.File, tensors map[string]encodedTensor) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	if err := w.SetAll(file.Meta); err != nil {
		t.Fatal(err)
	}
	for _, tensor := range file.Tensors {
		if !isText(tensor) {
			continue
		}
		info := gguf.TensorInfo{Name: tensor.Name, Type: tensors[tensor.Name].typ, Dims: tensor.Dims}
		if err := w.Add(info); err != nil {
			t.Fatal(err)
		}
	}
	for _, tensor := range file.Tensors {
		if !isText(tensor) {
			continue
		}
		if err := w.WriteTensor(tensor.Name, tensors[tensor.Name].data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func lowBitModel(t *testing.T, data []byte, options Options) *Model {
	t.Helper()
	file, err := gguf.Open(context.Background(), gguf.Memory(data))
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(context.Background(), resolved, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}
