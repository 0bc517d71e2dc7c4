package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/tools/internal/download"
)

// Local is what was pulled into a folder of models.
type Local struct{ Folder string }

// Here is a model that is in the folder.
type Here struct {
	Name     Name
	Model    Model
	Paths    []string // of the model's own files
	Modified time.Time
	Missing  bool // parts of it have not come yet
}

// Path is the file to open.
func (h Here) Path() string { return h.Paths[0] }

// Bounds of what is looked at.
const (
	maxRepos = 10000
	maxHere  = 10000
)

func (l Local) root() string { return filepath.Join(l.Folder, Host) }

// Models lists all of them, by name.
func (l Local) Models() ([]Here, error) {
	if l.Folder == "" {
		return nil, nil
	}
	owners, err := folders(l.root())
	if err != nil {
		return nil, err
	}
	var all []Here
	for _, owner := range owners {
		repos, err := folders(filepath.Join(l.root(), owner))
		if err != nil {
			return nil, err
		}
		for _, repo := range repos[:min(len(repos), maxRepos)] {
			here, err := l.in(Name{Owner: owner, Repo: repo})
			if err != nil {
				return nil, err
			}
			all = append(all, here...)
		}
	}
	return all, nil
}

func folders(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && plainWord(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// in lists the models of one repository.
func (l Local) in(n Name) ([]Here, error) {
	files, err := l.files(n, false)
	if err != nil {
		return nil, err
	}
	models, broken := Models(files)
	var all []Here
	for _, m := range models {
		h := Here{Name: nameOf(n, m, models), Model: m}
		for _, f := range m.Parts {
			h.Paths = append(h.Paths, Place(l.Folder, n, f.Path))
		}
		if info, err := os.Stat(h.Path()); err == nil {
			h.Modified = info.ModTime()
		}
		all = append(all, h)
	}
	for _, file := range broken {
		all = append(all, Here{
			Name:    Name{Owner: n.Owner, Repo: n.Repo, File: file},
			Model:   Model{Quant: QuantOf(file), Parts: []File{{Path: file}}},
			Missing: true, Paths: []string{Place(l.Folder, n, file)},
		})
	}
	return all, nil
}

// nameOf is how a model is called among those of its repository.
func nameOf(n Name, m Model, all []Model) Name {
	same := 0
	for _, other := range all {
		if other.Quant == m.Quant {
			same++
		}
	}
	if m.Quant == "" || same > 1 {
		return Name{Owner: n.Owner, Repo: n.Repo, File: m.Parts[0].Path}
	}
	return Name{Owner: n.Owner, Repo: n.Repo, Quant: m.Quant}
}

// files are the GGUF files of a repository that are here; with those that are on their way, under the names that they
// will have.
func (l Local) files(n Name, begun bool) (files []File, err error) {
	root := filepath.Join(l.root(), n.Owner, n.Repo)
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if strings.Count(name, "/") > 8 || name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		whole, part := strings.CutSuffix(name, ".part")
		if !d.Type().IsRegular() || !isGGUF(whole) || part && !begun || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		if len(files) == maxHere {
			return fmt.Errorf("%s holds more than %d files", root, maxHere)
		}
		info, err := d.Info()
		if err != nil {
			return nil // it was just removed
		}
		if !slices.ContainsFunc(files, func(f File) bool { return f.Path == whole }) {
			files = append(files, File{Path: whole, Size: info.Size()})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// AsStored is a name as the folders spell it, whatever the case.
func (l Local) AsStored(n Name) Name {
	owners, _ := folders(l.root()) // what cannot be read is not here
	for _, owner := range owners {
		if !strings.EqualFold(owner, n.Owner) {
			continue
		}
		repos, _ := folders(filepath.Join(l.root(), owner))
		for _, repo := range repos {
			if strings.EqualFold(repo, n.Repo) {
				n.Owner, n.Repo = owner, repo
				return n
			}
		}
	}
	return n
}

// Find finds the model that a name means among those that are here. ErrNotFound says that it was not pulled.
func (l Local) Find(n Name) (Here, error) {
	if l.Folder == "" {
		return Here{}, fmt.Errorf("%s: %w", n, ErrNotFound)
	}
	n = l.AsStored(n)
	files, err := l.files(n, false)
	if err != nil {
		return Here{}, err
	}
	if len(files) == 0 {
		return Here{}, fmt.Errorf("%s: %w", n, ErrNotFound)
	}
	m, err := Choose(files, n, func(models []Model) (Model, error) { return only(n, models) })
	if err != nil && !errors.Is(err, ErrSeveral) {
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if err != nil {
		return Here{}, err
	}
	models, _ := Models(files)
	h := Here{Name: nameOf(n, m, models), Model: m}
	for _, f := range m.Parts {
		h.Paths = append(h.Paths, Place(l.Folder, n, f.Path))
	}
	info, err := os.Stat(h.Path())
	if err == nil {
		h.Modified = info.ModTime()
	}
	return h, err
}

// only takes a repository's one model.
func only(n Name, models []Model) (Model, error) {
	if len(models) == 1 {
		return models[0], nil
	}
	var names []string
	for _, m := range models {
		names = append(names, nameOf(n, m, models).String())
	}
	return Model{}, fmt.Errorf("%s: %w: %s", n.Repository(), ErrSeveral, list(names))
}

// Beside is where a file of the model's repository is, empty for none.
func (l Local) Beside(h Here, f *File) string {
	if f == nil {
		return ""
	}
	return Place(l.Folder, h.Name, f.Path)
}

// ByFile finds the models that have a file of this name, with or without .gguf.
func (l Local) ByFile(base string) []Here {
	all, _ := l.Models() // what cannot be read is not here
	return slices.DeleteFunc(all, func(h Here) bool {
		name := filepath.Base(h.Path())
		return h.Missing || name != base && name != base+".gguf"
	})
}

// Within finds the model that a file in the folder is of.
func (l Local) Within(file string) (Here, bool) {
	if l.Folder == "" {
		return Here{}, false
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return Here{}, false
	}
	root, err := filepath.Abs(l.root())
	if err != nil {
		return Here{}, false
	}
	rel, err := filepath.Rel(root, absolute)
	if err != nil {
		return Here{}, false
	}
	words := strings.SplitN(filepath.ToSlash(rel), "/", 3)
	if len(words) != 3 || words[0] == ".." {
		return Here{}, false
	}
	h, err := l.Find(Name{Owner: words[0], Repo: words[1], File: words[2]})
	return h, err == nil && filepath.Base(h.Path()) == filepath.Base(absolute)
}

// Files are what a name's model is made of, also where it is still on its way, with the towers and assistants of its
// repository where no other model is left that could use them.
func (l Local) Files(n Name) (paths []string, err error) {
	n = l.AsStored(n)
	files, err := l.files(n, true)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", n, ErrNotFound)
	}
	mine, err := chosen(files, n)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return slices.Contains(mine, f.Path) })
	if !slices.ContainsFunc(left, func(f File) bool { return isModel(f.Path) }) {
		for _, f := range left {
			mine = append(mine, f.Path)
		}
	}
	for _, file := range mine {
		paths = append(paths, Place(l.Folder, n, file))
	}
	return paths, nil
}

// chosen are the files that a name means, whole or not.
func chosen(files []File, n Name) (mine []string, err error) {
	models, broken := Models(files)
	for _, file := range broken { // parts that have come so far
		for _, f := range files {
			if stem(f.Path) == stem(file) && filepath.Dir(f.Path) == filepath.Dir(file) {
				mine = append(mine, f.Path)
			}
		}
		if n.File == file || n.Quant != "" && strings.EqualFold(n.Quant, QuantOf(file)) ||
			n.File == "" && n.Quant == "" && len(models) == 0 && len(broken) == 1 {
			return mine, nil
		}
		mine = nil
	}
	if len(models) == 0 && n.File == "" && n.Quant == "" { // towers alone
		for _, f := range files {
			mine = append(mine, f.Path)
		}
		return mine, nil
	}
	m, err := Choose(files, n, func(models []Model) (Model, error) { return only(n, models) })
	if err != nil {
		return nil, err
	}
	for _, f := range m.Parts {
		mine = append(mine, f.Path)
	}
	return mine, nil
}

// Remove deletes files, and the folders that are empty then.
func (l Local) Remove(path string) (freed int64, err error) {
	freed, err = download.Remove(path)
	if err != nil {
		return freed, err
	}
	for folder := filepath.Dir(path); folder != l.Folder && strings.HasPrefix(folder,
		l.root()); folder = filepath.Dir(folder) {
		if os.Remove(folder) != nil {
			break // something else is in it
		}
	}
	return freed, nil
}
