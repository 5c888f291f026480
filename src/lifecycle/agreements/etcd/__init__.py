"""What lies in etcd, and servers that share one."""
