package s3

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// mostReply is how many bytes a reply may have that is no object: a list of a thousand names has less than 2 MB.
const mostReply = 8 << 20

// bounded ends replies that are too long.
type bounded struct{ http.RoundTripper }

// wantsObject marks requests whose reply is an object, which is bounded where it is read.
type wantsObject struct{}

func forObject(ctx context.Context) context.Context {
	return context.WithValue(ctx, wantsObject{}, true)
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.Context().Value(wantsObject{}) == nil || reply.StatusCode/100 != 2 {
		reply.Body = &boundedBody{reply.Body, mostReply}
	}
	return reply, nil
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("%w: it has more than %d MB", ErrServer, mostReply>>20)
	}
	return n, err
}
