package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// page is the package's page in Markdown. Links to what others document lead to
// their page where one is written, and to pkg.go.dev otherwise.
func (p *pkg) page(all []*pkg) ([]byte, error) {
	w := &writer{pkg: p, all: all}
	w.printf("---\ntitle: %s\noutline: [2, 3]\neditLink: false\n---\n\n", p.doc.Name)
	w.printf("# %s\n\n```go\nimport %q\n```\n\n", p.doc.Name, p.doc.ImportPath)
	w.text(p.doc.Doc)
	w.examples(p.doc.Examples)
	w.values("Constants", p.doc.Consts)
	w.values("Variables", p.doc.Vars)
	if len(p.doc.Funcs) > 0 {
		w.printf("## Functions\n\n")
		w.functions(p.doc.Funcs)
	}
	for _, t := range p.doc.Types {
		w.heading(2, "type "+t.Name, t.Name, t.Decl)
		w.declaration(t.Decl)
		w.text(t.Doc)
		w.examples(t.Examples)
		w.group(t.Consts)
		w.group(t.Vars)
		w.functions(t.Funcs)
		w.functions(t.Methods)
	}
	return w.Bytes(), w.err
}

// writer collects a page.
type writer struct {
	bytes.Buffer
	pkg *pkg
	all []*pkg
	err error // the first
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// text writes a doc comment. Braces in it are no expressions of Vue's.
func (w *writer) text(text string) {
	printer := w.pkg.doc.Printer()
	printer.HeadingLevel = 3
	printer.HeadingID = func(*comment.Heading) string { return "" }
	printer.DocLinkURL = w.link
	markdown := string(printer.Markdown(w.pkg.doc.Parser().Parse(text)))
	w.printf("%s\n", strings.ReplaceAll(markdown, "{{", "&#123;&#123;"))
}

// link is the address of what a doc comment names in brackets.
func (w *writer) link(link *comment.DocLink) string {
	anchor := ""
	if link.Name != "" {
		anchor = "#" + link.Name
		if link.Recv != "" {
			anchor = "#" + link.Recv + "." + link.Name
		}
	}
	if link.ImportPath == "" {
		return anchor
	}
	folder, ours := strings.CutPrefix(link.ImportPath, root)
	if ours && slices.ContainsFunc(w.all, func(p *pkg) bool { return p.folder == folder }) {
		to, err := filepath.Rel(path.Dir(w.pkg.folder), folder+".md")
		w.fail(err)
		return filepath.ToSlash(to) + anchor
	}
	return "https://pkg.go.dev/" + link.ImportPath + anchor
}

// values writes the constants or variables that belong to no type.
func (w *writer) values(title string, values []*doc.Value) {
	if len(values) > 0 {
		w.printf("## %s\n\n", title)
		w.group(values)
	}
}

func (w *writer) group(values []*doc.Value) {
	for _, v := range values {
		for _, name := range v.Names {
			if ast.IsExported(name) {
				w.printf("<a id=%q></a>\n", name)
			}
		}
		w.printf("\n")
		w.declaration(v.Decl)
		w.text(v.Doc)
	}
}

func (w *writer) functions(functions []*doc.Func) {
	for _, f := range functions {
		name, title := f.Name, "func "+f.Name
		if f.Recv != "" {
			receiver := strings.TrimLeft(f.Recv, "*")
			receiver, _, _ = strings.Cut(receiver, "[")
			name, title = receiver+"."+f.Name, "func ("+receiver+") "+f.Name
		}
		w.heading(3, title, name, f.Decl)
		w.declaration(f.Decl)
		w.text(f.Doc)
		w.examples(f.Examples)
	}
}

// heading writes a heading with an anchor that pkg.go.dev has too, and a link to
// the source.
func (w *writer) heading(level int, title, anchor string, node ast.Node) {
	at := w.pkg.files.Position(node.Pos())
	w.printf("%s %s {#%s}\n\n", strings.Repeat("#", level), title, anchor)
	w.printf("[source](https://github.com/gemwire/gemwire/blob/main/%s#L%d)\n\n", filepath.ToSlash(at.Filename),
		at.Line)
}

func (w *writer) declaration(node ast.Node) {
	var text bytes.Buffer
	w.fail(format.Node(&text, w.pkg.files, node))
	w.printf("```go\n%s\n```\n\n", text.String())
}

func (w *writer) examples(examples []*doc.Example) {
	for _, e := range examples {
		name := "Example"
		if e.Suffix != "" {
			name += ": " + e.Suffix
		}
		w.printf("::: details %s\n\n", name)
		w.text(e.Doc)
		w.example(e)
		if e.Output != "" {
			w.printf("```text\n%s```\n\n", e.Output)
		}
		w.printf(":::\n\n")
	}
}

// example writes the body of an example without its braces.
func (w *writer) example(e *doc.Example) {
	var text bytes.Buffer
	w.fail(format.Node(&text, w.pkg.files, e.Code))
	code := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text.String(), "{"), "}"))
	code = strings.ReplaceAll(code, "\n\t", "\n")
	if body, _, cut := strings.Cut(code, "// Output:"); cut {
		code = strings.TrimSpace(body)
	}
	w.printf("```go\n%s\n```\n\n", code)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
