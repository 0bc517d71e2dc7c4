package hub

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// ErrName: a text that looks like a name on Hugging Face and is none.
var ErrName = errors.New("not a model on Hugging Face")

// Host is what names begin with, whatever server the files come from.
const Host = "hf.co"

// hosts are Hugging Face's own names, which people paste.
var hosts = []string{"hf.co", "huggingface.co", "www.huggingface.co", "www.hf.co"}

// Name is a model in a repository: one of a quantization, a file, or the one that suits best.
type Name struct {
	Owner, Repo string
	Revision    string // of an address that names one; empty for main
	Quant       string // as it was given; empty for the best
	File        string // its path in the repository; empty for a model of the quantization
}

// maxName bounds a name's bytes.
const maxName = 1024

// Parse reads hf.co/OWNER/REPO, hf.co/OWNER/REPO:QUANT, hf.co/OWNER/REPO:FILE.gguf, hf.co/OWNER/REPO/FILE.gguf, and
// the addresses of pages and files on Hugging Face, or on the server of endpoint where that is another. ok is false
// for what is meant as something else; err is for what can only be meant so, and is wrong.
func Parse(text, endpoint string) (n Name, ok bool, err error) {
	rest, isURL, ok := afterHost(text, endpoint)
	if !ok {
		return Name{}, false, nil
	}
	if len(text) > maxName {
		return Name{}, true, fmt.Errorf("%w: the name has %d bytes; %d are the most", ErrName, len(text), maxName)
	}
	if isURL {
		n, err = ofURL(rest)
	} else {
		n, err = ofWords(rest)
	}
	if err == nil {
		err = n.check()
	}
	if err != nil {
		return Name{}, true, err
	}
	return n, true, nil
}

// afterHost is what stands behind the host of a name or of an address.
func afterHost(text, endpoint string) (rest string, isURL, ok bool) {
	bare := text
	for _, scheme := range []string{"https://", "http://"} {
		if len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			bare, isURL = text[len(scheme):], true
		}
	}
	own := hosts
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		own = append([]string{u.Host + strings.TrimSuffix(u.Path, "/")}, hosts...)
	}
	for _, host := range own {
		if len(bare) > len(host) && strings.EqualFold(bare[:len(host)], host) && bare[len(host)] == '/' {
			return bare[len(host)+1:], isURL, true
		}
	}
	return "", isURL, false
}

// ofWords reads OWNER/REPO with what may follow.
func ofWords(rest string) (Name, error) {
	rest, tag, tagged := strings.Cut(strings.TrimSuffix(rest, "/"), ":")
	parts := strings.Split(rest, "/")
	if len(parts) < 2 {
		return Name{}, fmt.Errorf("%w: %q names no repository; use hf.co/OWNER/REPO:QUANT", ErrName, rest)
	}
	n := Name{Owner: parts[0], Repo: parts[1], File: strings.Join(parts[2:], "/")}
	if at := n.File; at != "" && (strings.HasPrefix(at, "tree/") || strings.HasPrefix(at, "blob/") ||
		strings.HasPrefix(at, "resolve/")) { // an address without its https://
		return ofURL(rest)
	}
	switch {
	case tagged && n.File != "":
		return n, fmt.Errorf("%w: name a file or a quantization, not both", ErrName)
	case tagged && tag == "":
		return n, fmt.Errorf("%w: there is nothing behind the colon; use hf.co/OWNER/REPO:QUANT", ErrName)
	case isGGUF(tag):
		n.File = tag
	case !strings.EqualFold(tag, "latest"): // as Ollama writes a name without a tag
		n.Quant = tag
	}
	return n, nil
}

// ofURL reads an address as browsers show it: /OWNER/REPO, /OWNER/REPO/tree/REVISION, /OWNER/REPO/blob/REVISION/FILE.
func ofURL(rest string) (Name, error) {
	u, err := url.Parse("https://" + Host + "/" + rest)
	if err != nil {
		return Name{}, fmt.Errorf("%w: that is no address", ErrName)
	}
	clean := strings.Trim(u.Path, "/")
	clean, quant, _ := strings.Cut(clean, ":") // people put the tag behind the address, too
	parts := strings.Split(clean, "/")
	if len(parts) < 2 {
		return Name{}, fmt.Errorf("%w: the address names no repository; use https://huggingface.co/OWNER/REPO", ErrName)
	}
	n := Name{Owner: parts[0], Repo: parts[1]}
	if n.Owner == "datasets" || n.Owner == "spaces" || n.Owner == "collections" {
		return n, fmt.Errorf("%w: that is the address of one of its %s", ErrName, n.Owner)
	}
	if len(parts) > 3 && (parts[2] == "tree" || parts[2] == "blob" || parts[2] == "resolve") {
		n.Revision, n.File = parts[3], strings.Join(parts[4:], "/")
	}
	if shown := u.Query().Get("show_file_info"); shown != "" {
		n.File = shown
	}
	if n.Revision == "main" {
		n.Revision = ""
	}
	if n.File != "" && !isGGUF(n.File) { // the page of a folder
		n.Quant, n.File = path.Base(n.File), ""
	}
	if quant != "" {
		n.Quant = quant
	}
	if isGGUF(n.Quant) {
		n.Quant, n.File = "", n.Quant
	}
	return n, nil
}

func isGGUF(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".gguf") }

func (n Name) check() error {
	for _, word := range []string{n.Owner, n.Repo} {
		if !plainWord(word) {
			return fmt.Errorf("%w: %q is no name of an owner or a repository", ErrName, word)
		}
	}
	if n.Revision != "" && !plainWord(n.Revision) {
		return fmt.Errorf("%w: %q is no name of a revision", ErrName, n.Revision)
	}
	if n.Quant != "" && !plainWord(n.Quant) {
		return fmt.Errorf("%w: %q is no name of a quantization", ErrName, n.Quant)
	}
	if n.File != "" {
		return checkPath(n.File)
	}
	return nil
}

// plainWord says whether a word holds letters, digits, dots, dashes and underscores alone, and names no folder above.
func plainWord(word string) bool {
	if word == "" || len(word) > 128 || word[0] == '.' || strings.HasSuffix(word, ".") {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

// Repository is the name of what all models of it share.
func (n Name) Repository() string { return Host + "/" + n.Owner + "/" + n.Repo }

// String is the name as people write it.
func (n Name) String() string {
	switch {
	case n.File != "":
		return n.Repository() + "/" + n.File
	case n.Quant != "":
		return n.Repository() + ":" + n.Quant
	}
	return n.Repository()
}

func (n Name) revision() string {
	if n.Revision == "" {
		return "main"
	}
	return n.Revision
}
