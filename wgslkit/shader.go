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
	texts map[string]string
}

// NewShaders composes from the files of fsys.
func NewShaders(fsys fs.FS) *Shaders {
	return &Shaders{files: fsys, texts: map[string]string{}}
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

// Compose returns the WGSL of one file in one variant.
func (s *Shaders) Compose(file string, v Variant) (string, error) {
	c := composer{shaders: s, variant: v, seen: map[string]bool{}}
	if err := c.constants(); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrShader, file, err)
	}
	if err := c.file(file); err != nil {
		return "", fmt.Errorf("%w: %w", ErrShader, err)
	}
	return c.enables.String() + c.out.String(), nil
}

func (s *Shaders) text(file string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.texts[file]; ok {
		return t, nil
	}
	raw, err := fs.ReadFile(s.files, file)
	if err != nil {
		return "", err
	}
	s.texts[file] = string(raw)
	return string(raw), nil
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
	text, err := c.shaders.text(name)
	if err != nil {
		return err
	}
	return c.lines(strings.Split(text, "\n"), name, 0)
}

// lines composes lines of a file, of which `before` come before them.
func (c *composer) lines(lines []string, file string, before int) (err error) {
	// taken holds, for each open condition, whether its lines are kept.
	var taken []bool
	for i := 0; i < len(lines); i++ {
		directive, ok := directiveOf(lines[i])
		repeat, repeats := strings.CutPrefix(directive, "repeat ")
		switch {
		case slices.Contains(taken, false) && (!ok || repeats):
			if repeats {
				taken = append(taken, false) // up to its end
			}
		case !ok:
			c.out.WriteString(lines[i])
			c.out.WriteByte('\n')
		case repeats:
			length := blockLength(lines[i+1:])
			if length < 0 {
				return fmt.Errorf("%s:%d: a //#repeat has no //#end", file, before+i+1)
			}
			if err := c.repeat(repeat, lines[i+1:i+1+length], file, before+i+1); err != nil {
				return err
			}
			i += length + 1
		default:
			if taken, err = c.directive(directive, taken, file); err != nil {
				return fmt.Errorf("%s:%d: %w", file, before+i+1, err)
			}
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%s: an //#if has no //#end", file)
	}
	return nil
}

// directiveOf is the directive that a line is.
func directiveOf(line string) (directive string, ok bool) {
	if directive, ok = strings.CutPrefix(strings.TrimSpace(line), "//#"); !ok {
		return "", false
	}
	return directive, true
}

// blockLength is how many lines come before the //#end of what was opened before
// them, −1 where there is none.
func blockLength(lines []string) int {
	depth := 1
	for i, line := range lines {
		directive, _ := directiveOf(line)
		word, _, _ := strings.Cut(directive, " ")
		switch word {
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

// repeat composes the lines of a //#repeat, whose words are a name and a count.
func (c *composer) repeat(words string, lines []string, file string, before int) error {
	fields := strings.Fields(words)
	if len(fields) != 2 {
		return fmt.Errorf("%s:%d: //#repeat %s is not //#repeat NAME COUNT", file, before, words)
	}
	count, ok := c.variant[fields[1]].(int)
	if !ok {
		return fmt.Errorf("%s:%d: //#repeat counts to %s, which is no number of the variant", file, before, fields[1])
	}
	for i := range count {
		here := make([]string, len(lines))
		for l, line := range lines {
			here[l] = strings.ReplaceAll(line, "${"+fields[0]+"}", strconv.Itoa(i))
		}
		if err := c.lines(here, file, before); err != nil {
			return err
		}
	}
	return nil
}

func (c *composer) directive(text string, taken []bool, file string) ([]bool, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch word {
	case "include":
		if slices.Contains(taken, false) {
			return taken, nil
		}
		return taken, c.include(rest, file)
	case "enable":
		if !slices.Contains(taken, false) {
			fmt.Fprintf(&c.enables, "enable %s;\n", strings.TrimSpace(rest))
		}
		return taken, nil
	case "if":
		holds, err := c.holds(rest)
		return append(taken, holds), err
	case "else", "end":
		if len(taken) == 0 {
			return nil, fmt.Errorf("//#%s without //#if", word)
		}
		if word == "end" {
			return taken[:len(taken)-1], nil
		}
		taken[len(taken)-1] = !taken[len(taken)-1]
		return taken, nil
	}
	return nil, fmt.Errorf("unknown directive //#%s", word)
}

func (c *composer) include(quoted, from string) error {
	name, err := strconv.Unquote(strings.TrimSpace(quoted))
	if err != nil {
		return fmt.Errorf("include wants a quoted name, got %s", quoted)
	}
	for key, value := range c.variant {
		name = strings.ReplaceAll(name, "${"+key+"}", fmt.Sprint(value))
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
	_, err := c.shaders.text(name)
	return err == nil
}

// holds evaluates `NAME`, `!NAME`, `NAME == value`, `NAME != value`. A name
// that the variant lacks is false, and equal to nothing.
func (c *composer) holds(cond string) (bool, error) {
	fields := strings.Fields(cond)
	switch {
	case len(fields) == 1 && strings.HasPrefix(fields[0], "!"):
		return !truthy(c.variant[fields[0][1:]]), nil
	case len(fields) == 1:
		return truthy(c.variant[fields[0]]), nil
	case len(fields) == 3 && fields[1] == "==":
		return fmt.Sprint(c.variant[fields[0]]) == fields[2], nil
	case len(fields) == 3 && fields[1] == "!=":
		return fmt.Sprint(c.variant[fields[0]]) != fields[2], nil
	}
	return false, fmt.Errorf("condition %q is not NAME, !NAME, NAME == value or NAME != value", cond)
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
