package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// root is what the import paths of all modules begin with; what follows is the
// folder in the repository.
const root = "github.com/gemwire/gemwire/"

// pkg is a package with its documentation.
type pkg struct {
	folder string // in the repository, with slashes
	doc    *doc.Package
	files  *token.FileSet
}

// find reads the public packages of modules in the order of their paths. Folders
// below one with a go.mod of its own belong to another module.
func find(modules []string) ([]*pkg, error) {
	var found []*pkg
	for _, module := range modules {
		err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if path != module && hidden(path) {
				return filepath.SkipDir
			}
			p, err := read(path)
			if p != nil {
				found = append(found, p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b *pkg) int { return strings.Compare(a.folder, b.folder) })
	return found, nil
}

// hidden says whether nothing in a folder can be imported from elsewhere as a
// part of this module.
func hidden(path string) bool {
	name := filepath.Base(path)
	if name == "internal" || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") ||
		strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// read reads the package of a folder as it is on Linux, nil where there is none
// or where it is a command.
func read(folder string) (*pkg, error) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", true
	info, err := context.ImportDir(folder, 0)
	if _, none := err.(*build.NoGoError); none || err == nil && info.Name == "main" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &pkg{folder: filepath.ToSlash(filepath.Clean(folder)), files: token.NewFileSet()}
	var files []*ast.File
	for _, name := range slices.Concat(info.GoFiles, info.CgoFiles, info.TestGoFiles, info.XTestGoFiles) {
		f, err := parser.ParseFile(p.files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if p.doc, err = doc.NewFromFiles(p.files, files, root+p.folder); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return p, nil
}
