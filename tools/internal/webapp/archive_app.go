//go:build webapp

package webapp

import _ "embed"

// archive is what scripts/webapp.sh has packed. Without it, the tag does not compile.
//
//go:embed app.zip
var archive []byte
