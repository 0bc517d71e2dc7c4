package safetensors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
)

// ErrChecksum says that a file is not as it was written.
var ErrChecksum = errors.New("the checksum is wrong; the file is damaged")

// ChecksumKey is where a file's metadata holds the SHA-256 of the rest: of the other
// metadata by their keys, and of each tensor's name, type, shape and bytes in the
// order of the file.
const ChecksumKey = "gemwire.sha256"

// WriteChecked is Write with a checksum, which File.Verify looks at. The values are
// gone through twice; a tensor with Fill is refused.
func WriteChecked(w io.Writer, metadata map[string]string, tensors []Values) error {
	sorted := inOrder(tensors)
	sum := sha256.New()
	hashMetadata(sum, metadata)
	for _, t := range sorted {
		if t.Fill != nil {
			return fmt.Errorf("safetensors: write tensor %q: a checksum needs values that can be read twice", t.Name)
		}
		hashInfo(sum, t.Name, t.dtype(), t.Shape)
		if err := t.writeTo(sum); err != nil {
			return fmt.Errorf("safetensors: write tensor %q: %w", t.Name, err)
		}
	}
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[ChecksumKey] = hex.EncodeToString(sum.Sum(nil))
	return Write(w, metadata, sorted)
}

// Verify reads the whole file and compares it with its checksum: ErrChecksum where it
// differs. A file without one, which others wrote, is taken as it is: checked is false.
func (f *File) Verify() (checked bool, err error) {
	want, ok := f.Metadata[ChecksumKey]
	if !ok {
		return false, nil
	}
	sum := sha256.New()
	hashMetadata(sum, f.Metadata)
	for _, t := range f.Tensors {
		hashInfo(sum, t.Name, t.DType, t.Shape)
		if _, err := io.Copy(sum, t.Section()); err != nil {
			return true, fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return true, fmt.Errorf("safetensors: %w", ErrChecksum)
	}
	return true, nil
}

func hashMetadata(sum hash.Hash, metadata map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if key != ChecksumKey {
			fmt.Fprintf(sum, "%q=%q\n", key, metadata[key])
		}
	}
}

func hashInfo(sum hash.Hash, name string, dtype DType, shape []int) {
	fmt.Fprintf(sum, "%q %s %d\n", name, dtype, shape)
}
