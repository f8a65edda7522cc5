// A bot in Go without packages: it plays a random legal move of any game that lists them.
//
//	go build -o bot docs/examples/bot.go
//	kibitz play number-merge number-merge/random --stdio -- ./bot
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
)

// Message is what a bot is sent: the parts of a line that this bot reads.
type Message struct {
	Type  string
	Legal []json.RawMessage
}

func choose(turn Message) json.RawMessage {
	return turn.Legal[rand.Intn(len(turn.Legal))]
}

func main() {
	lines := bufio.NewReader(os.Stdin) // a Scanner would stop at long lines
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // the match is over
		}
		var message Message
		if err := json.Unmarshal(line, &message); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if message.Type != "turn" {
			continue
		}
		if len(message.Legal) == 0 {
			fmt.Fprintln(os.Stderr, "this game lists no legal moves")
			os.Exit(1)
		}
		fmt.Println(string(choose(message)))
	}
}
