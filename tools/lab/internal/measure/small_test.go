package measure

import (
	"testing"

	"github.com/gemwire/gemwire/gemma4/nano/nanotest"
)

func TestMain(m *testing.M) { nanotest.Main(m) }
