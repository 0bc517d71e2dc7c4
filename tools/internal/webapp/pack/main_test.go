package main

import (
	"archive/zip"
	"bytes"
	"testing"
	"testing/fstest"
	"time"
)

// The same files make the same archive, whenever they were built.
func TestPack(t *testing.T) {
	app := func(at time.Time) fstest.MapFS {
		return fstest.MapFS{
			"index.html": {Data: []byte("the app"), ModTime: at}, "assets/b.js": {Data: []byte("2"), ModTime: at},
			"assets/a.js": {Data: []byte("1"), ModTime: at}, "assets/a.js.br": {Data: []byte("0"), ModTime: at},
		}
	}
	var one, two bytes.Buffer
	if err := pack(&one, app(time.Now())); err != nil {
		t.Fatal(err)
	}
	if err := pack(&two, app(time.Unix(0, 0))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the archive depends on the time")
	}
	r, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
	if err != nil || len(r.File) != 3 || r.File[0].Name != "assets/a.js" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, arguments := range [][]string{nil, {t.TempDir(), t.TempDir() + "/app.zip"}} {
		if err := run(arguments); err == nil {
			t.Errorf("%q is packed", arguments)
		}
	}
}
