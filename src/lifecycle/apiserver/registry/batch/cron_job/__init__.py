"""CronJobs.

Upstream: `pkg/registry/batch/cronjob`, v1.36.
"""
