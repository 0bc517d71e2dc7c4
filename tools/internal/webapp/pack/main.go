// Command pack packs the files of a built web app into one archive, the same one for
// the same files:
//
//	go run ./tools/internal/webapp/pack examples/web/dist tools/internal/webapp/app.zip
package main

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("give the folder of the built app and the archive to write, not %d arguments", len(arguments))
	}
	folder, archive := arguments[0], arguments[1]
	if _, err := os.Stat(filepath.Join(folder, "index.html")); err != nil {
		return fmt.Errorf("%s holds no built app: %w; build it with scripts/web.sh", folder, err)
	}
	return atomicfile.Replace(archive, 0o644, func(w io.Writer) error { return pack(w, os.DirFS(folder)) })
}

// pack writes the files in the order of their names, without their times. What was
// compressed for servers stays out: gemwire compresses itself.
func pack(w io.Writer, app fs.FS) error {
	out := zip.NewWriter(w)
	out.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	err := fs.WalkDir(app, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".br") {
			return err
		}
		content, err := fs.ReadFile(app, name)
		if err != nil {
			return err
		}
		file, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = file.Write(content)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}
