package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// chain asks where credentials usually are, in the order of Amazon's programs: the variables, the files of the profile,
// and what the machine, the container or the pod is given. The first that has some is asked again when they expire.
type chain struct {
	getenv func(string) string
	used   credentials.Provider
}

func (c *chain) IsExpired() bool { return c.used == nil || c.used.IsExpired() }

func (c *chain) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	if c.used != nil {
		return c.used.RetrieveWithCredContext(cc)
	}
	key, secret := c.getenv("AWS_ACCESS_KEY_ID"), c.getenv("AWS_SECRET_ACCESS_KEY")
	if (key == "") != (secret == "") {
		return credentials.Value{}, fmt.Errorf("%w: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither",
			ErrNoCredentials)
	}
	var why []string
	for _, p := range c.providers(key, secret) {
		v, err := p.RetrieveWithCredContext(cc)
		if err == nil && v.AccessKeyID != "" && v.SecretAccessKey != "" {
			c.used = p
			return v, nil
		}
		if _, file := p.(*credentials.FileAWSCredentials); err != nil && file && !errors.Is(err, fs.ErrNotExist) {
			why = append(why, fmt.Sprintf("%.200q", err.Error()))
		}
	}
	text := ""
	if len(why) > 0 {
		text = " (" + strings.Join(why, ", ") + ")"
	}
	return credentials.Value{}, fmt.Errorf("%w%s; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
		ErrNoCredentials, text)
}

// machineWait is how long what gives a machine its credentials may take: elsewhere nothing answers.
const machineWait = 3 * time.Second

func (c *chain) providers(key, secret string) []credentials.Provider {
	list := []credentials.Provider{
		&credentials.Static{Value: credentials.Value{
			AccessKeyID: key, SecretAccessKey: secret, SessionToken: c.getenv("AWS_SESSION_TOKEN"),
			SignerType: credentials.SignatureV4,
		}},
		&credentials.FileAWSCredentials{Profile: c.getenv("AWS_PROFILE")},
	}
	if key != "" {
		return list[:1]
	}
	given := firstOf(c.getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), c.getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
		c.getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")) // to a pod, or to a container
	if given == "" && strings.EqualFold(c.getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return list
	}
	return append(list, &credentials.IAM{Client: &http.Client{Timeout: machineWait}})
}
