package notices

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lockFile is package-lock.json, version 3.
type lockFile struct {
	Packages map[string]locked
}

type locked struct {
	Version, License string
	Link             bool
	Dependencies     map[string]string
}

// npmParts are the packages of a folder's lock file that a product carries: all that it depends on, and those named,
// without what they depend on themselves. Packages of ours are links, and have lists of their own.
func npmParts(root, folder string, named ...string) ([]Part, error) {
	file := filepath.Join(root, filepath.FromSlash(folder), "package-lock.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lock lockFile
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotices, file, err)
	}
	type wish struct {
		by, name string
		alone    bool
	}
	var todo []wish
	for name := range lock.Packages[""].Dependencies {
		todo = append(todo, wish{name: name})
	}
	for _, name := range named {
		todo = append(todo, wish{name: name, alone: true})
	}
	var parts []Part
	for seen := map[string]bool{}; len(todo) > 0; {
		w := todo[0]
		todo = todo[1:]
		at, p, ok := lock.find(w.by, w.name)
		if !ok {
			return nil, fmt.Errorf("%w: %s does not lock %s, which %q needs", ErrNotices, file, w.name, w.by)
		}
		if seen[at] || p.Link || strings.HasPrefix(w.name, "@types/") { // which nothing is compiled of
			continue
		}
		seen[at] = true
		texts, err := textsIn(filepath.Join(root, filepath.FromSlash(folder), filepath.FromSlash(at)), p.License)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if err == nil && len(texts) == 0 {
			texts = standard(p.License, nil)
		}
		if w.alone {
			texts = ownTexts(texts)
		}
		parts = append(parts, Part{Kind: NPM, Name: w.name, Version: p.Version, Licence: p.License, Texts: texts})
		for name := range p.Dependencies {
			if !w.alone {
				todo = append(todo, wish{by: at, name: name})
			}
		}
	}
	return parts, nil
}

// find is the package that one at a place gets under a name, as Node resolves it.
func (l lockFile) find(by, name string) (string, locked, bool) {
	for {
		at := strings.TrimPrefix(by+"/node_modules/"+name, "/")
		if p, ok := l.Packages[at]; ok {
			return at, p, true
		}
		if by == "" {
			return "", locked{}, false
		}
		by = by[:max(strings.LastIndex(by, "node_modules/")-1, 0)]
	}
}

// ownTexts leaves out what a build tool says of the tools that it has inside, which it puts nowhere.
func ownTexts(texts []string) []string {
	for i, text := range texts {
		own, _, _ := strings.Cut(text, "\n# Licenses of bundled dependencies")
		texts[i] = tidy(own)
	}
	return texts
}
