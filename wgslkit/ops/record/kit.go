package record

import (
	"encoding/binary"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
)

// Kit chooses kernel variants for one device, by what the device can do.
type Kit struct {
	dev    *wgslkit.Device
	tuning Tuning
	ear    func(op any, width int)
}

// New returns the kit for dev.
func New(dev *wgslkit.Device) *Kit {
	tuning := TuningOf(dev, dev.Info().Kind)
	if dev.Info().SlowCompiler {
		tuning = tuning.ForSlowCompiler()
	}
	return NewTuned(dev, tuning)
}

// NewTuned is New with other sizes than the device's kind suggests: to
// measure, or to test the variants of another kind.
func NewTuned(dev *wgslkit.Device, tuning Tuning) *Kit {
	return &Kit{dev: dev, tuning: tuning}
}

// On is a kit for another device with the same sizes and the same ear: for the one that
// is rehearsed on.
func (k *Kit) On(dev *wgslkit.Device) *Kit { return &Kit{dev, k.tuning, k.ear} }

// Heard is a kit that tells ear of each op that is recorded with it, before its kernels
// are asked for, and of how many tokens its program has: of whoever rehearses a program
// to learn what is in it.
func (k *Kit) Heard(ear func(op any, width int)) *Kit { return &Kit{k.dev, k.tuning, ear} }

// Hear tells the kit's ear of an op, or of something else that has kernels of its own.
func (k *Kit) Hear(op any, width int) {
	if k.ear != nil {
		k.ear(op, width)
	}
}

// Tuning is the sizes that the kit's kernels are made with.
func (k *Kit) Tuning() Tuning { return k.tuning }

// Device is the device that the kit is for.
func (k *Kit) Device() *wgslkit.Device { return k.dev }

// Vector uploads float32 values: a norm's weights, a product's scales.
func (k *Kit) Vector(label string, purpose wgslkit.Purpose, values []float32) (*wgslkit.Buffer, error) {
	words := make([]uint32, len(values))
	for i, v := range values {
		words[i] = math.Float32bits(v)
	}
	return k.Words(label, purpose, words)
}

// Words uploads u32 values.
func (k *Kit) Words(label string, purpose wgslkit.Purpose, words []uint32) (*wgslkit.Buffer, error) {
	b, err := k.dev.NewBuffer(label, purpose, int64(4*len(words)))
	if err != nil {
		return nil, err
	}
	raw := make([]byte, 0, 4*len(words))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint32(raw, w)
	}
	if err := b.Write(0, raw); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// MaxBinding is the most bytes of a buffer that is bound whole.
func (k *Kit) MaxBinding() int64 {
	limits := k.dev.Limits()
	return min(limits.MaxStorageBindingSize, limits.MaxBufferSize)
}
