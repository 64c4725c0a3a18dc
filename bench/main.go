// Command bench measures gdwire beside its peers, and says whether it is as fast
// as it is meant to be. Run it in its own folder:
//
//	go run .
//	go run . -run 'tokens|skip' -rounds 9
package main

import (
	"flag"
	"fmt"
	"log"
	"regexp"
	"slices"
	"time"
)

var groups = slices.Concat(documentGroups, []group{smallGroup, growthGroup}, packetGroups, bulkGroups(), []group{fileGroup}, sizeGroups())

func main() {
	log.SetFlags(0)
	rounds := flag.Int("rounds", 11, "how often each contender is measured")
	slot := flag.Duration("slot", 50*time.Millisecond, "how long each time")
	run := flag.String("run", "", "only groups whose name matches this `regexp`")
	flag.Parse()
	only := regexp.MustCompile(*run)
	for _, g := range groups {
		if !only.MatchString(g.name) {
			continue
		}
		found := measure(g, *rounds, *slot)
		fmt.Printf("\n%s: %s\n", g.name, g.about)
		for _, m := range found {
			fmt.Printf("%-45s %10.0f ns  %10.0f..%10.0f  %6.0f allocs  x%.2f\n", m.Name, m.Median, m.Min, m.Max, m.Allocs, ratio(m.Rounds, found[0].Rounds))
		}
	}
}
