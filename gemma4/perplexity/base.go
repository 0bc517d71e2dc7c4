package perplexity

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// The file of base log-probabilities, little-endian:
//
//	"_logits_"
//	int32 context, int32 vocabulary, int32 chunks
//	int32 token, chunks·context of them
//	then for each judged position of each chunk:
//	  float32 scale, float32 low
//	  uint16 q, one for each piece of the vocabulary, and one more where that is odd
//
// A log-probability is scale·q + low; those more than 16 below the largest are all low.
const (
	baseMagic = "_logits_"
	depth     = 16
	maxVocab  = 1 << 24
	maxTokens = 1 << 28
)

// baseWriter writes rows of log-probabilities.
type baseWriter struct {
	w   io.Writer
	row []byte
}

func newBaseWriter(w io.Writer, context, vocab int, tokens []int32) (*baseWriter, error) {
	b := &baseWriter{w: w, row: make([]byte, baseRowBytes(vocab))}
	head := []byte(baseMagic)
	for _, n := range []int{context, vocab, len(tokens) / context} {
		head = binary.LittleEndian.AppendUint32(head, uint32(n))
	}
	for _, t := range tokens {
		head = binary.LittleEndian.AppendUint32(head, uint32(t))
	}
	_, err := w.Write(head)
	return b, err
}

func baseRowBytes(vocab int) int { return 8 + (vocab+1)/2*4 }

// write writes a row of logits whose sum of exponentials is known.
func (b *baseWriter) write(logits []float32, logSum float64) error {
	top, low := slices.Max(logits), slices.Min(logits)
	low = max(low, top-depth)
	scale := (top - low) / math.MaxUint16
	binary.LittleEndian.PutUint32(b.row, math.Float32bits(scale))
	binary.LittleEndian.PutUint32(b.row[4:], math.Float32bits(float32(float64(low)-logSum)))
	clear(b.row[8:])
	if scale > 0 {
		inverse := 1 / scale
		for i, v := range logits {
			if v > low {
				q := min(math.MaxUint16, math.RoundToEven(float64(inverse*(v-low))))
				binary.LittleEndian.PutUint16(b.row[8+2*i:], uint16(q))
			}
		}
	}
	_, err := b.w.Write(b.row)
	return err
}

// Base is a file of base log-probabilities, being read.
type Base struct {
	Context int
	Vocab   int
	Chunks  int
	Tokens  []int32

	r   io.Reader
	raw []byte
	row []float32
}

// OpenBase reads the head of a file of so many bytes, and checks that they are all there.
func OpenBase(r io.Reader, size int64) (*Base, error) {
	head := make([]byte, len(baseMagic)+12)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:len(baseMagic)]) != baseMagic {
		return nil, fmt.Errorf("it does not begin with %q: %w", baseMagic, ErrFormat)
	}
	number := func(i int) int { return int(int32(binary.LittleEndian.Uint32(head[len(baseMagic)+4*i:]))) }
	b := &Base{Context: number(0), Vocab: number(1), Chunks: number(2), r: r}
	if b.Context < 4 || b.Context > maxTokens || b.Vocab < 1 || b.Vocab > maxVocab || b.Chunks < 1 ||
		b.Chunks > maxTokens/b.Context {
		return nil, fmt.Errorf("%d chunks of %d tokens of %d pieces: %w", b.Chunks, b.Context, b.Vocab, ErrFormat)
	}
	rows := int64(b.Chunks) * int64(b.judged())
	want := int64(len(head)) + 4*int64(b.Chunks*b.Context) + rows*int64(baseRowBytes(b.Vocab))
	if size != want {
		return nil, fmt.Errorf("it has %d bytes where %d belong: it was not written to its end: %w", size, want, ErrFormat)
	}
	raw := make([]byte, 4*b.Chunks*b.Context)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("its tokens: %w: %w", err, ErrFormat)
	}
	for ; len(raw) > 0; raw = raw[4:] {
		b.Tokens = append(b.Tokens, int32(binary.LittleEndian.Uint32(raw)))
	}
	for _, t := range b.Tokens {
		if t < 0 || int(t) >= b.Vocab {
			return nil, fmt.Errorf("token %d of a vocabulary of %d: %w", t, b.Vocab, ErrFormat)
		}
	}
	b.raw, b.row = make([]byte, baseRowBytes(b.Vocab)), make([]float32, b.Vocab)
	return b, nil
}

// judged is how many positions of a chunk are judged.
func (b *Base) judged() int { return b.Context - 1 - b.Context/2 }

// next reads the next row of log-probabilities, which is valid until the next call.
func (b *Base) next() ([]float32, error) {
	if _, err := io.ReadFull(b.r, b.raw); err != nil {
		return nil, fmt.Errorf("a row of it: %w: %w", err, ErrFormat)
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(b.raw))
	low := math.Float32frombits(binary.LittleEndian.Uint32(b.raw[4:]))
	if !(scale >= 0) || scale > 1 || !(low <= 0) || low < -1e4 {
		return nil, fmt.Errorf("a row of it has scale %v and low %v: %w", scale, low, ErrFormat)
	}
	for i := range b.row {
		b.row[i] = float32(scale*float32(binary.LittleEndian.Uint16(b.raw[8+2*i:]))) + low
	}
	return b.row, nil
}
