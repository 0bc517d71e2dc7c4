package adapter

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// The files of PEFT's folder.
const (
	ConfigName  = "adapter_config.json"
	WeightsName = "adapter_model.safetensors"
)

// ReadPEFT reads an adapter from the two files that PEFT writes.
func ReadPEFT(config []byte, weights io.ReaderAt, size int64) (*Adapter, error) {
	c, err := parseConfig(config)
	if err != nil {
		return nil, err
	}
	file, err := safetensors.Read(weights, size)
	if err != nil {
		return nil, err
	}
	if _, err := file.Verify(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err := c.checkTie(file.Metadata[tieKey]); err != nil {
		return nil, err
	}
	h, alone := halves{}, true
	for _, tensor := range file.Tensors {
		t, half, ok := ParsePEFTName(tensor.Name)
		if !ok {
			return nil, fmt.Errorf(
				"%w: %s is not a matrix of an adapter for Gemma's text layers; train one with target_modules of "+
					"only the language model", ErrFormat, tensor.Name)
		}
		alone = alone && !strings.Contains(tensor.Name, inTowered)
		if len(tensor.Shape) != 2 {
			return nil, fmt.Errorf("%w: %s has %d dimensions, wanted 2", ErrFormat, tensor.Name, len(tensor.Shape))
		}
		if err := h.add(t, half, tensor.Shape[0], tensor.Shape[1], tensor.Floats); err != nil {
			return nil, err
		}
	}
	pairs, err := h.whole(func(t Target, rank int) float32 { return c.scale(t, rank, alone) })
	return &Adapter{Pairs: pairs, Base: c.Base, Family: familyOf(c.Base), TextAlone: alone}, err
}

// familyOf goes by the name of a released model, which is all that PEFT's form says.
func familyOf(base string) arch.Family {
	name := strings.ToLower(base)
	if strings.Contains(name, "gemma-3") || strings.Contains(name, "gemma3") {
		return arch.Gemma3
	}
	return arch.Gemma4
}

// WritePEFT writes the two files of an adapter as PEFT loads them.
func (a *Adapter) WritePEFT(config, weights io.Writer) error {
	c := a.peftConfig()
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	tie, err := c.tie()
	if err != nil {
		return err
	}
	if _, err := config.Write(append(data, '\n')); err != nil {
		return err
	}
	var tensors []safetensors.Values
	for _, t := range a.Targets() {
		p := a.Pairs[t]
		tensors = append(tensors,
			safetensors.Values{Name: peftName(t, A, a.TextAlone), Shape: []int{p.Rank, p.In}, Values: p.A},
			safetensors.Values{Name: peftName(t, B, a.TextAlone), Shape: []int{p.Out, p.Rank}, Values: p.B})
	}
	return safetensors.WriteChecked(weights, map[string]string{"format": "pt", tieKey: tie}, tensors)
}

// peftConfig names each linear in full: layers that share keys and values have
// fewer of them than others, and the towers have some of the same names.
func (a *Adapter) peftConfig() *Config {
	c := &Config{
		PeftType: "LORA", TaskType: "CAUSAL_LM", Base: a.Base, Bias: "none", InferenceMode: true, InitLoraWeight: true,
		RankPattern: map[string]int{}, AlphaPattern: map[string]float64{},
	}
	var modules []string
	for _, t := range a.Targets() {
		p, name := a.Pairs[t], moduleName(t, a.TextAlone)
		modules = append(modules, name)
		alpha := math.Round(float64(p.Scale)*float64(p.Rank)*1e6) / 1e6
		if c.Rank == 0 {
			c.Rank, c.Alpha = p.Rank, alpha
		}
		if p.Rank != c.Rank {
			c.RankPattern[name] = p.Rank
		}
		if alpha != c.Alpha {
			c.AlphaPattern[name] = alpha
		}
	}
	c.TargetModules = modules
	return c
}
