// A calculator's expressions: + - * / % ^, parentheses, numbers, a few functions and constants.
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "/" | "%") signed }
//   signed  = ["-" | "+"] signed | power
//   power   = atom ["^" signed]
//   atom    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"

const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  exp: Math.exp,
  ln: Math.log,
  log: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  min: Math.min,
  max: Math.max,
};

const maxLength = 500;
const maxDepth = 60;
const tokenPattern = /\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|[a-z]+|[-+*/%^(),])/gy;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  let end = 0;
  for (let match = tokenPattern.exec(text); match; match = tokenPattern.exec(text)) {
    tokens.push(match[1] ?? "");
    end = tokenPattern.lastIndex;
  }
  const rest = text.slice(end).trim();
  if (rest) throw new Error(`"${rest.slice(0, 20)}" is not arithmetic`);
  return tokens;
}

/** evaluate computes an expression, or throws an Error that says what is wrong with it. */
export function evaluate(expression: string): number {
  if (expression.length > maxLength) throw new Error("the expression is too long");
  const tokens = tokensOf(
    expression.toLowerCase().replaceAll("×", "*").replaceAll("÷", "/").replaceAll("−", "-").replaceAll("**", "^"),
  );
  let at = 0;
  let depth = 0;

  const take = (...wanted: string[]): string | null => {
    const token = tokens[at];
    if (token === undefined || !wanted.includes(token)) return null;
    at++;
    return token;
  };
  const expect = (wanted: string) => {
    if (take(wanted) === null) throw new Error(`"${wanted}" is missing`);
  };

  const sum = (): number => {
    if (++depth > maxDepth) throw new Error("too many parentheses");
    let value = product();
    for (let sign = take("+", "-"); sign; sign = take("+", "-"))
      value = sign === "+" ? value + product() : value - product();
    depth--;
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let sign = take("*", "/", "%"); sign; sign = take("*", "/", "%")) {
      const right = signed();
      if (sign !== "*" && right === 0) throw new Error("division by zero");
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
    }
    return value;
  };
  const signed = (): number => {
    let negative = false;
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) if (sign === "-") negative = !negative;
    const value = power();
    return negative ? -value : value;
  };
  const power = (): number => {
    const base = atom();
    return take("^") ? base ** signed() : base;
  };
  const atom = (): number => {
    if (take("(")) {
      const value = sum();
      expect(")");
      return value;
    }
    const token = tokens[at++];
    if (token === undefined) throw new Error("the expression ends too early");
    if (/^[\d.]/.test(token)) return Number(token);
    return named(token);
  };
  const named = (name: string): number => {
    const apply = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (apply) {
      expect("(");
      const values = [sum()];
      while (take(",")) values.push(sum());
      expect(")");
      return apply(...values);
    }
    const constant = Object.hasOwn(constants, name) ? constants[name] : undefined;
    if (constant === undefined) throw new Error(`"${name}" is not known`);
    return constant;
  };

  const value = sum();
  if (at < tokens.length) throw new Error(`"${tokens[at] ?? ""}" is not allowed here`);
  return value;
}
