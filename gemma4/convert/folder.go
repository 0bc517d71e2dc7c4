package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gemwire/gemwire/gguf/safetensors"
)

var (
	// ErrConfig says that config.json is of another kind of model, or lacks something.
	ErrConfig = errors.New("not a Gemma 4 checkpoint")
	// ErrTensor says that a tensor is unknown, missing or of another shape.
	ErrTensor = errors.New("unexpected tensor")
)

// A Folder is an open checkpoint.
type Folder struct {
	Path    string
	Tensors map[string]*safetensors.Tensor
	Names   []string // of the tensors, sorted

	config fields
	files  []*os.File
}

// fields are a JSON object.
type fields map[string]any

// maxJSON bounds config.json, the index and the tokenizer.
const maxJSON = 256 << 20

// OpenFolder reads the headers of all files.
func OpenFolder(path string) (f *Folder, err error) {
	f = &Folder{Path: path, Tensors: map[string]*safetensors.Tensor{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := readJSON(filepath.Join(path, "config.json"), &f.config); err != nil {
		return f, err
	}
	names, err := f.parts()
	if err != nil {
		return f, err
	}
	for _, name := range names {
		if err := f.open(filepath.Join(path, name)); err != nil {
			return f, err
		}
	}
	for name := range f.Tensors {
		f.Names = append(f.Names, name)
	}
	slices.Sort(f.Names)
	return f, nil
}

// parts are the names of the files: those of the index, or the one there is.
func (f *Folder) parts() ([]string, error) {
	const single = "model.safetensors"
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	err := readJSON(filepath.Join(f.Path, single+".index.json"), &index)
	if errors.Is(err, os.ErrNotExist) {
		return []string{single}, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range index.Map {
		if filepath.Base(name) != name {
			return nil, fmt.Errorf("the index names the file %q outside the folder: %w", name, ErrTensor)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (f *Folder) open(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	part, err := safetensors.Read(file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range part.Tensors {
		if f.Tensors[t.Name] != nil {
			return fmt.Errorf("%s: %s is in another file, too: %w", path, t.Name, ErrTensor)
		}
		f.Tensors[t.Name] = t
	}
	return nil
}

// Close closes all files.
func (f *Folder) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

func readJSON(path string, into any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxJSON {
		return fmt.Errorf("%s has %d bytes, at most %d are read: %w", path, info.Size(), maxJSON, ErrConfig)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w: %w", path, err, ErrConfig)
	}
	return nil
}

// object is a nested object, nil where there is none.
func (c fields) object(key string) fields {
	o, _ := c[key].(map[string]any)
	return o
}

// integer is a number of the object, 0 where it is missing or null.
func (c fields) integer(key string) int {
	v, _ := c[key].(float64)
	if v < 0 || v > 1<<31 {
		return 0
	}
	return int(v)
}

func (c fields) float(key string) float64 {
	v, _ := c[key].(float64)
	return v
}

func (c fields) flag(key string) bool {
	b, _ := c[key].(bool)
	return b
}

// texts is a list of strings.
func (c fields) texts(key string) []string {
	list, _ := c[key].([]any)
	var out []string
	for _, v := range list {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}
