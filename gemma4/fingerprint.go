package gemma4

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gguf"
)

// sampleBytes is how much of each tensor's middle goes into a fingerprint: one read,
// since the file may lie on a server.
const sampleBytes = 4096

// Fingerprint tells models apart, those of one shape as well: a hash over the names,
// types and shapes of the tensors and a sample of every one. It is that of the file:
// adapters do not change it, nor do the towers of a projector, which may come and go.
// It is computed once.
func (m *Model) Fingerprint() (string, error) { return m.hashed() }

func hashTensors(file *gguf.File) (string, error) {
	sum := sha256.New()
	towers := file.Projector()
	for _, t := range file.Tensors {
		if towers != nil {
			if _, ok := towers.Tensor(t.Name); ok {
				continue
			}
		}
		fmt.Fprintf(sum, "%s %v %v\n", t.Name, t.Type, t.Dims)
		n := min(sampleBytes, t.Size)
		if _, err := io.Copy(sum, io.NewSectionReader(t, (t.Size-n)/2, n)); err != nil {
			return "", fmt.Errorf("the model's fingerprint: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
