package s3

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A grown object is kept in pieces while it grows: objects beside it, whose names say where in the whole they begin.
//
//	s3://bucket/answers.jsonl.unfinished/00000000000000000000
//	s3://bucket/answers.jsonl.unfinished/00000000000008389102
//
// So what an earlier run left can be told from the names alone: pieces that begin where the one before ends.

// unfinished is what the names of pieces have behind the object's.
const unfinished = ".unfinished/"

// mostPieces is how many pieces may lie beside an object; S3 joins 10 000.
const mostPieces = 10_000

// mostTotal bounds what names and sizes add up to, S3's 5 TB.
const mostTotal = 5 << 40

var pieceName = regexp.MustCompile(`^\d{20}$`)

// piece is a part of the whole.
type piece struct {
	object
	begin int64
}

func (p piece) end() int64 { return p.begin + p.size }

func pieceAt(at Address, begin int64) Address {
	return Address{at.Bucket, fmt.Sprintf("%s%s%020d", at.Key, unfinished, begin)}
}

// piecesOf are all pieces that lie beside an object.
func (s *Store) piecesOf(ctx context.Context, at Address) (list []piece, err error) {
	prefix := at.Key + unfinished
	objects, err := s.list(ctx, at, prefix, 2*mostPieces)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		name := strings.TrimPrefix(o.key, prefix)
		if len(name)+len(prefix) != len(o.key) || !pieceName.MatchString(name) {
			continue // somebody else's
		}
		begin, err := strconv.ParseInt(name, 10, 64)
		if err != nil || begin > mostTotal || o.size < 0 || o.size > mostTotal || o.etag == "" {
			return nil, fmt.Errorf("looking for pieces of %v: %w: %.200q", at, ErrServer, o.key)
		}
		list = append(list, piece{o, begin})
	}
	return list, nil
}

// follow are the pieces behind some bytes, each where the one before ends.
func follow(all []piece, begin int64) (chain []piece) {
	by := map[int64]piece{}
	for _, p := range all {
		by[p.begin] = p
	}
	for {
		p, ok := by[begin]
		if !ok || p.size <= 0 || p.end() > mostTotal {
			return chain
		}
		chain, begin = append(chain, p), p.end()
	}
}

// reach is where a chain ends.
func reach(chain []piece) int64 {
	if len(chain) == 0 {
		return 0
	}
	return chain[len(chain)-1].end()
}

// left is what an earlier run left: the finished object, if any, and what continues it, or pieces from the beginning.
// Where both go as far, the pieces are what a run left that was ended between joining and removing them.
func left(finished *object, all []piece) []piece {
	fromStart := follow(all, 0)
	if finished == nil {
		return fromStart
	}
	chain := follow(all, finished.size)
	if finished.size > 0 {
		chain = append([]piece{{*finished, 0}}, chain...)
	}
	if reach(fromStart) > reach(chain) {
		return fromStart
	}
	return chain
}

// chained reads pieces one after another.
type chained struct {
	ctx   context.Context
	store *Store
	at    Address
	rest  []piece
	now   *Reader
}

func (c *chained) Read(p []byte) (int, error) {
	for {
		if c.now == nil {
			if len(c.rest) == 0 {
				return 0, io.EOF
			}
			r := c.store.readPiece(c.ctx, c.at, c.rest[0])
			c.now, c.rest = r, c.rest[1:]
		}
		n, err := c.now.Read(p)
		if err == io.EOF {
			c.now, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// readPiece reads a piece as it was listed.
func (s *Store) readPiece(ctx context.Context, at Address, p piece) *Reader {
	return s.reader(ctx, Address{at.Bucket, p.key}, p.object)
}
