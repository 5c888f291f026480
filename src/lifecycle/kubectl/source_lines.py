"""Where in the sources of kubectl v1.36.2 its lines come from.

Every line of a klog log names the file and line that wrote it, and a scheme is named
after the place that made it. Clients see these names, and people search for them: they
change with each version of kubectl, so all of them stand here.
"""

from __future__ import annotations

LOADER_WARNING = "loader.go:407"
"""Upstream: `client-go/tools/clientcmd/loader.go` (`Warn`)."""

REQUEST = "round_trippers.go:527"
DIAL = "round_trippers.go:562"
RESPONSE = "round_trippers.go:632"
"""Upstream: `client-go/transport/round_trippers.go` (`debuggingRoundTripper`)."""

BODY = "request.go:1300"
THROTTLED = "request.go:681"
RETRY_AFTER = "with_retry.go:223"
"""Upstream: `client-go/rest/request.go` (`logBody`, `tryThrottleWithInfo`),
`with_retry.go` (`retryAfter`).
"""

KUBECTL_SCHEME = "pkg/scheme/scheme.go:28"
EXEC_SCHEME = "client-go/plugin/pkg/client/auth/exec/exec.go:64"
CONFIG_SCHEME = "pkg/runtime/scheme.go:110"
"""Upstream: `runtime.NewScheme` names a scheme after its caller."""
