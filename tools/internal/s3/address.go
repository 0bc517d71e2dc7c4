package s3

import (
	"fmt"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// scheme is what addresses of objects begin with.
const scheme = "s3://"

// Address is where an object is.
type Address struct{ Bucket, Key string }

// Is says whether a name is meant as an address.
func Is(name string) bool { return strings.HasPrefix(name, scheme) }

// Parse reads s3://BUCKET/KEY.
func Parse(name string) (Address, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(name, scheme), "/")
	switch {
	case !Is(name) || bucket == "" || key == "" || strings.HasSuffix(key, "/"):
		return Address{}, fmt.Errorf("%w: %.200q; use s3://BUCKET/KEY", ErrAddress, name)
	case s3utils.CheckValidBucketName(bucket) != nil:
		return Address{}, fmt.Errorf("%w: %.80q is no name of a bucket", ErrAddress, bucket)
	case s3utils.CheckValidObjectName(key) != nil || len(key) > mostKey:
		return Address{}, fmt.Errorf("%w: the key of %.200q has more than %d bytes, or is not UTF-8", ErrAddress, name,
			mostKey)
	}
	return Address{bucket, key}, nil
}

// mostKey leaves room for the names of pieces in the 1024 bytes that a key may have.
const mostKey = 950

func (a Address) String() string { return scheme + a.Bucket + "/" + a.Key }
