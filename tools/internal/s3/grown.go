package s3

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
)

// Grown is an object that is written from its beginning to its end, and that survives a crash: what was written is
// uploaded in pieces beside it, which Finish joins. One program may write it at a time.
type Grown struct {
	ctx      context.Context
	store    *Store
	at       Address
	finished *object // that was there
	done     []piece // as large as pieces become
	tail     []byte  // behind them
	open     *piece  // the tail, as far as it is uploaded
	extent   int64   // of what Earlier reads
	grew     bool    // since the object was finished
}

// A piece is uploaded anew each time that there is more of it, until it is pieceSize. Each thousand pieces they become
// larger, because S3 joins 10 000 of them. It joins none below leastPiece, but the last.
const (
	pieceSize  = 8 << 20
	mostPiece  = 128 << 20
	leastPiece = 5 << 20
)

// mostJoin bounds the joining, in which the server copies.
const mostJoin = 6 * time.Hour

// Grow continues an object, or begins it. Of ctx only the values are used: what was written is uploaded also when a
// program is asked to end, and each request has a bound in time.
func (s *Store) Grow(ctx context.Context, at Address) (*Grown, error) {
	g := &Grown{ctx: context.WithoutCancel(ctx), store: s, at: at}
	all, err := s.piecesOf(ctx, at)
	if err != nil {
		return nil, err
	}
	if g.finished, err = s.stat(ctx, at); err != nil {
		return nil, err
	}
	g.done = left(g.finished, all)
	g.extent = reach(g.done)
	return g, nil
}

// Earlier reads what is there.
func (g *Grown) Earlier() (io.Reader, error) {
	return &chained{ctx: g.ctx, store: g.store, at: g.at, rest: g.done}, nil
}

// Cut has writing begin behind what is there, which has to be where bytes says: what this package uploads has whole
// lines.
func (g *Grown) Cut(bytes int64) error {
	if bytes != g.extent {
		return fmt.Errorf("%v: %w, after byte %d of %d; remove what is behind it, or name another output", g.at,
			ErrTorn, bytes, g.extent)
	}
	if len(g.done) == 0 {
		return nil
	}
	last := g.done[len(g.done)-1]
	own := last.key != g.at.Key
	g.grew = own
	if last.size >= leastPiece {
		return nil
	}
	g.tail = make([]byte, last.size)
	if _, err := io.ReadFull(g.store.readPiece(g.ctx, g.at, last), g.tail); err != nil {
		return err
	}
	g.done = g.done[:len(g.done)-1]
	if own {
		g.open = &last
	}
	return nil
}

// Write appends; what is appended at once stays together.
func (g *Grown) Write(line []byte) (int, error) {
	g.tail, g.grew = append(g.tail, line...), true
	if len(g.tail) < g.wanted() {
		return len(line), nil
	}
	if err := g.Sync(); err != nil {
		return 0, err
	}
	g.done, g.open, g.tail = append(g.done, *g.open), nil, nil
	return len(line), nil
}

// wanted is how large the next piece becomes.
func (g *Grown) wanted() int { return min(pieceSize<<(len(g.done)/1000), mostPiece) }

// Sync uploads what was written.
func (g *Grown) Sync() error {
	if len(g.tail) == 0 || !g.grew || g.open != nil && g.open.size == int64(len(g.tail)) {
		return nil
	}
	if len(g.done) == mostPieces {
		return fmt.Errorf("writing %v: %w", g.at, errPieces)
	}
	at := pieceAt(g.at, reach(g.done))
	etag, err := g.store.put(g.ctx, at, g.tail)
	if err != nil {
		return err
	}
	g.open = &piece{object{at.Key, int64(len(g.tail)), etag}, reach(g.done)}
	return nil
}

var errPieces = fmt.Errorf("it has %d pieces, more than S3 joins; use more shards", mostPieces)

// Finish makes the object of all that was written, and removes the pieces.
func (g *Grown) Finish() error {
	if g.grew || g.finished == nil {
		if err := g.join(); err != nil {
			return err
		}
	}
	all, err := g.store.piecesOf(g.ctx, g.at)
	if err != nil || len(all) == 0 {
		return err
	}
	list := make([]object, len(all))
	for i, p := range all {
		list[i] = p.object
	}
	return g.store.remove(g.ctx, g.at, list)
}

func (g *Grown) join() error {
	if len(g.done) == 0 {
		_, err := g.store.put(g.ctx, g.at, g.tail)
		return err
	}
	if err := g.Sync(); err != nil {
		return err
	}
	all := g.done
	if g.open != nil {
		all = append(all, *g.open)
	}
	sources := make([]minio.CopySrcOptions, len(all))
	for i, p := range all {
		sources[i] = minio.CopySrcOptions{Bucket: g.at.Bucket, Object: p.key, MatchETag: p.etag}
	}
	ctx, cancel := context.WithTimeout(g.ctx, mostJoin)
	defer cancel()
	to := minio.CopyDestOptions{Bucket: g.at.Bucket, Object: g.at.Key}
	if _, err := g.store.core.ComposeObject(ctx, to, sources...); err != nil {
		return explain("joining the pieces of", g.at, err)
	}
	return g.check(reach(all))
}

// check compares the object with what it is made of.
func (g *Grown) check(size int64) error {
	o, err := g.store.stat(g.ctx, g.at)
	if err != nil {
		return err
	}
	if o == nil || o.size != size {
		return fmt.Errorf("joining the pieces of %v: %w: the object is not the %d bytes that were joined", g.at,
			ErrServer, size)
	}
	return nil
}
