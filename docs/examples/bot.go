// A bot in Go without modules: it plays the first legal move of any game that lists them.
//
//	go build -o bot docs/examples/bot.go
//	kibitz play line-nim line-nim/random --stdio -- ./bot
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
)

// A Message is a line from kibitz. Only a turn has Legal and View.
type Message struct {
	Type  string
	Legal []json.RawMessage
	View  json.RawMessage // the position, as `kibitz game show NAME --json` describes it
	Ms    int             // milliseconds to think
}

// choose returns the move to play. Put your ideas here.
func choose(turn Message) json.RawMessage {
	return turn.Legal[0]
}

func main() {
	for lines := json.NewDecoder(os.Stdin); ; {
		var message Message
		if err := lines.Decode(&message); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if message.Type != "turn" {
			continue
		}
		if len(message.Legal) == 0 {
			log.Fatal("this game lists no legal moves")
		}
		fmt.Println(string(choose(message)))
	}
}
