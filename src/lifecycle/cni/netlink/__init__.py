"""rtnetlink, spoken by ourselves: links, addresses, routes and neighbours, each with
its messages, and the handle that sends them.

A plugin is a fresh process for each pod, twice. One attachment through the bridge
plugin takes some 0.15 to 0.2 seconds; with pyroute2 imported, and not even used, twice
to three times that, while the messages needed are two dozen.

Upstream: `vishvananda/netlink`, as `containernetworking/plugins` v1.9 and flannel use
it. Linux: `rtnetlink(7)`.
"""
