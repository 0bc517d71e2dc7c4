package arch

import (
	"errors"
	"fmt"
	"strings"

	text "github.com/gemwire/gemwire/gemma4/arch"
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

	// Patches and Frames take the towers' places in models of the 12B kind, which have none.
	Patches *PatchEmbedder
	Frames  *FrameEmbedder
}

// Images says whether the model sees.
func (t *Towers) Images() bool { return t.Vision != nil || t.Patches != nil }

// Sound says whether the model hears.
func (t *Towers) Sound() bool { return t.Audio != nil || t.Frames != nil }

// NeedImages returns an error that wraps ErrNoVision and says what to do, where the model
// does not see.
func (t *Towers) NeedImages() error {
	if t == nil || !t.Images() {
		return fmt.Errorf("%w: %s", ErrNoVision, whatToDo)
	}
	return nil
}

// NeedSound returns an error that wraps ErrNoAudio and says what to do, where the model
// does not hear.
func (t *Towers) NeedSound() error {
	if t == nil || !t.Sound() {
		return fmt.Errorf("%w: %s", ErrNoAudio, whatToDo)
	}
	return nil
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
// A tower of which the file has no tensor is nil, and so are those of Gemma 3. An error wraps ErrConfig,
// ErrMissingTensor, ErrShape, quant.ErrUnsupported, or one of gguf's for a key
// that is missing or of the wrong type; each names the key or the tensor.
func Open(file *gguf.File, embeddingLength int) (*Towers, error) {
	if embeddingLength < 0 || embeddingLength > maxSize {
		return nil, fmt.Errorf("soft tokens of %d values: %w", embeddingLength, ErrConfig)
	}
	towers := &Towers{}
	if file.Architecture() == text.Gemma3.String() {
		return towers, nil // its tower is another one, which is not supported
	}
	for _, open := range []func(*gguf.File, int, *Towers) error{openImages, openSound} {
		if err := open(file, embeddingLength, towers); err != nil {
			return nil, err
		}
	}
	return towers, nil
}

// openImages finds what makes soft tokens of images.
func openImages(file *gguf.File, embeddingLength int, towers *Towers) error {
	r := newResolver(file, "vision", embeddingLength)
	switch {
	case patchEmbedded(file):
		if towers.Patches = r.patchEmbedder(); r.err != nil {
			return fmt.Errorf("the embedding of images: %w", r.err)
		}
		towers.Patches.Bytes = r.bytes
	case hasTensors(file, "v."):
		if towers.Vision = r.vision(); r.err != nil {
			return fmt.Errorf("the image tower: %w", r.err)
		}
		towers.Vision.Bytes = r.bytes
	}
	return nil
}

// openSound finds what makes soft tokens of clips.
func openSound(file *gguf.File, embeddingLength int, towers *Towers) error {
	r := newResolver(file, "audio", embeddingLength)
	switch {
	case frameEmbedded(file):
		if towers.Frames = r.frameEmbedder(); r.err != nil {
			return fmt.Errorf("the embedding of sound: %w", r.err)
		}
		towers.Frames.Bytes = r.bytes
	case hasTensors(file, "a."):
		if towers.Audio = r.audio(); r.err != nil {
			return fmt.Errorf("the audio tower: %w", r.err)
		}
		towers.Audio.Bytes = r.bytes
	}
	return nil
}

func hasTensors(file *gguf.File, prefix string) bool {
	for _, t := range file.Tensors {
		if strings.HasPrefix(t.Name, prefix) {
			return true
		}
	}
	return false
}
