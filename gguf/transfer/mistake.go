//go:build !nohttp

package transfer

import (
	"crypto/tls"
	"errors"
	"net"
)

// errRedirects is that of a server whose redirections lead nowhere.
var errRedirects = errors.New("the server redirects without end")

// Mistake says whether a request that failed will fail again: a server that cannot be trusted, that speaks no TLS or
// redirects without end, an address that is none, or, where none of its requests has been answered, a name that does
// not exist.
func Mistake(err error, answered bool) bool {
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var address *net.AddrError
	var lookup *net.DNSError
	return errors.As(err, &untrusted) || errors.As(err, &plain) || errors.As(err, &address) ||
		errors.Is(err, errRedirects) || !answered && errors.As(err, &lookup) && lookup.IsNotFound
}
