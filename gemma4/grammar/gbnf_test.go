package grammar

import (
	"errors"
	"strings"
	"testing"
)

func TestGBNF(t *testing.T) {
	v := testVocabulary(t)
	for _, test := range []struct {
		name, grammar string
		fit, refuse   []string
	}{
		{"arithmetic", "# sums\nroot ::= (expr \"=\" ws term \"\\n\")+\nexpr ::= term ([-+*/] term)*\n" +
			"term ::= num | \"(\" ws expr ws \")\"\nnum ::= [0-9]+ ws\nws ::= [ \\t\\n]*\n",
			[]string{"1+2=3\n", "(1 +2 )*3= 9\n4=4\n"}, []string{"", "1+=2\n", "(1=1\n"}},
		{"counts", `root ::= "a"{2} "b"{1,2} ("c" "d"){2,} "e"{0,1}+ x{ 1 , 2 }` + "\nx ::= \"x\"",
			[]string{"aabcdcdx", "aabbcdcdcdeeexx"}, []string{"abcdcdx", "aabcdx", "aabbbcdcdx", "aabcdcdxxx"}},
		{"classes", `root ::= [^a-c\]x] [a-] [\x41\u00e9\U0001F600]`,
			[]string{"daA", "é-é", "q-😀"}, []string{"aaA", "]aA", "dbA", "da"}},
		{"groups", "root ::= (\n \"a\" |\n \"b\" ) ( \"c\" \"d\" ){1,2} \"\" x?\nx ::= \"x\" | x-y\nx-y ::= \"y\" root",
			[]string{"acd", "bcdcdx", "acdybcd"}, []string{"a", "acdcdcd", "acdxx", "cd"}},
		{"any", `root ::= . . "\"" `, []string{`é日"`, "a\n\""}, []string{`a"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compile(t, v, Form{GBNF: test.grammar})
			for _, text := range test.fit {
				if !fits(t, c, text) {
					t.Errorf("%q does not fit", text)
				}
			}
			for _, text := range test.refuse {
				if fits(t, c, text) {
					t.Errorf("%q fits", text)
				}
			}
		})
	}
}

func TestGBNFRefused(t *testing.T) {
	v := testVocabulary(t)
	for _, test := range []struct {
		grammar string
		want    error
	}{
		{"rot ::= \"a\"", ErrSyntax}, {"root ::= a", ErrSyntax}, {"root = \"a\"", ErrSyntax}, {"root ::= \"a", ErrSyntax},
		{"root ::= [a", ErrSyntax}, {"root ::= (\"a\"", ErrSyntax},
		{"root ::= \"a\" )", ErrSyntax}, {`root ::= "\q"`, ErrSyntax},
		{`root ::= "\xg0"`, ErrSyntax},
		{`root ::= "\ud800"`, ErrSyntax}, {`root ::= "a"{3,2}`, ErrSyntax}, {`root ::= "a"{,}`, ErrSyntax},
		{"root ::= \"a\"\nroot ::= \"b\"", ErrSyntax}, {"root ::= root \"a\" | \"b\"", ErrUnsupported},
		{"root ::= x root \"a\" | \"b\"\nx ::= \"\" | \"c\"", ErrUnsupported}, {"root ::= (\"a\"?)*", ErrUnsupported},
		{"root ::= <think>", ErrUnsupported},
		{"root ::= \"a\" root", ErrUnsatisfiable}, {`root ::= "a"{9999}`, ErrTooComplex},
		{"root ::= " + strings.Repeat("(", 10000), ErrTooComplex},
		{"root ::= " + strings.Repeat("(", 200) + "x" + strings.Repeat("){2000}", 200) + "\nx ::= \"a\" | \"b\" x", nil},
	} {
		_, err := Compile(t.Context(), v, Form{GBNF: test.grammar})
		if !errors.Is(err, test.want) {
			t.Errorf("%.60q: %v, want %v", test.grammar, err, test.want)
		}
	}
}

func TestGBNFSaysWhere(t *testing.T) {
	v := testVocabulary(t)
	for _, test := range []struct{ grammar, want string }{
		{"root ::= \"a\nx", `line 1 of the grammar, in the rule "root": a literal has no " at its end`},
		{"root ::= b\nb ::= [z-a]", `line 2 of the grammar, in the rule "b": the range z-a is turned round`},
		{"root ::= \"x\" b\n\nb ::= b \"x\" | \"y\"", `the rule "b" (line 3 of the grammar) begins with itself`},
		{"root ::= \"a\"\nx ::= b", `line 2 of the grammar: there is no rule "b"`},
		{"root ::= (\"a\"?)*", `what is repeated may be empty`},
		{"root ::= \n(\"a\"", `line 2 of the grammar, in the rule "root": a ( has no ) behind it`},
		{"root ::= x\nx ::= \"a\" x", `at the rule "x" (line 2 of the grammar)`},
		{"root ::= [a-", `a class has no ] at its end`},
		{"root ::= \"a\"\n\n= 3", `line 3 of the grammar: a name of a rule is missing before "= 3"`},
	} {
		_, err := Compile(t.Context(), v, Form{GBNF: test.grammar})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.grammar, err, test.want)
		}
	}
}

func FuzzGBNF(f *testing.F) {
	v := testVocabulary(f)
	f.Add(`root ::= "a" [^b] (x | "c"){2,3}`+"\nx ::= .", "axcc")
	f.Fuzz(func(t *testing.T, grammar, text string) {
		if len(grammar) > 200 || len(text) > 50 {
			return
		}
		c, err := Compile(t.Context(), v, Form{GBNF: grammar})
		if err == nil {
			_, err = c.New().Fits([]byte(text))
		}
		for _, want := range []error{nil, ErrSyntax, ErrUnsupported, ErrUnsatisfiable, ErrTooComplex} {
			if errors.Is(err, want) {
				return
			}
		}
		t.Errorf("%q: %v is none of the package's errors", grammar, err)
	})
}
