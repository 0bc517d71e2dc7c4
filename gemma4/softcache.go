package gemma4

import (
	"sync"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// maxSoftBytes bounds the soft tokens that a session keeps.
const maxSoftBytes = 64 << 20

// maxCounts bounds how many media a session remembers the size of.
const maxCounts = 1 << 12

// softCache keeps soft tokens with a session, so that a later turn, or one that
// goes back, does not compute a picture anew. The zero value is empty.
type softCache struct {
	mu     sync.Mutex
	sizes  map[string][]chat.Piece // by the key of the whole
	rows   map[string][]float32
	recent []string // keys of rows, the one used last at the end
	bytes  int
}

// pieces is nil for media that are not known.
func (c *softCache) pieces(key string) []chat.Piece {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sizes[key]
}

func (c *softCache) setPieces(key string, pieces []chat.Piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sizes == nil || len(c.sizes) >= maxCounts {
		c.sizes = map[string][]chat.Piece{}
	}
	c.sizes[key] = pieces
}

// get is nil for vectors that are not kept.
func (c *softCache) get(key string) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := c.rows[key]
	if rows != nil {
		c.touch(key)
	}
	return rows
}

// put keeps vectors, and drops those that were used longest ago.
func (c *softCache) put(key string, rows []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = map[string][]float32{}
	}
	c.bytes += 4 * (len(rows) - len(c.rows[key]))
	c.rows[key] = rows
	c.touch(key)
	for c.bytes > maxSoftBytes {
		oldest := c.recent[0]
		c.recent = c.recent[1:]
		c.bytes -= 4 * len(c.rows[oldest])
		delete(c.rows, oldest)
	}
}

func (c *softCache) touch(key string) {
	for i, k := range c.recent {
		if k == key {
			c.recent = append(c.recent[:i], c.recent[i+1:]...)
			break
		}
	}
	c.recent = append(c.recent, key)
}

// clear forgets the vectors.
func (c *softCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows, c.recent, c.bytes = nil, nil, 0
}
