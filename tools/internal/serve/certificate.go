package serve

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// Lifetimes of a certificate. Apple's systems take none over 825 days.
const (
	lifetime  = 365 * 24 * time.Hour
	renewal   = 30 * 24 * time.Hour
	clockSkew = time.Hour
)

// Identity is a server's certificate with its key, and the authority that signed
// it: what a phone has to trust. The authority's own key was thrown away, so that
// who trusts it trusts this one certificate and no other.
type Identity struct {
	Certificate tls.Certificate
	Authority   []byte // DER
	// New says that it was made just now.
	New bool
}

// Fingerprint is the SHA-256 of the certificate as browsers show it.
func (i Identity) Fingerprint() string { return fingerprint(i.Certificate.Certificate[0]) }

// AuthorityFingerprint is the SHA-256 of the authority's certificate.
func (i Identity) AuthorityFingerprint() string { return fingerprint(i.Authority) }

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// Names are what a certificate is good for.
type Names struct {
	Hosts     []string
	Addresses []netip.Addr
}

// all are the names as verification takes them.
func (n Names) all() []string {
	list := append([]string{}, n.Hosts...)
	for _, a := range n.Addresses {
		list = append(list, a.String())
	}
	return list
}

// The files in an identity's folder.
const (
	certificateFile = "certificate.pem" // the certificate, then its authority
	keyFile         = "key.pem"
)

// LoadIdentity takes the identity that a folder keeps, or makes one and keeps it
// there where there is none, or one that ends soon, is not good for all names, or
// whose key others could read.
func LoadIdentity(folder string, names Names, now time.Time) (Identity, error) {
	if id, err := readIdentity(folder); err == nil && id.good(names, now) {
		return id, nil
	}
	id, err := newIdentity(names, now)
	if err != nil {
		return id, err
	}
	if err := id.write(folder); err != nil {
		return id, fmt.Errorf("the certificate cannot be kept in %s: %w", folder, err)
	}
	return id, nil
}

var errIdentity = errors.New("no identity")

func readIdentity(folder string) (Identity, error) {
	key := filepath.Join(folder, keyFile)
	info, err := os.Stat(key)
	if err != nil {
		return Identity{}, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return Identity{}, fmt.Errorf("others can read %s: %w", key, errIdentity)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, certificateFile), key)
	if err != nil {
		return Identity{}, err
	}
	if len(pair.Certificate) != 2 {
		return Identity{}, fmt.Errorf("%d certificates: %w", len(pair.Certificate), errIdentity)
	}
	return Identity{Certificate: pair, Authority: pair.Certificate[1]}, nil
}

// good says whether the certificate can be used for these names from now on.
func (i Identity) good(names Names, now time.Time) bool {
	authority, err := x509.ParseCertificate(i.Authority)
	if err != nil {
		return false
	}
	leaf, err := x509.ParseCertificate(i.Certificate.Certificate[0])
	if err != nil || leaf.CheckSignatureFrom(authority) != nil || now.Add(renewal).After(leaf.NotAfter) ||
		now.Before(leaf.NotBefore) {
		return false
	}
	for _, name := range names.all() {
		if leaf.VerifyHostname(name) != nil {
			return false
		}
	}
	return true
}

func newIdentity(names Names, now time.Time) (Identity, error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, err
	}
	above := template("gemwire", now)
	above.IsCA, above.MaxPathLenZero, above.KeyUsage = true, true, x509.KeyUsageCertSign
	authority, err := x509.CreateCertificate(rand.Reader, above, above, authorityKey.Public(), authorityKey)
	if err != nil {
		return Identity{}, err
	}
	below := template("gemwire serve", now)
	below.KeyUsage, below.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	below.DNSNames = names.Hosts
	for _, a := range names.Addresses {
		below.IPAddresses = append(below.IPAddresses, net.IP(a.AsSlice()))
	}
	leaf, err := x509.CreateCertificate(rand.Reader, below, above, key.Public(), authorityKey)
	if err != nil {
		return Identity{}, fmt.Errorf("no certificate can be made for %s: %w", strings.Join(names.all(), ", "), err)
	}
	pair := tls.Certificate{Certificate: [][]byte{leaf, authority}, PrivateKey: crypto.PrivateKey(key)}
	return Identity{Certificate: pair, Authority: authority, New: true}, nil
}

// template is what both certificates have in common.
func template(name string, now time.Time) *x509.Certificate {
	// x509.CreateCertificate makes a serial number of its own where none is given.
	return &x509.Certificate{
		Subject: pkix.Name{
			CommonName: name + " " + now.UTC().Format("2006-01-02 15:04"), Organization: []string{"gemwire"},
		},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(lifetime), BasicConstraintsValid: true,
	}
}

// write keeps the identity in a folder.
func (i Identity) write(folder string) error {
	key, err := x509.MarshalPKCS8PrivateKey(i.Certificate.PrivateKey)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := replace(filepath.Join(folder, keyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		0o600); err != nil {
		return err
	}
	var chain []byte
	for _, der := range i.Certificate.Certificate {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return replace(filepath.Join(folder, certificateFile), chain, 0o644)
}

// replace puts a file in the place of an older one.
func replace(path string, content []byte, mode os.FileMode) error {
	return atomicfile.Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
