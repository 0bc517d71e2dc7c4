package gemma4

import (
	"fmt"
	"testing"
)

func TestSoftCacheIsBounded(t *testing.T) {
	var c softCache
	image := make([]float32, maxSoftBytes/4/4) // four fill it
	for i := range 5 {
		c.put(fmt.Sprint(i), image)
		c.get("0") // always in use
	}
	for key, want := range map[string]bool{"0": true, "1": false, "2": true, "3": true, "4": true} {
		if got := c.get(key) != nil; got != want {
			t.Errorf("medium %s is kept: %t", key, got)
		}
	}
	c.put("huge", make([]float32, maxSoftBytes/4+1))
	if c.bytes > maxSoftBytes || c.get("huge") != nil {
		t.Errorf("%d bytes are kept", c.bytes)
	}
}
