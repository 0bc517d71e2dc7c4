// Package webapp is the web app inside the command: programs that are built with the
// tag webapp carry it, so that `gemwire serve` has it without a clone.
//
// scripts/webapp.sh makes the archive (pack) and checks that a program carries it.
// Read this file, then pack/main.go.
package webapp

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrNone says that this program was built without the app.
var ErrNone = errors.New("this build of gemwire has no web app in it")

// mostUnpacked bounds the files of an archive, in bytes.
const mostUnpacked = 512 << 20

// Included says whether this program carries the app.
func Included() bool { return len(archive) > 0 }

// Unpack puts the app's files into a folder below cache, unless they are there, and
// returns the folder.
func Unpack(cache string) (folder string, err error) {
	if !Included() {
		return "", ErrNone
	}
	return unpack(archive, cache)
}

func unpack(archive []byte, cache string) (string, error) {
	sum := sha256.Sum256(archive)
	target := filepath.Join(cache, "gemwire", "app-"+hex.EncodeToString(sum[:8]))
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return target, nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return "", err
	}
	// The folder gets its name when it is whole.
	begun, err := os.MkdirTemp(filepath.Dir(target), "app-*.part")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(begun)
	if err := extract(archive, begun); err != nil {
		return "", fmt.Errorf("the web app in this program cannot be unpacked: %w", err)
	}
	if err := os.Rename(begun, target); err != nil {
		if info, statErr := os.Stat(target); statErr == nil && info.IsDir() { // another one was faster
			return target, nil
		}
		return "", err
	}
	return target, nil
}

func extract(archive []byte, folder string) error {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	left := int64(mostUnpacked)
	for _, f := range files.File {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || !f.Mode().IsRegular() {
			return fmt.Errorf("%q is not a file of an app", f.Name)
		}
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		n, err := extractFile(f, path, left)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		left -= n
	}
	return nil
}

func extractFile(f *zip.File, path string, most int64) (n int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("the files hold more than %d MB", mostUnpacked>>20)
	}
	return n, errors.Join(err, out.Close())
}
