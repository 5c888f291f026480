"""What every controller stands on: informers, leases."""
