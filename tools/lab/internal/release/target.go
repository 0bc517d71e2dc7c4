package release

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// A Target is a platform to build for, with its C compiler. Without one the program is built without cgo: it has no
// WebGPU library linked in, and loads one that it finds.
type Target struct {
	OS, Arch string
	CC       string
}

func (t Target) String() string { return t.OS + "/" + t.Arch }

// env is what the go command has to be told.
func (t Target) env() []string {
	if t.CC == "" {
		return []string{"GOOS=" + t.OS, "GOARCH=" + t.Arch, "CGO_ENABLED=0"}
	}
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
	{"freebsd", "amd64", nil},
	{"freebsd", "arm64", nil},
}

// Targets are the platforms to build for, and a sentence for each that this machine can build only without cgo.
// CC_FOR_linux_arm64 and the like name a compiler, as they do for Go's own build.
func Targets(getenv func(string) string) (list []Target, without []string) {
	return targetsOn(runtime.GOOS, runtime.GOARCH, getenv, exec.LookPath)
}

func targetsOn(hostOS, hostArch string, getenv func(string) string,
	look func(string) (string, error)) (list []Target, without []string) {
	for _, c := range compilers {
		t := Target{OS: c.os, Arch: c.arch}
		variable := "CC_FOR_" + c.os + "_" + c.arch
		names := c.names
		switch {
		case getenv(variable) != "":
			names = []string{getenv(variable)}
		case c.os == "freebsd":
			without = append(without, fmt.Sprintf("%s is built without cgo: there is no wgpu for it to link", t))
			list = append(list, t)
			continue
		case c.os == hostOS && c.arch == hostArch && getenv("CC") != "":
			names = []string{getenv("CC")}
		case c.os == hostOS && (c.arch == hostArch || hostOS == "darwin"):
			names = []string{"gcc", "clang"}
			if hostOS == "darwin" {
				names = []string{"clang"} // for both processors
			}
		case c.os == "darwin":
			without = append(without, fmt.Sprintf("%s is built without cgo: to link wgpu needs a Mac, whose frameworks "+
				"are not available elsewhere", t))
			list = append(list, t)
			continue
		}
		if t.CC = firstCompiler(names, look); t.CC == "" {
			without = append(without, fmt.Sprintf("%s is built without cgo: to link wgpu needs the C compiler %s, or "+
				"another one named by %s", t, strings.Join(names, " or "), variable))
		}
		list = append(list, t)
	}
	return list, without
}

// firstCompiler is the first of names that there is; a name may come with flags.
func firstCompiler(names []string, look func(string) (string, error)) string {
	for _, name := range names {
		if fields := strings.Fields(name); len(fields) > 0 {
			if _, err := look(fields[0]); err == nil {
				return name
			}
		}
	}
	return ""
}
