// go-webhook ADDRESS CERTIFICATE KEY: the smallest validating webhook that somebody would write in
// Go. It decodes each review, looks at the object's name and allows it; it stores nothing.
// `make bench` measures Truce beside it.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

type object struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

type request struct {
	UID    string `json:"uid"`
	Object object `json:"object"`
}

type response struct {
	UID     string `json:"uid"`
	Allowed bool   `json:"allowed"`
}

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

func validate(writer http.ResponseWriter, asked *http.Request) {
	body, err := io.ReadAll(asked.Body)
	var found review
	if err == nil {
		err = json.Unmarshal(body, &found)
	}
	if err != nil || found.Request == nil {
		http.Error(writer, "no review", http.StatusBadRequest)
		return
	}
	found.Response = &response{UID: found.Request.UID, Allowed: found.Request.Object.Metadata.Name != ""}
	found.Request = nil
	writer.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(writer).Encode(found); err != nil {
		log.Print(err)
	}
}

func main() {
	http.HandleFunc("/validate", validate)
	log.Fatal(http.ListenAndServeTLS(os.Args[1], os.Args[2], os.Args[3], nil))
}
