//go:build !nohttp

package transfer

import "net/http"

// maxRedirects is how many redirections of one request are followed.
const maxRedirects = 10

// FollowRedirects returns what an http.Client's CheckRedirect is to be for requests
// that carry the caller's own headers: they go to the host that the caller named and
// to no other, and never from https on to http. Each redirection is passed to inspect,
// which may be nil.
func FollowRedirects(own http.Header, inspect func(req *http.Request)) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return errRedirects
		}
		first := via[0].URL
		if req.URL.Host != first.Host || first.Scheme == "https" && req.URL.Scheme != "https" {
			for name := range own {
				req.Header.Del(name)
			}
		}
		if inspect != nil {
			inspect(req)
		}
		return nil
	}
}
