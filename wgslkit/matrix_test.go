package wgslkit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/fstest"
)

// TestSubgroupMatrices has a subgroup multiply two matrices of small whole numbers
// in every size and type that the adapter lists, D = A·B + A·B.
func TestSubgroupMatrices(t *testing.T) {
	dev, err := Open(Options{})
	if errors.Is(err, ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	info := dev.Info()
	if has := dev.Features().SubgroupMatrix; has != (len(info.SubgroupMatrices) > 0) {
		t.Fatalf("the feature is %t, and the sizes are %v", has, info.SubgroupMatrices)
	}
	if len(info.SubgroupMatrices) == 0 {
		t.Skip("there are no subgroup matrices here")
	}
	for _, m := range info.SubgroupMatrices {
		t.Run(m.String(), func(t *testing.T) {
			if (m.Component == MatrixF16 || m.Result == MatrixF16) && !dev.Features().ShaderF16 {
				t.Skip("this device has no f16")
			}
			multiplyMatrices(t, dev, m)
		})
	}
}

const matrixShader = `
//#enable chromium_experimental_subgroup_matrix
%[1]s
@group(0) @binding(0) var<storage, read> a: array<%[8]s>;
@group(0) @binding(1) var<storage, read> b: array<%[8]s>;
@group(0) @binding(2) var<storage, read_write> d: array<%[3]s>;

@compute @workgroup_size(%[7]d)
fn main() {
  let left = subgroupMatrixLoad<subgroup_matrix_left<%[2]s, %[6]d, %[4]d>, row_major>(&a, 0u, %[6]du / %[9]du);
  let right = subgroupMatrixLoad<subgroup_matrix_right<%[2]s, %[5]d, %[6]d>, row_major>(&b, 0u, %[5]du / %[9]du);
  var sum: subgroup_matrix_result<%[3]s, %[5]d, %[4]d>;
  for (var i = 0u; i < 2u; i++) {
    sum = subgroupMatrixMultiplyAccumulate(left, right, sum);
  }
  subgroupMatrixStore<row_major>(&d, 0u, sum, %[5]du);
}
`

func multiplyMatrices(t *testing.T, dev *Device, m SubgroupMatrix) {
	f16 := ""
	if m.Component == MatrixF16 || m.Result == MatrixF16 {
		f16 = "//#enable f16"
	}
	// Bytes lie four to a word, and strides count words.
	stored, perElement := m.Component, 1
	if words := map[MatrixType]MatrixType{MatrixU8: MatrixU32, MatrixI8: MatrixI32}[m.Component]; words != "" {
		stored, perElement = words, 4
	}
	wgsl := fmt.Sprintf(matrixShader, f16, m.Component, m.Result, m.M, m.N, m.K, dev.Info().SubgroupMax, stored,
		perElement)
	shaders := NewShaders(fstest.MapFS{"matrix.wgsl": {Data: []byte(wgsl)}})
	// The variant gives each size a kernel of its own.
	kernel, err := dev.Kernel(shaders, "matrix.wgsl", Variant{"SIZE": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	a, b, want := make([]int, m.M*m.K), make([]int, m.K*m.N), make([]int, m.M*m.N)
	for i := range a {
		a[i] = i * 7 % 5
	}
	for i := range b {
		b[i] = i * 11 % 7
	}
	for i := range want {
		for k := range m.K {
			want[i] += 2 * a[i/m.N*m.K+k] * b[k*m.N+i%m.N]
		}
	}
	buffers := map[string]*Buffer{}
	for name, raw := range map[string][]byte{"a": encodeMatrix(m.Component, a), "b": encodeMatrix(m.Component, b),
		"d": make([]byte, len(want)*matrixBytes(m.Result))} {
		buffer, err := dev.NewBuffer(name, Activations, int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		defer buffer.Release()
		if err := buffer.Write(0, raw); err != nil {
			t.Fatal(err)
		}
		buffers[name] = buffer
	}
	program := dev.NewProgram("matrix")
	defer program.Release()
	program.Add(Call{Kernel: kernel, Bind: []Binding{buffers["a"].All(), buffers["b"].All(), buffers["d"].All()},
		Grid: Grid{X: 1}})
	if err := errors.Join(program.Finish(), program.Submit(1)); err != nil {
		t.Fatal(err)
	}
	got, err := buffers["d"].Read(0, buffers["d"].Size())
	if err != nil {
		t.Fatal(err)
	}
	if expected := encodeMatrix(m.Result, want); string(got) != string(expected) {
		t.Errorf("got %v\nwant %v", got, expected)
	}
}

func matrixBytes(of MatrixType) int {
	switch of {
	case MatrixF16:
		return 2
	case MatrixU8, MatrixI8:
		return 1
	}
	return 4
}

func encodeMatrix(of MatrixType, values []int) []byte {
	var raw []byte
	for _, v := range values {
		switch of {
		case MatrixF32:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		case MatrixF16:
			raw = binary.LittleEndian.AppendUint16(raw, smallHalf(v))
		case MatrixU8, MatrixI8:
			raw = append(raw, byte(v))
		default:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
		}
	}
	return raw
}

// smallHalf is a whole number from 0 to 2048 in half precision, which has it exactly.
func smallHalf(v int) uint16 {
	if v == 0 {
		return 0
	}
	exponent := 0
	for v>>(exponent+1) > 0 {
		exponent++
	}
	return uint16((exponent+15)<<10 | (v<<10>>exponent)&0x3ff)
}
