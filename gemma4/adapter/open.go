package adapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gguf"
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
		path = filepath.Join(folder, weightsName)
	}
	configPath := filepath.Join(folder, configName)
	info, err := os.Stat(configPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing beside the weights", ErrFormat, configName)
	} else if err != nil {
		return nil, err
	} else if info.Size() > maxConfig {
		return nil, fmt.Errorf("%w: %s is larger than %d MB", ErrFormat, configName, maxConfig>>20)
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
		var b bytes.Buffer
		if err := a.WriteGGUF(&b); err != nil {
			return err
		}
		return replaceFile(path, b.Bytes())
	}
	var config, weights bytes.Buffer
	if err := a.WritePEFT(&config, &weights); err != nil {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(path, weightsName), weights.Bytes()); err != nil {
		return err
	}
	return replaceFile(filepath.Join(path, configName), config.Bytes())
}

// replaceFile writes a file beside path and puts it in its place once it is whole
// and on the disk.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
