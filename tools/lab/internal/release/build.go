package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/tools/lab/internal/notices"
)

// BuildOptions say what is built of a release.
type BuildOptions struct {
	// Command is the folder of the command below the root.
	Command string
	Targets []Target
	// Package is the script that leaves the npm package's tarball in dist, Library
	// the one that leaves the C library in dist/c, a folder for each platform; with
	// their arguments. An empty one is left out.
	Package, Library []string
	// App is the script that packs what the command carries under the tag webapp, into
	// AppFile of the command's module. Without one the command carries nothing.
	App     []string
	AppFile string
	// CommitVariable is the command's variable that says which commit it was built
	// from, by its package below the module: cli.commit.
	CommitVariable string
	// SigningKey is a key of ssh-keygen's that signs the checksums; without one they
	// are not signed.
	SigningKey string
	// Parts lists what the command carries beside Go's modules, for the files below a root: crates
	// where wgpu is linked, packages of npm where the app is inside.
	Parts func(ctx context.Context, root string) ([]notices.Part, error)
	// Notices and LibraryNotices are the files with the licences of third parties that
	// go with the command and with the C library, below the root.
	Notices, LibraryNotices string
	// Report hears of each file when it is there, LeftOut why something is not.
	Report  func(name string, bytes int64)
	LeftOut func(reason string)
}

// OwnBuild is what this repository gives out, but for the targets.
func OwnBuild() BuildOptions {
	return BuildOptions{
		Command: "tools/cmd/gemwire",
		Package: []string{"scripts/wasm.sh", "pack"},
		Library: []string{"scripts/c-library.sh", "all"},
		App:     []string{"scripts/webapp.sh", "pack"}, AppFile: "internal/webapp/app.zip",

		CommitVariable: "internal/cli.commit",
		Parts:          notices.Products[0].List,

		Notices: "THIRD-PARTY-NOTICES.txt", LibraryNotices: "bindings/c/THIRD-PARTY-NOTICES.txt",
	}
}

// Build makes the files of a tagged version in a new folder, out of the tags and
// nothing of the checkout. Work is an empty folder.
func (r *Repository) Build(ctx context.Context, version, out, work string, o BuildOptions) error {
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is there already; remove it first", ErrBuild, out)
	}
	b, err := r.newBuild(ctx, version, work, o)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{b.commands, b.npm, b.library, b.notes} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("%w: %w", ErrBuild, err)
		}
	}
	if err := writeChecksums(b.out); err != nil {
		return err
	}
	if err := sign(ctx, filepath.Join(b.out, checksumsFile), o.SigningKey); err != nil {
		return fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.CopyFS(out, os.DirFS(b.out))
}

// build is one run of Build.
type build struct {
	BuildOptions
	repo    *Repository
	version string
	module  Module // the command's
	modules []Module
	tools   *toolchain
	root    string // the tagged files
	out     string // where files are gathered
	commit  string
	at      time.Time // of the tagged commit, and of all that is packed
}

func (r *Repository) newBuild(ctx context.Context, version, work string, o BuildOptions) (*build, error) {
	b := &build{
		BuildOptions: o,
		repo:         r,
		version:      version,
		out:          filepath.Join(work, "out"),
		root:         filepath.Join(work, "tree"),
	}
	published, err := r.Published(ctx)
	if err != nil {
		return nil, err
	}
	published = slices.DeleteFunc(published, func(p Published) bool { return p.Version != version })
	if len(published) == 0 {
		return nil, fmt.Errorf("%w: no module is tagged with %s", ErrVersion, version)
	}
	b.commit = published[0].Commit
	if b.at, err = r.commitTime(ctx, b.commit); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return nil, err
	}
	if _, err := r.checkout(ctx, b.commit, b.root); err != nil {
		return nil, err
	}
	if b.modules, err = modulesIn(b.root); err != nil {
		return nil, err
	}
	for _, m := range b.modules {
		if _, ok := below(o.Command, m.Folder); ok && len(m.Folder) > len(b.module.Folder) {
			b.module = m
		}
	}
	if b.module.Path == "" {
		return nil, fmt.Errorf("%w: %s is in no module", ErrModules, o.Command)
	}
	proxy := filepath.Join(work, "proxy")
	if err := r.WriteProxy(ctx, proxy, published); err != nil {
		return nil, err
	}
	b.tools, err = newToolchain(ctx, work, proxy, paths(b.modules))
	return b, err
}

// below is the rest of a path below a folder.
func below(name, folder string) (string, bool) {
	if len(name) > len(folder) && name[:len(folder)] == folder && name[len(folder)] == '/' {
		return name[len(folder)+1:], true
	}
	return "", false
}

// commands builds the command for each target, as `go install` of the tag would.
func (b *build) commands(ctx context.Context) error {
	inside, _ := below(b.Command, b.module.Folder)
	name := path.Base(b.Command)
	flags, err := b.flags(ctx)
	if err != nil {
		return err
	}
	var parts []notices.Part
	if b.Parts != nil && len(b.Targets) > 0 {
		if parts, err = b.Parts(ctx, b.root); err != nil {
			return err
		}
	}
	for _, t := range b.Targets {
		tools := &toolchain{folder: b.tools.folder, env: append(slices.Clone(b.tools.env), t.env()...)}
		install := append(append([]string{"install"}, flags...), b.module.Path+"/"+inside+"@"+b.version)
		if _, err := tools.run(ctx, tools.folder, install...); err != nil {
			return fmt.Errorf("%s for %s: %w", name, t, err)
		}
		program, err := tools.installed(ctx, t, name)
		if err != nil {
			return err
		}
		stem := fmt.Sprintf("%s_%s_%s_%s", name, b.version, t.OS, t.Arch)
		if err := writeSBOM(filepath.Join(b.out, stem+".cdx.json"), program, t, parts); err != nil {
			return err
		}
		b.report(stem + ".cdx.json")
		files := []packedFile{{Name: t.program(name), From: program, Mode: 0o755}}
		beside, err := b.licences(b.Notices)
		if err != nil {
			return err
		}
		archive := stem + ".tar.gz"
		if t.OS == "windows" {
			archive = stem + ".zip"
		}
		if err := pack(filepath.Join(b.out, archive), append(files, beside...), b.at); err != nil {
			return err
		}
		b.report(archive)
	}
	return nil
}

// flags are those of go install, for all targets.
func (b *build) flags(ctx context.Context) ([]string, error) {
	linker := "-s -w -buildid=" // its build id would tell where the module cache lay
	if b.CommitVariable != "" {
		linker += " -X " + b.module.Path + "/" + b.CommitVariable + "=" + b.commit
	}
	flags := []string{"-ldflags=" + linker}
	if len(b.App) == 0 || len(b.Targets) == 0 {
		return flags, nil
	}
	return append(flags, "-tags=webapp"), b.placeApp(ctx)
}

// placeApp packs the app and puts it into the fetched copy of the command's module, of
// which tags hold no built files.
func (b *build) placeApp(ctx context.Context) error {
	if _, err := b.script(ctx, b.App); err != nil {
		return err
	}
	out, err := b.tools.run(ctx, b.tools.folder, "mod", "download", "-json", b.module.Path+"@"+b.version)
	if err != nil {
		return err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return err
	}
	inside := filepath.FromSlash(b.AppFile)
	app, err := os.ReadFile(filepath.Join(b.root, filepath.FromSlash(b.module.Folder), inside))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(module.Dir, inside), app, 0o644)
}

// installed is where go install has put a program.
func (t *toolchain) installed(ctx context.Context, target Target, name string) (string, error) {
	bin := filepath.Join(t.folder, "gopath", "bin")
	host, err := runIn(ctx, t.folder, nil, nil, "go", "env", "GOHOSTOS", "GOHOSTARCH")
	if err != nil {
		return "", err
	}
	if host != target.OS+"\n"+target.Arch {
		bin = filepath.Join(bin, target.OS+"_"+target.Arch)
	}
	return filepath.Join(bin, target.program(name)), nil
}

// licences are the files that go with every program: ours, and those of third parties.
func (b *build) licences(notices string) ([]packedFile, error) {
	names, err := filepath.Glob(filepath.Join(b.root, "LICENSE*"))
	if err != nil {
		return nil, err
	}
	var files []packedFile
	for _, name := range names {
		files = append(files, packedFile{Name: filepath.Base(name), From: name, Mode: 0o644})
	}
	if notices != "" {
		from := filepath.Join(b.root, filepath.FromSlash(notices))
		files = append(files, packedFile{Name: path.Base(notices), From: from, Mode: 0o644})
	}
	return files, nil
}

// script runs one of the tagged files, with the version in VERSION, and returns
// what it says.
func (b *build) script(ctx context.Context, line []string) (string, error) {
	return runIn(
		ctx,
		b.root,
		[]string{"VERSION=" + b.version},
		nil,
		"bash",
		append([]string{"-c", `exec "$0" "$@" 2>&1`}, line...)...)
}

// npm makes the npm package's tarball.
func (b *build) npm(ctx context.Context) error {
	if len(b.Package) == 0 {
		return nil
	}
	if _, err := b.script(ctx, b.Package); err != nil {
		return err
	}
	tarballs, err := filepath.Glob(filepath.Join(b.root, "dist", "*.tgz"))
	if err == nil && len(tarballs) != 1 {
		err = fmt.Errorf("%d tarballs of the npm package", len(tarballs))
	}
	if err != nil {
		return err
	}
	name := filepath.Base(tarballs[0])
	if err := os.Rename(tarballs[0], filepath.Join(b.out, name)); err != nil {
		return err
	}
	b.report(name)
	return nil
}

// library makes the C library, an archive for each platform that this machine has
// the tools for.
func (b *build) library(ctx context.Context) error {
	if len(b.Library) == 0 {
		return nil
	}
	said, err := b.script(ctx, b.Library)
	if err != nil {
		return err
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, " is not built: ") && b.LeftOut != nil {
			b.LeftOut(strings.TrimSpace(line))
		}
	}
	folder := filepath.Join(b.root, "dist", "c")
	platforms, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		name := fmt.Sprintf("libgemwire_%s_%s.tar.gz", b.version, p.Name())
		if strings.HasPrefix(p.Name(), "windows") {
			name = strings.TrimSuffix(name, ".tar.gz") + ".zip"
		}
		files, err := b.filesOf(filepath.Join(folder, p.Name()))
		if err != nil {
			return err
		}
		if err := pack(filepath.Join(b.out, name), files, b.at); err != nil {
			return err
		}
		b.report(name)
	}
	return nil
}

// filesOf are all files below a folder, and the licences.
func (b *build) filesOf(folder string) ([]packedFile, error) {
	files, err := b.licences(b.LibraryNotices)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(folder, func(from string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, from)
		files = append(files, packedFile{Name: filepath.ToSlash(name), From: from, Mode: 0o644})
		return err
	})
	return files, err
}

// notes writes what is new since the version before.
func (b *build) notes(ctx context.Context) error {
	d := &Draft{Version: b.version, Modules: b.modules, Tagged: b.commit}
	var err error
	if d.Base, err = b.repo.commitOf(ctx, b.commit+"^"); err != nil {
		return err
	}
	if d.Last, err = b.repo.versionBefore(ctx, b.version); err != nil {
		return err
	}
	differences, err := b.repo.Compare(ctx, d, filepath.Join(b.tools.folder, "before"))
	if err != nil {
		return err
	}
	text, err := b.repo.Notes(ctx, d, differences)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.out, "NOTES.md"), []byte(text), 0o644); err != nil {
		return err
	}
	b.report("NOTES.md")
	return nil
}

func (b *build) report(name string) {
	if info, err := os.Stat(filepath.Join(b.out, name)); err == nil && b.Report != nil {
		b.Report(name, info.Size())
	}
}
