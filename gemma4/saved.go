package gemma4

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/quant"
)

// A saved session is the magic, the length of a JSON header as u32, the header, then,
// for each layer of the header, its keys and its values, row by row, and the SHA-256 of
// all that. In Q8_0, each head of a row begins a block and its last one is padded with
// zeros.
const savedMagic = "gemwire session 2\n"

// savedMagicBefore began files whose fingerprint could not tell a model from a
// fine-tuned one.
const savedMagicBefore = "gemwire session 1\n"

// maxSavedHeader bounds the header before it is allocated.
const maxSavedHeader = 64 << 20

type savedHeader struct {
	Model  string       `json:"model"`  // fingerprint
	Type   string       `json:"type"`   // of the values: F16, F32 or Q8_0
	Tokens []int32      `json:"tokens"` // the cached text
	Media  []Medium     `json:"media,omitempty"`
	Layers []savedLayer `json:"layers"`
}

type savedLayer struct {
	Layer int `json:"layer"`
	First int `json:"first"` // position
	Dim   int `json:"dim"`
}

// Save writes the session, so that Restore goes on from it without computing
// the text again. It is as large as the caches in use.
func (s *Session) Save(w io.Writer) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	typ := s.state.CacheValues()
	text := s.text.until(s.state.Len())
	fingerprint, err := s.model.fingerprint()
	if err != nil {
		return err
	}
	header := savedHeader{Model: fingerprint, Type: typ.String(), Tokens: text.Tokens, Media: text.Media}
	c := s.model.arch.Config
	for i := range c.Blocks {
		if c.HasOwnKV(i) {
			header.Layers = append(header.Layers,
				savedLayer{Layer: i, First: s.firstNeeded(i, s.state.Len()), Dim: c.KVDim(i)})
		}
	}
	out, sum := bufio.NewWriterSize(w, 1<<20), sha256.New()
	summed := io.MultiWriter(out, sum)
	if err := writeSavedHeader(summed, header); err != nil {
		return err
	}
	err = s.state.Layers(func(l engine.LayerState) error {
		row := savedRow{typ, c.HeadDim(l.Layer)}
		return errors.Join(row.write(summed, l.K), row.write(summed, l.V))
	})
	if err != nil {
		return err
	}
	if _, err := out.Write(sum.Sum(nil)); err != nil {
		return err
	}
	return out.Flush()
}

// firstNeeded is the first position that the token behind n others sees in layer i.
func (s *Session) firstNeeded(i, n int) int {
	c := s.model.arch.Config
	if !c.IsSliding(i) {
		return 0
	}
	return max(0, n-c.SlidingWindow+1)
}

func writeSavedHeader(w io.Writer, h savedHeader) error {
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, savedMagic); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, uint32(len(raw))); err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

// savedRow is how a head's values lie in a saved session.
type savedRow struct {
	typ     quant.Type
	headDim int
}

// padded and bytes are a row's values in whole blocks, and their size.
func (r savedRow) padded() int {
	n := r.typ.BlockLen()
	return (r.headDim + n - 1) / n * n
}

func (r savedRow) bytes() int { return r.padded() / r.typ.BlockLen() * r.typ.BlockBytes() }

func (r savedRow) write(w io.Writer, values []float32) error {
	row, raw := make([]float32, r.padded()), make([]byte, r.bytes())
	for i := 0; i < len(values); i += r.headDim {
		copy(row, values[i:i+r.headDim])
		if err := r.typ.Quantize(raw, row); err != nil {
			return err
		}
		if _, err := w.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

// Restore replaces the session's text by one that Save wrote. On an error the
// session is empty.
func (s *Session) Restore(r io.Reader) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	s.clear()
	in, sum := bufio.NewReaderSize(r, 1<<20), sha256.New()
	summed := io.TeeReader(in, sum)
	header, err := s.readSavedHeader(summed)
	if err != nil {
		return err
	}
	layers, err := s.readLayers(summed, header)
	if err != nil {
		return err
	}
	end := make([]byte, sum.Size())
	if _, err := io.ReadFull(in, end); err != nil || !bytes.Equal(end, sum.Sum(nil)) {
		return fmt.Errorf("%w: its checksum is wrong; the file is damaged or cut off", ErrSavedSession)
	}
	if err := s.state.Restore(len(header.Tokens), layers); err != nil {
		s.state.Rewind(0)
		return err
	}
	s.setText(Prompt{Tokens: header.Tokens, Media: header.Media})
	return nil
}

func (s *Session) readSavedHeader(r io.Reader) (h savedHeader, err error) {
	var start [len(savedMagic) + 4]byte
	_, err = io.ReadFull(r, start[:])
	if string(start[:len(savedMagicBefore)]) == savedMagicBefore {
		return h, fmt.Errorf(
			"%w: an older gemwire wrote it, without a checksum; start the conversation again", ErrSavedSession)
	}
	if err != nil || string(start[:len(savedMagic)]) != savedMagic {
		return h, fmt.Errorf("%w: it does not begin like one", ErrSavedSession)
	}
	n := binary.LittleEndian.Uint32(start[len(savedMagic):])
	if n > maxSavedHeader {
		return h, fmt.Errorf("%w: a header of %d bytes", ErrSavedSession, n)
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil || len(raw) != int(n) {
		return h, fmt.Errorf("%w: it ends in its header", ErrSavedSession)
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, fmt.Errorf("%w: %w", ErrSavedSession, err)
	}
	return h, s.checkSaved(h)
}

// checkSaved makes sure that the header fits this model, so that nothing is
// allocated on its word alone.
func (s *Session) checkSaved(h savedHeader) error {
	fingerprint, err := s.model.fingerprint()
	if err != nil {
		return err
	}
	if h.Model != fingerprint {
		return fmt.Errorf("%w: it is of another model", ErrSavedSession)
	}
	if len(h.Tokens) > s.context {
		return fmt.Errorf("%w: it has %d tokens and this session holds %d: %w", ErrSavedSession, len(h.Tokens),
			s.context, ErrContextFull)
	}
	if err := s.checkSavedType(h.Type); err != nil {
		return err
	}
	if err := h.checkText(s.model.arch.Config); err != nil {
		return fmt.Errorf("%w: %w", ErrSavedSession, err)
	}
	c, next := s.model.arch.Config, 0
	for i := range c.Blocks {
		if !c.HasOwnKV(i) {
			continue
		}
		want := savedLayer{Layer: i, First: s.firstNeeded(i, len(h.Tokens)), Dim: c.KVDim(i)}
		if next >= len(h.Layers) || h.Layers[next] != want {
			return fmt.Errorf("%w: layer %d is not as this model has it", ErrSavedSession, i)
		}
		next++
	}
	if next != len(h.Layers) {
		return fmt.Errorf("%w: it has %d layers too many", ErrSavedSession, len(h.Layers)-next)
	}
	return nil
}

// checkSavedType refuses values of another kind of cache: what was rounded to 8 bits
// is not what this session would have computed, nor the other way round.
func (s *Session) checkSavedType(name string) error {
	typ, err := quant.Parse(name)
	if err != nil || (typ != quant.F32 && typ != quant.F16 && typ != quant.Q8_0) {
		return fmt.Errorf("%w: values of type %q", ErrSavedSession, name)
	}
	if saved := engine.CacheTypeOf(typ); saved != s.model.cacheType {
		return fmt.Errorf("%w: it was saved with a KV cache of %s, and this model was opened with one of %s; open "+
			"the model with %s",
			ErrSavedSession, saved, s.model.cacheType, saved)
	}
	return nil
}

// checkText is Prompt.check for a text that may be empty, or end within a medium.
func (h *savedHeader) checkText(c *arch.Config) error {
	if len(h.Tokens) == 0 && len(h.Media) == 0 {
		return nil
	}
	text := Prompt{Tokens: h.Tokens, Media: slices.Clone(h.Media)}
	if last := len(text.Media) - 1; last >= 0 {
		text.Media[last].Count = min(text.Media[last].Count, len(h.Tokens)-text.Media[last].First)
	}
	return text.check(c)
}

func (s *Session) readLayers(r io.Reader, h savedHeader) ([]engine.LayerState, error) {
	typ, err := quant.Parse(h.Type)
	if err != nil {
		return nil, err
	}
	layers := make([]engine.LayerState, len(h.Layers))
	for i, l := range h.Layers {
		n := (len(h.Tokens) - l.First) * l.Dim
		layers[i] = engine.LayerState{Layer: l.Layer, First: l.First, Dim: l.Dim}
		row := savedRow{typ, s.model.arch.Config.HeadDim(l.Layer)}
		for _, into := range []*[]float32{&layers[i].K, &layers[i].V} {
			if *into, err = row.read(r, n); err != nil {
				return nil, fmt.Errorf("%w: layer %d: %w", ErrSavedSession, l.Layer, err)
			}
		}
	}
	return layers, nil
}

// read reads n values row by row, so that a short file fails before all of their
// memory is taken.
func (r savedRow) read(from io.Reader, n int) ([]float32, error) {
	const piece = 1 << 16
	values := make([]float32, 0, min(n, piece))
	row, raw := make([]float32, r.padded()), make([]byte, r.bytes())
	for len(values) < n {
		if _, err := io.ReadFull(from, raw); err != nil {
			return nil, err
		}
		if err := r.typ.Dequantize(row, raw); err != nil {
			return nil, err
		}
		for _, v := range row[:r.headDim] {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("a value is not finite")
			}
			values = append(values, v)
		}
	}
	return values, nil
}

// fingerprint is the model's, with the adapters that are in use.
func (m *Model) fingerprint() (string, error) {
	weights, err := m.Fingerprint()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	io.WriteString(hash, weights)
	m.adapters.current().writeTo(hash)
	return hex.EncodeToString(hash.Sum(nil)[:16]), nil
}
