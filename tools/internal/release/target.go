package release

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// A Target is a platform to build for, with its C compiler: the command needs cgo.
type Target struct {
	OS, Arch string
	CC       string
}

func (t Target) String() string { return t.OS + "/" + t.Arch }

// env is what the go command has to be told.
func (t Target) env() []string {
	return []string{"GOOS=" + t.OS, "GOARCH=" + t.Arch, "CGO_ENABLED=1", "CC=" + t.CC}
}

// program is the name of a program's file.
func (t Target) program(name string) string {
	if t.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// compilers are the names that C compilers for other platforms have.
var compilers = []struct {
	os, arch string
	names    []string
}{
	{"linux", "amd64", []string{"x86_64-linux-gnu-gcc"}},
	{"linux", "arm64", []string{"aarch64-linux-gnu-gcc"}},
	{"darwin", "amd64", nil},
	{"darwin", "arm64", nil},
	{"windows", "amd64", []string{"x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-clang"}},
	{"windows", "arm64", []string{"aarch64-w64-mingw32-clang"}},
}

// Targets are the platforms that this machine can build for, and a sentence for
// each that it cannot. CC_FOR_linux_arm64 and the like name a compiler, as they do
// for Go's own build.
func Targets(getenv func(string) string) (list []Target, missing []string) {
	return targetsOn(runtime.GOOS, runtime.GOARCH, getenv, exec.LookPath)
}

func targetsOn(hostOS, hostArch string, getenv func(string) string, look func(string) (string, error)) (list []Target, missing []string) {
	for _, c := range compilers {
		variable := "CC_FOR_" + c.os + "_" + c.arch
		names := c.names
		switch {
		case getenv(variable) != "":
			names = []string{getenv(variable)}
		case c.os == hostOS && c.arch == hostArch && getenv("CC") != "":
			names = []string{getenv("CC")}
		case c.os == hostOS && (c.arch == hostArch || hostOS == "darwin"):
			names = []string{"gcc", "clang"}
			if hostOS == "darwin" {
				names = []string{"clang"} // for both processors
			}
		case c.os == "darwin":
			missing = append(missing, fmt.Sprintf("%s/%s: wants a Mac, whose frameworks cannot be had elsewhere", c.os, c.arch))
			continue
		}
		found := false
		for _, name := range names {
			// A compiler may come with flags.
			if fields := strings.Fields(name); len(fields) > 0 {
				if _, err := look(fields[0]); err == nil {
					list, found = append(list, Target{c.os, c.arch, name}), true
					break
				}
			}
		}
		if !found {
			missing = append(missing, fmt.Sprintf("%s/%s: wants the C compiler %s, or another that %s names", c.os, c.arch, strings.Join(names, " or "), variable))
		}
	}
	return list, missing
}
