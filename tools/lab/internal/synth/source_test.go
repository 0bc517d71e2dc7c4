package synth

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// A source has the header of the written file, and answers as little sense.
func TestSourceIsAModel(t *testing.T) {
	o := Options{Shape: shape(t, "nano", 0, 0), Seed: 3}
	source, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	written, _ := write(t, o)
	if int64(len(written)) > source.Size() || source.Size()-int64(len(written)) >= alignment {
		t.Errorf("%d bytes, written are %d", source.Size(), len(written))
	}
	file, err := gguf.Open(context.Background(), gguf.Memory(written))
	if err != nil {
		t.Fatal(err)
	}
	read := make([]byte, source.Size())
	if _, err := source.ReadAt(read, 0); err != nil {
		t.Fatal(err)
	}
	if at := file.Tensors[0].Offset; string(read[:at]) != string(written[:at]) {
		t.Error("another header")
	}
	part := make([]byte, 5000) // from any byte on, the same
	for off := int64(0); off < source.Size(); off += 9973 {
		n, err := source.ReadAt(part, off)
		if string(part[:n]) != string(read[off:off+int64(n)]) || n < len(part) && !errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes at %d differ, %v", n, off, err)
		}
	}
	m, err := gemma4.Open(context.Background(), source, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, err := range s.Choose(context.Background(), gemma4.Tokens([]int32{2, 5, 7}), gemma4.Choosing{MaxTokens: 3}) {
		if err != nil {
			t.Error(err)
		}
	}
}
