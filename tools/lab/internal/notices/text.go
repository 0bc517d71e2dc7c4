package notices

import (
	"fmt"
	"slices"
	"strings"
)

const (
	listed = "  " // before a part's name in the list at the head
	rule   = "--------------------------------------------------------------------------------"
)

// render is the file of a product: a list of all parts, then each text once, under the names of those it is of.
func render(product string, parts []Part) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Third-party notices of %s\n\n", product)
	b.WriteString("gemwire is licensed under MIT or Apache-2.0, as you choose. It contains the works of others " +
		"listed here,\n" +
		"on some systems fewer. Their licenses follow. Where a work leaves a choice, one license is taken.\n\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "%s%s", listed, p.key())
		if p.Licence != "" {
			fmt.Fprintf(&b, " (%s)", p.Licence)
		}
		b.WriteByte('\n')
	}
	var texts []string
	of := map[string][]string{}
	for _, p := range parts {
		if len(p.Texts) == 0 {
			return "", fmt.Errorf("%w: %s: %s brings no license that is known here, or its package is not installed",
				ErrNotices, product, p.key())
		}
		text := strings.Join(p.Texts, "\n\n")
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], p.key())
	}
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(of[text], "\n"), rule, text)
	}
	return b.String(), nil
}

// compare holds a file to a list of parts: each is listed, each listed has its text, and nothing else is there.
func compare(file, text string, parts []Part) error {
	head, texts, _ := strings.Cut(text, "\n"+rule+"\n")
	var there []string
	for line := range strings.Lines(head) {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), listed); ok {
			name, _, _ = strings.Cut(name, " (")
			there = append(there, name)
		}
	}
	texts = "\n" + texts
	var wrong []string
	for _, p := range parts {
		switch {
		case !slices.Contains(there, p.key()):
			wrong = append(wrong, "without "+p.key())
		case !strings.Contains(texts, "\n"+p.key()+"\n"):
			wrong = append(wrong, "no license of "+p.key())
		}
	}
	for _, name := range there {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.key() == name }) {
			wrong = append(wrong, "with "+name+", which is not used")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %s: %s; run bin/lab notices", ErrNotices, file, strings.Join(wrong, "; "))
	}
	return nil
}
