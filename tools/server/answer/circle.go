package answer

import (
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// An answer that repeats the same few tokens for so long will not end by itself.
const (
	longestCircle = 64
	mostInCircle  = 1024
)

// circle notices an answer that goes round in a circle.
type circle struct {
	recent [longestCircle]int32
	count  int
	same   [longestCircle + 1]int // for each length of a circle, how many tokens fit it so far
	begun  time.Time
	usage  gemma4.Usage
}

// add takes tokens and says whether the answer goes round.
func (c *circle) add(tokens []sample.Choice) (round bool) {
	for _, t := range tokens {
		for n := 1; n <= longestCircle; n++ {
			if c.count >= n && c.recent[(c.count-n)%longestCircle] == t.Token {
				c.same[n]++
			} else {
				c.same[n] = 0
			}
			round = round || c.same[n] >= mostInCircle
		}
		c.recent[c.count%longestCircle] = t.Token
		c.count++
	}
	c.usage.Answer = c.count
	return round
}
