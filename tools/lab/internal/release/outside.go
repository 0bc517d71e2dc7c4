package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Checks say what an empty module outside has to be able to do with each of the
// released ones, alone: fetch it, compile a short program, run it.
type Checks struct {
	// Programs is the folder of the programs below the root: Programs/FOLDER/main.go
	// for the module in FOLDER, ending with what it prints in a comment that begins
	// with "Output:". A module without one has its commands installed.
	Programs string
	// Runs are command lines of installed commands, by their module's folder.
	Runs map[string][]Run
	// Files are what a module's program finds beside it, below the root.
	Files map[string][]string
	// Without are modules that a module must not bring along, by its folder.
	Without map[string][]string
}

// A Run is a command line, and what it prints.
type Run struct {
	Line   []string
	Output string
}

// OwnChecks is that of this repository.
var OwnChecks = Checks{
	Programs: "examples/go",
	Runs: map[string][]Run{
		"tools": {{
			[]string{"gemwire", "run", "--temperature", "0", "What is the capital of France?"},
			"Paris is the capital of France.",
		}},
	},
	Files: map[string][]string{
		"gemma4":     {"gemma4/nano/nano.gguf"},
		"multimodal": {"gemma4/nano/nano.gguf", "testdata/conformance/nano/scene2.png"},
		"finetune":   {"gemma4/nano/nano.gguf"},
	},
	Without: map[string][]string{
		"quant": {"github.com/cogentcore/webgpu", "github.com/gemwire/gemwire/wgslkit"},
		"gguf":  {"github.com/cogentcore/webgpu", "github.com/gemwire/gemwire/wgslkit"},
	},
}

// A Checked is a module that was used from outside.
type Checked struct {
	Module Module
	Did    string   // "built and ran its program", …
	Brings []string // the modules of its build list but itself
	Took   time.Duration
}

// CheckOutside uses each module of a draft from outside, by way of a file proxy that it
// lays out in folder, and reports each.
func (r *Repository) CheckOutside(ctx context.Context, d *Draft, checks Checks, folder string,
	report func(Checked)) error {
	proxy := filepath.Join(folder, "proxy")
	if err := r.WriteProxy(ctx, proxy, d.Published()); err != nil {
		return err
	}
	root := filepath.Join(folder, "tree")
	if _, err := r.checkout(ctx, d.Tagged, root); err != nil {
		return err
	}
	tools, err := newToolchain(ctx, folder, proxy, paths(d.Modules))
	if err != nil {
		return err
	}
	sums, err := knownSums(root, d.Modules)
	if err != nil {
		return err
	}
	if err := unused(checks, root, d.Modules); err != nil {
		return err
	}
	for _, m := range d.Modules {
		o := &outside{tools: tools, checks: checks, root: root, version: d.Version, module: m,
			folder: filepath.Join(folder, "outside", filepath.FromSlash(m.Folder))}
		begun := time.Now()
		checked, err := o.check(ctx, sums)
		if err != nil {
			return fmt.Errorf("%w: %s %s: %w", ErrOutside, m.Path, d.Version, err)
		}
		checked.Took = time.Since(begun)
		report(checked)
	}
	return nil
}

// paths are the import paths of modules.
func paths(modules []Module) []string {
	list := make([]string, len(modules))
	for i, m := range modules {
		list[i] = m.Path
	}
	return list
}

// unused refuses checks of modules which are not there: it would
// check less than it says.
func unused(checks Checks, root string, modules []Module) error {
	spoken := slices.Collect(maps.Keys(checks.Files))
	spoken = slices.AppendSeq(spoken, maps.Keys(checks.Without))
	spoken = slices.AppendSeq(spoken, maps.Keys(checks.Runs))
	for _, folder := range spoken {
		if !slices.ContainsFunc(modules, func(m Module) bool { return m.Folder == folder }) {
			return fmt.Errorf("%w: the checks name %s, which go.work does not use", ErrModules, folder)
		}
	}
	return filepath.WalkDir(
		filepath.Join(root, filepath.FromSlash(checks.Programs)),
		func(name string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Base(name) != "main.go" {
				return err
			}
			folder, err := filepath.Rel(filepath.Join(root, filepath.FromSlash(checks.Programs)), filepath.Dir(name))
			if err == nil && !slices.ContainsFunc(modules,
				func(m Module) bool { return m.Folder == filepath.ToSlash(folder) }) {
				err = fmt.Errorf("%w: %s/%s is for no module", ErrModules, checks.Programs, filepath.ToSlash(folder))
			}
			return err
		},
	)
}

// outside is an empty module that tries one of the released ones.
type outside struct {
	tools   *toolchain
	checks  Checks
	root    string // of the released files, for programs and what they read
	folder  string // of the empty module
	version string
	module  Module
}

func (o *outside) check(ctx context.Context, sums string) (Checked, error) {
	p := Checked{Module: o.module}
	if err := o.tools.outsider(ctx, o.folder, sums); err != nil {
		return p, err
	}
	if _, err := o.tools.run(ctx, o.folder, "get", o.module.Path+"@"+o.version); err != nil {
		return p, err
	}
	program, err := os.ReadFile(
		filepath.Join(o.root, filepath.FromSlash(o.checks.Programs), filepath.FromSlash(o.module.Folder), "main.go"))
	switch {
	case err == nil:
		p.Did = "its program built and ran"
		err = o.runProgram(ctx, string(program))
	case errors.Is(err, os.ErrNotExist):
		p.Did, err = o.runCommands(ctx)
	}
	if err != nil {
		return p, err
	}
	p.Brings, err = o.brings(ctx)
	return p, err
}

// runProgram builds the module's program, runs it, and compares what it prints.
func (o *outside) runProgram(ctx context.Context, text string) error {
	_, want, found := strings.Cut(text, "// Output:")
	if !found {
		return fmt.Errorf("its program does not say what it prints, in a comment at its end")
	}
	if err := os.WriteFile(filepath.Join(o.folder, "main.go"), []byte(text), 0o644); err != nil {
		return err
	}
	for _, name := range o.checks.Files[o.module.Folder] {
		if err := os.Symlink(filepath.Join(o.root, filepath.FromSlash(name)),
			filepath.Join(o.folder, filepath.Base(name))); err != nil {
			return err
		}
	}
	// What the packages need that it imports beside the module's first.
	if _, err := o.tools.run(ctx, o.folder, "get", "."); err != nil {
		return err
	}
	program := filepath.Join(o.folder, "program")
	if _, err := o.tools.run(ctx, o.folder, "build", "-o", program, "."); err != nil {
		return err
	}
	got, err := runIn(ctx, o.folder, nil, nil, program)
	if err != nil {
		return err
	}
	want = strings.TrimSpace(strings.ReplaceAll(want, "\n//", "\n"))
	if strings.TrimSpace(got) != want {
		return fmt.Errorf("its program printed %q, wanted %q", got, want)
	}
	return nil
}

// runCommands installs a module's commands and runs some.
func (o *outside) runCommands(ctx context.Context) (string, error) {
	list, err := o.tools.run(ctx, o.folder, "list", "-e", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`,
		o.module.Path+"/...")
	if err != nil {
		return "", err
	}
	commands := slices.DeleteFunc(strings.Fields(list),
		func(path string) bool { return strings.Contains(path, "/internal/") })
	if len(commands) == 0 {
		return "", fmt.Errorf("it has neither a program in %s/%s nor a command", o.checks.Programs, o.module.Folder)
	}
	install := []string{"install"}
	var names []string
	for _, command := range commands {
		install, names = append(install, command+"@"+o.version), append(names, path.Base(command))
	}
	if _, err := o.tools.run(ctx, o.folder, install...); err != nil {
		return "", err
	}
	for _, run := range o.checks.Runs[o.module.Folder] {
		got, err := runIn(
			ctx,
			o.folder,
			nil,
			nil,
			filepath.Join(o.tools.folder, "gopath", "bin", run.Line[0]),
			run.Line[1:]...)
		if err != nil {
			return "", err
		}
		if got != run.Output {
			return "", fmt.Errorf("%s printed %q, wanted %q", strings.Join(run.Line, " "), got, run.Output)
		}
	}
	return "installed " + strings.Join(names, ", "), nil
}

// brings lists the modules that come with the module, and refuses those that must
// not: in the whole graph, whether a package of theirs is used or not.
func (o *outside) brings(ctx context.Context) ([]string, error) {
	list, err := o.tools.run(ctx, o.folder, "list", "-m", "-f", "{{if not .Main}}{{.Path}}{{end}}", "all")
	if err != nil {
		return nil, err
	}
	modules := strings.Fields(list)
	for _, unwanted := range o.checks.Without[o.module.Folder] {
		if slices.Contains(modules, unwanted) {
			return nil, fmt.Errorf("it brings %s along", unwanted)
		}
	}
	return slices.DeleteFunc(modules, func(m string) bool { return m == o.module.Path }), nil
}
