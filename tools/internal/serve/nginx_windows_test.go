package serve

import (
	"os/exec"
	"testing"
)

func asNobody(*exec.Cmd, string, string, string, string, string) error { return nil }

func wantNobody(*testing.T, string) {}
