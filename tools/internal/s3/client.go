package s3

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Store is a store of objects.
type Store struct {
	core  minio.Core
	stall time.Duration // how long a server may send nothing
	pause time.Duration // before an object is asked for again
}

// The bounds of a request that is no object's.
const (
	stallAfter   = time.Minute
	mostHeader   = 1 << 20
	mostWait     = 10 * time.Minute // of a request, with its repetitions
	firstPause   = 500 * time.Millisecond
	mostAttempts = 6 // of a request in minio-go, with pauses of up to a second
)

// New is the store that the environment names, with its credentials.
func New(getenv func(string) string) (*Store, error) {
	where, err := settingsOf(getenv)
	if err != nil {
		return nil, err
	}
	transport, err := transportOf(getenv)
	if err != nil {
		return nil, err
	}
	keys := credentials.New(&chain{getenv: getenv})
	if _, err := keys.GetWithContext(&credentials.CredContext{
		Client: &http.Client{Transport: transport, Timeout: stallAfter}, Endpoint: where.endpoint.String(),
	}); err != nil {
		return nil, err
	}
	client, err := minio.New(where.endpoint.Host, &minio.Options{
		Creds: keys, Secure: where.endpoint.Scheme == "https", Region: where.region, Transport: transport,
		MaxRetries: mostAttempts,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return &Store{core: minio.Core{Client: client}, stall: stallAfter, pause: firstPause}, nil
}

// transportOf trusts the authorities of AWS_CA_BUNDLE where one is named.
func transportOf(getenv func(string) string) (http.RoundTripper, error) {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 15 * time.Second,
		ResponseHeaderTimeout: stallAfter, ExpectContinueTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: mostHeader, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if file := getenv("AWS_CA_BUNDLE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: AWS_CA_BUNDLE: %w", ErrConfig, err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: AWS_CA_BUNDLE: %s holds no certificates", ErrConfig, file)
		}
	}
	return bounded{t}, nil
}

// put makes an object, or replaces it.
func (s *Store) put(ctx context.Context, at Address, content []byte) (etag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	info, err := s.core.Client.PutObject(ctx, at.Bucket, at.Key, bytes.NewReader(content), int64(len(content)),
		minio.PutObjectOptions{ContentType: "application/jsonl", DisableMultipart: true})
	if err != nil {
		return "", explain("writing", at, err)
	}
	return info.ETag, nil
}

// object is what a store says of one.
type object struct {
	key  string
	size int64
	etag string
}

// stat looks for an object; nil is none.
func (s *Store) stat(ctx context.Context, at Address) (*object, error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	info, err := s.core.StatObject(ctx, at.Bucket, at.Key, minio.StatObjectOptions{})
	switch {
	case is(err, minio.NoSuchKey):
		return nil, nil
	case err != nil:
		return nil, explain("looking for", at, err)
	case info.Size < 0 || info.ETag == "":
		return nil, fmt.Errorf("looking for %v: %w: it lacks the object's size or ETag", at, ErrServer)
	}
	return &object{at.Key, info.Size, info.ETag}, nil
}

// list names the objects whose keys begin with a prefix, at most so many.
func (s *Store) list(ctx context.Context, at Address, prefix string, most int) (list []object, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	for info := range s.core.ListObjectsIter(ctx, at.Bucket, minio.ListObjectsOptions{Prefix: prefix}) {
		if info.Err != nil {
			return nil, explain("looking for", at, info.Err)
		}
		if len(list) == most {
			return nil, fmt.Errorf("looking for %v: %w: more than %d objects begin with %s", at, ErrServer, most,
				prefix)
		}
		list = append(list, object{info.Key, info.Size, info.ETag})
	}
	return list, ctx.Err()
}

// remove deletes objects.
func (s *Store) remove(ctx context.Context, at Address, list []object) error {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	objects := make(chan minio.ObjectInfo)
	go func() {
		defer close(objects)
		for _, o := range list {
			select {
			case objects <- minio.ObjectInfo{Key: o.key}:
			case <-ctx.Done():
				return
			}
		}
	}()
	var all error
	for failed := range s.core.RemoveObjects(ctx, at.Bucket, objects, minio.RemoveObjectsOptions{}) {
		if all == nil {
			all = explain("removing pieces of", at, failed.Err)
		}
	}
	return errors.Join(all, ctx.Err())
}
