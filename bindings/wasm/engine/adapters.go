package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

func (c *call) loadAdapter(ctx context.Context, m *openModel, p AdapterParams) (any, error) {
	if p.Name == "" {
		return nil, fmt.Errorf("%w: an adapter without a name", errArgument)
	}
	a, err := c.readAdapter(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.LoadAdapter(p.Name, a); err != nil {
		return nil, err
	}
	return m.adapterList(), nil
}

func (m *openModel) adapterList() AdaptersResult {
	return AdaptersResult{Adapters: append([]gemma4.AdapterUse{}, m.Adapters()...)}
}

func (c *call) useAdapters(ctx context.Context, m *openModel, p UseAdaptersParams) (any, error) {
	weights := map[string]float32{}
	for _, use := range p.Use {
		if _, twice := weights[use.Name]; twice {
			return nil, fmt.Errorf("%w: adapter %q is named twice", errArgument, use.Name)
		}
		weights[use.Name] = weightOf(use.Weight)
	}
	if err := m.UseAdapters(ctx, weights); err != nil {
		return nil, err
	}
	return m.adapterList(), nil
}

// weightOf is 1 where no weight is given.
func weightOf(weight *float32) float32 {
	w := float32(1)
	set(&w, weight)
	return w
}

func (c *call) unloadAdapter(_ context.Context, m *openModel, p AdapterParams) (any, error) {
	if err := m.UnloadAdapter(p.Name); err != nil {
		return nil, err
	}
	return m.adapterList(), nil
}

func (c *call) adapters(_ context.Context, m *openModel, _ ModelParams) (any, error) {
	return m.adapterList(), nil
}

// swapAdapter loads an adapter under a name, in place of one that has it, and
// makes the model compute with it alone.
func (m *openModel) swapAdapter(ctx context.Context, name string, a *adapter.Adapter, weight float32) error {
	weights, taken := map[string]float32{}, false
	for _, use := range m.Adapters() {
		if use.Name == name {
			taken = true
		} else if use.Weight != 0 {
			weights[use.Name] = use.Weight
		}
	}
	if taken {
		if err := m.UseAdapters(ctx, weights); err != nil {
			return err
		}
		if err := m.UnloadAdapter(name); err != nil {
			return err
		}
	}
	if err := m.LoadAdapter(name, a); err != nil {
		return err
	}
	return m.UseAdapters(ctx, map[string]float32{name: weight})
}

// convertAdapter hands over the adapter in the request's sources in another form,
// once it is known to be one.
func (c *call) convertAdapter(ctx context.Context) (any, error) {
	p, err := params[ConvertParams](c)
	if err != nil {
		return nil, err
	}
	if err := p.Format.check(); err != nil {
		return nil, err
	}
	a, err := c.readAdapter(ctx)
	if err != nil {
		return nil, err
	}
	return Nothing{}, c.writeAdapter(a, p.Format, p.Name)
}

func (f AdapterFormat) check() error {
	if f != FormatPEFT && f != FormatGGUF {
		return fmt.Errorf("%w: format %q; there are %q and %q", errArgument, f, FormatPEFT, FormatGGUF)
	}
	return nil
}

// maxConfig bounds adapter_config.json.
const maxConfig = 4 << 20

// readAdapter reads the adapter in the request's sources: llama.cpp's file, or
// PEFT's two, in any order.
func (c *call) readAdapter(ctx context.Context) (*adapter.Adapter, error) {
	sources := c.takeSources()
	defer closeAll(sources)
	switch len(sources) {
	case 1:
		return readOne(ctx, sources[0])
	case 2:
		return readPEFT(sources)
	}
	return nil, fmt.Errorf("%w: an adapter in %d files; give a .gguf file, or %s and %s", errArgument, len(sources),
		adapter.ConfigName, adapter.WeightsName)
}

func readOne(ctx context.Context, source gguf.Source) (*adapter.Adapter, error) {
	begins, err := beginning(source)
	if err != nil {
		return nil, err
	}
	if begins != "GGUF" {
		return nil, fmt.Errorf("%w: the file is no GGUF file; of PEFT's, give both %s and %s", adapter.ErrFormat,
			adapter.ConfigName, adapter.WeightsName)
	}
	file, err := gguf.Open(ctx, keptOpen{source})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapter.ErrFormat, err)
	}
	defer file.Close()
	return adapter.FromGGUF(file)
}

// keptOpen is a source that somebody else closes.
type keptOpen struct{ gguf.Source }

func (keptOpen) Close() error { return nil }

// beginning is a file's first four bytes, or as many as there are.
func beginning(source gguf.Source) (string, error) {
	b := make([]byte, min(4, source.Size()))
	if _, err := source.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(b), nil
}

func readPEFT(sources []gguf.Source) (*adapter.Adapter, error) {
	config, weights := sources[0], sources[1]
	begins, err := beginning(config)
	if err != nil {
		return nil, err
	}
	// Safetensors begin with a length, whose lower bytes may be anything, and
	// their header at the ninth; a configuration is small and begins with {.
	if len(begins) == 0 || config.Size() > maxConfig || begins[0] != '{' {
		config, weights = weights, config
	}
	if config.Size() > maxConfig {
		return nil, fmt.Errorf("%w: neither file is %s", adapter.ErrFormat, adapter.ConfigName)
	}
	data := make([]byte, config.Size())
	if _, err := config.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	a, err := adapter.ReadPEFT(data, weights, weights.Size())
	if errors.Is(err, safetensors.ErrFormat) {
		return nil, fmt.Errorf("%w: %s: %w", adapter.ErrFormat, adapter.WeightsName, err)
	}
	return a, err
}

// chunkSize is how much of a file is handed over at a time.
const chunkSize = 1 << 20

// writeFile hands a file over in pieces as it is written.
func (c *call) writeFile(name string, write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(fileEvents{c, name}, chunkSize)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

type fileEvents struct {
	call *call
	name string
}

// Write posts the bytes, which are good until it returns.
func (f fileEvents) Write(b []byte) (int, error) {
	f.call.engine.options.Post(Reply{ID: f.call.ID, Event: FileChunk{File: f.name}, Data: b})
	return len(b), nil
}

func (c *call) writeAdapter(a *adapter.Adapter, format AdapterFormat, name string) error {
	if format == FormatGGUF {
		return c.writeFile(name+".gguf", a.WriteGGUF)
	}
	var config bytes.Buffer
	err := c.writeFile(adapter.WeightsName, func(w io.Writer) error { return a.WritePEFT(&config, w) })
	if err != nil {
		return err
	}
	return c.writeFile(adapter.ConfigName, func(w io.Writer) error {
		_, err := config.WriteTo(w)
		return err
	})
}
