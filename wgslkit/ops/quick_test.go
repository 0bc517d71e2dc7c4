package ops_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// testAll asks for every case with every tuning and limit, and for other libraries: a software rasterizer compiles
// each kernel for a second, and there are hundreds. make test-all sets it.
func testAll() bool { return os.Getenv("GEMWIRE_TEST_ALL") == "1" }

// onlyInAll skips a test that make test leaves to make test-all.
func onlyInAll(t *testing.T) {
	t.Helper()
	if !testAll() {
		t.Skip("make test-all runs it")
	}
}

var (
	productName = regexp.MustCompile(`^([A-Z]+\d*(?:_(?:[0-9]|[A-Z]+))?)_.*?(\d+)of\d+(.*)$`)
	number      = regexp.MustCompile(`\d+`)
)

// chosen has the cases that a run wants: all, or two of each kernel.
func chosen(types ...string) func(opstest.Case) bool {
	if testAll() && !testing.Short() {
		return func(opstest.Case) bool { return true }
	}
	return twoOfEach(types...)
}

// twoOfEach has two cases of each kernel. Products and embeddings are of these types of weights alone, fused products
// of the first.
func twoOfEach(types ...string) func(opstest.Case) bool {
	seen := map[string]int{}
	return func(c opstest.Case) bool {
		kind := kindOf(c, types)
		seen[kind]++
		return kind != "" && (seen[kind] == 1 || seen[kind] == 2 && !testing.Short()) // a second shape compiles nothing
	}
}

// oneTokenOfEach has a plain product of one token, which decoding is made of, of every type of weights.
func oneTokenOfEach() func(opstest.Case) bool {
	seen := map[string]bool{}
	return func(c opstest.Case) bool {
		m := productName.FindStringSubmatch(c.Name)
		if testing.Short() || c.Op != "Linear" || m == nil || m[2] != "1" || m[3] != "" || seen[m[1]] {
			return false
		}
		seen[m[1]] = true
		return true
	}
}

// kindOf is what cases have in common of which one will do, "" for those that another type stands for.
func kindOf(c opstest.Case, types []string) string {
	mode, rest, modes := strings.Cut(c.Name, "/")
	switch {
	case testing.Short():
		return c.Op
	case c.Op == "Sample":
		return c.Name
	case modes && (c.Op == "PackedAttention" || c.Op == "FullAttention"):
		return c.Op + mode // each size of heads is compiled anew
	case modes && (c.Op == "Attention" || c.Op == "Sequence"):
		if mode == "few cores" && !strings.HasPrefix(rest, "q8 ") ||
			strings.HasSuffix(rest, "odd heads") || strings.HasSuffix(rest, "sliding chunked") {
			return c.Op + c.Name
		}
		return ""
	case !isProduct(c):
		return c.Op + c.Name
	}
	m := productName.FindStringSubmatch(c.Name)
	if m == nil {
		return c.Op + number.ReplaceAllString(c.Name, "#")
	}
	weights, flags := m[1], number.ReplaceAllString(m[3], "#")
	tokens, err := strconv.Atoi(m[2])
	if err != nil {
		panic(err)
	}
	class := "many"
	switch {
	case tokens == 1:
		class = "one"
	case tokens <= 8:
		class = "few"
	case tokens >= 100:
		class = "large"
	}
	small := class == "one" || class == "few"
	switch {
	case c.Op == "Linear" && small && flags != "" && weights != types[0]:
		return ""
	case !slices.Contains(types, weights):
		return ""
	}
	return strings.Join([]string{c.Op, weights, class, flags}, "/")
}
