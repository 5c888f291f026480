"""CronJobs: Jobs by the clock."""
