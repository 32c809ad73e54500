// Renders a template of Crossplane's function-go-templating as that does: Go's text/template with sprig,
// on the fields of a RunFunctionRequest. What the function adds to sprig is not here: a template that
// needs it is refused.
//
//	go-template TEMPLATE <REQUEST.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

func render() error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var request map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		return err
	}
	parsed, err := template.New("manifests").Funcs(sprig.FuncMap()).Parse(string(text))
	if err != nil {
		return err
	}
	return parsed.Execute(os.Stdout, request)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go-template TEMPLATE <REQUEST.json")
		os.Exit(2)
	}
	if err := render(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
