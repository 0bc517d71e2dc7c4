#!/usr/bin/env bash
# Checks that each package-lock.json has the digest of every package that comes from the registry, and names no registry
# but npm's own. npm leaves the digest out, and says nothing, where it takes what it knows of a package for another
# system from node_modules: there such a package was not installed. Then remove node_modules and those entries, and run
# `npm install --package-lock-only`.
set -euo pipefail
cd "$(dirname "$0")/.."

# npm writes these files, so that lines are enough: a package is what is indented by four spaces.
git ls-files --cached --others --exclude-standard -z '*package-lock.json' | xargs -0 perl -ne '
  if (/^    "(.*)": \{/) { ($name, $digest, $other) = ($1, "", ""); $packages++ }
  $digest = 1 if /^      "integrity": "sha(256|384|512)-/;
  $other = 1 if /^      "(link|inBundle)": true/; # a folder here, and what is inside of another package
  if (/^ +"resolved": "(https?:[^"]*)"/ && index($1, "https://registry.npmjs.org/") != 0) {
    print STDERR "$ARGV: $name is resolved to another registry than npm'\''s: $1\n";
    $bad = 1;
  }
  if (/^    \}/ && $name =~ m(^(.*/)?node_modules/) && !$digest && !$other) {
    print STDERR "$ARGV: $name has no integrity\n";
    $bad = 1;
  }
  if (eof) {
    print STDERR "$ARGV: no packages in it, or not as npm writes them\n" and $bad = 1 unless $packages;
    $packages = 0;
  }
  END { $? = 1 if $bad }'
