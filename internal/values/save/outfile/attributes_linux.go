package outfile

import (
	"strings"
	"syscall"
)

// accessList is the attribute with the access list of a file.
const accessList = "system.posix_acl_access"

// keepAttributes copies the extended attributes of a file, with its access list, as far as permitted.
// keepAttributes returns false if there is an access list that cannot be copied.
func keepAttributes(to, from string) bool {
	names := make([]byte, 64<<10) // the maximum of the system, as for a value
	n, err := syscall.Listxattr(from, names)
	if err != nil {
		return err == syscall.ENOTSUP || err == syscall.ENOSYS
	}
	value := make([]byte, 64<<10)
	kept := true
	for name := range strings.FieldsFuncSeq(string(names[:n]), func(c rune) bool { return c == 0 }) {
		n, err := syscall.Getxattr(from, name, value)
		if err == nil {
			err = syscall.Setxattr(to, name, value[:n], 0)
		}
		kept = kept && (err == nil || name != accessList)
	}
	return kept
}
