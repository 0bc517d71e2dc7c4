package gguf

import (
	"encoding/binary"
	"strings"
)

// A textTable keeps the strings of an array in one piece: a vocabulary of
// 262144 tokens is two allocations, not 262144.
type textTable struct {
	text string   // all strings, one behind the other
	ends []uint32 // where each ends in text
}

func (t *textTable) at(i int) string {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}

// all returns the strings; they share the table's memory.
func (t *textTable) all() []string {
	out := make([]string, len(t.ends))
	start := uint32(0)
	for i, end := range t.ends {
		out[i] = t.text[start:end]
		start = end
	}
	return out
}

// newTextTable copies n strings out of raw, where each stands behind its
// length as a uint64. The caller has checked that they fill raw exactly.
func newTextTable(raw []byte, n int) *textTable {
	var text strings.Builder
	text.Grow(len(raw) - 8*n)
	ends := make([]uint32, n)
	for i := range ends {
		size := binary.LittleEndian.Uint64(raw)
		text.Write(raw[8 : 8+size])
		ends[i] = uint32(text.Len())
		raw = raw[8+size:]
	}
	return &textTable{text: text.String(), ends: ends}
}
