// Package s3 reads objects of a store that speaks S3's protocol, and writes one that grows: Amazon's, or any other that
// AWS_ENDPOINT_URL names.
//
// Read address.go first, then client.go (a store, from the usual variables and files) with credentials.go and
// config.go, reader.go (an object, through breaks of the connection), grown.go (an object that is written in pieces,
// and continued after a crash) with pieces.go (what an earlier run left of it), errors.go and bounded.go (what a server
// may send).
package s3
