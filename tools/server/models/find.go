package models

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/download"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/modelref"
)

// addFile makes a file of the command line a model.
func (l *Library) addFile(name string) error {
	ref, err := l.finder.Find(name)
	if err != nil {
		return err
	}
	if ref.Kind != modelref.File && ref.Kind != modelref.URL {
		return nil // it has a name already
	}
	call := strings.TrimSuffix(path.Base(filepath.ToSlash(ref.Path)), ".gguf")
	if _, taken := l.files[call]; taken {
		return fmt.Errorf("%w: two files are called %s; rename one", ErrName, call)
	}
	l.files[call] = ref
	return nil
}

// NameOf is what a model of the command line is called.
func (l *Library) NameOf(argument string) string {
	for name, ref := range l.files {
		if ref.Name == argument {
			return name
		}
	}
	return argument
}

// Find finds a model by its name, with or without the tag latest, or as MODEL:ADAPTER. Names are never taken for paths:
// a client reaches what the server lists and nothing else.
func (l *Library) Find(name string) (Entry, error) {
	if name == "" || len(name) > 512 || strings.ContainsAny(name, "\x00\n\r\\") {
		return Entry{}, fmt.Errorf("%w: %q", ErrName, name[:min(len(name), 100)])
	}
	for _, try := range []string{name, strings.TrimSuffix(name, ":latest")} {
		e, err := l.find(try)
		if err == nil || !errors.Is(err, ErrNotFound) {
			return e, err
		}
	}
	at := strings.LastIndex(name, ":")
	if at > 0 {
		if file, ok := l.options.Adapters[name[at+1:]]; ok {
			return l.adapted(name[:at], name, name[at+1:], file)
		}
	}
	return Entry{}, fmt.Errorf("%w: model %q not found%s", ErrNotFound, name, l.finder.Suggestion(name))
}

// adapted is a model with an adapter of the command line.
func (l *Library) adapted(base, name, adapterName, file string) (Entry, error) {
	e, err := l.Find(base)
	if err != nil {
		return e, err
	}
	e.Name, e.Parent = name, base
	adapters := map[string]string{adapterName: file}
	for n, f := range e.Adapters {
		adapters[n] = f
	}
	e.Adapters = adapters
	e.Digest = digest(e.Digest, name, file)
	return e, nil
}

func (l *Library) find(name string) (Entry, error) {
	if r, ok, err := l.created.read(name); err != nil {
		return Entry{}, err
	} else if ok {
		return l.derived(r)
	}
	if ref, ok := l.files[name]; ok {
		return l.ofFile(name, ref)
	}
	ref, err := l.finder.FindNamed(name)
	if err != nil {
		return Entry{}, err
	}
	switch ref.Kind {
	case modelref.Ollama:
		return l.ofStore(ref)
	case modelref.Pulled:
		if strings.HasPrefix(ref.Name, hub.Host+"/") {
			return l.ofFile(ref.Name, ref)
		}
		return l.ofFile(strings.TrimSuffix(name, ".gguf"), ref)
	}
	source := nano.Source()
	defer source.Close()
	return Entry{
		Name: ref.Name, Size: source.Size(), Modified: started, Digest: nanoDigest(), ref: ref,
	}, nil
}

// nanoDigest is the checksum of the built-in model.
var nanoDigest = sync.OnceValue(func() string {
	source := nano.Source()
	defer source.Close()
	sum := sha256.New()
	_, _ = io.Copy(sum, io.NewSectionReader(source, 0, source.Size())) // it lies in memory
	return hex.EncodeToString(sum.Sum(nil))
})

// started stands for the age of what is built in.
var started = time.Now()

func (l *Library) ofFile(name string, ref modelref.Reference) (Entry, error) {
	e := Entry{Name: name, Modified: started, ref: ref}
	if ref.Kind == modelref.URL {
		e.Digest = digest(ref.Path)
		return e, nil
	}
	info, err := os.Stat(ref.Path)
	if err != nil {
		return e, err
	}
	e.Size, e.Modified = info.Size(), info.ModTime()
	e.Digest = digest(ref.Path, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
	if origin, err := download.OriginOf(ref.Path); err == nil && origin.SHA256 != "" {
		e.Digest = origin.SHA256
	}
	return e, nil
}

// digest tells states of models apart where nobody has a checksum.
func digest(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:])
}

func (l *Library) ofStore(ref modelref.Reference) (Entry, error) {
	stored := ref.Stored()
	e := Entry{
		Name: ref.Name, Digest: stored.Digest, System: stored.System, Parameters: stored.Params,
		Template: stored.Template, Licenses: stored.Licenses, ref: ref,
	}
	for _, m := range stored.Messages {
		e.Messages = append(e.Messages, chat.Message{Role: m.Role, Content: chat.Text(m.Content)})
	}
	for _, file := range stored.Adapters {
		if e.Adapters == nil {
			e.Adapters = map[string]string{}
		}
		e.Adapters["own "+filepath.Base(file)] = file
	}
	info, err := os.Stat(ref.Path)
	if err != nil {
		return e, err
	}
	e.Size, e.Modified = info.Size(), info.ModTime()
	return e, nil
}

// List lists the models, the built-in one first, and with each adapter of the command line those that take it by name.
func (l *Library) List() ([]Entry, error) {
	listed, err := l.finder.List()
	if err != nil && !errors.Is(err, ollama.ErrNoStore) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Entry
	add := func(name string, listed modelref.Entry) {
		e, err := l.find(name)
		if err != nil {
			e = Entry{Name: name, Size: listed.Size, Modified: listed.Modified, Err: err}
		}
		all = append(all, e)
	}
	for _, name := range l.created.names() {
		add(name, modelref.Entry{})
	}
	for name := range l.files {
		add(name, modelref.Entry{})
	}
	for _, e := range listed {
		if !slices.ContainsFunc(all, func(has Entry) bool { return has.Name == e.Name }) {
			add(e.Name, e)
		}
	}
	for _, e := range slices.Clone(all) {
		for name := range l.options.Adapters {
			if with, err := l.Find(e.Name + ":" + name); err == nil && e.Err == nil && len(e.Adapters) == 0 {
				all = append(all, with)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(-cmp.Compare(rank(a), rank(b)), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

func rank(e Entry) int {
	if e.ref.Kind == modelref.BuiltIn && e.Parent == "" {
		return 1
	}
	return 0
}
