package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// A packed file is one that goes into an archive.
type packedFile struct {
	Name string // in the archive
	From string
	Mode os.FileMode // 0o755 for programs
}

// pack writes files into an archive whose bytes depend on nothing but theirs and
// the time given: .zip or .tar.gz, by its name.
func pack(name string, files []packedFile, at time.Time) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, ".zip") {
		err = packZip(out, files, at)
	} else {
		err = packTar(out, files, at)
	}
	return errors.Join(err, out.Close())
}

func packZip(w io.Writer, files []packedFile, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.Mode)
		entry, err := z.CreateHeader(header)
		if err == nil {
			_, err = copyFile(entry, f.From)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func packTar(w io.Writer, files []packedFile, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(compressed)
	for _, f := range files {
		info, err := os.Stat(f.From)
		if err != nil {
			return err
		}
		err = t.WriteHeader(
			&tar.Header{Name: f.Name, Size: info.Size(), Mode: int64(f.Mode.Perm()), ModTime: at,
				Format: tar.FormatPAX})
		if err == nil {
			_, err = copyFile(t, f.From)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), compressed.Close())
}

func copyFile(w io.Writer, name string) (int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return io.Copy(w, file)
}
