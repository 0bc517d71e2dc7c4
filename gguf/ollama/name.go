package ollama

import (
	"fmt"
	"path/filepath"
	"strings"
)

// What stands for the parts of a name that are left out.
const (
	defaultHost      = "registry.ollama.ai"
	defaultNamespace = "library"
	defaultTag       = "latest"
)

// A Name says which model is meant.
type Name struct {
	Host, Namespace, Model, Tag string
}

// A partRule says what a part of a name may be. Each part also starts with a
// letter, a digit or an underscore and is never empty, so that none means
// another folder ("..").
type partRule struct {
	what   string
	most   int    // bytes
	beside string // allowed beside letters, digits, '_' and '-'
}

var (
	hostRule      = partRule{"host", 350, ".:"}
	namespaceRule = partRule{"namespace", 80, ""}
	modelRule     = partRule{"model", 80, "."}
	tagRule       = partRule{"tag", 80, "."}
)

func (r partRule) check(part string) error {
	if part == "" || len(part) > r.most {
		return fmt.Errorf("its %s has %d bytes, not 1 … %d: %w", r.what, len(part), r.most, ErrName)
	}
	for i := range len(part) {
		c := part[i]
		first := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if first || i > 0 && (c == '-' || strings.IndexByte(r.beside, c) >= 0) {
			continue
		}
		return fmt.Errorf("its %s cannot have %q at byte %d: %w", r.what, c, i, ErrName)
	}
	return nil
}

// ParseName reads "model", "model:tag", "namespace/model:tag" or
// "host/namespace/model:tag"; a scheme in front ("https://") is passed over.
func ParseName(s string) (Name, error) {
	n := Name{Host: defaultHost, Namespace: defaultNamespace, Tag: defaultTag}
	rest := s
	if _, after, ok := strings.Cut(rest, "://"); ok {
		rest = after
	}
	parts := strings.Split(rest, "/")
	if len(parts) > 3 {
		return Name{}, fmt.Errorf("ollama: %s: more than host, namespace and model: %w", show(s), ErrName)
	}
	var tagged bool
	var tag string
	n.Model, tag, tagged = strings.Cut(parts[len(parts)-1], ":")
	if tagged {
		n.Tag = tag
	}
	if len(parts) >= 2 {
		n.Namespace = parts[len(parts)-2]
	}
	if len(parts) == 3 {
		n.Host = parts[0]
	}
	if err := n.check(); err != nil {
		return Name{}, fmt.Errorf("ollama: %s: %w", show(s), err)
	}
	return n, nil
}

func (n Name) check() error {
	for _, part := range []struct {
		rule partRule
		text string
	}{{hostRule, n.Host}, {namespaceRule, n.Namespace}, {modelRule, n.Model}, {tagRule, n.Tag}} {
		if err := part.rule.check(part.text); err != nil {
			return err
		}
	}
	return nil
}

// show quotes a name, however long it is.
func show(s string) string {
	const most = 100
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// String is the name as `ollama list` shows it: without the default host and
// namespace, always with the tag.
func (n Name) String() string {
	name := n.Model + ":" + n.Tag
	if n.Host != defaultHost {
		return n.Host + "/" + n.Namespace + "/" + name
	}
	if n.Namespace != defaultNamespace {
		return n.Namespace + "/" + name
	}
	return name
}

// path is where the manifest lies, from the folder of manifests.
func (n Name) path() string { return filepath.Join(n.Host, n.Namespace, n.Model, n.Tag) }
