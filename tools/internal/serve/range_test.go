package serve

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

func TestRanges(t *testing.T) { testRanges(t, modelSite(t, nil), "/models/model.gguf") }

// testRanges holds a server to what target, wholeModel, is sent as.
func testRanges(t *testing.T, h http.Handler, target string) {
	size := len(wholeModel)
	whole := string(wholeModel)
	tests := []struct {
		name, asked string
		status      int
		content     string
		sent        string // Content-Range
	}{
		{"none", "", 200, whole, ""},
		{"first bytes", "bytes=0-9", 206, whole[:10], "bytes 0-9/1000"},
		{"one byte", "bytes=5-5", 206, "5", "bytes 5-5/1000"},
		{"from", "bytes=990-", 206, whole[990:], "bytes 990-999/1000"},
		{"suffix", "bytes=-7", 206, whole[size-7:], "bytes 993-999/1000"},
		{"suffix longer than the file", "bytes=-5000", 206, whole, "bytes 0-999/1000"},
		{"end beyond the file", "bytes=995-5000", 206, whole[995:], "bytes 995-999/1000"},
		{"beyond the file", "bytes=1000-", 416, "", "bytes */1000"},
		{"backwards", "bytes=9-0", 416, "", ""},
		{"no numbers", "bytes=a-b", 416, "", ""},
		{"negative", "bytes=--5", 416, "", ""},
		{"overflow", "bytes=99999999999999999999-", 416, "", ""},
		{"another unit", "lines=0-9", 200, whole, ""},
		{"more than the file in all", "bytes=0-999,0-999", 200, whole, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ask(t, h, "GET", target, "Range: "+tt.asked)
			sent := r.Header.Get("Content-Range")
			if tt.status == 416 && tt.sent == "" && sent == "bytes */1000" {
				sent = "" // may be told of what makes no sense, too
			}
			if r.StatusCode != tt.status || sent != tt.sent {
				t.Fatalf("%d with %q, want %d with %q", r.StatusCode, sent, tt.status, tt.sent)
			}
			if tt.status >= 400 {
				return
			}
			if got := body(t, r); got != tt.content || r.ContentLength != int64(len(got)) {
				t.Errorf("%d bytes, said to be %d, want %d", len(got), r.ContentLength, len(tt.content))
			}
			if tt.status == 200 {
				wantHeaders(t, r, map[string]string{"Accept-Ranges": "bytes"})
			}
		})
	}
}

func TestSeveralRanges(t *testing.T) { testSeveralRanges(t, modelSite(t, nil), "/models/model.gguf") }

func testSeveralRanges(t *testing.T, h http.Handler, target string) {
	r := ask(t, h, "GET", target, "Range: bytes=0-1,500-504,-3")
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.StatusCode != 206 || kind != "multipart/byteranges" {
		t.Fatalf("%d %q: %v", r.StatusCode, kind, err)
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	for _, want := range []struct{ sent, content string }{{"bytes 0-1/1000", "01"}, {"bytes 500-504/1000", "01234"},
		{"bytes 997-999/1000", "789"}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err != nil || string(content) != want.content || part.Header.Get("Content-Range") != want.sent {
			t.Errorf("%q of %q: %v, want %q of %q", content, part.Header.Get("Content-Range"), err, want.content,
				want.sent)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("after the last part: %v", err)
	}
}

func TestManyRanges(t *testing.T) {
	h := modelSite(t, nil)
	testManyRanges(t, h, "/models/model.gguf")
	for _, asked := range []string{"bytes=0-9,5-14", "bytes=5-14,0-9", "bytes=990-,-5", "bytes=0-,-1", "bytes=3-3,3-3"} {
		if r := ask(t, h, "GET", "/models/model.gguf", "Range: "+asked); r.StatusCode != 200 {
			t.Errorf("%s overlap: %d", asked, r.StatusCode)
		}
	}
	for _, asked := range []string{"bytes=0-9,10-14", "bytes=10-14, 0-9", "bytes=0-1,,-5", "bytes=0-9,2000-"} {
		if r := ask(t, h, "GET", "/models/model.gguf", "Range: "+asked); r.StatusCode != 206 {
			t.Errorf("%s do not overlap: %d", asked, r.StatusCode)
		}
	}
}

// Nobody gets more ranges than an app could want, nor more bytes than the file has.
func testManyRanges(t *testing.T, h http.Handler, target string) {
	var eight []string
	for i := range mostRanges {
		eight = append(eight, fmt.Sprintf("%d-%d", 10*i, 10*i+1))
	}
	all := strings.Join(eight, ",")
	for asked, want := range map[string]int{all: 206, all + ",500-501": 200, "0-499,0-499,0-499": 200,
		"0-0" + strings.Repeat(",2-2", 10000): 200} {
		r := ask(t, h, "GET", target, "Range: bytes="+asked)
		if len(asked) > maxHeader && r.StatusCode >= 400 && r.StatusCode < 500 {
			continue // a header of that length may be refused, too
		}
		if r.StatusCode != want {
			t.Errorf("%.60s: %d, want %d", asked, r.StatusCode, want)
		}
		if got := body(t, r); want == 200 && got != string(wholeModel) {
			t.Errorf("%.60s: %d bytes", asked, len(got))
		}
	}
}

func TestIfRange(t *testing.T) { testIfRange(t, modelSite(t, nil), "/models/model.gguf") }

func testIfRange(t *testing.T, h http.Handler, target string) {
	tag := ask(t, h, "HEAD", target).Header.Get("ETag")
	if strings.HasPrefix(tag, "W/") || len(tag) < 3 {
		t.Fatalf("ETag %q is not strong", tag)
	}
	for condition, want := range map[string]int{tag: 206, `"other"`: 200, "W/" + tag: 200} {
		if r := ask(t, h, "GET", target, "Range: bytes=0-9", "If-Range: "+condition); r.StatusCode != want {
			t.Errorf("If-Range %s: %d, want %d", condition, r.StatusCode, want)
		}
	}
	if r := ask(t, h, "GET", target, "Range: bytes=0-9",
		`If-Match: "other"`); r.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("If-Match of another version: %d", r.StatusCode)
	}
}

func TestHead(t *testing.T) { testHead(t, modelSite(t, nil), "/models/model.gguf") }

func testHead(t *testing.T, h http.Handler, model string) {
	for _, target := range []string{model, "/", "/models"} {
		get, head := ask(t, h, "GET", target), ask(t, h, "HEAD", target)
		if target != "/models" && head.Header.Get("Content-Length") != get.Header.Get("Content-Length") {
			t.Errorf("%s: length %q, to GET %q", target, head.Header.Get("Content-Length"),
				get.Header.Get("Content-Length"))
		}
		if head.StatusCode != 200 || head.Header.Get("ETag") != get.Header.Get("ETag") ||
			head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: HEAD %d %v, GET %v", target, head.StatusCode, head.Header, get.Header)
		}
	}
	if got := body(t, ask(t, h, "HEAD", model)); got != "" {
		t.Errorf("HEAD has %d bytes", len(got))
	}
}
