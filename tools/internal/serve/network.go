package serve

import (
	"net"
	"net/netip"
	"os"
	"strings"
)

// LANAddresses are this machine's IPv4 addresses that others can reach. Those of
// IPv6 are left out: they change by the day, and a certificate with them.
func LANAddresses() []netip.Addr {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var list []netip.Addr
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().Is4() && prefix.Addr().IsGlobalUnicast() {
			list = append(list, prefix.Addr())
		}
	}
	return list
}

// HostNames are the names that the local network may know this machine by.
func HostNames() []string {
	name, err := os.Hostname()
	if err != nil || name == "" || name == "localhost" {
		return nil
	}
	short, _, _ := strings.Cut(name, ".")
	names := []string{name}
	if short != name {
		names = append(names, short)
	}
	return append(names, short+".local")
}
