package cli

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"syscall"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/ollama"
)

// Sentence is an error on one line, in words for whoever typed the command: what the
// standard library says of files, numbers and addresses is put plainly.
func Sentence(err error) string {
	text := err.Error()
	for _, e := range causes(err) {
		if plain := plainly(e); plain != "" {
			text = strings.Replace(text, e.Error(), plain, 1)
		}
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "), "�")
	text = packageName.ReplaceAllString(text, "$1")
	for _, said := range saidBefore {
		if errors.Is(err, said) {
			text = strings.Replace(text, ": "+said.Error(), "", 1)
		}
	}
	text = strings.TrimRight(shortened(text), ". ")
	switch {
	case strings.HasSuffix(text, " does not exist"):
		text += "; check the path"
	case strings.HasSuffix(text, " is a folder"):
		text += "; name a file"
	}
	return text
}

// Values that somebody gave by mistake can be of any length: a pattern, or a whole file. Paths are shorter than these.
var (
	longQuoted = regexp.MustCompile(`"(?:[^"\\]|\\.){160,}"`)
	longWord   = regexp.MustCompile(`[^\s;]{400,}`)
)

// shortened cuts such values to what tells which they are.
func shortened(text string) string {
	const enough = 60
	text = longQuoted.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("%.*s…\"", enough, s) })
	return longWord.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("%.*s…", enough, s) })
}

// packageName is the name of a package of ours before what it has to say.
var packageName = regexp.MustCompile(
	`(^|: |; )(?:gguf|ollama|quant|tokenizer|picture|sound|video|safetensors|grammar): `)

// saidBefore are kinds of errors that are always named behind a sentence that says
// the same in full: programs tell them apart, people have read them already.
var saidBefore = []error{
	arch.ErrArchitecture, arch.ErrAssistant, ollama.ErrNotFound, ollama.ErrNoStore, ollama.ErrManifest,
	ollama.ErrIncomplete,
	fs.ErrNotExist, fs.ErrPermission,
}

// causes lists an error and everything that it wraps, the outermost first.
func causes(err error) []error {
	list := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			list = append(list, causes(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner != nil {
				list = append(list, causes(inner)...)
			}
		}
	}
	return list
}

// plainly says an error of the standard library in plain words; nothing where it is
// another.
func plainly(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return aboutFile(e.Path, e.Op, e.Err)
	case *os.LinkError:
		return aboutFile(e.New, e.Op, e.Err)
	case *os.SyscallError:
		return e.Err.Error()
	case *strconv.NumError:
		return fmt.Sprintf("%q is not a number", e.Num)
	case *json.SyntaxError:
		if strings.HasPrefix(e.Error(), "unexpected end") {
			return "it is no JSON: it ends too early"
		}
		return fmt.Sprintf("it is no JSON: something is wrong at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		if number, ok := strings.CutPrefix(e.Value, "number "); ok && e.Type != nil {
			return aboutNumber(e, number)
		}
		return fmt.Sprintf("there is %s where %s belongs, at byte %d", article(e.Value), kindOf(e), e.Offset)
	case *net.OpError:
		return aboutAddress(e)
	case *net.AddrError:
		return fmt.Sprintf("%s is no address: %s", e.Addr, e.Err)
	case tls.RecordHeaderError:
		return "the server does not speak https there"
	case *tls.CertificateVerificationError:
		return "the server cannot be trusted: " + strings.TrimPrefix(e.Err.Error(), "x509: ")
	case *url.Error:
		if e.Op == "parse" {
			return e.Err.Error()
		}
	case *syntax.Error:
		return fmt.Sprintf("%s: %.60q", e.Code, e.Expr)
	case *gguf.FormatError:
		if errors.Is(e, gguf.ErrNotGGUF) {
			if e.Offset == 0 && strings.HasPrefix(e.Err.Error(), "0 bytes") {
				return "the file is empty"
			}
			return "not a GGUF file"
		}
	}
	if err == io.ErrUnexpectedEOF {
		return "it ends too early"
	}
	return ""
}

// aboutNumber says which number is not of the kind that is wanted, and where it stands.
func aboutNumber(e *json.UnmarshalTypeError, number string) string {
	field := e.Field[strings.LastIndexByte(e.Field, '.')+1:] // before it stand structs of this program
	name, wanted := cmp.Or(field, "a number"), "a whole number"
	if kind := e.Type.Kind(); kind == reflect.Float32 || kind == reflect.Float64 {
		wanted = "a smaller one"
	} else if !strings.ContainsAny(number, ".eE") {
		wanted = "a whole number that is not so far from 0"
	}
	return fmt.Sprintf("%.100s is %.40s, at byte %d; wanted %s", name, number, e.Offset, wanted)
}

// aboutAddress says what went wrong with a server.
func aboutAddress(e *net.OpError) string {
	var name *net.DNSError
	switch {
	case errors.As(e, &name) && name.IsNotFound:
		return fmt.Sprintf("there is no server %s, or no network here", name.Name)
	case errors.As(e, &name):
		return fmt.Sprintf("the address of %s cannot be looked up; check the network", name.Name)
	case errors.Is(e, syscall.ENETUNREACH), errors.Is(e, syscall.EHOSTUNREACH):
		return fmt.Sprintf("%v cannot be reached; check the network", e.Addr)
	case errors.Is(e, syscall.ECONNREFUSED) && e.Addr != nil:
		return fmt.Sprintf("nothing answers at %s", e.Addr)
	case e.Timeout() && e.Addr != nil:
		return fmt.Sprintf("%s does not answer in time", e.Addr)
	}
	cause := e.Err
	if system, ok := cause.(*os.SyscallError); ok {
		cause = system.Err
	}
	return cause.Error()
}

// aboutFile says what went wrong with a file.
func aboutFile(path, op string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist) && op == "create":
		if info, err := os.Stat(filepath.Dir(path)); err == nil && info.IsDir() {
			return "no file can be made in " + filepath.Dir(path)
		}
		return "the folder " + filepath.Dir(path) + " does not exist"
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist"
	case errors.Is(err, fs.ErrExist):
		return path + " exists already"
	case errors.Is(err, fs.ErrPermission):
		return "permission to use " + path + " was denied"
	case errors.Is(err, syscall.EISDIR):
		return path + " is a folder"
	case errors.Is(err, syscall.ENOTDIR) && op == "mkdir":
		return path + " is a file, and no folder can be made there"
	case errors.Is(err, syscall.ENOTDIR):
		return path + " does not exist: a part of the path is not a folder"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk of " + path + " is full"
	}
	if op == "read" || op == "write" {
		return fmt.Sprintf("%s cannot be %s: %v", path, map[string]string{"read": "read", "write": "written"}[op], err)
	}
	return fmt.Sprintf("%s: %v", path, err)
}

// article puts an article before one of JSON's kinds, as encoding/json names them.
func article(kind string) string {
	kind, _, _ = strings.Cut(kind, " ") // "number 1.5"
	switch kind {
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "a text"
	}
	return "a " + kind
}

// kindOf is the kind of JSON that belongs where another was.
func kindOf(e *json.UnmarshalTypeError) string {
	if e.Type == nil {
		return "another value"
	}
	switch e.Type.Kind().String() {
	case "slice", "array":
		return "a list"
	case "struct", "map":
		return "an object"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	}
	return "a number"
}
