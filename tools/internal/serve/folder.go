package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// folderSource are the .gguf files of a folder.
type folderSource string

func (d folderSource) list() ([]Model, error) {
	files, err := ggufFiles(string(d))
	if err != nil {
		return nil, err
	}
	var models []Model
	for _, info := range files {
		if m, ok := d.model(info); ok {
			models = append(models, m)
		}
	}
	return models, nil
}

// splitName matches the name of a part of a split model.
var splitName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.(?i:gguf)$`)

// model is the model whose only or first file this is, and that is complete.
func (d folderSource) model(info fs.FileInfo) (Model, bool) {
	name := info.Name()
	m := Model{
		Name: strings.TrimSuffix(name, filepath.Ext(name)), From: "folder", Modified: info.ModTime(),
		Weights: Weights{URL: modelURL(name), Size: info.Size()},
	}
	split := splitName.FindStringSubmatch(name)
	if split == nil {
		return m, true
	}
	count, err := strconv.Atoi(split[3])
	if err != nil || split[2] != "00001" {
		return m, false
	}
	m.Name, m.Parts = split[1], count
	for n := 2; n <= count; n++ {
		f, part, err := openRegular(string(d),
			fmt.Sprintf("%s-%05d-of-%s%s", split[1], n, split[3], filepath.Ext(name)))
		if err != nil {
			return m, false
		}
		f.Close()
		m.Size += part.Size()
	}
	return m, true
}

func (d folderSource) open(name string) (*os.File, fs.FileInfo, string, error) {
	if !isModelName(name) {
		return nil, nil, "", fs.ErrNotExist
	}
	f, info, err := openRegular(string(d), name)
	if err != nil {
		return nil, nil, "", err
	}
	return f, info, fileTag(info), nil
}

// isModelName says whether a file's name is one that is served.
func isModelName(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".gguf") && !strings.HasPrefix(name, ".") &&
		!strings.ContainsAny(name, "/\\\x00")
}

// ggufFiles are the .gguf files of a folder that are served.
func ggufFiles(folder string) ([]fs.FileInfo, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if !isModelName(e.Name()) {
			continue
		}
		info, err := root.Stat(e.Name()) // of what a link leads to, unless that is outside
		if err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files, nil
}

// LinksOut are the .gguf files in a folder that are links to elsewhere, and
// therefore not served.
func LinksOut(folder string) ([]string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 || !isModelName(e.Name()) {
			continue
		}
		if _, err := root.Stat(e.Name()); err != nil {
			out = append(out, e.Name())
		}
	}
	return out, nil
}
