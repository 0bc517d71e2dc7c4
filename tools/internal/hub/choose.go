package hub

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// What is wrong with a repository.
var (
	// ErrNoGGUF: there is nothing in it that gemwire reads.
	ErrNoGGUF = errors.New("no GGUF file in it")
	// ErrNoQuant: it has models, but not this one.
	ErrNoQuant = errors.New("not in it")
	// ErrSeveral: a name that means more than one of its models.
	ErrSeveral = errors.New("several models have this name")
)

// File is a file of a repository.
type File struct {
	Path   string // in the repository, with slashes
	Size   int64
	SHA256 string // 64 hexadecimal digits, empty where the listing has none
}

// Model is the files that make one model.
type Model struct {
	Quant     string
	Parts     []File // in order; most models are one file
	Projector *File  // the image and audio towers
	Assistant *File  // the small model that guesses the next tokens
}

// Files are all of them.
func (m Model) Files() []File {
	all := slices.Clone(m.Parts)
	for _, f := range []*File{m.Projector, m.Assistant} {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}

// Size is how many bytes they have together.
func (m Model) Size() (bytes int64) {
	for _, f := range m.Files() {
		bytes += f.Size
	}
	return bytes
}

// roles of files beside models.
func isProjector(file string) bool {
	return strings.Contains(strings.ToLower(path.Base(file)), "mmproj")
}

func isAssistant(file string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.HasPrefix(base, "mtp-") || strings.Contains(base, "-mtp-") || strings.Contains(base, "assistant")
}

// isModel leaves out what stands beside models: towers, drafters, importance matrices.
func isModel(file string) bool {
	base := strings.ToLower(path.Base(file))
	for _, other := range []string{"imatrix", "eagle3-", "dflash-", "dspark-"} {
		if strings.Contains(base, other) {
			return false
		}
	}
	return isGGUF(file) && !isProjector(file) && !isAssistant(file)
}

// Models are all models among files, by path. A split one is there where all of its parts are; the others are broken.
func Models(files []File) (models []Model, broken []string) {
	split := map[string][]File{}
	var order []string
	has := func(is func(string) bool) bool {
		return slices.ContainsFunc(files, func(f File) bool { return is(f.Path) })
	}
	is := isModel
	if !has(isModel) && has(isAssistant) { // a repository of assistants
		is = func(file string) bool { return isGGUF(file) && isAssistant(file) && !isProjector(file) }
	}
	for _, f := range files {
		if !is(f.Path) {
			continue
		}
		_, count := part(f.Path)
		key := fmt.Sprint(path.Join(path.Dir(f.Path), stem(f.Path)), " ", count)
		if split[key] == nil {
			order = append(order, key)
		}
		split[key] = append(split[key], f)
	}
	slices.Sort(order)
	for _, key := range order {
		parts := split[key]
		slices.SortFunc(parts, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		if !complete(parts) {
			broken = append(broken, parts[0].Path)
			continue
		}
		m := Model{Quant: QuantOf(parts[0].Path), Parts: parts}
		m.Projector = beside(files, m, isProjector, projectorRank)
		if is(parts[0].Path) && !isAssistant(parts[0].Path) {
			m.Assistant = beside(files, m, isAssistant, func(f File) int {
				return abs(bits(QuantOf(f.Path)) - bits(m.Quant))
			})
		}
		models = append(models, m)
	}
	return models, broken
}

// complete says whether all parts are there.
func complete(parts []File) bool {
	_, count := part(parts[0].Path)
	if len(parts) != count {
		return false
	}
	for i, f := range parts {
		if number, _ := part(f.Path); number != i+1 {
			return false
		}
	}
	return true
}

// projectorRank prefers F16: it has all that the towers' makers published, on any GPU, in half of F32's bytes.
func projectorRank(f File) int {
	at := slices.Index([]string{"F16", "BF16", "Q8_0", "F32"}, QuantOf(f.Path))
	if at < 0 {
		return 4
	}
	return at
}

// beside finds the best file of a kind for a model: in its folder rather than in one above, of its own name where a
// repository holds several models, then by rank.
func beside(files []File, m Model, is func(string) bool, rank func(File) int) *File {
	model := m.Parts[0].Path
	family := strings.ToLower(familyOf(model))
	var best *File
	better := func(a, b File) int {
		return cmp.Or(
			-cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")),
			-cmp.Compare(mentions(a.Path, family), mentions(b.Path, family)),
			cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Path, b.Path))
	}
	for _, f := range files {
		if !isGGUF(f.Path) || !is(f.Path) || f.Path == model {
			continue
		}
		if _, count := part(f.Path); count > 1 {
			continue
		}
		if dir := path.Dir(f.Path); dir != "." && dir != path.Dir(model) && !strings.HasPrefix(path.Dir(model), dir+"/") {
			continue
		}
		if best == nil || better(f, *best) < 0 {
			best = &f
		}
	}
	return best
}

func mentions(file, family string) int {
	if family != "" && strings.Contains(strings.ToLower(path.Base(file)), family) {
		return 1
	}
	return 0
}

// familyOf is a model's name without its quantization: gemma-4-E2B-it.
func familyOf(file string) string {
	base, quant := stem(file), QuantOf(file)
	if at := strings.LastIndex(strings.ToUpper(base), strings.TrimPrefix(quant, "UD-")); quant != "" && at > 0 {
		base = base[:at]
	}
	return strings.TrimSuffix(strings.TrimRight(base, "-._"), "-UD")
}

func abs(n int) int { return max(n, -n) }

// Choose finds what a name means among the files of a repository. Where it names no quantization, best chooses among
// the models.
func Choose(files []File, n Name, best func([]Model) (Model, error)) (Model, error) {
	models, broken := Models(files)
	if len(models) == 0 && len(broken) == 0 {
		return Model{}, fmt.Errorf("%s: %w%s", n.Repository(), ErrNoGGUF, instead(n, files))
	}
	if n.File != "" {
		return chooseFile(files, models, n)
	}
	if n.Quant != "" {
		return chooseQuant(models, broken, n)
	}
	if len(models) == 0 {
		return Model{}, fmt.Errorf("%s: %w: parts of %s are missing", n.Repository(), ErrNoGGUF, broken[0])
	}
	return best(models)
}

// instead says what can be done with a repository without a GGUF file.
func instead(n Name, files []File) string {
	if slices.ContainsFunc(files, func(f File) bool { return strings.HasSuffix(f.Path, ".safetensors") }) {
		return fmt.Sprintf("; it has safetensors files, which gemwire convert makes one of; "+
			"others may have published it as %s-GGUF", n.Repo)
	}
	return ""
}

// chooseFile finds a file by its path, or by its name alone, whatever the case.
func chooseFile(files []File, models []Model, n Name) (Model, error) {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b }, strings.EqualFold,
		func(a, b string) bool { return strings.EqualFold(path.Base(a), path.Base(b)) },
	} {
		for _, m := range models {
			if slices.ContainsFunc(m.Parts, func(f File) bool { return same(f.Path, n.File) }) {
				return m, nil
			}
		}
		for _, f := range files { // towers and assistants by themselves
			if same(f.Path, n.File) && isGGUF(f.Path) && (isProjector(f.Path) || isAssistant(f.Path)) {
				return Model{Quant: QuantOf(f.Path), Parts: []File{f}}, nil
			}
		}
	}
	return Model{}, fmt.Errorf("%s: %s is %w; it has %s", n.Repository(), n.File, ErrNoQuant, quants(models))
}

// chooseQuant finds a model by its quantization, whatever the case: that of the name, one with UD- before it, or a part
// of the file's name as llama.cpp takes it.
func chooseQuant(models []Model, broken []string, n Name) (Model, error) {
	want := strings.ToUpper(n.Quant)
	for _, same := range []func(m Model) bool{
		func(m Model) bool { return m.Quant == want },
		func(m Model) bool { return m.Quant == "UD-"+want },
		func(m Model) bool { // llama.cpp's rule
			whole := strings.ToUpper(m.Parts[0].Path)
			return strings.Contains(whole, want+".") || strings.Contains(whole, want+"-")
		},
		func(m Model) bool { return strings.Contains(strings.ToUpper(m.Parts[0].Path), want+"/") },
	} {
		var found []Model
		for _, m := range models {
			if same(m) {
				found = append(found, m)
			}
		}
		if len(found) > 1 && !OneFamily(found) {
			return Model{}, fmt.Errorf("%s:%s: %w: %s; name the file, as %s/FILE.gguf", n.Repository(), want, ErrSeveral,
				FileNames(found), n.Repository())
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	for _, file := range broken {
		if QuantOf(file) == want {
			return Model{}, fmt.Errorf("%s: %w: parts of %s are missing", n.Repository(), ErrNoQuant, file)
		}
	}
	return Model{}, fmt.Errorf("%s: %s is %w; it has %s", n.Repository(), n.Quant, ErrNoQuant, quants(models))
}

// OneFamily says whether models are one, in several forms.
func OneFamily(models []Model) bool {
	for _, m := range models[1:] {
		if familyOf(m.Parts[0].Path) != familyOf(models[0].Parts[0].Path) {
			return false
		}
	}
	return true
}

// quants lists what there is.
func quants(models []Model) string {
	var names []string
	for _, m := range models {
		name := m.Quant
		if name == "" {
			name = m.Parts[0].Path
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no whole model"
	}
	return list(names)
}

func list(names []string) string {
	const most = 40
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// FileNames lists the files of models.
func FileNames(models []Model) string {
	var names []string
	for _, m := range models {
		names = append(names, m.Parts[0].Path)
	}
	return list(names)
}

// Ranked sorts models by what their quantization is worth, the best first up to Q8_0. Those that nobody ranked, among
// them BF16 and F32, in which nothing more is to be seen, come last, the smaller ones first.
func Ranked(models []Model) []Model {
	sorted := slices.Clone(models)
	slices.SortStableFunc(sorted, func(a, b Model) int {
		return cmp.Or(cmp.Compare(rank(a.Quant), rank(b.Quant)), cmp.Compare(a.Size(), b.Size()))
	})
	return sorted
}

// Nearest is the place among ranked models of the next one below a quantization, or of the last above.
func Nearest(ranked []Model, quant string) int {
	at, above := rank(quant), -1
	for i, m := range ranked {
		switch r := rank(m.Quant); {
		case r >= at && r < len(preferred):
			return i
		case r < at:
			above = i
		}
	}
	return max(above, 0)
}
