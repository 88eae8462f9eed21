// Reads dashboards with the types of Grafana's own library: a field that Grafana does not know, or a value that it does
// not take, is an error.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	failed := false
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var read dashboard.Dashboard
	for _, err := range []error{read.UnmarshalJSONStrict(text), read.Validate()} {
		// Without findings it is a list of none, not nil.
		if err != nil && err.Error() != "" {
			return err
		}
	}
	return nil
}
