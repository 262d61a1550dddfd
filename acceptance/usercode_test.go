package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// usercode stands for a program that a user wrote. It is found on the PATH of
// scripts and pages.
//
//	usercode shout        {"text": …} in capitals, as {"loud": …}
//	usercode keep FILE    add what it is given to FILE, as a line
//	usercode fail         end in an error
//	usercode hang         never end
func usercode() {
	input, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = behave(os.Args[1:], bytes.TrimSpace(input))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// behave does what the words on a command line ask for.
func behave(words []string, input []byte) error {
	switch strings.Join(words[:min(1, len(words))], "") {
	case "shout":
		var args struct{ Text string }
		if err := json.Unmarshal(input, &args); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(map[string]string{"loud": strings.ToUpper(args.Text)})
	case "keep":
		f, err := os.OpenFile(words[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if _, err := f.Write(append(input, '\n')); err != nil {
			return err
		}
		return f.Close()
	case "hang":
		<-time.After(time.Hour)
	}
	return fmt.Errorf("this cannot be done: %q", words)
}
