package adapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// Open reads an adapter from disk: a GGUF file, a folder as PEFT writes it, or
// the safetensors file in such a folder.
func Open(ctx context.Context, path string) (*Adapter, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	folder := path
	switch {
	case info.IsDir():
	case strings.HasSuffix(path, ".safetensors"):
		folder = filepath.Dir(path)
	default:
		return openGGUF(ctx, path)
	}
	a, err := openPEFT(folder, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

func openGGUF(ctx context.Context, path string) (*Adapter, error) {
	file, err := gguf.OpenPath(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a, err := FromGGUF(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// maxConfig bounds adapter_config.json.
const maxConfig = 4 << 20

func openPEFT(folder, path string) (*Adapter, error) {
	if path == folder {
		path = filepath.Join(folder, WeightsName)
	}
	configPath := filepath.Join(folder, ConfigName)
	info, err := os.Stat(configPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing next to the weights", ErrFormat, ConfigName)
	} else if err != nil {
		return nil, err
	} else if info.Size() > maxConfig {
		return nil, fmt.Errorf("%w: %s is larger than %d MB", ErrFormat, ConfigName, maxConfig>>20)
	}
	config, err := os.ReadFile(configPath)
	if err != nil {
		return nil, err
	}
	weights, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer weights.Close()
	if info, err = weights.Stat(); err != nil {
		return nil, err
	}
	return ReadPEFT(config, weights, info.Size())
}

// Save writes the adapter as a GGUF file where path ends in .gguf, and as PEFT's
// folder otherwise. Nobody ever finds half a file there.
func (a *Adapter) Save(path string) error {
	if strings.HasSuffix(path, ".gguf") {
		return atomicfile.Replace(path, 0o644, a.WriteGGUF)
	}
	var config, weights bytes.Buffer
	if err := a.WritePEFT(&config, &weights); err != nil {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data *bytes.Buffer
	}{{WeightsName, &weights}, {ConfigName, &config}} {
		err := atomicfile.Replace(filepath.Join(path, file.name), 0o644, func(w io.Writer) error {
			_, err := file.data.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
