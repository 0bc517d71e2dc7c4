package arch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/gguf"
)

var (
	// ErrNoVision says that a model cannot see: its file has no image tower.
	ErrNoVision = errors.New("the model has no image tower")
	// ErrNoAudio says that a model cannot hear: its file has no audio tower.
	ErrNoAudio = errors.New("the model has no audio tower")
	// ErrConfig says that the metadata of a tower contradicts itself or asks for
	// something that no Gemma 4 has.
	ErrConfig = errors.New("unusable metadata of an image or audio tower")
	// ErrMissingTensor says that the file lacks a tensor that its sizes ask for.
	ErrMissingTensor = errors.New("tensor missing")
	// ErrShape says that a tensor's shape contradicts the metadata.
	ErrShape = errors.New("tensor of the wrong shape")
)

// Towers are what a model has beside its text part.
type Towers struct {
	Vision *Vision // nil where the file has no image tower
	Audio  *Audio  // nil where the file has no audio tower
}

// NeedVision returns the image tower, or an error that wraps ErrNoVision and
// says what to do.
func (t *Towers) NeedVision() (*Vision, error) {
	if t == nil || t.Vision == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoVision, whatToDo)
	}
	return t.Vision, nil
}

// NeedAudio returns the audio tower, or an error that wraps ErrNoAudio and says
// what to do.
func (t *Towers) NeedAudio() (*Audio, error) {
	if t == nil || t.Audio == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoAudio, whatToDo)
	}
	return t.Audio, nil
}

const whatToDo = "give the mmproj file that belongs to it too, or choose a model that holds its towers, such as " +
	"gemma4:e2b from Ollama's library"

// Open reads the towers' sizes from the file's metadata and finds their tensors,
// comparing shapes and types with what the sizes ask for. The file is a model
// that holds its towers, a text model joined with its mmproj file, or an mmproj
// file alone. embeddingLength is d of the text model, the width of a soft token;
// 0 takes it from the projections. No tensor data is read.
//
// A tower of which the file has no tensor is nil. An error wraps ErrConfig,
// ErrMissingTensor, ErrShape, quant.ErrUnsupported, or one of gguf's for a key
// that is missing or of the wrong type; each names the key or the tensor.
func Open(file *gguf.File, embeddingLength int) (*Towers, error) {
	if embeddingLength < 0 || embeddingLength > maxSize {
		return nil, fmt.Errorf("soft tokens of %d values: %w", embeddingLength, ErrConfig)
	}
	towers := &Towers{}
	if hasTensors(file, "v.") {
		r := newResolver(file, "vision", embeddingLength)
		towers.Vision = r.vision()
		if r.err != nil {
			return nil, fmt.Errorf("the image tower: %w", r.err)
		}
		towers.Vision.Bytes = r.bytes
	}
	if hasTensors(file, "a.") {
		r := newResolver(file, "audio", embeddingLength)
		towers.Audio = r.audio()
		if r.err != nil {
			return nil, fmt.Errorf("the audio tower: %w", r.err)
		}
		towers.Audio.Bytes = r.bytes
	}
	return towers, nil
}

func hasTensors(file *gguf.File, prefix string) bool {
	for _, t := range file.Tensors {
		if strings.HasPrefix(t.Name, prefix) {
			return true
		}
	}
	return false
}
