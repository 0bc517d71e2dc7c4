package chat

import "testing"

// A template counts for the models that it was released with. Their texts are not ours to keep here.
func TestEditionByDigest(t *testing.T) {
	const (
		e2bFirst   = "781d10940fbc44be40064b5d43a056fc486c84ceaa55538226368b57314132bf"
		e2bLast    = "523fc86ed4db0357763963f4b0fdbce319903f1f68b2d03f593bef7a56836533"
		largeFirst = "1d35a24a2a63cc600c0cab43628a6df4cd3318e959b03307cf5f9f7e29ecf783"
		largeLast  = "2af48814bacaf2a35a2d57aa19eee6c42ed530011977e8f414cf1d467da446c2"
	)
	for digest, want := range map[string]struct{ e2b, large Edition }{
		e2bFirst: {Older, Unknown}, e2bLast: {Current, Unknown},
		largeFirst: {Unknown, Older}, largeLast: {Unknown, Current},
		"": {Unknown, Unknown},
	} {
		if e2b, large := E2B.editionByDigest(digest), Large.editionByDigest(digest); e2b != want.e2b || large != want.large {
			t.Errorf("%q is edition %d of E2B and %d of Large, wanted %+v", digest, e2b, large, want)
		}
	}
}
