package engine

import (
	"context"
	"fmt"
)

func (c *call) examine(context.Context) (any, error) {
	return nil, fmt.Errorf("%w: %s", errProtocol, c.Op)
}
