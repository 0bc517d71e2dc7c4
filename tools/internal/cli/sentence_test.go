package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/ollama"
)

func TestSentence(t *testing.T) {
	_, number := strconv.ParseFloat("hot", 64)
	_, missing := os.Stat("/nope")
	syntax := json.Unmarshal([]byte(`{"a": x}`), &struct{}{})
	early := json.Unmarshal([]byte(`{"a"`), &struct{}{})
	kind := json.Unmarshal([]byte(`{"a": "x"}`), &struct{ A []int }{})
	half := json.Unmarshal([]byte(`{"a": 0.5}`), &struct{ A int }{})
	huge := json.Unmarshal([]byte(`{"a": 1e99}`), &struct{ A float32 }{})
	create := &fs.PathError{Op: "create", Path: filepath.FromSlash("/a/b"), Err: syscall.ENOENT}
	dns := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x.invalid", IsNotFound: true}}
	server := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}
	refused := &net.OpError{Op: "dial", Addr: server, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	listen := &net.OpError{Op: "listen", Addr: server, Err: os.NewSyscallError("bind", syscall.EACCES)}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("plain.\n"), "plain"},
		{errors.New("one\ntwo"), "one; two"},
		{errors.New("a\xffb"), "a�b"},
		{number, `"hot" is not a number`},
		{missing, "/nope does not exist; check the path"},
		{fmt.Errorf("x: %w; do y", missing), "x: /nope does not exist; do y"},
		{&fs.PathError{Op: "open", Path: "/f", Err: syscall.EACCES}, "permission to use /f was denied"},
		{&fs.PathError{Op: "read", Path: "/f", Err: syscall.EISDIR}, "/f is a folder; name a file"},
		{&fs.PathError{Op: "write", Path: "/f", Err: syscall.ENOSPC}, "the disk of /f is full"},
		{&fs.PathError{Op: "read", Path: "/f", Err: syscall.EIO}, "/f cannot be read: input/output error"},
		{create, "the folder " + filepath.FromSlash("/a") + " does not exist; check the path"},
		{fmt.Errorf("x: %w", syntax), "x: it is no JSON: something is wrong at byte 7"},
		{early, "it is no JSON: it ends too early"},
		{kind, "there is a text where a list belongs, at byte 9"},
		{half, "A is 0.5, at byte 9; wanted a whole number"},
		{huge, "A is 1e99, at byte 10; wanted a smaller one"},
		{dns, "there is no server x.invalid, or no network here"},
		{refused, "nothing answers at 127.0.0.1:9"},
		{listen, "permission denied"},
		{fmt.Errorf("gguf: a: gguf: b %w", gguf.ErrParts), "a: b files do not belong together"},
		{fmt.Errorf("not here; get it: %w", ollama.ErrNotFound), "not here; get it"},
		{fmt.Errorf("no file %q; check the path: %w", "x", fs.ErrNotExist), `no file "x"; check the path`},
	} {
		if got := Sentence(tt.err); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.err, got, tt.want)
		}
	}
}

// An old name of a flag counts, and is said.
func TestRenamedFlag(t *testing.T) {
	for _, name := range []string{"gpu", "adapter"} {
		var f DeviceFlags
		env, errs := quiet()
		flags := newFlags(&f)
		if err := flags.Parse([]string{"--" + name, "nvidia"}); err != nil || f.GPUName != "nvidia" {
			t.Fatalf("--%s: %+v, %v", name, f, err)
		}
		env.sayRenamed(flags)
		want := map[string]string{"gpu": "", "adapter": "x: --adapter is now --gpu\n"}[name]
		if got := errs.String(); got != want {
			t.Errorf("--%s: it says %q, want %q", name, got, want)
		}
	}
}

func quiet() (*Environment, *strings.Builder) {
	errs := &strings.Builder{}
	return &Environment{Program: "x", Err: errs}, errs
}

func newFlags(f *DeviceFlags) *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Register(flags)
	return flags
}

// Values of any length are cut, paths are not.
func TestSentenceCutsValues(t *testing.T) {
	long := strings.Repeat("a", 3000)
	path := filepath.Join(t.TempDir(), strings.Repeat("folder/", 8), "file")
	for text, want := range map[string]string{
		fmt.Sprintf("--regex: pattern %q: missing )", "x y"+long): `--regex: pattern "x y` + long[:56] + `…": missing )`,
		"--temperature is " + long + "; wanted a number":          "--temperature is " + long[:60] + "…; wanted a number",
		path + " is long, and no value":                           path + " is long, and no value",
	} {
		if got := Sentence(errors.New(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	blocked := &fs.PathError{Op: "create", Path: filepath.Join(t.TempDir(), "x"), Err: syscall.ENOENT}
	if got := Sentence(blocked); !strings.HasPrefix(got, "no file can be made in ") {
		t.Errorf("a folder that is there: %q", got)
	}
}
