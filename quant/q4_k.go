package quant

import "encoding/binary"

// Q4_K: 256 values in 144 bytes, sub-blocks of 32.
//
//	 0  d       float16
//	 2  dmin    float16
//	 4  scales  [12]byte    eight six-bit scales and lows, see unpackAffine
//	16  qs      [128]byte   each run of 32 bytes: sub-block 2k in the low nibbles, 2k+1 in the high ones
//
// value = (d·scale)·q − dmin·low
//
// The layout is drawn here. Kernels decode it in their own ways and are tested against this file with random bytes,
// which set every bit of every field:
//
//   - wgslkit/ops/weights/decode/q4_k.wgsl and wgslkit/ops/product/small/strips/q4_k.wgsl by wgslkit/ops/opstest
//   - gemma4/cpu/kernel/wasm/src/q4_k.ts by TestDecodeRandomBlocks and TestMulRowsOfExtremeBlocks
//   - tools/lab/internal/cpukernels/types.go by TestSIMDDecodesEveryBlock
//
// This file is tested against ggml's blocks in testdata.

func dequantizeQ4K(dst []float32, src []byte) {
	var q [256]byte
	for ; len(src) >= 144; dst, src = dst[256:], src[144:] {
		for i := 0; i < 128; i += 8 {
			qs, pair := binary.LittleEndian.Uint64(src[16+i:]), q[i/32*64+i%32:]
			binary.LittleEndian.PutUint64(pair, qs&nibbles)
			binary.LittleEndian.PutUint64(pair[32:], qs>>4&nibbles)
		}
		decodeAffine((*[256]float32)(dst), (*[16]byte)(src), &q)
	}
}

func quantizeQ4K(dst []byte, src []float32) {
	for ; len(src) >= 256; dst, src = dst[144:], src[256:] {
		levels := encodeAffine((*[16]byte)(dst), (*[256]float32)(src), 15)
		qs := (*[128]byte)(dst[16:])
		for i := range qs {
			at := i/32*64 + i%32
			qs[i] = levels[at] | levels[at+32]<<4
		}
	}
}
