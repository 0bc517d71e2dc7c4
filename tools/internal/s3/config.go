package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	"gopkg.in/ini.v1"
)

// settings say where a store is.
type settings struct {
	endpoint *url.URL
	region   string // empty asks Amazon where a bucket is
}

// amazon is the store that is meant where no other is named.
const amazon = "https://s3.amazonaws.com"

// settingsOf reads the usual variables, and the profile of ~/.aws/config.
func settingsOf(getenv func(string) string) (settings, error) {
	profile, err := profileOf(getenv)
	if err != nil {
		return settings{}, err
	}
	address := firstOf(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"], amazon)
	endpoint, err := url.Parse(address)
	if err != nil || (endpoint.Scheme != "http" && endpoint.Scheme != "https") || endpoint.Host == "" ||
		endpoint.User != nil || (endpoint.Path != "" && endpoint.Path != "/") || endpoint.RawQuery != "" {
		return settings{}, fmt.Errorf("%w: AWS_ENDPOINT_URL is %.200q; use http://HOST:PORT or https://HOST", ErrConfig,
			address)
	}
	s := settings{endpoint, firstOf(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile["region"])}
	if s.region == "" && address != amazon {
		s.region = "us-east-1" // what servers take that have no regions
	}
	return s, nil
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// profileOf is a profile of ~/.aws/config, empty where there is none.
func profileOf(getenv func(string) string) (map[string]string, error) {
	file := getenv("AWS_CONFIG_FILE")
	if file == "" {
		home := firstOf(getenv("HOME"), getenv("USERPROFILE"))
		if home == "" {
			return nil, nil
		}
		file = filepath.Join(home, ".aws", "config")
	}
	config, err := ini.Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, file, err)
	}
	name := firstOf(getenv("AWS_PROFILE"), "default")
	for _, section := range []string{"profile " + name, name} {
		if config.HasSection(section) {
			return config.Section(section).KeysHash(), nil
		}
	}
	return nil, nil
}
