// Package outward fetches what clients name by address. It reaches public addresses alone: whoever can ask the server
// cannot reach the network behind it.
package outward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrPrivate: an address of a private network, of this machine, or of no use.
var ErrPrivate = errors.New("the address is not public")

// Client is an HTTP client that connects to public addresses, by whatever name or redirect it comes to them.
func Client() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, Control: onlyPublic}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: time.Minute,
			ForceAttemptHTTP2: true, MaxIdleConns: 8, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) >= 5 {
				return errors.New("more than 5 redirects")
			}
			return nil
		},
	}
}

// onlyPublic looks at the address itself, after names were resolved.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr()) {
		return fmt.Errorf("%w: %s", ErrPrivate, address)
	}
	return nil
}

// Check refuses an address that leads to none of the web, before anything is sent: a client would try again.
func Check(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return err
	}
	for _, a := range addrs {
		if public(a) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrPrivate, u.Hostname())
}

// reserved are ranges that are no places of the web, beside those that netip knows (RFC 6890).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Fetch reads what lies at an address, at most so many bytes.
func Fetch(ctx context.Context, client *http.Client, address string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err == nil && int64(len(body)) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	return body, err
}
