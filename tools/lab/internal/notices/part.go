package notices

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Kinds of parts, as the notices list them.
const (
	Go    = "go"
	Crate = "crate"
	NPM   = "npm"
)

// A Part is a work of other people's inside a product.
type Part struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Licence string   `json:"licence,omitempty"` // an SPDX expression, where its package names one
	Texts   []string `json:"texts,omitempty"`
}

// key is how a list names a part.
func (p Part) key() string { return strings.TrimSpace(p.Kind + " " + p.Name + " " + p.Version) }

// sorted is a list by name, each part once.
func sorted(parts []Part) []Part {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(parts, func(a, b Part) bool { return a.key() == b.key() })
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notice|copyright|patents|unlicense)([-._].*)?$`)
	// Source files are named so, too.
	notText = regexp.MustCompile(`(?i)\.(go|rs|js|mjs|cjs|ts|json|html|toml|yml|yaml)$`)
	// licenceFolder holds texts of what a module has taken over.
	licenceFolder = regexp.MustCompile(`(?i)^(licenses|third_party_licenses)$`)
	always        = regexp.MustCompile(`(?i)^(notice|copyright)`)
)

// preferred are the licences that we take where a part leaves the choice, the shorter texts first.
var preferred = []string{"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "Apache-2.0"}

// textsIn reads the licences in a package's folder. Of those that a part leaves to choose from it takes one.
func textsIn(folder, licence string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		switch {
		case e.IsDir() && licenceFolder.MatchString(e.Name()):
			inside, err := os.ReadDir(filepath.Join(folder, e.Name()))
			if err != nil {
				return nil, err
			}
			for _, f := range inside {
				if f.Type().IsRegular() {
					names = append(names, filepath.Join(e.Name(), f.Name()))
				}
			}
		case e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && !notText.MatchString(e.Name()):
			names = append(names, e.Name())
		}
	}
	var texts []string
	for _, name := range chosen(names, licence) {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if text := tidy(string(text)); text != "" {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// chosen leaves out files of licences that are not taken.
func chosen(names []string, licence string) []string {
	pick := choice(licence)
	if pick == "" {
		return names
	}
	short, _, _ := strings.Cut(pick, "-")
	var taken []string
	for _, name := range names {
		if strings.Contains(strings.ToLower(name), strings.ToLower(short)) || always.MatchString(name) {
			taken = append(taken, name)
		}
	}
	if !slices.ContainsFunc(taken, func(name string) bool { return !always.MatchString(name) }) {
		return names
	}
	return taken
}

// choice is the licence that is taken of an expression: "" where it leaves no choice.
func choice(licence string) string {
	alternatives := strings.FieldsFunc(strings.ReplaceAll(licence, " OR ", "/"), func(r rune) bool { return r == '/' })
	if len(alternatives) < 2 || strings.Contains(licence, " AND ") {
		return ""
	}
	for _, name := range preferred {
		if slices.ContainsFunc(alternatives, func(a string) bool { return strings.Trim(a, " ()") == name }) {
			return name
		}
	}
	return ""
}

// tidy makes the same text of the same licence, however its lines end.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
