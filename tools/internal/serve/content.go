package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"
)

// openRegular opens a file below a folder. Links are followed as long as they
// stay below it. What is no plain file, a pipe say, counts as missing.
func openRegular(folder, name string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if err := wantRegular(root.Stat(name)); err != nil { // opening a pipe would wait for its writer
		return nil, nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err := wantRegular(info, err); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func wantRegular(info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: %w", info.Name(), fs.ErrNotExist)
	}
	return err
}

// refuseFile answers for a file that cannot be opened.
func refuseFile(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrPermission) {
		refuse(w, http.StatusForbidden, "the server has no permission to read that file")
		return
	}
	refuse(w, http.StatusNotFound, "nothing has that name")
}

// fileTag is a strong ETag of a file's version.
func fileTag(info fs.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, info.Size(), info.ModTime().UnixNano())
}

// send sends size bytes of content, or the ranges that were asked for. The
// headers that describe it, ETag among them, are set.
func send(w http.ResponseWriter, r *http.Request, modified time.Time, size int64, content io.ReadSeeker) {
	if asked := r.Header.Get("Range"); asked != "" && !modest(asked, size) {
		r.Header.Del("Range")
	}
	http.ServeContent(newPaced(w), r, "", modified, content)
}
