package s3

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"
)

// What a caller can act on; errors wrap one of these where one applies.
var (
	ErrAddress       = errors.New("not an address of an object")
	ErrConfig        = errors.New("the settings of S3 are wrong")
	ErrNoCredentials = errors.New("there are no credentials for S3")
	ErrNoBucket      = errors.New("there is no such bucket")
	ErrNoObject      = errors.New("there is no such object")
	ErrNoAccess      = errors.New("access denied")
	ErrChanged       = errors.New("the object was changed meanwhile")
	// ErrTorn: what an earlier run left ends in the middle of a line, which no run of ours does.
	ErrTorn = errors.New("the object ends in the middle of a line")
	// ErrServer: a server breaks the protocol.
	ErrServer = errors.New("the server's answer makes no sense")
)

// explain says what failed, where, and what to do. What the server says is quoted: it may hold anything.
func explain(doing string, at Address, err error) error {
	if err == nil {
		return nil
	}
	reply := minio.ToErrorResponse(err)
	switch reply.Code {
	case minio.NoSuchBucket:
		return fmt.Errorf("%s %v: %w: %s; make it, or check AWS_ENDPOINT_URL and AWS_REGION", doing, at, ErrNoBucket,
			at.Bucket)
	case minio.NoSuchKey:
		return fmt.Errorf("%s %v: %w", doing, at, ErrNoObject)
	case minio.PreconditionFailed:
		return fmt.Errorf("%s %v: %w; let one program write it at a time", doing, at, ErrChanged)
	case minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch, "ExpiredToken", "InvalidToken", "InvalidClientTokenId":
		return fmt.Errorf("%s %v: %w: the server refuses the credentials (%.60q); check AWS_ACCESS_KEY_ID, "+
			"AWS_SECRET_ACCESS_KEY and AWS_PROFILE", doing, at, ErrNoAccess, reply.Code)
	}
	if reply.StatusCode == http.StatusForbidden || reply.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("%s %v: %w (%.60q); let these credentials list the bucket, and read, write and delete its "+
			"objects", doing, at, ErrNoAccess, reply.Code)
	}
	if reply.Code != "" && reply.StatusCode != 0 {
		return fmt.Errorf("%s %v: status %d, %.60q: %.300q", doing, at, reply.StatusCode, reply.Code, reply.Message)
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // url.Error repeats the whole address
	}
	return fmt.Errorf("%s %v: %w", doing, at, err)
}

// is says whether a server answered with a code.
func is(err error, code string) bool { return err != nil && minio.ToErrorResponse(err).Code == code }
