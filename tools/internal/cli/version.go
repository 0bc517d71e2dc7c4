package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// commit is set by whoever builds from a copy without history: -ldflags -X.
var commit string

// Version is the module's version, or the commit that it was built from.
func Version() string {
	b := build()
	if b.version == devel && b.commit != "" {
		return b.commit
	}
	return b.version
}

// devel is the version of a program that was not built from a tag.
const devel = "(devel)"

// buildInfo is what a program was made of.
type buildInfo struct {
	version, commit, date string
	modified              bool // whether files differ from the commit
	settings              []string
}

func build() buildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return buildInfo{version: "unknown", commit: commit}
	}
	b := buildInfo{version: info.Main.Version, commit: commit}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.time":
			b.date = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		case "CGO_ENABLED":
			b.settings = append(b.settings, map[string]string{"1": "with cgo", "0": "without cgo"}[s.Value])
		case "-tags":
			b.settings = append(b.settings, "tags "+s.Value)
		}
	}
	if b.version == "" {
		b.version = devel
	}
	return b
}

// Describe says which build this is: the version and system on the first line, then
// the commit and how it was built.
func Describe(program string) string { return build().describe(program) }

func (b buildInfo) describe(program string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s %s %s/%s\n", program, b.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	from := b.commit
	if from == "" {
		from = "not recorded"
	}
	if b.modified {
		from += ", with changes"
	}
	if b.date != "" {
		from += ", " + b.date
	}
	fmt.Fprintf(&text, "commit  %s\n", from)
	fmt.Fprintf(&text, "built   %s\n", strings.Join(append([]string{runtime.Compiler}, b.settings...), ", "))
	return text.String()
}
