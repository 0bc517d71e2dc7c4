package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
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
		return fmt.Errorf("%s is no plain file: %w", info.Name(), fs.ErrNotExist)
	}
	return err
}

// refuseFile answers for a file that cannot be opened.
func refuseFile(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrPermission) {
		refuse(w, http.StatusForbidden, "the server itself may not read that file")
		return
	}
	refuse(w, http.StatusNotFound, "there is nothing of that name")
}

// fileTag is a strong ETag of a file's version.
func fileTag(info fs.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, info.Size(), info.ModTime().UnixNano())
}

// The longest that an answer may take: slowest lines get that many bytes a second.
const (
	answerGrace = time.Minute
	slowestLine = 32 << 10
)

// send sends size bytes of content, or the ranges that were asked for. The
// headers that describe it, ETag among them, are set.
func send(w http.ResponseWriter, r *http.Request, modified time.Time, size int64, content io.ReadSeeker) {
	if unit := r.Header.Get("Range"); unit != "" && !strings.HasPrefix(unit, "bytes=") {
		r.Header.Del("Range") // RFC 9110, 14.2: a unit that is not known is passed over
	}
	limit := answerGrace + time.Duration(size/slowestLine)*time.Second
	// A test's recorder has no deadlines; the server's own timeout applies there.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit))
	http.ServeContent(w, r, "", modified, content)
}
