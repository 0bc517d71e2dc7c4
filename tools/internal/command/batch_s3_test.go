//go:build unix

package command

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is one of a store that runs, and a client of it. scripts/test-s3.sh starts it.
func bucket(t *testing.T) (name string, c *minio.Client) {
	t.Helper()
	name = os.Getenv("GEMWIRE_TEST_S3")
	if name == "" {
		t.Skip("with scripts/test-s3.sh, which starts a store")
	}
	at, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL"))
	if err != nil {
		t.Fatal(err)
	}
	c, err = minio.New(at.Host, &minio.Options{Creds: credentials.NewEnvAWS()})
	if err != nil {
		t.Fatal(err)
	}
	return name, c
}

// wordy are requests for long answers, so that there are several pieces of them.
func wordy(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"request %d","method":"POST","url":"/v1/chat/completions","body":{"model":"x",`+
			`"temperature":0,"logprobs":true,"top_logprobs":20,"n":2,"messages":[{"role":"user",`+
			`"content":"What is the capital of France?"}]}}`+"\n", i)
	}
	return b.String()
}

// Killed at random moments, a batch from one object into another has one answer to each request in the end.
func TestBatchInS3Killed(t *testing.T) {
	const requests, kills = 1000, 20
	name, c := bucket(t)
	folder := fmt.Sprintf("%s-%d", t.Name(), rand.Uint64())
	in := wordy(requests)
	if _, err := c.PutObject(t.Context(), name, folder+"/requests.jsonl", strings.NewReader(in), int64(len(in)),
		minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	out := folder + "/answers.jsonl"
	line := fmt.Sprintf("batch s3://%s/%s/requests.jsonl -o s3://%s/%s --model nano --device cpu --parallel 8 "+
		"--upload-every 200ms", name, folder, name, out)
	uploaded := func() (size int64) {
		for o := range c.ListObjectsIter(t.Context(), name, minio.ListObjectsOptions{Prefix: out, Recursive: true}) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			size += o.Size
		}
		return size
	}
	for i := range kills {
		before := uploaded()
		waiting := before + rand.Int64N(1_000_000)
		if i%5 == 0 {
			killOnce(t, itself(t, line), atOnce, 100*time.Millisecond)
		} else {
			killOnce(t, itself(t, line), func() bool { return uploaded() >= waiting }, 0)
		}
		if after := uploaded(); after < before {
			t.Fatalf("%d bytes of answers became %d", before, after)
		}
	}
	got, err := itself(t, line).CombinedOutput()
	if err != nil || !strings.Contains(string(got), "had been answered before") {
		t.Fatalf("%v, %s", err, got)
	}
	o, err := c.GetObject(t.Context(), name, out, minio.GetObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(o)
	if err != nil {
		t.Fatal(err)
	}
	answeredWordily(t, raw, requests)
	if uploaded() != int64(len(raw)) {
		t.Error("pieces are left")
	}
	got, err = itself(t, line).CombinedOutput()
	if err != nil || !strings.Contains(string(got), "1,000 requests had been answered before") {
		t.Errorf("%v, %s", err, got)
	}
}

func answeredWordily(t *testing.T, raw []byte, requests int) {
	t.Helper()
	n := 0
	for line := range bytes.Lines(raw) {
		if want := fmt.Sprintf(`"custom_id":"request %d",`, n); !bytes.Contains(line, []byte(want)) ||
			bytes.Count(line, []byte(strings.TrimSpace(paris))) != 2 {
			t.Fatalf("answer %d: %.300s", n, line)
		}
		n++
	}
	if n != requests {
		t.Errorf("%d answers to %d requests", n, requests)
	}
}

// Shards of an object go into objects, and into files.
func TestBatchInS3(t *testing.T) {
	name, c := bucket(t)
	folder := fmt.Sprintf("%s-%d", t.Name(), rand.Uint64())
	in := asked(25)
	if _, err := c.PutObject(t.Context(), name, folder+"/in", strings.NewReader(in), int64(len(in)),
		minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	from, file := fmt.Sprintf("s3://%s/%s/in", name, folder), filepath.Join(t.TempDir(), "answers.jsonl")
	run := func(line, stdin string) (string, error) {
		c := itself(t, line)
		c.Stdin = strings.NewReader(stdin)
		said, err := c.CombinedOutput()
		return string(said), err
	}
	if said, err := run("batch "+from+" -o "+file+" --model nano --device cpu", ""); err != nil {
		t.Fatal(said)
	}
	answeredOnce(t, file, 25)
	to := fmt.Sprintf("s3://%s/%s/out", name, folder)
	if said, err := run("batch - -o "+to+" --model nano --device cpu --shard 1/2", in); err != nil {
		t.Fatal(said)
	}
	o, err := c.GetObject(t.Context(), name, folder+"/out", minio.GetObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(o)
	if err != nil || bytes.Count(raw, []byte("\n")) != 12 || !bytes.Contains(raw, []byte(`"custom_id":"request 23"`)) {
		t.Errorf("%d answers, %v", bytes.Count(raw, []byte("\n")), err)
	}
	for _, line := range []string{
		"batch s3://no-such-bucket/in -o " + file, "batch " + from + "2 -o " + file, "batch " + from + " -o " + from,
		"batch " + from + " -o s3://" + name,
	} {
		said, err := run(line, "")
		if err == nil || !strings.Contains(said, "s3://") && !strings.Contains(said, "no-such-bucket") {
			t.Errorf("%s: %v, %s", line, err, said)
		}
	}
}
