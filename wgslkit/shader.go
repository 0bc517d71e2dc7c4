package wgslkit

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Shaders is a folder of WGSL files that are composed into variants.
//
// A file is WGSL with directives in line comments:
//
//	//#include "decode/${QUANT}.wgsl"   the other file's text, once
//	//#if NAME   //#if NAME == value   //#if NAME != value   //#else   //#end
//	//#enable subgroups                the same in WGSL, which wants it on top
//	//#repeat I COUNT … //#end         the lines between, COUNT times, with ${I} from 0 on
//
// Names are those of the Variant, and UNZEROED where Info has it. Numbers and
// truths also become constants of the same name (`const TILE: u32 = 16u;`, `const
// F16: bool = true;`) on top of the composed text, so that the files stay plain WGSL.
type Shaders struct {
	files fs.FS
	mu    sync.Mutex
	read  map[string][]line
}

// line is a line of a file, and the directive that it is: a word and what follows, in
// fields as well.
type line struct {
	text       string
	directs    bool
	word, rest string
	fields     []string
}

// NewShaders composes from the files of fsys.
func NewShaders(fsys fs.FS) *Shaders {
	return &Shaders{files: fsys, read: map[string][]line{}}
}

// Variant names what a composition decides: each value is an int, a bool, a
// float32 or a string. Strings choose includes and conditions only.
type Variant map[string]any

// key is the variant in a stable order, as kernel names show it. Recordings ask for a
// kernel by it for each dispatch, thousands while a model loads.
func (v Variant) key() string {
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if len(key) > 0 {
			key = append(key, ',')
		}
		key = append(append(key, name...), '=')
		switch value := v[name].(type) {
		case int:
			key = strconv.AppendInt(key, int64(value), 10)
		case bool:
			key = strconv.AppendBool(key, value)
		case string:
			key = append(key, value...)
		default:
			key = fmt.Append(key, value)
		}
	}
	return string(key)
}

// composedSize is more than most kernels have.
const composedSize = 24 << 10

// Compose returns the WGSL of one file in one variant.
func (s *Shaders) Compose(file string, v Variant) (string, error) {
	c := composer{shaders: s, variant: v, seen: map[string]bool{}}
	c.out.Grow(composedSize)
	if err := c.constants(); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrShader, file, err)
	}
	if err := c.file(file); err != nil {
		return "", fmt.Errorf("%w: %w", ErrShader, err)
	}
	return c.enables.String() + c.out.String(), nil
}

// lines is a file, read once: a load composes a hundred kernels, most of them of the same
// files.
func (s *Shaders) lines(file string) ([]line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lines, ok := s.read[file]; ok {
		return lines, nil
	}
	raw, err := fs.ReadFile(s.files, file)
	if err != nil {
		return nil, err
	}
	var lines []line
	for text := range strings.SplitSeq(string(raw), "\n") {
		lines = append(lines, lineOf(text))
	}
	s.read[file] = lines
	return lines, nil
}

func lineOf(text string) line {
	directive, ok := strings.CutPrefix(strings.TrimSpace(text), "//#")
	if !ok {
		return line{text: text}
	}
	word, rest, _ := strings.Cut(directive, " ")
	return line{text: text, directs: true, word: word, rest: strings.TrimSpace(rest), fields: strings.Fields(rest)}
}

type composer struct {
	shaders *Shaders
	variant Variant
	seen    map[string]bool
	enables strings.Builder
	out     strings.Builder
}

func (c *composer) constants() error {
	for _, name := range slices.Sorted(maps.Keys(c.variant)) {
		switch value := c.variant[name].(type) {
		case int:
			fmt.Fprintf(&c.out, "const %s: u32 = %du;\n", name, value)
		case bool:
			fmt.Fprintf(&c.out, "const %s: bool = %t;\n", name, value)
		case float32:
			fmt.Fprintf(&c.out, "const %s: f32 = %s;\n", name, wgslFloat(value))
		case string:
		default:
			return fmt.Errorf("variant %s has type %T", name, value)
		}
	}
	return nil
}

// wgslFloat prints a literal that WGSL reads back as the same number.
func wgslFloat(f float32) string {
	return strconv.FormatFloat(float64(f), 'e', -1, 32) + "f"
}

func (c *composer) file(name string) error {
	if c.seen[name] {
		return nil
	}
	c.seen[name] = true
	lines, err := c.shaders.lines(name)
	if err != nil {
		return err
	}
	return c.lines(lines, name, 0)
}

// lines composes lines of a file, of which `before` come before them.
func (c *composer) lines(lines []line, file string, before int) (err error) {
	// taken holds, for each open condition, whether its lines are kept.
	var taken []bool
	for i := 0; i < len(lines); i++ {
		repeats := lines[i].word == "repeat"
		switch {
		case slices.Contains(taken, false) && (!lines[i].directs || repeats):
			if repeats {
				taken = append(taken, false) // up to its end
			}
		case !lines[i].directs:
			c.out.WriteString(lines[i].text)
			c.out.WriteByte('\n')
		case repeats:
			length := blockLength(lines[i+1:])
			if length < 0 {
				return fmt.Errorf("%s:%d: a //#repeat has no //#end", file, before+i+1)
			}
			if err := c.repeat(lines[i], lines[i+1:i+1+length], file, before+i+1); err != nil {
				return err
			}
			i += length + 1
		default:
			if taken, err = c.directive(lines[i], taken, file); err != nil {
				return fmt.Errorf("%s:%d: %w", file, before+i+1, err)
			}
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%s: an //#if has no //#end", file)
	}
	return nil
}

// blockLength is how many lines come before the //#end of what was opened before
// them, −1 where there is none.
func blockLength(lines []line) int {
	depth := 1
	for i, l := range lines {
		switch l.word {
		case "if", "repeat":
			depth++
		case "end":
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// repeat composes the lines of a //#repeat, whose fields are a name and a count.
func (c *composer) repeat(directive line, lines []line, file string, before int) error {
	fields := directive.fields
	if len(fields) != 2 {
		return fmt.Errorf("%s:%d: //#repeat %s is not //#repeat NAME COUNT", file, before, directive.rest)
	}
	count, ok := c.variant[fields[1]].(int)
	if !ok {
		return fmt.Errorf("%s:%d: //#repeat counts to %s, which is not a number of the variant", file, before,
			fields[1])
	}
	for i := range count {
		here := make([]line, len(lines))
		for n, l := range lines {
			here[n] = lineOf(strings.ReplaceAll(l.text, "${"+fields[0]+"}", strconv.Itoa(i)))
		}
		if err := c.lines(here, file, before); err != nil {
			return err
		}
	}
	return nil
}

func (c *composer) directive(d line, taken []bool, file string) ([]bool, error) {
	switch d.word {
	case "include":
		if slices.Contains(taken, false) {
			return taken, nil
		}
		return taken, c.include(d.rest, file)
	case "enable":
		if !slices.Contains(taken, false) {
			fmt.Fprintf(&c.enables, "enable %s;\n", d.rest)
		}
		return taken, nil
	case "if":
		holds, err := c.holds(d)
		return append(taken, holds), err
	case "else", "end":
		if len(taken) == 0 {
			return nil, fmt.Errorf("//#%s without //#if", d.word)
		}
		if d.word == "end" {
			return taken[:len(taken)-1], nil
		}
		taken[len(taken)-1] = !taken[len(taken)-1]
		return taken, nil
	}
	return nil, fmt.Errorf("unknown directive //#%s", d.word)
}

func (c *composer) include(quoted, from string) error {
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("include needs a quoted name, got %s", quoted)
	}
	if strings.Contains(name, "${") {
		for key, value := range c.variant {
			name = strings.ReplaceAll(name, "${"+key+"}", textOf(value))
		}
	}
	if strings.Contains(name, "${") {
		return fmt.Errorf("include %q uses a name that the variant lacks", name)
	}
	if rel := path.Join(path.Dir(from), name); c.exists(rel) {
		name = rel
	}
	return c.file(name)
}

func (c *composer) exists(name string) bool {
	_, err := c.shaders.lines(name)
	return err == nil
}

// holds evaluates `NAME`, `!NAME`, `NAME == value`, `NAME != value`. A name
// that the variant lacks is false, and equal to nothing.
func (c *composer) holds(d line) (bool, error) {
	switch fields := d.fields; {
	case len(fields) == 1 && strings.HasPrefix(fields[0], "!"):
		return !truthy(c.variant[fields[0][1:]]), nil
	case len(fields) == 1:
		return truthy(c.variant[fields[0]]), nil
	case len(fields) == 3 && fields[1] == "==":
		return textOf(c.variant[fields[0]]) == fields[2], nil
	case len(fields) == 3 && fields[1] == "!=":
		return textOf(c.variant[fields[0]]) != fields[2], nil
	}
	return false, fmt.Errorf("condition %q is not NAME, !NAME, NAME == value or NAME != value", d.rest)
}

// textOf is fmt.Sprint of a variant's value, which most conditions ask for.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	}
	return fmt.Sprint(value)
}

func truthy(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case int:
		return v != 0
	case string:
		return v != ""
	}
	return value != nil
}
